"""TinyStories V2: short stories in the words of a small child, written by GPT-4.

Ronen Eldan and Yuanzhi Li, "TinyStories: How Small Can Language Models Be and Still Speak Coherent English?",
https://arxiv.org/abs/2305.07759; the data set's licence is CDLA-Sharing-1.0.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import final

from onechange.corpus import Source
from onechange.plain_text import END_OF_STORY, Changes, blocks, decode, stories


@final
class TinyStories(Source):
    """The training file of TinyStories V2 from the hub, or a local file of its format.

    ``path``: a local file with ``<|endoftext|>`` lines between stories; ``None``: the hub's, as much as needed.
    """

    def __init__(
        self, *, path: str | None = None, characters: int | None = 1_600_000, separator: str = "\n\n"
    ) -> None:
        self.path = path
        self.characters = characters
        self.separator = separator
        self._changes = Changes(path or "TinyStories")

    def documents(self) -> Iterator[str]:
        if self.path is None:
            raise NotImplementedError
        self._changes = Changes(self.path)
        yield from stories(decode(blocks(Path(self.path).expanduser()), self._changes), self._changes)
        if not self._changes.separators:
            raise ValueError(
                f"{self.path}: no line is {END_OF_STORY}, so this is not TinyStories' format; "
                f"for other text use file:{self.path}"
            )

    def notes(self) -> list[str]:
        return self._changes.notes()
