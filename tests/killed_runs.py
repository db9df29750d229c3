"""Trains in processes of their own that are killed at a chosen instant; reads one JSON request a line.

An instant is a place where a kill could hurt: before an operation on the disk, amid a write, before
and after an evaluation or an update. A request ``{"run", "recipe", "kill_at", "seconds"}`` is answered by
``{"status", "instants"}``: how the process ended, and the names of the instants of a run that was not killed.
"""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from onechange import checkpoint, engine, evaluate, family, training
from onechange.dataset import dataset, learn
from onechange.documents import Corpus
from onechange.recipe import Recipe
from onechange.settings import DEFAULTS

STORIES = [
    f"{who} saw a {what}. It was {how}!"
    for who in ("Tom", "Lily", "A dog")
    for what in ("cat", "big red kite")
    for how in ("lost", "very kind", "asleep")
]
CORPUS = Corpus(tuple(STORIES[:14]), tuple(STORIES[14:]), "\n\n", "0" * 64, {}, None)


def recipe(**other: Any) -> Recipe:
    """As small as can be: 12 steps, evaluated at 1, 4, 8 and 12."""
    content = {
        "corpus": {"name": "none"}, "corpus_fingerprint": CORPUS.fingerprint,
        "tokenizer": {"name": "character"},
        **{kind: family.resolve(kind, DEFAULTS[kind]) for kind in family.MODEL_FAMILIES},
        "initialization": family.resolve("initialization", DEFAULTS["initialization"]),
        "optimizer": {"name": "adamw", "learning_rate": 0.01, "beta1": 0.9, "beta2": 0.95,
                      "weight_decay": 0.1},
        "schedule": {"name": "cosine", "warmup": 3, "final": 0.1},
        "layers": 2, "heads": 2, "width": 16, "window": 16, "dropout": 0.0, "batch": 4, "steps": 12,
        "micro_batch": 0, "activations": "keep", "device": "cpu",
        "evaluate_every": 4, "clip": 1.0, "precision": "float32", "compile": False, "threads": 1, "seed": 3,
    }  # fmt: skip
    return Recipe(**{**content, **other})


def train(run: Path, chosen: Recipe, **other: Any) -> None:
    training.train(chosen, dataset(CORPUS, learn(CORPUS, chosen.tokenizer)), run, **other)


class Instants:
    """Counts instants and kills this process at one of them."""

    def __init__(self, run: Path, kill_at: int | None) -> None:
        self.run, self.kill_at = run, kill_at
        self.passed: list[str] = []

    def here(self, name: str, halfway: Callable[[], object] = lambda: None) -> None:
        if len(self.passed) == self.kill_at:
            halfway()
            os.kill(os.getpid(), signal.SIGKILL)
        self.passed.append(name)

    def before(self, place: Any, name: str, *, after: bool = False) -> None:
        original = getattr(place, name)

        def instrumented(*given: Any, **named: Any) -> Any:
            if place is Path and not given[0].is_relative_to(self.run):
                return original(*given, **named)
            self.here(f"before {name}")
            result = original(*given, **named)
            if after:
                self.here(f"after {name}")
            return result

        setattr(place, name, instrumented)

    def amid_writes(self) -> None:
        open_path, write_text, save_file = Path.open, Path.write_text, checkpoint.save_file

        def opened(path: Path, mode: str = "r", *given: Any, **named: Any) -> Any:
            file = open_path(path, mode, *given, **named)
            if set(mode) & set("wa") and path.is_relative_to(self.run):
                write = file.write

                def half(content: Any) -> None:
                    write(content[: len(content) // 2])
                    file.flush()

                def instrumented(content: Any) -> Any:
                    self.here("amid write", lambda: half(content))
                    return write(content)

                file.write = instrumented
            return file

        def text_written(path: Path, text: str, *given: Any, **named: Any) -> int:
            if path.is_relative_to(self.run):
                self.here("amid write_text", lambda: write_text(path, text[: len(text) // 2]))
            return write_text(path, text, *given, **named)

        def tensors_saved(tensors: dict[str, torch.Tensor], path: Path) -> None:
            def half() -> None:
                save_file(tensors, path)
                os.truncate(path, path.stat().st_size // 2)

            self.here("amid save_file", half)
            save_file(tensors, path)

        # Stand-ins take what the code under test passes, not all that the originals would.
        Path.open, Path.write_text, checkpoint.save_file = opened, text_written, tensors_saved  # type: ignore


def instrument(instants: Instants) -> None:
    """Every operation on the disk, every evaluation and every update of this process is an instant from now on."""
    operations = ("replace", "rename", "unlink", "rmdir", "mkdir")
    for place, name in [(os, "fsync"), *((Path, name) for name in operations)]:
        instants.before(place, name)
    instants.amid_writes()
    instants.before(evaluate, "loss", after=True)
    instants.before(engine.Engine, "update", after=True)


def child(request: dict[str, Any], answer: int) -> None:
    run = Path(request["run"])
    instants = Instants(run, request["kill_at"])
    instrument(instants)
    seconds = request["seconds"]
    train(run, recipe(**request["recipe"]), seconds_between_checkpoints=seconds)
    os.write(answer, json.dumps(instants.passed).encode())


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder
    ):  # what is imported late is then imported once, not in every child
        train(Path(folder), recipe(dropout=0.1, steps=1))
    for line in sys.stdin:
        request = json.loads(line)
        reading, writing = os.pipe()
        process = os.fork()
        if not process:
            os.close(reading)
            child(request, writing)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            instants = pipe.read()
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        answer = {"status": status, "instants": json.loads(instants or "[]")}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
