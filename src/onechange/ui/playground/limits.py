"""What one person may ask of the playground, so that it stays quick for all, and the machine usable."""

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """The defaults are for a laptop; the page is told them and keeps to them."""

    prompt: int = 4_000
    """Characters."""
    characters: int = 4_000
    """Of one writing."""
    text: int = 8_000
    """Characters of a text whose surprise is read: a prompt and the story after it."""
    body: int = 1 << 16
    """Bytes of a request: more than the longest text has in UTF-8."""
    columns: int = 6
    """Models side by side on one page."""
    at_once: int = 12
    """Writings and readings at the same time, all pages together."""
    seconds: float = 120.0
    """For one writing or reading."""
    held: int = 8
    """Models kept in memory …"""
    numbers: int = 1 << 29
    """… and their parameters together, unless a single one has more."""
