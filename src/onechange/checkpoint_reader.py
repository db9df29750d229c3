"""A finished or unfinished run read back from its folder: recipe, tokenizer, model at one of its checkpoints."""

from dataclasses import dataclass
from pathlib import Path

import torch

from onechange import kept_code, tokenizer_file, untrusted
from onechange.checkpoint import Checkpoints, Which
from onechange.digest import Damaged
from onechange.model import Model
from onechange.recipe import Recipe
from onechange.tokenizer import Tokenizer

MOST_THREADS = 4096
"""More than any machine has: a process that asks for too many ends without a word."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A model as it lies on the disk."""

    recipe: Recipe
    tokenizer: Tokenizer
    model: Model
    step: int


def read(run: Path, which: Which | int, trust: bool = False) -> Trained:
    """The run in ``run`` at a checkpoint, or at that of a step if it is still there.

    A `LookupError` or `ValueError` says what is missing or broken.
    Code that ``run`` keeps of members from outside is executed only with ``trust`` (`onechange.kept_code`).
    """
    try:
        return _read(run, which, trust)
    except Damaged as error:
        finished = f"delete {run / 'measures.json'} and " if (run / "measures.json").is_file() else ""
        raise ValueError(
            f"{error}; {finished}`onechange run --resume` sets it aside and makes it again"
        ) from None


def _read(run: Path, which: Which | int, trust: bool) -> Trained:
    if not (run / "recipe.toml").is_file():
        raise LookupError(f"{run} is no run: it has no recipe.toml (a run is OUT/arms/ARM/seed-N)")
    untrusted.stay_inside(run)
    recipe = Recipe.read(run / "recipe.toml")
    if recipe.threads > MOST_THREADS:
        raise ValueError(f"{run / 'recipe.toml'}: threads = {recipe.threads}: must be at most {MOST_THREADS}")
    kept_code.take(recipe, run, trust)
    tokenizer = tokenizer_file.load(run)
    checkpoints = Checkpoints(run)
    step = _step(run, checkpoints, which)
    _check_sizes(run, recipe, tokenizer.vocabulary_size, checkpoints, step)
    torch.set_num_threads(recipe.threads)
    model = Model(recipe.sizes(tokenizer.vocabulary_size), recipe.parts).eval()
    checkpoints.load_weights(step, model)
    return Trained(recipe, tokenizer, model, step)


def _step(run: Path, checkpoints: Checkpoints, which: Which | int) -> int:
    if isinstance(which, int):
        there = sorted(checkpoints.steps())
        if which not in there:
            kept = ", ".join(f"step-{step}" for step in there) or "none"
            raise LookupError(f"{run} keeps no checkpoint of step {which}; there is {kept}")
        return which
    step = checkpoints.step(which)
    if step is None:
        raise LookupError(f"{run} has no checkpoint yet: it was stopped before its first evaluation")
    return step


def _check_sizes(run: Path, recipe: Recipe, vocabulary: int, checkpoints: Checkpoints, step: int) -> None:
    """A `ValueError` unless the recipe's model is the checkpoint's; found out without memory for either."""
    found = checkpoints.weights(step)
    if recipe.layers > found:  # before as many are made
        raise ValueError(
            f"{run / 'recipe.toml'}: layers = {recipe.layers}, but the checkpoint's weights are {found} tensors in all"
        )
    try:
        with torch.device("meta"):  # shapes only: nothing is allocated
            model = Model(recipe.sizes(vocabulary), recipe.parts)
    except (RuntimeError, OverflowError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{run / 'recipe.toml'}: its sizes make no model: {reason}") from None
    checkpoints.fits(step, model)
