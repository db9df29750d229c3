"""Tokens and their log-probabilities for `unigram`: learned by the library `tokenizers`, the same in every process.

Four things are done around the library's trainer (seen in its version 0.23).

**Ends of pieces are candidates.** The trainer considers a stretch of characters only if at least two different ones
follow it in its list of distinct pieces. So a whole word, or an ending such as "ing", which nothing but the end of the
piece follows, is never considered. Every piece that occurs twice is therefore given once with a `_stop` behind it, a
character that the text does not hold and that is taken out again.

**Every character by itself.** A character that is hardly ever a token of its own is dropped on the way. A token that
holds it then has no alternative and must stay, and where more must stay than are asked for, the trainer never ends. So
every character of the alphabet is given once as a piece. Those that the text lacks get a probability that way.

**Short pieces.** The trainer's time grows faster than a piece's length, and a piece of a million characters ends the
process. Pieces are given to it `LONGEST` characters at a time.

**One result.** The trainer goes through its pieces in an order that is drawn anew each time. The tokens that it chose
were never seen to depend on it; their log-probabilities do in the last digits. Here they are rounded to whole multiples
of 1 / `GRAIN`. Sums of such numbers are exact in float64, so that which of two ways to cut a word is likelier depends
neither on the order of a sum nor on the machine.
"""

import json
from collections.abc import Iterator

from onechange import peer_library
from onechange.alphabet import Alphabet
from onechange.counting import Counts

LONGEST = 256
GRAIN = 1024
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
    if not set(alphabet.characters).issuperset(counts.table.text.tobytes().decode()):
        for piece, _ in pieces:
            alphabet.ids(piece)  # names the characters
    scores = _trained(pieces, alphabet.characters, vocabulary)
    single = {character: scores.pop(character) for character in alphabet.characters}
    longer = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return single | dict(longer[: vocabulary - len(alphabet)])


def _trained(pieces: list[tuple[str, int]], characters: str, vocabulary: int) -> dict[str, float]:
    library = peer_library.tokenizers("tokenizer 'unigram'")
    stop = _stop(characters)
    peer = library.Tokenizer(library.models.Unigram())
    trainer = library.trainers.UnigramTrainer(
        # with no token more than there are characters it would not end
        vocab_size=max(vocabulary, len(characters) + 1) + len(stop),
        show_progress=False,
        special_tokens=[],
    )
    peer.train_from_iterator(_repeated(pieces, characters, stop), trainer)
    vocab = json.loads(peer.to_str())["model"]["vocab"]
    return {token: round(score * GRAIN) / GRAIN for token, score in vocab if stop not in token}


def _repeated(pieces: list[tuple[str, int]], characters: str, stop: str) -> Iterator[list[str]]:
    """Every piece as often as it occurs, many at a time."""
    yield [*characters, stop]
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
