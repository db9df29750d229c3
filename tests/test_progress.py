"""What is seen while a study runs: on terminals of two widths, and where the output is no terminal."""

import io
import re

import pytest
from rich.console import Console

from onechange.training import Moment
from onechange.verbs.progress import Progress

RUNS = [(arm, seed) for seed in (0, 1, 2) for arm in ("char-wpe", "bpe-wpe", "bpe-rope")]


def moment(step: int, seconds_per_step: float, evaluated: float | None = None) -> Moment:
    return Moment(step, 1000, 1.5, 12345.0, (1000 - step) * seconds_per_step, evaluated)


def console(width: int, *, terminal: bool = True) -> Console:
    return Console(
        record=True, width=width, file=io.StringIO(), force_terminal=terminal, highlight=False, _environ={}
    )


def drawn(progress: Progress, on: Console) -> list[str]:
    """The moving lines, as they are now."""
    on.export_text()
    on.print(progress.lines())
    return on.export_text().splitlines()


def names(lines: list[str]) -> list[str]:
    """What stands before the bars."""
    return [re.split(" +[━╸╺]", line)[0] for line in lines]


@pytest.mark.parametrize("width", [60, 120])
def test_a_line_for_every_running_run_and_one_for_all(width: int) -> None:
    on = console(width)
    progress = Progress(RUNS, RUNS[2:], 2, on)
    progress.watch("bpe-rope", 0, moment(500, 0.1))
    progress.watch("char-wpe", 1, moment(250, 0.2))
    lines = drawn(progress, on)
    assert len(lines) == 3, lines
    assert all(len(line) <= width for line in lines)
    for line, parts in zip(
        lines,
        [
            ["bpe-rope, seed 0", "500/1,000", "loss 1.500", "0:50 left"],
            ["char-wpe, seed 1", "250/1,000", "loss 1.500", "2:30 left"],
            # Waiting: 150 s (bpe-wpe goes at the mean speed) and 100 s of seed 1, then 200, 150 and 100 s of seed 2.
            # The one job is free after 50, 200, 400 and 500 s, the other after 150, 250, 400 and, if it gets the
            # last run, 500 s.
            ["2 of 9 runs", "2,750/9,000", "about 8:20 left"],
        ],
        strict=True,
    ):
        for part in parts:
            assert part in line, lines
    assert ("tokens/s" in lines[0]) == (width == 120)


def test_a_run_that_ends_leaves_its_line_to_the_next() -> None:
    on = console(120)
    progress = Progress(RUNS, RUNS, 2, on)
    for arm in ("char-wpe", "bpe-wpe"):
        progress.watch(arm, 0, moment(1, 0.1, 4.0))
    progress.watch("char-wpe", 0, moment(1000, 0.1, 3.0))
    assert "measuring" in drawn(progress, on)[0]
    progress.ended("char-wpe", 0)
    lines = drawn(progress, on)
    assert names(lines) == ["bpe-wpe, seed 0", "1 of 9 runs"]
    progress.watch("bpe-rope", 0, moment(1, 0.1, 4.0))
    lines = drawn(progress, on)
    assert names(lines) == [
        "bpe-wpe, seed 0",
        "bpe-rope, seed 0",
        "1 of 9 runs",
    ]


def test_one_run_alone_needs_no_line_for_all() -> None:
    on = console(60)
    progress = Progress([("plain", 0)], [("plain", 0)], 1, on)
    progress.watch("plain", 0, moment(500, 0.1))
    (line,) = drawn(progress, on)
    assert line.startswith("plain ")
    assert "seed" not in line


def test_a_long_name_is_cut_and_not_folded() -> None:
    on = console(60)
    name = "a-very-long-name-of-an-arm-such-as-a-study-may-have-0123456789"
    progress = Progress([(name, 0)], [(name, 0)], 1, on)
    progress.watch(name, 0, moment(500, 0.1))
    (line,) = drawn(progress, on)
    assert line.startswith("a-very-l")
    assert "0:50 left" in line


def test_without_a_terminal_evaluations_and_ends_are_lines() -> None:
    on = console(80, terminal=False)
    with Progress(RUNS, RUNS[7:], 2, on) as progress:
        progress.say("a remark [with brackets]")
        progress.watch("bpe-wpe", 2, moment(1, 0.1, 4.0))
        progress.watch("bpe-wpe", 2, moment(2, 0.1))
        progress.watch("bpe-rope", 2, moment(200, 0.1, 3.25))
        progress.ended("bpe-rope", 2)
        progress.ended("bpe-wpe", 2)
    assert on.export_text().splitlines() == [
        "a remark [with brackets]",
        "bpe-wpe, seed 2  step      1  validation 4.0000 nats/character  loss 1.500  12,345 tokens/s  1:40 left",
        "bpe-rope, seed 2 step    200  validation 3.2500 nats/character  loss 1.500  12,345 tokens/s  1:20 left",
        "bpe-rope, seed 2 ended; 8 of 9 runs, about 1:40 left",
        "bpe-wpe, seed 2  ended; 9 of 9 runs",
    ]


def test_a_run_may_end_before_any_step_was_told() -> None:
    """As one does that a resume finds trained, with only its measures missing."""
    on = console(120, terminal=False)
    progress = Progress(RUNS, RUNS[:2], 1, on)
    progress.ended(*RUNS[0])
    assert "ended; 8 of 9 runs" in on.export_text()
