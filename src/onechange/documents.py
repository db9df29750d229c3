"""The prepared corpus: documents cleaned, cut, split into training and validation text, and marked."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from onechange import family, kinds, large_corpus, prepared
from onechange.cleaning import Tally, clean
from onechange.corpus import Source
from onechange.splitting import EVERY, Parts, Rule, check_test, shorten, split
from onechange.text_store import Stories
from onechange.watching import Watch, unwatched

LARGE = 64_000_000
"""Characters beyond which a corpus of ten stories or more is kept on the disk and not in memory."""
NAMED_IN = 5_000_000
"""Characters of training text in which names are looked for; the story that reaches them is the last one."""


@dataclass(frozen=True)
class Corpus:
    """Cleaned stories, without separators, in the order of the source."""

    training: Sequence[str]
    """In memory, or `onechange.text_store.Stories` where there is much text."""
    validation: Sequence[str]
    separator: str
    """The text that follows every story, the last too."""
    fingerprint: str
    """SHA-256 in hexadecimal over stories, split and separator; where they came from does not enter."""
    facts: dict[str, Any]
    """What is reported about the corpus, ready for JSON; counts of characters leave separators out."""
    validation_log_probability: float | None
    """The sum of log p over the validation stories in nats, where the source knows it."""
    test: Sequence[str] = ()
    """What no choice may look at; empty where nothing was put aside."""
    test_log_probability: float | None = None

    @cached_property
    def alphabet(self) -> str:
        """The distinct characters of all stories and the separator, in the order of their code points."""
        parts = (self.training, self.validation, self.test)
        return "".join(sorted({*self.separator, *chain.from_iterable(map(_distinct, parts))}))

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that the training text writes as such, as far as its first `NAMED_IN` characters show."""
        return kinds.names(_reaching(self.training, NAMED_IN))

    @property
    def entropy_floor(self) -> float | None:
        """Nats per character of the validation text, separators included, that no model beats in expectation.

        A separator costs nothing here: a source that knows its stories also knows where they end.
        """
        return self._floor(self.validation, self.validation_log_probability)

    @property
    def entropy_floor_of_test(self) -> float | None:
        """The same of the test text."""
        return self._floor(self.test, self.test_log_probability) if self.test else None

    def _floor(self, stories: Sequence[str], log_probability: float | None) -> float | None:
        if log_probability is None:
            return None
        return -log_probability / (_characters(stories) + len(stories) * len(self.separator))


