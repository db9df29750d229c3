r"""WHAT, the word that a command takes for tokenizers: a place that holds one, or a member and its settings.

    runs/first/arms/bpe-rope/seed-0      a folder that holds a `tokenizer.json`, or the file itself
    bpe                                  a member, learned now
    bpe:vocabulary=512,digits=single     with settings, as in a study file
    bpe:vocabulary=256,1024,4096         three tokenizers: what names no setting is another value of the last one
    bpe:split="\p{L}+|[^\p{L}]{1,3}"     in double quotes a value may hold commas; a quote in it is written twice

A setting that is a list takes all of its values at once.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import msgspec

from onechange import dataset, family, tokenizer_file
from onechange.documents import Corpus
from onechange.tokenizer import Tokenizer
from onechange.watching import Watch, unwatched

_PART = re.compile(r'(?:([a-z_]+)=)?("(?:[^"]|"")*"|[^",][^,]*|)(?=,|\Z)', re.DOTALL)


@dataclass(frozen=True)
class Wanted:
    """One tokenizer that a word stands for: kept in a file, or to be learned."""

    label: str
    """What it is called beside others: the word, of several settings the one that is meant."""
    path: Path | None = None
    resolved: dict[str, Any] | None = None

    def tokenizer(self, corpus: Callable[[], Corpus], watch: Watch = unwatched) -> Tokenizer:
        """The tokenizer, read from its file or learned from ``corpus``, which is asked for only then."""
        if self.path is not None:
            return tokenizer_file.load(self.path)
        assert self.resolved is not None
        return dataset.learn(corpus(), self.resolved, watch)


def parse(word: str) -> list[Wanted]:
    """Every tokenizer that ``word`` stands for, at least one.

    Raises a `LookupError` that lists what there is, or a `ValueError` for settings that are none.
    """
    name, colon, settings = word.partition(":")
    if name in family.members("tokenizer") and not (Path(word) / "tokenizer.json").is_file():
        if colon and not settings:
            raise ValueError(f"{word!r}: the settings after the colon are missing: {name}:SETTING=VALUE")
        return [_wanted(name, given) for given in _combined(word, name, settings)]
    place = Path(word).expanduser()
    for path in (place / "tokenizer.json", place):
        if path.is_file():
            return [Wanted(word, path=path)]
    members = ", ".join(family.members("tokenizer"))
    if place.is_dir():
        raise LookupError(f"{word!r} is a folder without a tokenizer.json; or name a tokenizer: {members}")
    raise LookupError(f"{word!r} is neither a run's folder nor a tokenizer; there is {members}")


def one(word: str) -> Wanted:
    """The single tokenizer that ``word`` stands for; a `ValueError` if there are several."""
    found = parse(word)
    if len(found) > 1:
        raise ValueError(f"{word!r} stands for {len(found)} tokenizers, one is wanted here: give one value")
    return found[0]


def _wanted(name: str, given: dict[str, Any]) -> Wanted:
    written = ",".join(f"{key}={_written(value)}" for key, value in given.items())
    return Wanted(
        f"{name}:{written}" if written else name,
        resolved=family.resolve("tokenizer", {"name": name, **given}),
    )


def _combined(word: str, name: str, settings: str) -> Iterator[dict[str, Any]]:
    """Every combination of the settings' values, each of the type that its setting has."""
    kinds = get_type_hints(family.member("tokenizer", name).__init__)
    values: dict[str, list[str]] = {}
    for key, value in _parts(word, settings):
        values.setdefault(key, []).append(value)
    choices = []
    for key, texts in values.items():
        kind = kinds.get(key, str)  # of a setting that there is not, `family.resolve` says so
        choices.append([texts] if get_origin(kind) in (list, tuple) else [_typed(t, kind) for t in texts])
    for chosen in product(*choices):
        yield dict(zip(values, chosen, strict=True))


def _parts(word: str, settings: str) -> Iterator[tuple[str, str]]:
    """Every value, unquoted, with the setting that it is for."""
    place, key = 0, None
    while settings and place <= len(settings):
        match = _PART.match(settings, place)
        key = match[1] or key if match else None
        if match is None or key is None:
            raise ValueError(
                f"{word!r}: {settings[place:]!r} is no SETTING=VALUE; a value with commas stands in double quotes"
            )
        value = match[2]
        yield key, value[1:-1].replace('""', '"') if value.startswith('"') else value
        place = match.end() + 1


def _typed(text: str, kind: Any) -> Any:
    """``text`` as a value of ``kind``; as it is where it cannot be one, so that `family.resolve` says what may be."""
    try:
        return msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError:
        return text


def _written(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_written, value))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return '"' + text.replace('"', '""') + '"' if re.search(r'[,"]', text) else text
