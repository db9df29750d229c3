"""What a checkpoint is put through besides the ruler: longer texts, the same passage elsewhere, where its heads look.

Each looks at the beginning of the validation text alone, the same for every arm, so that its time does not grow with
the corpus. Nothing here judges: the figures say how a model comes to its nats per character, not how good it is.
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Int

from onechange.attention_distance import by_distance
from onechange.encoding import Encoding
from onechange.longer_texts import longer
from onechange.model import Model
from onechange.shift_test import shift

MOST_CHARACTERS = 20_000
"""So much of the validation text is read."""


@torch.no_grad()
def probed(model: Model, text: Encoding, separator: Int[np.ndarray, " tokens"]) -> dict[str, Any]:
    """The three probes, ready for JSON. Float32, dropout off; the same figures every time, on the same processor."""
    was_training = model.training
    model.eval()
    try:
        begun = text.ids[: beginning(text, MOST_CHARACTERS)].astype(np.int64)
        return {
            "longer": longer(model, begun, text.tokens.characters, separator),
            "shift": shift(model, text, separator),
            "attention": by_distance(model, begun),
        }
    finally:
        model.train(was_training)


def beginning(text: Encoding, characters: int) -> int:
    """How many tokens the first whole stories have that hold so many ``characters`` at most.

    Where the first story alone is longer, it is cut: at the first of its tokens to begin that far.
    """
    whole = int(np.searchsorted(text.story_characters.cumsum(), characters, side="right"))
    return int(text.story_tokens[:whole].sum()) if whole else text.first_token(characters)
