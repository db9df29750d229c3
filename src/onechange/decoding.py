"""Texts that a model goes on with, row by row: what stands in each, and the scores of its next token.

When a row's window is full, its last half is kept and read anew at positions 0, 1, 2, …, for every member alike.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int, Integer
from torch import Tensor

from onechange.model import Model


class Decoder(ABC):
    """A fixed number of rows, each of which holds one text at a time and knows nothing of the others.

    The model must be in the state in which it is evaluated (`torch.nn.Module.eval`).
    """

    rows: int

    @abstractmethod
    def begin(self, texts: Mapping[int, Int[np.ndarray, " tokens"]]) -> None:
        """These rows hold new texts now, whatever they held. No text is empty; of one that is longer than the window,
        the last half window is kept."""

    @abstractmethod
    def scores(self) -> Float[Tensor, "rows vocabulary"]:
        """Of every row's next token: unnormalised log-probabilities, float32. Those of a row that was never begun mean
        nothing."""

    @abstractmethod
    def append(self, tokens: Integer[np.ndarray, " rows"]) -> None:
        """Every row goes on with a token, those that nobody reads any more too."""


@final
class Recomputing(Decoder):
    """All tokens of all rows through the model, at every step: slow, and so plain that others are tested against it."""

    def __init__(self, model: Model, rows: int) -> None:
        self.rows = rows
        self._model = model
        self._texts: list[np.ndarray] = [np.zeros(1, np.int64)] * rows

    def begin(self, texts: Mapping[int, Int[np.ndarray, " tokens"]]) -> None:
        """See `Decoder.begin`."""
        for row, ids in texts.items():
            self._texts[row] = kept(ids, self._model.sizes.window)

    @torch.no_grad()
    def scores(self) -> Float[Tensor, "rows vocabulary"]:
        """See `Decoder.scores`. Shorter texts are filled up behind, where causal attention cannot look."""
        longest = max(map(len, self._texts))
        filled = np.zeros((self.rows, longest), np.int64)
        for row, ids in enumerate(self._texts):
            filled[row, : len(ids)] = ids
        device = self._model.embedding.device
        last = torch.tensor([len(ids) - 1 for ids in self._texts], device=device)
        features = self._model(torch.from_numpy(filled).to(device))
        return self._model.logits(features[torch.arange(self.rows, device=device), last])

    def append(self, tokens: Integer[np.ndarray, " rows"]) -> None:
        """See `Decoder.append`."""
        window = self._model.sizes.window
        self._texts = [
            kept(np.append(ids, token), window) for ids, token in zip(self._texts, tokens, strict=True)
        ]


def kept(ids: Int[np.ndarray, " tokens"], window: int) -> Int[np.ndarray, " kept"]:
    """What a model still sees of a text: all of it, or its last half window once it is more than a window."""
    return ids if len(ids) <= window else ids[-max(1, window // 2) :]
