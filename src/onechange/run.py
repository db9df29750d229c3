"""One run from recipe to record: train, then measure and sample the best and the last checkpoint from the disk."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

from safetensors.numpy import save

from onechange import (
    atomic,
    checkpoint_reader,
    differences,
    heartbeat,
    json_file,
    kept_code,
    probes,
    processor,
    stopping,
    tokenizer_file,
)
from onechange import measure as ruler
from onechange.checkpoint import Which
from onechange.checkpoint_reader import Trained
from onechange.dataset import Dataset
from onechange.finiteness import OnNonfinite
from onechange.history import History
from onechange.processes import ALONE, Group
from onechange.readings import measured as measure
from onechange.recipe import Recipe
from onechange.sampling import Sampling
from onechange.stopping import Stopped
from onechange.training import Watch, train
from onechange.written import written


def finished(run: Path, recipe: Recipe) -> bool:
    """Whether ``run`` holds all that `execute` writes for this recipe.

    Raises a `ValueError` if it holds a run of another recipe.
    """
    path = run / "recipe.toml"
    if not path.is_file():
        return False
    changed = differences.of_recipes(Recipe.read(path), recipe) or _versions_changed(run, recipe)
    if changed:
        raise ValueError(f"{run} holds a run of another recipe: {changed}; choose another --out")
    return (run / "measures.json").is_file()


def _versions_changed(run: Path, recipe: Recipe) -> str:
    """Components whose numbers have changed since the run began: its recipe reads the same."""
    path = run / "environment.json"
    if not path.is_file():
        return ""
    held = json_file.read(path).get("components")
    return differences.of_versions(held, recipe.versions) if isinstance(held, dict) else ""


def execute(
    recipe: Recipe,
    data: Dataset,
    sampling: Sampling,
    prompts: Sequence[str],
    run: Path,
    watch: Watch,
    say: Callable[[str], None] = lambda note: None,
    group: Group = ALONE,
    on_nonfinite: OnNonfinite = "stop",
) -> None:
    """Make or go on with the run in the folder ``run``. `measures.json` is written last: with it the run is done.

    ``say`` is told of damage; ``on_nonfinite`` is as in `onechange.training.train`. Ctrl-C and SIGTERM while it trains
    end in `Stopped`, after the step has been saved.
    """
    run.mkdir(parents=True, exist_ok=True)
    (run / "failure.json").unlink(missing_ok=True)
    atomic.write(run / "recipe.toml", recipe.to_toml())
    tokenizer_file.keep(data.tokenizer, recipe.tokenizer, run)
    kept_code.keep(recipe, run)
    atomic.write(run / "environment.json", _pretty(environment(recipe, group.size)))
    with stopping.deferred() as stop, heartbeat.beating(run, watch) as beat:
        train(recipe, data, run, beat, say=say, stop=stop, group=group, on_nonfinite=on_nonfinite)
    if stop.signal is not None:
        raise Stopped(stop.signal, recipe.steps, recipe.steps)
    for folder in ("samples", "characters"):
        (run / folder).mkdir(exist_ok=True)
    measures = {}
    # A run that ends at its best is read, measured and sampled once.
    done: dict[int, tuple[dict[str, Any], bytes, str]] = {}
    for which in get_args(Which):
        trained = checkpoint_reader.read(run, which)
        if trained.step not in done:
            figures, characters = _figures(trained, data, run)
            samples, stories = written(trained, sampling, prompts, data.corpus)
            more = {} if stories is None else {"written": stories}
            done[trained.step] = {**figures, **more}, characters, samples
        measures[which], characters, samples = done[trained.step]
        atomic.write(run / "samples" / f"{which}.jsonl", samples)
        atomic.write(run / "characters" / f"{which}.safetensors", characters)
    atomic.write(run / "measures.json", json.dumps(measures) + "\n")


def environment(recipe: Recipe, processes: int = 1) -> dict[str, Any]:
    """On what the run runs, and with what."""
    return {
        "machine": processor.machine(),
        "versions": processor.versions(),
        "device": recipe.device,
        "processes": processes,
        "threads": recipe.threads,
        "precision": recipe.precision,
        "compile": recipe.compile,
        "why_not_compile": processor.why_not_compile(),
        "identity": recipe.identity,
        "components": recipe.versions,
    }


def _figures(trained: Trained, data: Dataset, run: Path) -> tuple[dict[str, Any], bytes]:
    """What the ruler says of a checkpoint, and the surprise at every character as a file of tensors."""
    found, readings = measure(trained.model, trained.tokenizer, data.validation, data.separator)
    figures = found.to_json()
    history = {row["step"]: row for row in History(run / "metrics.jsonl").rows()}
    if trained.step in history:
        # The article's way: the evaluation's loss per token, times tokens per character of the whole text.
        figures["rough_nats_per_character"] = (
            history[trained.step]["validation_loss"] * figures["tokens"] / figures["characters"]
        )
    figures["readings"] = readings.to_json()
    figures["probes"] = probes.probed(trained.model, data.validation, data.separator)
    if data.test is not None:  # the checkpoints are chosen by now, and nothing else is
        figures["test"] = ruler.measure(trained.model, trained.tokenizer, data.test, data.separator).to_json()
    return {"step": trained.step, **figures}, save({"nats": readings.characters})


def _pretty(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
