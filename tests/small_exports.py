"""Runs to be exported that were never trained, all their weights random and far from where they begin; the command."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from onechange import atomic, study_file, tokenizer_file
from onechange.checkpoint import Checkpoints
from onechange.corpus.storyworld import Storyworld
from onechange.family import resolve
from onechange.model import Model
from onechange.plan import Means, Plan
from onechange.recipe import Recipe
from onechange.tokenizer import Tokenizer
from small_studies import Outcome, onechange

STORIES = 60
MEANS = Means(threads=1, precision="float32", compile=False)


def text(path: Path, stories: int = STORIES) -> Path:
    """Generated stories as a file."""
    world = Storyworld()
    told = (world.story(number).text for number in range(stories))
    path.write_text("\n<|endoftext|>\n".join(told), encoding="utf-8")
    return path


@cache
def plan(study: str, text: Path) -> Plan:
    """A shipped study at scale `tiny`; its tokenizers are learned once."""
    source = resolve("corpus", {"name": "file", "path": str(text)})
    found = study_file.load(study_file.locate(study))
    return Plan(found, "tiny", source, [0], found.names("tiny"), MEANS)


def arms() -> list[tuple[str, str]]:
    """Every arm of every shipped study."""
    named = {study: study_file.load(path) for study, path in study_file.builtin().items()}
    return [(name, arm) for name, study in named.items() for arm in study.names("tiny")]


def run(folder: Path, study: str, arm: str, text: Path, **other: Any) -> Path:
    """The arm's run in ``folder``, with ``other`` settings of its recipe."""
    planned = plan(study, text)
    recipe = planned.recipe(arm, 0)
    if other:
        settings = {key: getattr(recipe, key) for key in recipe.__struct_fields__}
        recipe = Recipe(**{**settings, **other})
    return saved(folder, recipe, planned.dataset(arm).tokenizer)


def saved(folder: Path, recipe: Recipe, tokenizer: Tokenizer, seed: int = 0) -> Path:
    """A run with one checkpoint: recipe, tokenizer and random weights."""
    folder.mkdir(parents=True)
    atomic.write(folder / "recipe.toml", recipe.to_toml())
    tokenizer_file.save(tokenizer, recipe.tokenizer, folder)
    model = Model(recipe.sizes(tokenizer.vocabulary_size), recipe.parts)
    disturb(model, seed)
    checkpoints = Checkpoints(folder)
    checkpoints.save(1, model, torch.optim.SGD(model.parameters()), {})
    checkpoints.point("best", 1)
    checkpoints.point("last", 1)
    return folder


@torch.no_grad()
def disturb(model: Model, seed: int) -> None:
    """Give every parameter random values, so that leaving out any one shows."""
    random = np.random.default_rng(seed)
    for parameter in model.parameters():
        gain = float(parameter.ndim == 1)
        deviation = 0.3 if parameter.ndim < 2 else 1.3 * parameter.shape[-1] ** -0.5
        drawn = torch.from_numpy(random.normal(gain, deviation, parameter.shape))
        parameter.copy_(drawn)


def of(study: Path, arm: str) -> Path:
    return study / "arms" / arm / "seed-0"


def export(run: Path, to: str, out: Path, *words: object) -> Outcome:
    return onechange("export", run, "--to", to, out, *words)


def refused(outcome: Outcome, *parts: str) -> None:
    """One line with all ``parts``."""
    assert outcome.status == 2 and outcome.err.count("\n") == 1, outcome
    for part in parts:
        assert part in outcome.err, outcome.err


def nothing_in(folder: Path) -> bool:
    """Neither a folder nor what becomes one."""
    return not [path for path in folder.iterdir() if path.name != "run"]
