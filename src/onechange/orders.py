"""An order for one run, and what is told of it: the words between a study and the processes that train for it."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from onechange import atomic, outside, run_lock
from onechange.checkpoint import Checkpoints
from onechange.dataset import Dataset
from onechange.finiteness import NotFinite, OnNonfinite
from onechange.outside import Code
from onechange.processes import ALONE, Group, Lost
from onechange.recipe import Recipe
from onechange.run import execute
from onechange.sampling import Sampling
from onechange.training import Moment, Watch


class Order(msgspec.Struct, frozen=True):
    """One run: train it, measure it, sample it. The recipe alone says on what."""

    recipe: Recipe
    sampling: Sampling
    prompts: list[str]
    run: str
    """Its folder."""
    on_nonfinite: OnNonfinite = "stop"
    codes: list[Code] = []
    """The files among its members: whoever carries it out has this text of them, and perhaps no such file."""


class Stepped(msgspec.Struct, frozen=True, tag=True):
    """A step is done; not every one is told."""

    moment: Moment


class Remarked(msgspec.Struct, frozen=True, tag=True):
    """Something that a person should know."""

    note: str


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


Report = Stepped | Remarked | Finished | Failed | Refused | Stopped


class Crew(Protocol):
    """Whoever trains runs side by side: `onechange.jobs` here, `onechange.cluster` on other machines."""

    def work(self, orders: Iterable[Order]) -> Iterator[tuple[Order, Stepped | Remarked | Finished | Failed]]:
        """Carry out ``orders`` and yield what is told of each; the last of it is `Finished` or `Failed`."""
        ...


def carry_out(
    order: Order, data: Dataset, watch: Watch, say: Callable[[str], None], group: Group = ALONE
) -> Finished | Failed:
    """Make or go on with the ordered run, alone in its folder.

    Raises `onechange.stopping.Stopped` where it was asked to stop, and `Lost` where a process of the group is gone.
    """
    path = Path(order.run)
    with run_lock.locked(path):
        try:
            outside.execute(order.codes)
            execute(
                order.recipe,
                data,
                order.sampling,
                order.prompts,
                path,
                watch,
                say,
                group,
                order.on_nonfinite,
            )
        except Lost as error:
            step = Checkpoints(path).step("last") or 0
            raise Lost(f"{error}; the same command with --resume goes on from step {step}") from error
        except NotFinite as error:
            atomic.write(path / "failure.json", json.dumps({"error": str(error)}) + "\n")
            return Failed(str(error))
    return Finished()
