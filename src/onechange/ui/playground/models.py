"""Models in memory: read when they are first asked for, and the least recently used ones let go."""

from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import numpy as np

from onechange import checkpoint_reader
from onechange.checkpoint import Checkpoints, Which
from onechange.checkpoint_reader import Trained
from onechange.model import parameter_count
from onechange.ui.playground.limits import Limits


@dataclass(frozen=True, eq=False)
class Held:
    """A model that is ready to write, and what is worked out once for it."""

    trained: Trained
    tokens: list[str]
    """The text of every id, for people to read."""
    parameters: int

    @property
    def separator(self) -> str:
        """What stands before every story, as in training."""
        return self.trained.recipe.corpus["separator"]

    def ids(self, what: str, text: str) -> np.ndarray:
        """The ids of ``text``: int64, [tokens]. A `ValueError` lists what the model cannot read."""
        try:
            return self.trained.tokenizer.encode(text).astype(np.int64)
        except ValueError as error:
            raise ValueError(f"{what}: {error.args[0]}") from None


Key = tuple[Path, int, int]


class Models:
    """At most so many as the limits say, whoever asks; may be used by many threads."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = Lock()
        self._held: OrderedDict[Key, Future[Held]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._held)

    def get(self, run: Path, which: Which) -> Held:
        """The model of ``run`` as its checkpoint is now. Whoever comes while it is being read waits for it.

        Code that the run keeps of members from outside is not executed: the errors are those of
        `onechange.checkpoint_reader.read`.
        """
        key = _key(run, which)
        with self._lock:
            found = self._held.get(key)
            mine = found is None
            if found is None:
                found = self._held[key] = Future()
            self._held.move_to_end(key)
        if mine:
            try:
                found.set_result(_read(run, key[1]))
            except BaseException as error:
                with self._lock:
                    self._held.pop(key, None)
                found.set_exception(error)
            self._let_go()
        return found.result()

    def _let_go(self) -> None:
        with self._lock:
            while len(self._held) > 1 and (len(self._held) > self._limits.held or self._too_many()):
                self._held.popitem(last=False)

    def _too_many(self) -> bool:
        ready = [found for found in self._held.values() if found.done() and not found.exception()]
        return sum(found.result().parameters for found in ready) > self._limits.numbers


def _key(run: Path, which: Which) -> Key:
    """What a model in memory goes by: a run that trains on, or begins anew, has another one."""
    if not (run / "recipe.toml").is_file():
        raise LookupError(f"{run.parent.name}, seed {run.name.removeprefix('seed-')}: has not begun")
    checkpoints = Checkpoints(run)
    step = checkpoints.step(which)
    if step is None:
        raise LookupError(
            f"{run.parent.name}, seed {run.name.removeprefix('seed-')}: has no checkpoint yet, "
            "the first comes with the first evaluation"
        )
    return run, step, (checkpoints.at(step) / "state.json").stat().st_mtime_ns


def _read(run: Path, step: int) -> Held:
    trained = checkpoint_reader.read(run, step)
    return Held(trained, trained.tokenizer.tokens(), parameter_count(trained.model))
