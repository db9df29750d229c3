"""The whole training loop on one page: batch, update, now and then an evaluation and a checkpoint.

A run killed at any instant goes on from its last checkpoint and ends bit for bit as if it had not been: batches,
dropout and rates are functions of the step, and everything else is in the checkpoint.
"""

import math
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import torch

from onechange import device, evaluate, outside, recovery
from onechange.checkpoint import Checkpoints
from onechange.dataset import Dataset
from onechange.engine import Engine
from onechange.finiteness import LeftOut, NotFinite, OnNonfinite, first_culprit
from onechange.history import History, best
from onechange.operations import per_token
from onechange.patience import exhausted
from onechange.processes import ALONE, Group
from onechange.recipe import Recipe
from onechange.stopping import Request, Stopped
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
    say: Callable[[str], None] = lambda note: None,
    stop: Request | None = None,
    on_nonfinite: OnNonfinite = "stop",
    seconds_between_checkpoints: float = SECONDS_BETWEEN_CHECKPOINTS,
) -> None:
    """Train to the recipe's last step, or go on from the folder's last good checkpoint; ``say`` is told of damage.

    A recipe with `patience` ends earlier, after an evaluation, once the validation loss has stopped falling.

    Leaves `metrics.jsonl`, `timing.jsonl` and the best and last checkpoint in ``run``. Raises `NotFinite`, naming the
    step, if a loss or a gradient is no number any more; the last good checkpoint stays. With ``on_nonfinite`` "skip"
    the update of such a step is left out instead. Raises `Stopped` once ``stop`` is asked for and the step is saved.

    In a ``group`` of several processes the first one is in here and the others in `onechange.following`. Once one of
    them was asked to stop, all do, after the same step.
    """
    run.mkdir(parents=True, exist_ok=True)
    stop = stop or Request()
    codes = msgspec.to_builtins(outside.codes(recipe.members))
    order = {"recipe": msgspec.to_builtins(recipe), "on_nonfinite": on_nonfinite, "codes": codes}
    group.order(order, device.backend(recipe.device))
    engine = Engine(recipe, data.tokenizer.vocabulary_size, group, lambda: stop.signal is not None)
    windows = Windows(data.training, recipe.seed, recipe.batch, recipe.window)
    checkpoints = Checkpoints(run)
    metrics, timing = History(run / "metrics.jsonl"), History(run / "timing.jsonl")
    operations = per_token(engine.model, engine.model.sizes)
    batch_tokens = recipe.batch * recipe.window

    resumed = recovery.settle(checkpoints, metrics, timing, recipe.steps, say)
    before = checkpoints.load(resumed, engine.model, engine.optimizer) if resumed else {}
    characters = before.get("characters", 0)
    left_out = LeftOut(on_nonfinite, before)
    ended = exhausted(metrics.rows(), recipe.patience)
    engine.start({"step": recipe.steps if ended else resumed, **left_out.state})
    if ended:
        checkpoints.tidy(finished=True)
        return
    spent = max((row["seconds"] for row in timing.rows()), default=0.0)
    started = saved = time.monotonic()
    kept = resumed

    def elapsed() -> float:
        return spent + time.monotonic() - started

    for step in range(resumed + 1, recipe.steps + 1):
        tokens, targets, held = windows.batch(step)
        try:
            batch_loss = engine.update(step, torch.from_numpy(tokens), torch.from_numpy(targets))
            left_out.made()
        except NotFinite as error:
            left_out.leave_out(error, engine.model)
            batch_loss = math.nan
        characters += held

        due = evaluation_is_due(recipe, step)
        validation = None
        if due:
            row = {
                "step": step,
                "tokens": step * batch_tokens,
                "characters": characters,
                "operations": step * batch_tokens * operations,
                "batch_loss": batch_loss if math.isfinite(batch_loss) else None,
                **losses(engine, data, step),
            }
            validation = row["validation_nats_per_character"]
            metrics.append(row)
            ended = ends_early(metrics, recipe, group)
        stopped = stop.signal
        if group.size > 1:  # all of them must stop after the same step
            stopped = (stopped or signal.SIGTERM) if engine.stopping else None
        late = stopped is not None or time.monotonic() - saved > seconds_between_checkpoints
        if due or (late and engine.is_finite()):  # an evaluation has looked at the weights itself
            spent_so_far = {"seconds": elapsed(), "peak_memory_bytes": device.peak_memory(engine.device)}
            timing.append({"step": step, **spent_so_far, "left_out": left_out.total})
            state = {"characters": characters, "history": metrics.mark(), **left_out.state}
            checkpoints.save(step, engine.model, engine.optimizer, state)
            checkpoints.point("best", best(metrics.rows()))
            checkpoints.point("last", step)
            checkpoints.tidy(finished=ended or step == recipe.steps)
            saved, kept = time.monotonic(), step
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
        if stopped is not None:
            raise Stopped(stopped, kept, recipe.steps)
        if ended:
            break
    if left_out.total:
        say(f"{left_out.total:,} steps were left out: their loss or gradient was not finite")


def evaluation_is_due(recipe: Recipe, step: int) -> bool:
    """Whether the run is evaluated after ``step``: the first, the last, and every so many between."""
    return step == 1 or step % recipe.evaluate_every == 0 or step == recipe.steps


def ends_early(metrics: History | None, recipe: Recipe, group: Group) -> bool:
    """Whether the evaluation just made is the last one by the recipe's patience.

    Only the first process of a group has ``metrics``; it tells the others.
    """
    if not recipe.patience:
        return False
    mine = metrics is not None and exhausted(metrics.rows(), recipe.patience)
    return group.sum([float(mine)])[0] > 0


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
            raise NotFinite(f"the {name} loss at step {step} is {value}; {first_culprit(engine.model)}")
        found[f"{name}_loss"] = value
        found[f"{name}_nats_per_character"] = value * len(ids) / characters
    return found
