"""How work that takes long tells of itself: the modules that do it never print."""

from collections.abc import Callable

Watch = Callable[[int, int | None, str], None]
"""Told now and then how much is done of how much, in bytes of text, and of what. ``None``: no one knows."""


def unwatched(done: int, total: int | None, what: str) -> None:
    """Nobody looks."""
