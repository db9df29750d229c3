"""TensorBoard's event files, one folder a run. `tensorboard --logdir OUT/tracking/tensorboard` shows them."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from onechange.tracker import Tracker

SCALARS = {
    "nats_per_character/training": "training_nats_per_character",
    "nats_per_character/validation": "validation_nats_per_character",
    "nats_per_token/batch": "batch_loss",
    "nats_per_token/training": "training_loss",
    "nats_per_token/validation": "validation_loss",
    "spent/characters": "characters",
    "spent/operations": "operations",
    "spent/seconds": "seconds",
}
"""The key of a row behind each name."""
RULER = ("nats_per_character", "nats_per_token", "bits_per_byte")
_EVENTS = "events.out.tfevents.*"


class TensorBoard(Tracker):
    """A run that is told anew is written anew, so no step stands there twice."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._writers: dict[tuple[str, int], SummaryWriter] = {}
        self._began: dict[tuple[str, int], float] = {}

    def begin(self, arm: str, seed: int, recipe: Mapping[str, Any], run: Path) -> None:
        if (arm, seed) in self._writers:
            self._writers.pop((arm, seed)).close()
        folder = self.folder / arm / f"seed-{seed}"
        for old in folder.glob(_EVENTS):
            old.unlink()
        writer = self._writers[arm, seed] = SummaryWriter(str(folder))
        self._began[arm, seed] = time.time()
        writer.add_text("recipe", f"```\n{json.dumps(recipe, indent=1, ensure_ascii=False)}\n```", 0)
        writer.flush()

    def row(self, arm: str, seed: int, row: Mapping[str, Any]) -> None:
        writer = self._writers[arm, seed]
        # As if the run had been watched from its start: the axis of time is that of training.
        when = self._began[arm, seed] + (row.get("seconds") or 0.0)
        for name, key in SCALARS.items():
            if row.get(key) is not None:
                writer.add_scalar(name, row[key], row["step"], when)
        writer.flush()

    def end(self, arm: str, seed: int, measures: Mapping[str, Any] | None) -> None:
        writer = self._writers.pop((arm, seed))
        for which in ("best", "last") if measures else ():
            figures = measures[which] if measures else {}
            for key in RULER:
                writer.add_scalar(f"ruler_{which}/{key}", figures[key], figures["step"])
        if measures is None:
            writer.add_text("failed", "The run failed; its last good checkpoint is kept.", 0)
        writer.close()

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()
