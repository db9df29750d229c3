"""The prepared corpus: documents cleaned, cut, split into training and validation text, and marked."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from onechange import family, prepared
from onechange.corpus import Source
from onechange.splitting import shorten, split


@dataclass(frozen=True)
class Corpus:
    """Cleaned stories, without separators, in the order of the source."""

    training: tuple[str, ...]
    validation: tuple[str, ...]
    separator: str
    """The text that follows every story, the last too."""
    fingerprint: str
    """SHA-256 in hexadecimal over stories, split and separator; where they came from does not enter."""
    facts: dict[str, Any]
    """What is reported about the corpus, ready for JSON; counts of characters leave separators out."""
    validation_log_probability: float | None
    """The sum of log p over the validation stories in nats, where the source knows it."""

    @cached_property
    def alphabet(self) -> str:
        """The distinct characters of all stories and the separator, in the order of their code points."""
        return "".join(sorted(set(self.separator).union(*self.training, *self.validation)))

    @property
    def entropy_floor(self) -> float | None:
        """Nats per character of the validation text, separators included, that no model beats in expectation.

        A separator costs nothing here: a source that knows its stories also knows where they end.
        """
        if self.validation_log_probability is None:
            return None
        characters = sum(map(len, self.validation)) + len(self.validation) * len(self.separator)
        return -self.validation_log_probability / characters


def user_cache() -> Path:
    """Where this person's cached files lie: ``$XDG_CACHE_HOME/onechange``, or ``~/.cache/onechange``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "onechange"


def prepare(resolved: Mapping[str, Any], *, cache: Path | Literal["user"] | None = "user") -> Corpus:
    """The corpus that ``resolved`` (from `onechange.family.resolve`) names.

    Every story is stripped; empty ones and exact duplicates go first; the story that reaches ``characters``
    is the last one; then the split. ``cache`` is a folder for what is expensive to fetch or to make, by
    default `user_cache`; ``None``: none. Raises `ValueError`, `LookupError` or `OSError` with advice where a
    person can help.
    """
    if not resolved["separator"]:
        raise ValueError('corpus.separator = "": it must not be empty; the default is a blank line, "\\n\\n"')
    characters = resolved["characters"]
    if characters is not None and characters < 1:
        raise ValueError(f"corpus.characters = {characters}: the least is 1")
    source: Source = family.build("corpus", resolved)
    source.cache = folder = user_cache() if cache == "user" else cache
    if folder is None or not source.reproducible:
        return _read(source, resolved)
    place = prepared.place(folder, resolved, source.version, source.identity())
    content = prepared.load(place)
    if content is None:
        corpus = _read(source, resolved)
        prepared.keep(place, asdict(corpus))
        return corpus
    parts = {part: tuple(content[part]) for part in ("training", "validation")}
    return Corpus(**{**content, **parts})


def _read(source: Source, resolved: Mapping[str, Any]) -> Corpus:
    wanted = source.characters
    stories: dict[str, None] = {}
    duplicates = total = 0
    with closing(_generator(source)) as documents:
        for document in documents:
            story = document.strip()
            if not story:
                continue
            if story in stories:
                duplicates += 1
                continue
            stories[story] = None
            total += len(story)
            if wanted is not None and total >= wanted:
                break
    kept = list(stories)
    if not kept:
        raise ValueError(f"{_called(resolved)}: no text is in it; a corpus needs two characters at least")
    notes = source.notes()
    cut = None
    if wanted is not None and total < wanted:
        notes.append(f"the source holds {total:,} characters, fewer than the {wanted:,} wanted: all are used")
    elif wanted is not None:
        cut = f"cut after {len(kept):,} stories, the last of them reaching the {wanted:,} characters wanted"
        if len(kept) == 1 and total > wanted:
            kept = [shorten(kept[0], wanted)]
            cut = f"cut after a word, {len(kept[0]):,} characters kept of {total:,}; {wanted:,} were wanted"
    return _corpus(source, resolved, kept, duplicates, cut, notes)


def _corpus(
    source: Source,
    resolved: Mapping[str, Any],
    kept: Sequence[str],
    duplicates: int,
    cut: str | None,
    notes: list[str],
) -> Corpus:
    if len(kept) == 1 and len(kept[0]) < 2:
        raise ValueError(
            f"{_called(resolved)}: its text is {kept[0]!r}; a corpus needs two characters at least"
        )
    parts = split(kept)
    mark = fingerprint(parts.training, parts.validation, source.separator)
    training_characters = sum(map(len, parts.training))
    validation_characters = sum(map(len, parts.validation))
    facts = {
        "name": resolved["name"],
        "settings": {key: value for key, value in resolved.items() if key != "name"},
        "identity": source.identity(),
        "fingerprint": mark,
        "documents": len(kept),
        "characters": training_characters + validation_characters,
        "distinct_characters": len(set().union(*parts.training, *parts.validation)),
        "duplicates_removed": duplicates,
        "training_documents": len(parts.training),
        "validation_documents": len(parts.validation),
        "training_characters": training_characters,
        "validation_characters": validation_characters,
        "separator": source.separator,
        "split": parts.rule,
        "cut": cut,
        "notes": notes + parts.notes,
    }
    return Corpus(
        training=parts.training,
        validation=parts.validation,
        separator=source.separator,
        fingerprint=mark,
        facts=facts,
        validation_log_probability=_log_probability(source, parts.validation) if len(kept) > 1 else None,
    )


def fingerprint(training: Sequence[str], validation: Sequence[str], separator: str) -> str:
    """SHA-256 in hexadecimal of the canonical JSON of what a model sees."""
    content = {"separator": separator, "training": training, "validation": validation}
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _log_probability(source: Source, stories: Sequence[str]) -> float | None:
    total = 0.0
    for story in stories:
        value = source.log_probability(story)
        if value is None:
            return None
        total += value
    return total


def _generator(source: Source):
    documents: Iterator[str] = source.documents()
    yield from documents


def _called(resolved: Mapping[str, Any]) -> str:
    return str(resolved.get("path") or resolved["name"])
