"""How long a run would take here, from a few real updates on a part of its batch."""

import heapq
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from statistics import median

import torch

from onechange import budget, processor
from onechange.dataset import Dataset
from onechange.engine import Engine
from onechange.finiteness import NotFinite
from onechange.plan import Plan
from onechange.recipe import Recipe
from onechange.windows import Windows

UPDATES = 3
TIMED_UPDATES = 7
COMPILED_SHARE = 0.65
"""A compiled step's time as a share of an eager one's, seen at the scales quick and full; here only to estimate."""


def seconds_per_step(recipe: Recipe, data: Dataset) -> float:
    """Estimated seconds of one step: the fastest of a few eager updates on an eighth of the batch, scaled up."""
    part = -(-recipe.batch // 8)
    eager = Recipe(
        **{name: getattr(recipe, name) for name in recipe.__struct_fields__ if name != "compile"},
        compile=False,
    )
    engine = Engine(eager, data.tokenizer.vocabulary_size)
    windows = Windows(data.training, recipe.seed, part, recipe.window)
    whole = min(_times(engine, windows, UPDATES)) * recipe.batch / part
    return whole * COMPILED_SHARE if recipe.compile else whole


def time_steps(plan: Plan, say: Callable[[str], None]) -> None:
    """Give ``plan`` the seconds of every arm's step, where its budget is one of seconds and they are not known.

    Each arm makes a few whole steps as its runs will make them. Tuning takes an arm's own time for all its values.
    """
    base = plan.study.settings(plan.study.base_name, plan.scale)
    if budget.kind(base["budget"]) != "seconds" or plan.seconds_per_step:
        return
    say("the budget is in seconds: a few steps of every arm are timed first")
    times: dict[str, float] = {}
    for arm in plan.study.names(plan.scale):
        seconds = _whole_step(plan.timed_recipe(arm), plan.dataset(arm))
        times |= dict.fromkeys((arm, *plan.study.candidates(arm, plan.scale).values()), seconds)
    plan.seconds_per_step.update(times)


def _whole_step(recipe: Recipe, data: Dataset) -> float:
    """The median of a few steps after one that compiles."""
    engine = Engine(recipe, data.tokenizer.vocabulary_size)
    windows = Windows(data.training, recipe.seed, recipe.batch, recipe.window)
    return median(_times(engine, windows, TIMED_UPDATES + 1)[1:])


def _times(engine: Engine, windows: Windows, updates: int) -> list[float]:
    times = []
    for step in range(1, updates + 1):
        tokens, targets, _ = windows.batch(step)
        started = time.perf_counter()
        with suppress(NotFinite):  # a run that will fail takes its time until then
            engine.update(step, torch.from_numpy(tokens), torch.from_numpy(targets))
        times.append(time.perf_counter() - started)
    return times


def side_by_side(seconds: Iterable[float], jobs: int, slower: float = 1.0) -> float:
    """Seconds until the last of several runs ends if the next one always goes to the first of ``jobs`` that is free.

    ``slower``: how many times longer each of them takes than alone; see `crowding`.
    """
    free_at = [0.0] * jobs
    for one in seconds:
        heapq.heapreplace(free_at, free_at[0] + one * slower)
    return max(free_at)


def crowding(jobs: int, threads: int) -> float:
    """How many times slower runs are assumed to be for going side by side: by as much as their threads outnumber the
    processors. That they share memory and caches too is not allowed for."""
    return max(1.0, jobs * threads / processor.threads(0))


def why_eager(plan: Plan) -> str | None:
    """Why a study that may compile will not, in words; ``None`` where it compiles or was told not to."""
    wanted = plan.study.settings(plan.study.base_name, plan.scale)["compile"]
    if plan.chosen.compile or wanted == "off":
        return None
    return processor.why_not_compile() or "too little work to be worth compiling"