def user_cache() -> Path:
    """Where this person's cached files lie: ``$XDG_CACHE_HOME/onechange``, or ``~/.cache/onechange``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "onechange"


def prepare(
    resolved: Mapping[str, Any], *, cache: Path | Literal["user"] | None = "user", watch: Watch = unwatched
) -> Corpus:
    """The corpus that ``resolved`` (from `onechange.family.resolve`) names.

    Every story is stripped; empty ones and exact duplicates go first; the story that reaches ``characters``
    is the last one; then the split. ``cache`` is a folder for what is expensive to fetch or to make and for text
    beyond `LARGE`, by default `user_cache`; ``None``: none, all text is in memory. Raises `ValueError`, `LookupError`
    or `OSError` with advice where a person can help.
    """
    if not resolved["separator"]:
        raise ValueError('corpus.separator = "": it must not be empty; the default is a blank line, "\\n\\n"')
    characters = resolved["characters"]
    if characters is not None and characters < 1:
        raise ValueError(f"corpus.characters = {characters}: the least is 1")
    check_test(resolved["test"])
    source: Source = family.build("corpus", resolved)
    source.cache = folder = user_cache() if cache == "user" else cache
    stamp = None if folder is None else source.stamp()
    if folder is None or stamp is None:
        return _read(source, resolved, None, watch)
    ours = not family.is_from_outside("corpus", resolved["name"])
    version = source.version if ours else family.version("corpus", resolved["name"])
    place = prepared.place(folder, resolved, version, {**source.identity(), **stamp})
    if source.reproducible and (content := prepared.load(place)) is not None:
        parts = {part: tuple(content[part]) for part in ("training", "validation", "test")}
        return Corpus(**{**content, **parts})
    if (stored := large_corpus.read(place.with_suffix(""))) is not None:
        return _stored(stored)
    corpus = _read(source, resolved, place.with_suffix(""), watch)
    if source.reproducible and not isinstance(corpus.training, Stories):
        prepared.keep(place, asdict(corpus))
    return corpus


def _read(source: Source, resolved: Mapping[str, Any], place: Path | None, watch: Watch) -> Corpus:
    """Read the source; into the folder ``place``, if there is one, as soon as the text is large."""
    wanted, tally = source.characters, Tally()
    kept: list[str] = []
    for story in (stories := clean(source, tally, watch)):
        kept.append(story)
        if place is not None and tally.characters > LARGE and tally.stories >= EVERY:
            return _read_on(source, resolved, place, kept, stories, tally)
    if not kept:
        raise ValueError(f"{_called(resolved)}: no text is in it; a corpus needs two characters at least")
    notes, cut = _ending(source, tally)
    if len(kept) == 1:
        if wanted is not None and tally.characters > wanted:
            kept = [shorten(kept[0], wanted)]
            cut = f"cut after a word, {len(kept[0]):,} characters kept of {tally.characters:,}; {wanted:,} were wanted"
        if len(kept[0]) < 2:
            raise ValueError(
                f"{_called(resolved)}: its text is {kept[0]!r}; a corpus needs two characters at least"
            )
    parts = split(kept, source.test)
    notes += parts.notes
    content = _content(source, resolved, parts, parts.rule, cut, notes, tally)
    if len(kept) == 1:
        content |= {"validation_log_probability": None, "test_log_probability": None}
    return Corpus(training=parts.training, validation=parts.validation, test=parts.test, **content)


def _read_on(
    source: Source,
    resolved: Mapping[str, Any],
    place: Path,
    kept: list[str],
    others: Iterator[str],
    tally: Tally,
) -> Corpus:
    """Write what was read so far, and all that follows, into the folder ``place``."""
    stamp = source.stamp() or {}
    sizes = sum(size for _, size, _ in stamp.get("files", []))

    def about(stored: large_corpus.Stored) -> dict[str, Any]:
        notes, cut = _ending(source, tally)
        if (source.stamp() or {}) != stamp:
            raise ValueError(f"{_called(resolved)}: it was changed while it was read; start again")
        return _content(source, resolved, stored, Rule(source.test).words, cut, notes, tally)

    expected = source.characters or sizes
    large_corpus.write(place, chain(_emptied(kept), others), about, expected, source.test)
    stored = large_corpus.read(place)
    if stored is None:
        raise OSError(f"{place}: what was just written there cannot be read back")
    return _stored(stored)


def _emptied(stories: list[str]) -> Iterator[str]:
    stories.reverse()
    while stories:
        yield stories.pop()


def _stored(stored: large_corpus.Stored) -> Corpus:
    return Corpus(training=stored.training, validation=stored.validation, test=stored.test, **stored.about)


def _ending(source: Source, tally: Tally) -> tuple[list[str], str | None]:
    """What is to be noted, and how the text was cut to what was wanted, if it was."""
    notes, wanted = source.notes(), source.characters
    if wanted is None:
        return notes, None
    if tally.characters < wanted:
        notes.append(
            f"the source holds {tally.characters:,} characters, fewer than the {wanted:,} wanted: all are used"
        )
        return notes, None
    return notes, (
        f"cut after {tally.stories:,} stories, the last of them reaching the {wanted:,} characters wanted"
    )


def _content(
    source: Source,
    resolved: Mapping[str, Any],
    parts: Parts | large_corpus.Stored,
    rule: str,
    cut: str | None,
    notes: list[str],
    tally: Tally,
) -> dict[str, Any]:
    """All of a `Corpus` but its stories."""
    training, validation, test = parts.training, parts.validation, parts.test
    mark = fingerprint(training, validation, source.separator, test)
    facts = {
        "name": resolved["name"],
        "settings": {key: value for key, value in resolved.items() if key != "name"},
        "identity": source.identity(),
        "fingerprint": mark,
        "documents": tally.stories,
        "characters": sum(map(_characters, (training, validation, test))),
        "distinct_characters": len({*_distinct(training), *_distinct(validation), *_distinct(test)}),
        "duplicates_removed": tally.duplicates,
        "training_documents": len(training),
        "validation_documents": len(validation),
        "training_characters": _characters(training),
        "validation_characters": _characters(validation),
        "test_documents": len(test),
        "test_characters": _characters(test),
        "separator": source.separator,
        "split": rule,
        "cut": cut,
        "notes": notes,
    }
    return {
        "separator": source.separator,
        "fingerprint": mark,
        "facts": facts,
        "validation_log_probability": _log_probability(source, validation),
        "test_log_probability": _log_probability(source, test) if test else None,
    }


def fingerprint(
    training: Iterable[str], validation: Iterable[str], separator: str, test: Sequence[str] = ()
) -> str:
    """SHA-256 in hexadecimal of the canonical JSON of what a model sees and is judged by."""
    digest = hashlib.sha256(b'{"separator":' + _json(separator))
    parts = {"training": training, "validation": validation, **({"test": test} if test else {})}
    for name, stories in parts.items():
        digest.update(b"," + _json(name) + b":[")
        between, others = b"", iter(stories)
        while some := list(islice(others, 1000)):
            digest.update(between + _json(some)[1:-1])
            between = b","
        digest.update(b"]")
    digest.update(b"}")
    return digest.hexdigest()


def _json(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _characters(stories: Sequence[str]) -> int:
    return stories.characters if isinstance(stories, Stories) else sum(map(len, stories))


def _reaching(stories: Iterable[str], characters: int) -> Iterator[str]:
    """The first whole stories that have so many characters together."""
    for story in stories:
        yield story
        characters -= len(story)
        if characters <= 0:
            return


def _distinct(stories: Sequence[str]) -> Iterable[str]:
    return stories.distinct if isinstance(stories, Stories) else set().union(*stories)


def _log_probability(source: Source, stories: Iterable[str]) -> float | None:
    total = 0.0
    for story in stories:
        value = source.log_probability(story)
        if value is None:
            return None
        total += value
    return total


def _called(resolved: Mapping[str, Any]) -> str:
    return str(resolved.get("path") or resolved["name"])
