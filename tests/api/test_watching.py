"""What a notebook shows while a study runs."""

import re
import sys
from types import SimpleNamespace

import pytest

from onechange.api import watching
from onechange.api.watching import Shown
from onechange.training import Moment

RUNS = [("base", 0), ("<other>", 0), ("base", 1), ("<other>", 1)]


def moment(step: int, left: float) -> Moment:
    return Moment(step, 100, 2.5, 1000.0, left)


@pytest.fixture
def shown() -> tuple[Shown, list[str]]:
    drawn: list[str] = []
    return Shown(RUNS, RUNS[1:], 1, drawn.append), drawn


def test_the_runs_that_train_have_a_line_and_all_have_one(shown: tuple[Shown, list[str]]):
    watcher, drawn = shown
    watcher.draw()
    assert "1 of 4 runs finished<" in drawn[-1]
    watcher.watch("<other>", 0, moment(25, 30.0))
    assert '<progress value="25" max="100">' in watcher.html()
    assert "&lt;other&gt;, seed 0: step 25 of 100, loss 2.500" in watcher.html()
    # This run needs 30 s more, the two that wait 40 s each.
    assert "about 1:50 min left" in watcher.html()
    watcher.ended("<other>", 0)
    assert "seed 0" not in drawn[-1] and "2 of 4 runs finished, about 1:20 min left" in drawn[-1]


def test_runs_side_by_side_share_what_is_left():
    drawn: list[str] = []
    watcher = Shown(RUNS, RUNS, 2, drawn.append)
    watcher.watch("base", 0, moment(50, 60.0))
    assert "about 4:00 min left" in watcher.html()  # 60 s, and three runs of 120 s in two places


def test_at_the_end_it_says_how_long_it_took(shown: tuple[Shown, list[str]]):
    watcher, drawn = shown
    for run in RUNS[1:]:
        watcher.ended(*run)
    assert re.search(r"4 of 4 runs finished, \d+:\d\d min", drawn[-1])
    assert "<progress" not in drawn[-1]


def test_where_all_is_done_it_says_so():
    assert "4 of 4 runs finished, nothing was left to train" in Shown(RUNS, [], 1, print).html()


def test_remarks_stay(shown: tuple[Shown, list[str]]):
    watcher, drawn = shown
    watcher.say("a <remark>")
    watcher.ended("base", 1)
    assert "a &lt;remark&gt;" in drawn[-1]


def test_it_is_not_drawn_at_every_step(shown: tuple[Shown, list[str]]):
    watcher, drawn = shown
    for step in range(1, 51):
        watcher.watch("base", 1, moment(step, 1.0))
    assert len(drawn) == 1


def test_only_a_kernel_is_a_notebook(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not watching.in_notebook()
    shell = SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert not watching.in_notebook()
    shell.kernel = object()
    assert watching.in_notebook()
