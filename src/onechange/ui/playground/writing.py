"""One model's writing, line by line: first what it goes on from, then every token as it comes, last why it ended."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from onechange import chances
from onechange.generate import Piece, write
from onechange.places import placed
from onechange.stream_decoding import StreamDecoder
from onechange.ui.playground.asked import Write
from onechange.ui.playground.models import Held

ALTERNATIVES = 8


def lines(held: Held, asked: Write) -> Iterator[dict[str, Any]]:
    """What the page is told, one object at a time. A `ValueError` at once if the model cannot go on from the prompt.

    The text is that of `onechange sample` with the same settings.
    """
    sampling = asked.sampling.sampling()
    if not asked.go_on:
        sampling = sampling.ending_at(held.separator)
    trained = held.trained
    ids = held.ids("prompt", asked.prompt)
    pieces = write(
        trained.model, trained.tokenizer, [asked.prompt], sampling, before=held.separator, explained=True
    )
    return _lines(held, ids, pieces)


def _lines(held: Held, ids: np.ndarray, pieces: Iterator[Piece]) -> Iterator[dict[str, Any]]:
    tokenizer = held.trained.tokenizer
    spans = placed(tokenizer, ids)
    yield {
        "step": held.trained.step,
        "window": held.trained.model.sizes.window,
        "vocabulary": tokenizer.vocabulary_size,
        "prompt": [
            {"id": number, "token": held.tokens[number], "start": start, "end": end}
            for number, (start, end) in zip(ids.tolist(), spans, strict=True)
        ],
    }
    whole_characters = StreamDecoder(tokenizer)
    for piece in pieces:
        step = piece.step
        assert step is not None, "every token was asked for"
        about = chances.told(step.scores, step.token, held.tokens, ALTERNATIVES)
        for other in about["alternatives"]:
            other["share"] = float(step.shares[other["id"]])
            other["allowed"] = other["share"] > 0
        yield {
            "text": piece.text,
            "own": whole_characters.feed([step.token]),
            **about,
            "share": float(step.shares[step.token]),
            "allowed": int((step.shares > 0).sum()),
        }
        if piece.whole is not None:
            why = "story" if piece.whole.ended else "length"
            yield {"ended": why, "tokens": piece.whole.tokens, "characters": len(piece.whole.text)}
