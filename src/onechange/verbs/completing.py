"""What a shell offers for the words of a command, when somebody presses Tab.

It is asked at every press, so nothing large is imported: names are those of files and folders. Of what other people
called theirs only plain words are offered, for some shells read an offer as code.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any

from onechange import installed
from onechange.family import FAMILIES
from onechange.scale import SCALES

_PLAIN = re.compile(r"[\w./+=@,:~-]+")
_MOST = 200
"""Folders that are offered at once."""


def studies(incomplete: str) -> list[str]:
    """The built-in studies; then study files of this folder."""
    return _beginning([*_built_in_studies(), *_files(incomplete, "*.toml")], incomplete)


def scales(ctx: Any, incomplete: str) -> list[str]:
    """The built-in scales and those of the study that was named."""
    return _beginning(dict.fromkeys([*SCALES, *_table(_study(ctx), "scale")]), incomplete)


def arms(ctx: Any, incomplete: str) -> list[str]:
    """The arms of the study that was named, as its file has them."""
    study = _study(ctx)
    others = study.get("arm", [])
    named = [_table(study, "base"), *(others if isinstance(others, list) else [])]
    return _beginning([str(_name(arm)) for arm in named], incomplete)


def lists(incomplete: str) -> list[str]:
    """What can be listed."""
    return _beginning(["families", "studies", "scales", *FAMILIES], incomplete)


def corpora(incomplete: str) -> list[str]:
    """SOURCE: corpora, of those that have a path with a colon, and after the colon the path."""
    name, colon, path = incomplete.partition(":")
    if colon:
        return _beginning((f"{name}:{found}" for found in _files(path, "*")), incomplete)
    offered = [*members("corpus"), "tinystories:", "file:"]
    return _beginning([word for word in offered if word != "file"], incomplete)


def tokenizers(incomplete: str) -> list[str]:
    """WHAT: tokenizers, and folders that keep one."""
    return _beginning([*members("tokenizer"), *_places(incomplete, "tokenizer.json", 5)], incomplete)


def runs(incomplete: str) -> list[str]:
    """Folders of runs below the one that is written, studies' own beside them."""
    return _beginning(_places(incomplete, "recipe.toml", 5), incomplete)


def studied(incomplete: str) -> list[str]:
    """Folders of studies."""
    return _beginning(_places(incomplete, "start.json", 3), incomplete)


def checkpoints(ctx: Any, incomplete: str) -> list[str]:
    """``best``, ``last``, and the steps that the runs still have that were named."""
    named = ctx.params.get("runs") or ctx.params.get("run") or []
    folders = [Path(one) for one in (named if isinstance(named, list | tuple) else [named])]
    found = {
        f"step-{int(place.name[5:])}"
        for folder in folders
        for place in folder.glob("checkpoints/step-*")
        if place.name[5:].isdecimal()
    }
    return _beginning(["best", "last", *sorted(found, key=lambda word: int(word[5:]))], incomplete)


def best_or_last(incomplete: str) -> list[str]:
    """Checkpoints that finished runs have."""
    return _beginning(["best", "last"], incomplete)


def weights(incomplete: str) -> list[str]:
    """How weights may be held."""
    return _beginning(["float32", "bf16", "int8"], incomplete)


def formats(incomplete: str) -> list[str]:
    """What a model may be exported to."""
    return _beginning(["hf", "safetensors"], incomplete)


def on_nonfinite(incomplete: str) -> list[str]:
    """What may be done with a loss that is no number."""
    return _beginning(["stop", "skip"], incomplete)


def trackers(incomplete: str) -> list[str]:
    """Trackers that come with the package."""
    return _beginning(members("tracker"), incomplete)


def clusters(incomplete: str) -> list[str]:
    """Addresses that are words."""
    return _beginning(["auto", "local"], incomplete)


def members(family: str) -> list[str]:
    """The members of a family, and what installed packages bring to it; none of them is imported."""
    folder = resources.files("onechange").joinpath(family)
    own = [Path(file.name).stem for file in folder.iterdir() if file.name.endswith(".py")]
    brought = installed.words(family) if family in FAMILIES else []
    return sorted({name for name in (*own, *brought) if not name.startswith("_")})


def _built_in_studies() -> list[str]:
    folder = resources.files("onechange").joinpath("studies")
    return sorted(Path(file.name).stem for file in folder.iterdir() if file.name.endswith(".toml"))


def _study(ctx: Any) -> dict[str, Any]:
    """The content of the study that the command names, as far as it can be read."""
    word = ctx.params.get("study") or "tokenizers-and-positions"
    with suppress(OSError, ValueError):
        if word in _built_in_studies():
            return tomllib.loads(
                resources.files("onechange").joinpath("studies", f"{word}.toml").read_text("utf-8")
            )
        return tomllib.loads(Path(word).read_text("utf-8"))
    return {}


def _table(content: Any, key: str) -> dict[str, Any]:
    """What stands in a file that is perhaps no study, or not yet."""
    found = content.get(key) if isinstance(content, dict) else None
    return found if isinstance(found, dict) else {}


def _name(arm: Any) -> Any:
    return arm.get("name", "base") if isinstance(arm, dict) else ""


def _files(incomplete: str, pattern: str) -> Iterator[str]:
    """Files as ``pattern`` says, and folders with a slash, in the folder that is written."""
    parent = _written(incomplete)
    with suppress(OSError):
        for path in sorted(Path(parent or ".").iterdir()):
            if not path.name.startswith(".") and (path.is_dir() or path.match(pattern)):
                yield f"{parent}{path.name}{'/' if path.is_dir() else ''}"


def _places(incomplete: str, mark: str, depth: int) -> Iterator[str]:
    """Folders with a file called ``mark``, at most ``depth`` folders below the one that is written."""
    parent = _written(incomplete)
    root, found = Path(parent or "."), 0
    waiting = [(root, 0)]
    while waiting and found < _MOST:
        folder, deep = waiting.pop()
        if deep and (folder / mark).is_file():
            found += 1
            yield parent + folder.relative_to(root).as_posix()
        if deep < depth:
            with suppress(OSError):
                below = [one for one in folder.iterdir() if one.is_dir() and not one.name.startswith(".")]
                waiting += [(one, deep + 1) for one in sorted(below, reverse=True)[:_MOST]]


def _written(incomplete: str) -> str:
    """The folders of an unfinished path, with the last slash."""
    return incomplete[: incomplete.rfind("/") + 1]


def _beginning(words: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in words if word.startswith(incomplete) and _PLAIN.fullmatch(word)]
