"""Continuing prompts: many texts through a few rows of a model, each from a stream of random numbers of its own."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from onechange import cached
from onechange.decoding import Decoder
from onechange.growing_text import GrowingText
from onechange.model import Model
from onechange.picking import pick, shares
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


class Step(NamedTuple):
    """How one token was chosen."""

    token: int
    scores: Float[np.ndarray, " vocabulary"]
    """Of every token in its place, as the model gave them: unnormalised log-probabilities, float32."""
    shares: Float[np.ndarray, " vocabulary"]
    """How likely each was to be chosen, the settings applied; float64."""


class Piece(NamedTuple):
    """A stretch of one of the texts that are written side by side."""

    place: int
    """Which text: every prompt's samples in their order, then the next prompt's."""
    prompt: str
    number: int
    """Which of the prompt's samples, from 0."""
    text: str
    """The characters that are certain since the text's last piece; empty at most in its last one."""
    whole: Continuation | None
    """The text, once it has ended: this is its last piece."""
    step: Step | None = None
    """The token that brought it, where this was asked for."""


def generate(
    model: Model,
    tokenizer: Tokenizer,
    prompts: Sequence[str],
    sampling: Sampling,
    *,
    before: str = "",
    rows: int = MOST_ROWS,
    decoder: MakeDecoder = cached.decoder,
) -> list[Continuation]:
    """The samples of the first prompt in their order, then those of the next; what holds for `write` holds here."""
    pieces = write(model, tokenizer, prompts, sampling, before=before, rows=rows, decoder=decoder)
    return gathered(pieces)


def gathered(pieces: Iterable[Piece]) -> list[Continuation]:
    """The texts of which ``pieces`` are all pieces, in their order."""
    found = {piece.place: piece.whole for piece in pieces if piece.whole is not None}
    return [found[place] for place in range(len(found))]


def write(
    model: Model,
    tokenizer: Tokenizer,
    prompts: Sequence[str],
    sampling: Sampling,
    *,
    before: str = "",
    rows: int = MOST_ROWS,
    decoder: MakeDecoder = cached.decoder,
    explained: bool = False,
) -> Iterator[Piece]:
    """The samples of all prompts at the same time, piece by piece, as soon as characters are certain.

    ``before`` stands before every prompt and is not shown: the corpus's separator, as in training; with it a prompt may
    be empty. At most ``rows`` texts are written at the same time; where one has ended, the next one begins.

    The same prompt, number and seed give the same text alone or beside others (ties aside). Raises a `ValueError` at
    once for an empty prompt with nothing before it, and for one with characters outside the alphabet.
    """
    texts: list[_Text] = []
    for prompt in prompts:
        ids, first = _context(tokenizer, before, prompt)
        for number in range(sampling.samples):
            random = _stream(sampling.seed, prompt, number)
            texts.append(_Text(len(texts), prompt, number, ids, first, random))
    return _write(model, tokenizer, texts, sampling, rows, decoder, explained)


@dataclass(frozen=True, eq=False)
class _Text:
    """One text to be written: the tokens that it goes on from, the place of the prompt's first among them, and its own
    random numbers."""

    place: int
    prompt: str
    number: int
    context: Int[np.ndarray, " tokens"]
    first: int
    random: np.random.Generator


def _context(tokenizer: Tokenizer, before: str, prompt: str) -> tuple[Int[np.ndarray, " tokens"], int]:
    """The tokens that a text goes on from, and the place of the prompt's first among them.

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
    rows: int,
    decoder: MakeDecoder,
    explained: bool,
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
                    growing = GrowingText(tokenizer, sampling)
                    writing[row], begun[row] = (text, growing), text.context
                    if seen is not None:
                        seen[row] = False
                        seen[row, text.context[text.first :]] = True
            if begun:
                decoded.begin(begun)
            draws = np.zeros(rows)
            for row, (text, _) in writing.items():
                draws[row] = text.random.random()
            scores = decoded.scores().cpu().numpy()
            tokens = pick(scores, draws, sampling, seen)
            chances = shares(scores, sampling, seen) if explained else None
            if seen is not None:
                seen[np.arange(rows), tokens] = True
            for row, (text, growing) in [*writing.items()]:
                new, whole = growing.append(int(tokens[row])), None
                if growing.complete:
                    del writing[row]
                    whole = Continuation(
                        text.prompt, text.number, growing.text, growing.tokens, growing.stopped
                    )
                step = None if chances is None else Step(int(tokens[row]), scores[row], chances[row])
                if new or whole or step:
                    yield Piece(text.place, text.prompt, text.number, new, whole, step)
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
