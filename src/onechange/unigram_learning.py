"""Tokens and their log-probabilities for `unigram`: learned by the library `tokenizers`, the same in every process.

Three things are done around the library's trainer (seen in its version 0.23).

**Ends of pieces are candidates.** The trainer considers a stretch of characters only if at least two different ones
follow it in its list of distinct pieces. So a whole word, or an ending such as "ing", which nothing but the end of the
piece follows, is never considered. Every piece that occurs twice is therefore given once with a `_stop` behind it, a
character that the text does not hold and that is taken out again.

**Short pieces.** The trainer's time grows faster than a piece's length, and a piece of a million characters ends the
process. Pieces are given to it `LONGEST` characters at a time.

**One result.** The trainer goes through its pieces in an order that is drawn anew each time. The tokens that it chose
were never seen to depend on it. Their log-probabilities do in the last digits; and characters too rare to be kept are
added in some order, with `STEP` between them. Here all of those get the lowest log-probability, and every one is
rounded to a whole multiple of 1 / `GRAIN`. Sums of such numbers are exact in float64, so that which of two ways to cut
a word is likelier depends neither on the order of a sum nor on the machine.
"""

import json
from collections.abc import Iterator

from onechange import peer_library
from onechange.alphabet import Alphabet
from onechange.counting import Counts

LONGEST = 256
GRAIN = 1024
STEP = 0.0001
_AT_ONCE = 1 << 16


def learn(counts: Counts, alphabet: Alphabet, vocabulary: int) -> dict[str, float]:
    """The log-probability of every token in nats: the characters of ``alphabet`` in its order, then the learned tokens,
    the likeliest first. At most ``vocabulary``, which must hold the alphabet.

    A `ValueError` names a character of ``counts`` that is not in the alphabet.
    """
    pieces = sorted(
        (counts.table.piece(number).tobytes().decode(), int(times))
        for number, times in enumerate(counts.times)
    )
    present = set().union(*(piece for piece, _ in pieces))
    if not present.issubset(alphabet.characters):
        for piece, _ in pieces:
            alphabet.ids(piece)  # names the characters
    scores = _trained(pieces, _stop(alphabet.characters), vocabulary - len(alphabet) + len(present))
    lowest = min(scores.values(), default=0.0)
    rare = lowest + STEP * len(alphabet)
    found = {}
    for character in alphabet.characters:
        score = scores.pop(character, lowest)
        found[character] = _rounded(lowest if score <= rare else score)
    longer = [(_rounded(score), token) for token, score in scores.items()]
    return found | {token: score for score, token in sorted(longer, key=lambda pair: (-pair[0], pair[1]))}


def _trained(pieces: list[tuple[str, int]], stop: str, vocabulary: int) -> dict[str, float]:
    library = peer_library.tokenizers("tokenizer 'unigram'")
    peer = library.Tokenizer(library.models.Unigram())
    trainer = library.trainers.UnigramTrainer(
        vocab_size=vocabulary + len(stop), show_progress=False, special_tokens=[]
    )
    peer.train_from_iterator(_repeated(pieces, stop), trainer)
    vocab = json.loads(peer.to_str())["model"]["vocab"]
    return {token: score for token, score in vocab if stop not in token}


def _repeated(pieces: list[tuple[str, int]], stop: str) -> Iterator[list[str]]:
    """Every piece as often as it occurs, many at a time."""
    for piece, times in pieces:
        for start in range(0, len(piece), LONGEST):
            part = piece[start : start + LONGEST]
            if times > 1:
                yield [part + stop]
            for done in range(int(times > 1), times, _AT_ONCE):
                yield [part] * min(_AT_ONCE, times - done)


def _stop(characters: str) -> str:
    """A character that is none of ``characters``: the first such for private use, or failing that of all."""
    codes = (*range(0xE000, 0xF900), *range(0x10000, 0x110000), *range(1, 0xD800))
    return next(chr(code) for code in codes if chr(code) not in characters)


def _rounded(score: float) -> float:
    return round(score * GRAIN) / GRAIN
