"""An order for one run, and what is told of it: the words between a study and the processes that train for it."""

import json
from pathlib import Path

import msgspec

from onechange import atomic, run_lock
from onechange.dataset import Dataset
from onechange.engine import NotFinite
from onechange.recipe import Recipe
from onechange.run import execute
from onechange.study import Sampling
from onechange.training import Moment, Watch


class Order(msgspec.Struct, frozen=True):
    """One run: train it, measure it, sample it. The recipe alone says on what."""

    recipe: Recipe
    sampling: Sampling
    prompts: list[str]
    run: str
    """Its folder."""


class Stepped(msgspec.Struct, frozen=True, tag=True):
    """A step is done; not every one is told."""

    moment: Moment


class Finished(msgspec.Struct, frozen=True, tag=True):
    """All files of the run are there."""


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The run's loss is no finite number any more; the study goes on."""

    error: str


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The run cannot go on for a reason that a person can change; so the study stops."""

    error: str


class Stopped(msgspec.Struct, frozen=True, tag=True):
    """The run was stopped and can be resumed."""


Report = Stepped | Finished | Failed | Refused | Stopped


def carry_out(order: Order, data: Dataset, watch: Watch) -> Finished | Failed:
    """Make or go on with the ordered run, alone in its folder."""
    path = Path(order.run)
    with run_lock.locked(path):
        try:
            execute(order.recipe, data, order.sampling, order.prompts, path, watch)
        except NotFinite as error:
            atomic.write(path / "failure.json", json.dumps({"error": str(error)}) + "\n")
            return Failed(str(error))
    return Finished()
