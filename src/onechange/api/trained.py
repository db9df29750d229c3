"""A trained model from a run's folder: it writes, reads, and is measured."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
import torch

from onechange import cached, chances, checkpoint_reader, generate, notebook
from onechange.api.read_text import ReadText
from onechange.api.stories import Stories
from onechange.api.table import Table
from onechange.checkpoint import Which
from onechange.export import origin
from onechange.model import Model, parameter_count
from onechange.recipe import Recipe
from onechange.sampling import Sampling
from onechange.surprises import surprises
from onechange.tokenizer import Tokenizer
from onechange.verbs.exporting import FORMATS
from onechange.verbs.measuring import measured
from onechange.verbs.preparing import shown

_ALTERNATIVES = 5


def load_run(folder: str | Path, checkpoint: Which | int = "best", *, trust: bool = False) -> "TrainedRun":
    """The model that the run in ``folder`` keeps: its best or last checkpoint, or that of a step.

    Raises a `LookupError` or `ValueError` that says what is missing or broken. Code that the folder keeps of members
    from outside is executed only with ``trust``.
    """
    return TrainedRun(Path(folder), checkpoint, trust)


@final
class TrainedRun:
    """``model`` is a torch module in evaluation mode: ids, [batch, time], to features; its ``logits`` scores those."""

    def __init__(self, folder: Path, checkpoint: Which | int, trust: bool) -> None:
        self.folder = folder
        self.checkpoint: Which | int = checkpoint
        self._trained = checkpoint_reader.read(folder, checkpoint, trust)

    @property
    def recipe(self) -> Recipe:
        """Everything that determined the run."""
        return self._trained.recipe

    @property
    def model(self) -> Model:
        """The model."""
        return self._trained.model

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer."""
        return self._trained.tokenizer

    @property
    def step(self) -> int:
        """At which step of training the model was kept."""
        return self._trained.step

    @property
    def separator(self) -> str:
        """What stands before every story, in training and here."""
        return self.recipe.corpus["separator"]

    def write(self, prompts: str | Sequence[str], **settings: Any) -> Stories:
        """Continue one prompt or several.

        ``settings`` are those of `onechange.sampling.Sampling`: ``seed``, ``samples`` per prompt, ``characters`` or
        ``tokens``, ``temperature`` (0: the likeliest token), ``top_k``, ``top_p``, ``min_p``. The same seed gives the
        same text.
        """
        try:
            sampling = Sampling(**settings).ending_at(self.separator)
        except TypeError:
            unknown = [key for key in settings if key not in Sampling.__struct_fields__]
            raise ValueError(
                f"no setting {', '.join(unknown)}; there is {', '.join(Sampling.__struct_fields__)}"
            ) from None
        asked = [prompts] if isinstance(prompts, str) else list(prompts)
        return Stories(
            generate.generate(
                self.model, self.tokenizer, asked, sampling, before=self.separator, decoder=cached.decoder
            )
        )

    def next_tokens(self, prompt: str, number: int = 10) -> Table:
        """The ``number`` likeliest tokens after ``prompt``, the beginning of a story, with their probabilities."""
        parts = [self.tokenizer.encode(part) for part in (self.separator, prompt)]
        ids = np.concatenate(parts)[-self.recipe.window :]
        with torch.no_grad():
            features = self.model(torch.from_numpy(ids).long()[None])
            scores = self.model.logits(features[0, -1]).numpy()
        texts = self.tokenizer.tokens()
        logs = chances.logarithms(scores)
        rows = [
            {"token": texts[one], "id": one, "probability": math.exp(logs[one])}
            for one in chances.likeliest(scores, number)
        ]
        return Table(("token", "id", "probability"), rows)

    def read(self, text: str) -> ReadText:
        """How surprised the model is by every token of ``text``, a story or its beginning."""
        if not text:
            raise ValueError("the text is empty: there is nothing to read")
        texts = self.tokenizer.tokens()
        ids = self.tokenizer.encode(text).astype("int64")
        before = self.tokenizer.encode(self.separator).astype("int64")
        stretches = surprises(self.model, self.tokenizer, texts, ids, before, _ALTERNATIVES)
        return ReadText(text, [token for stretch in stretches for token in stretch])

    @shown()
    def measure(self, data: str | None = None) -> dict[str, Any]:
        """The exact ruler on the run's validation text, or on all of the text of ``data`` (``file:PATH``, …).

        Among the keys: ``nats_per_character``, ``bits_per_byte``, ``low`` and ``high`` (95%, over the text).
        """
        return measured(self.folder, self._trained, data, "float32")

    def export(self, to: str, folder: str | Path) -> Path:
        """Write the model for other programs, ``"hf"`` or ``"safetensors"``, and try it there (docs/how-to/export.md).

        A `ValueError` says which member fits nowhere, or that ``folder`` is not empty; then nothing is left of it.
        """
        if to not in FORMATS:
            raise ValueError(f"to = {to!r}: must be one of {', '.join(FORMATS)}")
        named = f"step-{self.step}" if isinstance(self.checkpoint, int) else self.checkpoint
        return FORMATS[to](origin.read(self.folder, named, self.checkpoint, False), Path(folder)).folder

    def __repr__(self) -> str:
        return f"TrainedRun {self.folder}, {self.checkpoint} checkpoint, step {self.step}"

    def _repr_html_(self) -> str:
        recipe = self.recipe
        rows = [
            ("checkpoint", f"{self.checkpoint}, step {self.step:,}"),
            ("parameters", f"{parameter_count(self.model):,}"),
            ("tokens", f"{self.tokenizer.vocabulary_size:,}"),
            ("sizes", f"{recipe.layers} layers, {recipe.heads} heads, width {recipe.width}, "
                      f"window {recipe.window} tokens"),
            *((name, str(member["name"])) for name, member in recipe.members.items()),
        ]  # fmt: skip
        return notebook.facts(str(self.folder), rows)
