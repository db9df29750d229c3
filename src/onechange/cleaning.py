"""One pass over a source: stories stripped, empty ones and exact copies dropped, ended where enough text is there."""

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass

from onechange.corpus import Source
from onechange.seen import Seen
from onechange.watching import Watch

_BETWEEN = 1 << 20
"""Bytes read from one word to the watcher to the next."""


@dataclass
class Tally:
    """What a pass has met so far."""

    stories: int = 0
    characters: int = 0
    duplicates: int = 0


def clean(source: Source, tally: Tally, watch: Watch) -> Iterator[str]:
    """The stories of ``source`` that are kept, up to the one that reaches its ``characters``."""
    seen = Seen()
    held = (source.stamp() or {}).get("files", [])
    total = sum(size for _, size, _ in held) if source.characters is None else source.characters
    done = told = 0
    with closing(_generator(source)) as documents:
        for document in documents:
            story = document.strip()
            text = story.encode()
            done += len(text)
            if done - told > _BETWEEN:
                told = done
                watch(done, total or None, "reading text")
            if not story:
                continue
            if not seen.add(text):
                tally.duplicates += 1
                continue
            tally.stories += 1
            tally.characters += len(story)
            yield story
            if source.characters is not None and tally.characters >= source.characters:
                break
    watch(done, done, "reading text")


def _generator(source: Source) -> Generator[str]:
    yield from source.documents()
