"""A member that is a file, and a study that names it: what tests of members from outside are made of."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from onechange import outside
from small_studies import STUDY, Outcome, in_haste, onechange

MARK = "executed.txt"
"""The file writes a line here whenever it is executed."""

NORM = '''\
"""Divide by the length of the feature vector.

y = gain · x / (‖x‖ + epsilon). Nguyen and Salazar 2019, https://arxiv.org/abs/1910.05895
"""

import os
from typing import final

import torch
from torch import Tensor, nn

from onechange.norm import Norm
from onechange.sizes import Sizes

with open(os.environ["MARK"], "a") as file:
    file.write("norm\\n")


@final
class Mine(Norm):
    """One parameter."""

    def __init__(self, sizes: Sizes, *, epsilon: float = 0.5) -> None:
        super().__init__(sizes)
        self.epsilon = epsilon
        self.gain = nn.Parameter(torch.tensor(sizes.width**0.5))

    def forward(self, x: Tensor) -> Tensor:
        return self.gain * x / (x.float().norm(dim=-1, keepdim=True) + self.epsilon)
'''

SCHEDULE = '''\
"""Half of the peak, until the last step.

share = 1/2.
"""

from typing import final

from onechange.schedule import Schedule


@final
class Half(Schedule):
    """No settings."""

    def share(self, step: int, steps: int) -> float:
        return 0.5 if step < steps else 0.25
'''

ARMS = """
[[arm]]
name = "mine"
from = "plain"
change.norm = "parts/mine.py"

[[arm]]
name = "wide"
from = "mine"
vary.norm.epsilon = [0.5, 2.0]
"""


def written(folder: Path, norm: str = NORM, arms: str = ARMS) -> Path:
    """The study file, ``norm`` beside it in a folder of its own."""
    (folder / "parts").mkdir(parents=True, exist_ok=True)
    (folder / "parts" / "mine.py").write_text(norm, encoding="utf-8")
    base, _, scales = STUDY.partition("[[arm]]")
    path = folder / "own.toml"
    path.write_text(base + arms + scales[scales.index("[sampling]") :], encoding="utf-8")
    return path


def as_in_a_new_process() -> None:
    """Forget what was executed and what was declared."""
    outside._executed.clear()
    outside._declared.clear()


@contextlib.contextmanager
def marking(place: Path) -> Iterator[None]:
    """The cache, and the mark of what was executed, in ``place``; no study draws its page."""
    with in_haste(place), pytest.MonkeyPatch.context() as patch:
        patch.setenv("MARK", str(place / MARK))
        yield


def executed(cache: Path) -> int:
    """How often a file with a mark was."""
    return len((cache / MARK).read_text().splitlines()) if (cache / MARK).exists() else 0


def run(study: Path, out: Path, *more: object) -> Outcome:
    return onechange("run", study, "--scale", "tiny", "--out", out, *more)


def refused(outcome: Outcome, *named: object) -> None:
    """One line that names what it must, exit status 2, and no output."""
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1), outcome
    for name in named:
        assert str(name) in outcome.err, outcome.err
