"""The whole training loop on one page: batch, update, now and then an evaluation and a checkpoint.

A run killed at any instant goes on from its last checkpoint and ends bit for bit as if it had not been: batches,
dropout and rates are functions of the step, and everything else is in the checkpoint.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import torch

from onechange import device, evaluate
from onechange.checkpoint import Checkpoints
from onechange.dataset import Dataset
from onechange.engine import Engine, NotFinite
from onechange.history import History
from onechange.operations import per_token
from onechange.processes import ALONE, Group
from onechange.recipe import Recipe
from onechange.windows import Windows

SECONDS_BETWEEN_CHECKPOINTS = 300.0


@dataclass(frozen=True)
class Moment:
    """Where a run stands, for whoever watches it."""

    step: int
    steps: int
    batch_loss: float
    tokens_per_second: float
    seconds_left: float
    validation_nats_per_character: float | None = None


Watch = Callable[[Moment], None]


def train(
    recipe: Recipe,
    data: Dataset,
    run: Path,
    watch: Watch = lambda moment: None,
    *,
    group: Group = ALONE,
    wanted: Callable[[], bool] = lambda: False,
    seconds_between_checkpoints: float = SECONDS_BETWEEN_CHECKPOINTS,
) -> None:
    """Train to the recipe's last step, or go on from the folder's last checkpoint.

    Leaves `metrics.jsonl`, `timing.jsonl` and the best and last checkpoint in ``run``. Raises `NotFinite`, naming the
    step, if a loss is no number any more; the last good checkpoint stays.

    In a ``group`` of several processes the first one is in here and the others in `onechange.following`. Once one of
    them was asked to stop (``wanted``), all do after the same step: with a checkpoint, and here `KeyboardInterrupt`.
    """
    run.mkdir(parents=True, exist_ok=True)
    group.order(msgspec.to_builtins(recipe), device.backend(recipe.device))
    engine = Engine(recipe, data.tokenizer.vocabulary_size, group, wanted)
    windows = Windows(data.training, recipe.seed, recipe.batch, recipe.window)
    checkpoints = Checkpoints(run)
    metrics, timing = History(run / "metrics.jsonl"), History(run / "timing.jsonl")
    operations = per_token(engine.model, engine.model.sizes)
    batch_tokens = recipe.batch * recipe.window

    resumed = checkpoints.step("last") or 0
    characters = 0
    if resumed:
        characters = checkpoints.load(resumed, engine.model, engine.optimizer)["characters"]
    engine.start(resumed)
    metrics.cut(resumed)
    timing.cut(resumed)
    if resumed:  # a kill may have moved `best` on, or left folders that no pointer names
        checkpoints.point("best", _best(metrics))
        checkpoints.tidy()
    spent = timing.rows()[-1]["seconds"] if resumed else 0.0
    started = saved = time.monotonic()

    def elapsed() -> float:
        return spent + time.monotonic() - started

    for step in range(resumed + 1, recipe.steps + 1):
        tokens, targets, held = windows.batch(step)
        batch_loss = engine.update(step, torch.from_numpy(tokens), torch.from_numpy(targets))
        characters += held

        due = evaluation_is_due(recipe, step)
        validation = None
        if due:
            row = {
                "step": step,
                "tokens": step * batch_tokens,
                "characters": characters,
                "operations": step * batch_tokens * operations,
                "batch_loss": batch_loss,
                **losses(engine, data, step),
            }
            validation = row["validation_nats_per_character"]
            metrics.append(row)
        late = time.monotonic() - saved > seconds_between_checkpoints
        if due or (
            (late or engine.stopping) and engine.is_finite()
        ):  # an evaluation has looked at the weights itself
            timing.append(
                {"step": step, "seconds": elapsed(), "peak_memory_bytes": device.peak_memory(engine.device)}
            )
            checkpoints.save(step, engine.model, engine.optimizer, {"characters": characters})
            checkpoints.point("best", _best(metrics))
            checkpoints.point("last", step)
            checkpoints.tidy()
            saved = time.monotonic()
        done = step - resumed
        speed = done / max(1e-9, time.monotonic() - started)
        watch(
            Moment(
                step,
                recipe.steps,
                batch_loss,
                speed * batch_tokens,
                (recipe.steps - step) / speed,
                validation,
            )
        )
        if engine.stopping and step < recipe.steps:
            raise KeyboardInterrupt


def _best(metrics: History) -> int:
    """The step of the lowest validation loss, the earliest among equals."""
    return min(metrics.rows(), key=lambda row: row["validation_loss"])["step"]


def evaluation_is_due(recipe: Recipe, step: int) -> bool:
    """Whether the run is evaluated after ``step``: the first, the last, and every so many between."""
    return step == 1 or step % recipe.evaluate_every == 0 or step == recipe.steps


def losses(engine: Engine, data: Dataset, step: int) -> dict[str, float]:
    """Both losses in nats per token and per character; the processes of a run share the work."""
    recipe = engine.recipe
    found = {}
    samples = {"training": data.training_sample, "validation": data.validation.ids}
    lengths = data.training_sample_characters, data.validation.characters
    for (name, ids), characters in zip(samples.items(), lengths, strict=True):
        if not len(ids):
            raise ValueError("the validation text is empty: a corpus needs at least one validation story")
        value = evaluate.loss(engine.evaluated, ids, data.separator, recipe.window, engine.rows, engine.group)
        if not math.isfinite(value):
            raise NotFinite(f"the {name} loss at step {step} is {value}")
        found[f"{name}_loss"] = value
        found[f"{name}_nats_per_character"] = value * len(ids) / characters
    return found
