"""Steps of the key/value cache, compiled, beside the same model read anew: a program, its answer is JSON."""

import json
import sys
from typing import cast

import numpy as np
import torch

from onechange.cached import Cached
from onechange.decoding import Recomputing
from onechange.row_linear import Weights, rounded
from small_models import small_model

STEPS, VOCABULARY, WINDOW = 90, 29, 70


def compared(weights: Weights, rows: int, position: str) -> dict[str, object]:
    """How far the compiled scores are from the truth, as a share of the largest score."""
    chance = np.random.default_rng(2)
    model = small_model(VOCABULARY, WINDOW, position=position).eval()
    texts = {row: chance.integers(0, VOCABULARY, 5 + row) for row in range(rows)}
    compiled, truth = (
        Cached(model, rows, weights=weights, compiled=True),
        Recomputing(rounded(model, weights), rows),
    )
    worst, written = 0.0, set()
    for found in (compiled, truth):
        found.begin(texts)
    for _ in range(STEPS):
        scores = truth.scores()
        worst = max(worst, float((compiled.scores() - scores).abs().max() / scores.abs().max()))
        tokens = scores.argmax(-1).numpy()
        written.update(tokens.tolist())
        for found in (compiled, truth):
            found.append(tokens)
    return {
        "weights": weights,
        "rows": rows,
        "position": position,
        "steps": STEPS,
        "distinct": len(written),
        "from_plain": worst,
    }


torch.set_num_threads(1)
held, number = sys.argv[1], int(sys.argv[2])
# Two models: what was compiled for the first must not serve the second.
print(json.dumps([compared(cast(Weights, held), number, position) for position in ("rope", "learned")]))
