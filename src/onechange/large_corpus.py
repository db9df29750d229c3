"""A corpus too large for memory: its stories in the cache, written in one pass over the source."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from onechange import finished
from onechange.splitting import Rule
from onechange.text_store import Stories, StoriesWriter

PARTS = ("training", "validation", "test")


class Stored:
    """What a folder of the cache holds of a corpus."""

    def __init__(self, folder: Path, mark: dict[str, Any]) -> None:
        self.training, self.validation = (Stories(folder, part, mark[part]) for part in PARTS[:2])
        self.test: Stories | tuple[str, ...] = Stories(folder, "test", mark["test"]) if "test" in mark else ()
        self.about: dict[str, Any] = mark.get("about", {})
        """What whoever wrote it wanted to be kept beside it."""


def read(folder: Path) -> Stored | None:
    """The corpus in ``folder``; ``None`` where it is absent, unfinished or its files have other sizes.

    The text itself is checked block by block when it is read.
    """
    mark = finished.read(folder, trusted=[f"{part}.text" for part in PARTS])
    return None if mark is None else Stored(folder, mark)


def write(
    folder: Path,
    stories: Iterable[str],
    about: Callable[[Stored], dict[str, Any]],
    expected: int,
    test: float = 0.0,
) -> None:
    """Put at least ten ``stories`` into ``folder``, parted by `Rule`; the share ``test`` of them is test text.

    ``about`` is asked once they are there. ``expected``: about how many bytes, for an `OSError` that says what the
    disk lacks.
    """

    def fill(filling: finished.Filling) -> dict[str, Any]:
        parts = PARTS if test else PARTS[:2]
        writers = {part: StoriesWriter(filling.writer(f"{part}.text")) for part in parts}
        rule = Rule(test)
        for number, story in enumerate(stories, 1):
            writers[rule.part(number)].add(story)
        mark = {part: writer.finish() for part, writer in writers.items()}
        return {**mark, "about": about(Stored(filling.path, mark))}

    finished.make(folder, fill, lambda: expected)
