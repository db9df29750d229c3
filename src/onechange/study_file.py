"""Study files: the built-in ones, and how one is found and read."""

import tomllib
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from onechange import sampling, study_members, sweep, untrusted
from onechange.study import Arm, Study


def _check_keys(
    where: str, kind: type[msgspec.Struct], table: Any, instead: Mapping[str, str] = MappingProxyType({})
) -> None:
    names = [field.encode_name for field in msgspec.structs.fields(kind)]
    allowed = [instead.get(name, name) for name in names]
    for key in table if isinstance(table, dict) else ():
        if key not in allowed:
            raise ValueError(f"{where}unknown key {key!r}; allowed: {', '.join(allowed)}")


def builtin() -> dict[str, Path]:
    """The studies that come with the package, by name."""
    folder = resources.files("onechange.studies")
    return {
        Path(f.name).stem: Path(str(f))
        for f in sorted(folder.iterdir(), key=lambda f: Path(f.name).stem)
        if f.name.endswith(".toml")
    }


def locate(word: str) -> Path:
    """A built-in study's name or a path; a `LookupError` lists what there is."""
    if word in builtin():
        return builtin()[word]
    if Path(word).is_file():
        return Path(word)
    raise LookupError(f"no study {word!r}: neither a file nor built in; built in: {', '.join(builtin())}")


def read(path: Path) -> Study:
    """The study in ``path``. Whether its arms can be resolved depends on the scale: `Study.settings` checks it.

    Nothing is executed: of members that are files the name alone is known. A `ValueError` names the file, the key, its
    value and what is allowed.
    """
    return _named(path, lambda: parse(untrusted.read(path, untrusted.SMALL)))


def load(path: Path) -> Study:
    """`read`, once the files that the study names as members have been executed: whoever runs a study wants that."""

    def loaded() -> Study:
        content = untrusted.read(path, untrusted.SMALL)
        study_members.execute(_table(content), path.parent)
        return parse(content)

    return _named(path, loaded)


def parse(content: bytes) -> Study:
    """A study from the bytes of its file; errors as for `read`, without the file's name."""
    try:
        table = study_members.with_names(_table(content))
        _check_keys("", Study, table)
        for key in ("question", "base"):
            if key not in table:
                raise ValueError(
                    f"{key} is missing: a study has a question and a base; `onechange new` writes one"
                )
        sampling.check("sampling", table.get("sampling", {}))
        for number, arm in enumerate(table["arm"] if isinstance(table.get("arm"), list) else [], start=1):
            _check_keys(f"arm {number}: ", Arm, arm, instead={"sweep": "vary"})
        return msgspec.convert({**table, "arm": sweep.expanded(table.get("arm", []))}, Study)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError("not TOML that can be read: it is nested too deeply") from None


def _table(content: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode())
    except RecursionError:
        raise ValueError("not TOML that can be read: it is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: bad byte at offset {error.start}") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not TOML: {error}") from None


def _named(path: Path, made: Callable[[], Study]) -> Study:
    try:
        return made()
    except (ValueError, LookupError) as error:
        raise ValueError(f"{path}: {error.args[0]}") from None
