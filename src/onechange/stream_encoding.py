"""Text that comes bit by bit, passed on as soon as nothing that follows can cut it otherwise."""

from collections.abc import Iterable, Iterator

from onechange.pieces import Pieces
from onechange.special_tokens import SpecialTokens

REMEMBERED = 1 << 15
"""Bytes of pieces that an encoder of streams remembers: everything together stays far below one megabyte."""


def settled(texts: Iterable[str], pieces: Pieces, special: SpecialTokens) -> Iterator[str]:
    """``texts`` put together and parted anew, at ends of pieces: each part's pieces are those of the whole.

    A pattern of one's own may look ahead as far as it likes: then the one part is all of it.
    """
    held, enough = "", 0
    for text in texts:
        held += text
        if not pieces.named or len(held) < enough:
            continue
        done = _settled(held, pieces, special)
        if done:
            yield held[:done]
        held = held[done:]
        # A piece that goes on and on is looked at again when there is twice as much of it: linear in all.
        enough = 0 if done else 2 * len(held)
    if held:
        yield held


def _settled(text: str, pieces: Pieces, special: SpecialTokens) -> int:
    """How many characters of ``text`` nothing that follows can cut otherwise."""
    # A special token that begins within the last so many characters may not be whole yet.
    limit = len(text) - max(0, special.longest - 1)
    start = special.last_end(text, limit)
    # What follows can move the end of the last piece, and of the one before it: a contraction whose last letter is
    # missing is a mark and a letter apart.
    certain = pieces.cut(text[start : max(start, limit)])[:-2]
    # White space at the end of a text is cut otherwise than in its middle.
    while certain and certain[-1].isspace():
        certain.pop()
    return start + sum(map(len, certain))
