"""Continuing prompts: many texts through a few rows of a model, each from a stream of random numbers of its own."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from onechange import decoding
from onechange.decoding import Decoder
from onechange.growing_text import GrowingText
from onechange.model import Model
from onechange.picking import pick
from onechange.sampling import Sampling
from onechange.seed import stream
from onechange.tokenizer import Tokenizer

MOST_ROWS = 64
"""Texts that are written at the same time; the others wait until one of them ends."""

MakeDecoder = Callable[[Model, int], Decoder]


@dataclass(frozen=True)
class Continuation:
    """What a model wrote after a prompt, the prompt itself left out."""

    prompt: str
    number: int
    """Which of the prompt's samples, from 0."""
    text: str
    tokens: int
    """How many the model wrote, those included of which the end of the text took something away."""
    ended: bool
    """Whether a stop string ended it, and not the budget."""


class Piece(NamedTuple):
    """A stretch of one of the texts that are written side by side."""

    place: int
    """Which text: every prompt's samples in their order, then the next prompt's."""
    text: str
    """The characters that are certain since the text's last piece; empty at most in its last one."""
    whole: Continuation | None
    """The text, once it has ended: this is its last piece."""


def generate(
    model: Model,
    tokenizer: Tokenizer,
    prompts: Sequence[str],
    sampling: Sampling,
    *,
    before: str = "",
    stop: Sequence[str] = (),
    rows: int = MOST_ROWS,
    decoder: MakeDecoder = decoding.decoder,
) -> list[Continuation]:
    """Every prompt's samples in their order, then the next prompt's; see `write`."""
    pieces = write(
        model, tokenizer, prompts, sampling, before=before, stop=stop, rows=rows, decoder=decoder
    )
    whole = {piece.place: piece.whole for piece in pieces if piece.whole is not None}
    return [whole[place] for place in range(len(whole))]


def write(
    model: Model,
    tokenizer: Tokenizer,
    prompts: Sequence[str],
    sampling: Sampling,
    *,
    before: str = "",
    stop: Sequence[str] = (),
    rows: int = MOST_ROWS,
    decoder: MakeDecoder = decoding.decoder,
) -> Iterator[Piece]:
    """The same texts piece by piece, as soon as characters are certain; no piece is taken back.

    ``before`` stands before every prompt and is not shown: the corpus's separator, as in training; with it a prompt may be
    empty. ``stop`` is added to the sampling's own stop strings. At most ``rows`` texts are written at the same time; the
    next one begins where one has ended.

    The same prompt, number and seed give the same text alone or beside others (ties aside). Raises a `ValueError` at
    once for an empty prompt with nothing before it, and for one with characters outside the alphabet.
    """
    texts = [
        _Text(place, prompt, number, *context, _stream(sampling.seed, prompt, number))
        for place, (prompt, context, number) in enumerate(
            (prompt, context, number)
            for prompt in prompts
            for context in [_context(tokenizer, before, prompt)]
            for number in range(sampling.samples)
        )
    ]
    return _write(model, tokenizer, texts, sampling, (*sampling.stop, *stop), rows, decoder)


@dataclass(frozen=True, eq=False)
class _Text:
    """One text to be written: the tokens that it goes on from, those of the prompt after ``before`` others, and its own
    random numbers."""

    place: int
    prompt: str
    number: int
    context: Int[np.ndarray, " tokens"]
    before: int
    random: np.random.Generator


def _context(tokenizer: Tokenizer, before: str, prompt: str) -> tuple[Int[np.ndarray, " tokens"], int]:
    """The tokens that a text goes on from, and how many of them are those of ``before``.

    The two are encoded apart, as separators and stories are in training.
    """
    if not before and not prompt:
        raise ValueError('prompt = "": must not be empty where nothing stands before it')
    parts = []
    for name, text in (("what stands before", before), ("prompt", prompt)):
        try:
            parts.append(tokenizer.encode(text).astype(np.int64))
        except ValueError as error:
            raise ValueError(f"{name} {text!r}: {error.args[0]}") from None
    return np.concatenate(parts), len(parts[0])


def _stream(seed: int, prompt: str, number: int) -> np.random.Generator:
    """Of one text. The first sample's does not depend on how many there are."""
    return stream(seed, "more samples", f"{number}/{prompt}") if number else stream(seed, "sample", prompt)


def _write(
    model: Model,
    tokenizer: Tokenizer,
    texts: Sequence[_Text],
    sampling: Sampling,
    stop: Sequence[str],
    rows: int,
    decoder: MakeDecoder,
) -> Iterator[Piece]:
    if not texts:
        return
    rows = min(rows, len(texts))
    waiting = deque(texts)
    writing: dict[int, tuple[_Text, GrowingText]] = {}
    seen = np.zeros((rows, tokenizer.vocabulary_size), bool) if sampling.repetition_penalty != 1 else None
    with _evaluated(model):
        decoded = decoder(model, rows)
        while waiting or writing:
            begun = {}
            for row in range(rows):
                if row not in writing and waiting:
                    text = waiting.popleft()
                    growing = GrowingText(tokenizer, stop, sampling.tokens, sampling.characters)
                    writing[row], begun[row] = (text, growing), text.context
                    if seen is not None:
                        seen[row] = False
                        seen[row, text.context[text.before :]] = True
            if begun:
                decoded.begin(begun)
            draws = np.zeros(rows)
            for row, (text, _) in writing.items():
                draws[row] = text.random.random()
            tokens = pick(decoded.scores().cpu().numpy(), draws, sampling, seen)
            if seen is not None:
                seen[np.arange(rows), tokens] = True
            for row, (text, growing) in [*writing.items()]:
                new = growing.append(int(tokens[row]))
                if growing.complete:
                    del writing[row]
                    whole = Continuation(
                        text.prompt, text.number, growing.text, growing.tokens, growing.stopped
                    )
                    yield Piece(text.place, new, whole)
                elif new:
                    yield Piece(text.place, new, None)
            if writing:
                decoded.append(tokens)


@contextmanager
def _evaluated(model: Model) -> Iterator[None]:
    """The model without dropout; afterwards it is as it was."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)
