"""The sizes that every part of a model shares."""

import msgspec


class Sizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whole numbers above zero, and a dropout probability in [0, 1)."""

    layers: int
    heads: int
    width: int
    window: int
    """Positions of one row: the longest text, in tokens, that the model sees at once."""
    vocabulary: int
    dropout: float = 0.0

    def __post_init__(self) -> None:
        for key in ("layers", "heads", "width", "window", "vocabulary"):
            if getattr(self, key) < 1:
                raise ValueError(f"{key} = {getattr(self, key)}: must be at least 1")
        if self.width % self.heads:
            raise ValueError(f"width = {self.width} cannot be divided among heads = {self.heads}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout = {self.dropout}: must be at least 0 and below 1")

    @property
    def head_width(self) -> int:
        """Features of one attention head."""
        return self.width // self.heads
