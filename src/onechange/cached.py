"""Texts that go on with a key/value cache: each token is read once, until its window is full.

Every row has room for a window from the start, so that no step takes memory. What is read together is a row's whole
text when it begins, or its last half when its window is full; and otherwise one token of every row.
"""

from collections.abc import Mapping
from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int, Integer
from torch import Tensor

from onechange.compiled_step import compiled_step
from onechange.decoding import Decoder, Recomputing, kept
from onechange.key_value_cache import BLOCK, KeyValueCache, reading
from onechange.model import Model
from onechange.row_linear import RowLinear, Weights, rounded

READ_AT_ONCE = 16_384
"""Tokens of beginning texts that are read together."""


def decoder(model: Model, rows: int, *, weights: Weights = "float32", compiled: bool = False) -> Decoder:
    """The fastest way for ``model``, the settings being those of `Cached`.

    Attention that keeps nothing is read anew for every token, with weights as they are: a `ValueError` if others are
    asked for.
    """
    if remembers(model):
        return Cached(model, rows, weights=weights, compiled=compiled)
    if weights != "float32":
        raise ValueError(
            f"weights = {weights!r}: {type(model.blocks[0].attention).__name__} keeps no keys and values, and is read "
            "anew for every token with weights in float32"
        )
    return Recomputing(model, rows)


def remembers(model: Model) -> bool:
    """Whether the model's attention keeps anything, so that a cache is of use."""
    return model.room(1, 1, torch.float32) is not None


@final
class Cached(Decoder):
    """The same scores as `onechange.decoding.Recomputing`, up to rounding.

    ``weights``: how those of linear layers are held; with fewer than 32 bits keys and values are bf16 too.
    ``compiled``: the step of one token is compiled, once for any length of text; that takes seconds, and makes it
    times as fast. The model is copied, and stays as it is.
    """

    def __init__(
        self, model: Model, rows: int, *, weights: Weights = "float32", compiled: bool = False
    ) -> None:
        self.rows = rows
        self._window = model.sizes.window
        self._model = rounded(model, weights, alone=compiled and rows == 1)
        self._scorer = RowLinear(self._model.scoring, None, weights, alone=compiled and rows == 1)
        self._dtype = torch.float32 if weights == "float32" else torch.bfloat16
        self._blocks = 1 + max(2, -(-self._window // BLOCK))  # one more than is ever looked at, see `_places`
        self._store = self._room(rows, self._blocks)
        self._texts: list[list[int]] = [[0] for _ in range(rows)]  # of a row that was never begun, too
        self._scores = torch.zeros(rows, model.sizes.vocabulary)
        self._compiled = compiled
        # Of a single row weights are read as they are held.
        self._step = compiled_step(self._read, frozen=rows > 1) if compiled else self._read

    @torch.no_grad()
    def begin(self, texts: Mapping[int, Int[np.ndarray, " tokens"]]) -> None:
        """See `onechange.decoding.Decoder.begin`."""
        waiting = {row: kept(ids, self._window) for row, ids in texts.items()}
        for row, ids in waiting.items():
            self._texts[row] = ids.tolist()
        rows = sorted(waiting, key=lambda row: len(waiting[row]))  # of about one length together
        while rows:
            longest = len(waiting[rows[-1]])
            together = max(1, READ_AT_ONCE // longest)
            self._begin({row: waiting[row] for row in rows[-together:]}, longest)
            del rows[-together:]

    def scores(self) -> Float[Tensor, "rows vocabulary"]:
        """See `onechange.decoding.Decoder.scores`."""
        return self._scores

    @torch.no_grad()
    def append(self, tokens: Integer[np.ndarray, " rows"]) -> None:
        """See `onechange.decoding.Decoder.append`."""
        for text, token in zip(self._texts, tokens.tolist(), strict=True):
            text.append(token)
        full = {row: np.array(text) for row, text in enumerate(self._texts) if len(text) > self._window}
        if len(full) < self.rows:
            # A full row takes part in its last place; it is read anew below.
            last = [min(len(text), self._window) - 1 for text in self._texts]
            places = self._places(1 + max(last))
            given = torch.from_numpy(tokens.astype(np.int64))[:, None]
            features = self._step(given, torch.tensor(last)[:, None], places, self._store)
            self._scores = features
        self.begin(full)

    def _begin(self, texts: Mapping[int, Int[np.ndarray, " tokens"]], longest: int) -> None:
        """Shorter texts are filled up behind; what is kept of that is overwritten before it is seen."""
        filled = np.zeros((len(texts), longest), np.int64)
        for number, ids in enumerate(texts.values()):
            filled[number, : len(ids)] = ids
        rows, last = torch.tensor(list(texts)), torch.tensor([len(ids) - 1 for ids in texts.values()])
        positions = torch.arange(longest).expand(len(texts), -1)
        blocks = -(-longest // BLOCK)
        fresh = self._room(len(texts), blocks)
        places = torch.arange(blocks * BLOCK).view(blocks, BLOCK)
        features = self._features(torch.from_numpy(filled), positions, places, fresh)
        for (keys, values), (new_keys, new_values) in zip(self._store, fresh, strict=True):
            keys[:blocks, rows] = new_keys
            values[:blocks, rows] = new_values
        found = self._scorer(features[torch.arange(len(texts)), last])
        self._scores = self._scores.index_copy(0, rows, found)

    def _read(
        self,
        tokens: Int[Tensor, "rows 1"],
        positions: Int[Tensor, "rows 1"],
        places: Int[Tensor, "seen block"],
        store: list[tuple[Tensor, Tensor]],
    ) -> Float[Tensor, "rows vocabulary"]:
        return self._scorer(self._features(tokens, positions, places, store)).squeeze(1)

    def _features(
        self,
        tokens: Int[Tensor, "rows time"],
        positions: Int[Tensor, "rows time"],
        places: Int[Tensor, "seen block"],
        store: list[tuple[Tensor, Tensor]],
    ) -> Float[Tensor, "rows time width"]:
        now = reading(positions, places)
        caches = [KeyValueCache(keys, values, now) for keys, values in store]
        return self._model.go_on(tokens, caches)

    def _places(self, tokens: int) -> Int[Tensor, "seen block"]:
        """The blocks that hold so many tokens. Compiled code is made for any number of them but 1 and all."""
        blocks = max(2, -(-tokens // BLOCK))
        places = torch.arange(blocks * BLOCK).view(blocks, BLOCK)
        if self._compiled:
            torch._dynamo.mark_dynamic(places, 0, min=2, max=self._blocks - 1)
        return places

    def _room(self, rows: int, blocks: int) -> list[tuple[Tensor, Tensor]]:
        made = self._model.room(rows, blocks * BLOCK, self._dtype)
        assert made is not None, "attention that keeps nothing is read anew: see `remembers`"
        return made
