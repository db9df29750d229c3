"""TinyStories V2: short stories in the words of a small child, written by GPT-4.

Ronen Eldan and Yuanzhi Li, "TinyStories: How Small Can Language Models Be and Still Speak Coherent English?",
https://arxiv.org/abs/2305.07759; the data set's licence is CDLA-Sharing-1.0.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

from onechange import hub_stream
from onechange.corpus import Source
from onechange.plain_text import END_OF_STORY, Changes, blocks, decode, stamp, stories

HUB_FILE = hub_stream.HubFile(
    dataset="roneneldan/TinyStories",
    revision="f54c09fd23315a6f9c86f9dc80f725de7d8f9c64",
    name="TinyStoriesV2-GPT4-train.txt",
)
_OTHER_WAYS = "use a local copy of the file (tinystories:PATH) or the built-in stories (storyworld)"
# measured over the first 4,844 stories, separators included
_BYTES_PER_CHARACTER = 1.02


@final
class TinyStories(Source):
    """The training file of TinyStories V2 from the hub, or a local file of its format.

    ``path``: a local file with ``<|endoftext|>`` lines; ``None``: as much of the hub's as is wanted.
    """

    def __init__(
        self,
        *,
        path: str | None = None,
        characters: int | None = 1_600_000,
        separator: str = "\n\n",
        test: float = 0.0,
    ) -> None:
        self.path = path
        self.characters = characters
        self.separator = separator
        self.test = test
        self._changes = Changes(path or HUB_FILE.name)

    def documents(self) -> Iterator[str]:
        changes = self._changes = Changes(self.path or HUB_FILE.name)
        try:
            yield from stories(decode(self._bytes(), changes), changes)
        except hub_stream.HubError as error:
            raise ConnectionError(f"TinyStories: {error}; {_OTHER_WAYS}") from error
        if not changes.separators:
            advice = f"for other text use file:{self.path}" if self.path else _OTHER_WAYS
            raise ValueError(f"{changes.name}: no line is {END_OF_STORY}: not TinyStories' format; {advice}")

    def _bytes(self) -> Iterator[bytes]:
        if self.path is not None:
            return blocks(Path(self.path).expanduser())
        expected = None if self.characters is None else int(self.characters * _BYTES_PER_CHARACTER)
        return hub_stream.read(HUB_FILE, self.cache, expected)

    def identity(self) -> dict[str, object]:
        if self.path is not None:
            return {}
        return {"dataset": HUB_FILE.dataset, "revision": HUB_FILE.revision, "file": HUB_FILE.name}

    def stamp(self) -> dict[str, Any] | None:
        if self.path is None:
            return {}  # the revision is pinned
        file = Path(self.path).expanduser()
        return stamp([file]) if file.is_file() else None

    def notes(self) -> list[str]:
        return self._changes.notes()
