"""How much text the tokens of a text hold."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from onechange.tokenizer import Tokenizer
from onechange.watching import Watch, unwatched


@dataclass(frozen=True)
class Amount:
    """A text, separators included, under one tokenizer."""

    tokens: int
    characters: int
    bytes: int

    @property
    def characters_per_token(self) -> float | None:
        """None where there is no text."""
        return self.characters / self.tokens if self.tokens else None

    @property
    def bytes_per_token(self) -> float | None:
        """Bytes of the text in UTF-8 over tokens; None where there is no text."""
        return self.bytes / self.tokens if self.tokens else None

    def to_json(self) -> dict[str, Any]:
        """Counts and ratios as JSON values."""
        ratios = {key: getattr(self, key) for key in ("characters_per_token", "bytes_per_token")}
        return {**asdict(self), **ratios}


def amount(tokenizer: Tokenizer, stories: Iterable[str], separator: str, watch: Watch = unwatched) -> Amount:
    """``stories``, each followed by ``separator``, counted one by one: nothing of them is kept."""
    gap, gap_bytes = len(tokenizer.encode(separator)), len(separator.encode())
    tokens = characters = size = 0
    for story in stories:
        tokens += len(tokenizer.encode(story)) + gap
        characters += len(story) + len(separator)
        size += len(story.encode()) + gap_bytes
        watch(size, None, "encoding text")
    return Amount(tokens, characters, size)
