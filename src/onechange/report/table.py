"""The table of the arms as plain text, one source for the page, the Markdown report and the terminal."""

from dataclasses import dataclass
from itertools import groupby

from onechange.compare import SEEDS_FOR_A_VERDICT
from onechange.report import digits as digits_of
from onechange.report.answer import change, decimals
from onechange.report.digits import DASH, between, count, plain, signed, significant
from onechange.report.study import Arm, Point, Study, Text


@dataclass(frozen=True)
class Column:
    """A column: the ``group`` heads several columns, ``note`` says in the report what the figure is."""

    group: str
    title: str
    note: str = ""
    numeric: bool = True


@dataclass(frozen=True)
class Cell:
    """A figure and what stands small beneath it; both are plain text."""

    text: str
    small: str = ""


_CHANGE = (
    Column("", "change", numeric=False),
    Column(
        "nats per character",
        "best",
        "at the step where validation was lowest; beneath, ± the standard deviation over seeds",
    ),
    Column("nats per character", "last", "the same at the last step"),
    Column(
        "difference to parent",
        "at best",
        "this arm minus its parent, negative is better; 95% interval beneath",
    ),
    Column("difference to parent", "at last", "the same at the last step of both"),
    Column("", "verdict", numeric=False),
)
VALIDATION = Column(
    "on validation text",
    "best",
    "the text that the best step was chosen on; beside it, nats per character are of test text",
)
_COST = (
    Column("model", "parameters", "all weights, the tied embedding once"),
    Column("model", "vocabulary", "distinct tokens"),
    Column("text", "characters per token", "of the training text"),
    Column("text", "characters per window", "how far back the model can see"),
    Column("text", "times text seen", "training tokens processed over training tokens there are"),
    Column("training", "steps", "updates of the weights"),
    Column(
        "training", "seconds per step", "on the machine named below, evaluations and checkpoints included"
    ),
)


def columns(study: Study) -> tuple[Column, ...]:
    """The columns that the study has figures for."""
    return (*_CHANGE, *([VALIDATION] if study.judged_on == "test" else []), *_COST)


def rows(study: Study) -> list[tuple[Arm, list[Cell]]]:
    """One row per arm, its cells in the order of `columns`."""
    digits = decimals(study)
    return [(arm, _row(study, arm, digits)) for arm in study.arms]


def groups(study: Study) -> list[tuple[str, int]]:
    """Neighbouring columns under one heading: its name and how many they are."""
    return [
        (name, len(list(columns))) for name, columns in groupby(columns(study), lambda column: column.group)
    ]


def _row(study: Study, arm: Arm, digits: int) -> list[Cell]:
    record = arm.record
    return [
        Cell(change(study, arm) or "the base", f"from {arm.parent}" if arm.parent else ""),
        _figure(arm, "best", digits),
        _figure(arm, "last", digits),
        _versus(arm, "best", digits),
        _versus(arm, "last", digits),
        _verdict(arm),
        *([_figure(arm, "best", digits, "validation")] if study.judged_on == "test" else []),
        Cell(count(record.get("parameters"))),
        Cell(count(record.get("vocabulary"))),
        Cell(_fixed(record.get("characters_per_token"))),
        Cell(count(record.get("characters_per_window"))),
        Cell(_times(record.get("times_text_seen"))),
        _steps(arm),
        Cell(significant(_median_seconds(arm))),
    ]


def _figure(arm: Arm, point: Point, digits: int, text: Text | None = None) -> Cell:
    found = arm.figure(point, text)
    if found is None:
        return Cell(DASH)
    if text == "validation":
        return Cell(plain(found.nats_per_character, digits))
    spread = "" if found.spread is None else f"±\u00a0{digits_of.spread(found.spread, digits)}"
    steps = arm.steps_at(point)
    where = f"step{'s' * (len(set(steps)) > 1)}\u00a0{between(steps)}" if steps else ""
    return Cell(plain(found.nats_per_character, digits), ", ".join(part for part in (spread, where) if part))


def _versus(arm: Arm, point: Point, digits: int) -> Cell:
    found = arm.versus(point)
    if found is None:
        return Cell(DASH)
    text = signed(found["nats_per_character_difference"], digits)
    if found.get("low") is None:
        return Cell(text, "no interval")
    return Cell(text, f"{signed(found['low'], digits)} to {signed(found['high'], digits)}")


def _verdict(arm: Arm) -> Cell:
    found = arm.versus("best")
    if found is None:
        return Cell(arm.trouble or DASH) if arm.trouble or arm.parent else Cell("")
    seeds, over = found.get("seeds") or 1, found.get("interval") or "text"
    if found["verdict"].startswith("budget in seconds"):
        small = "how far a second goes depends on the machine"
    elif seeds < SEEDS_FOR_A_VERDICT:
        small = f"{seeds} of the {SEEDS_FOR_A_VERDICT} seeds it takes"
    else:
        small = f"over {over}"
    small = small.replace("over seeds", f"over {seeds} seeds")
    last = arm.versus("last")
    verdict = found["verdict"]
    if last is not None and last["verdict"] != verdict:
        verdict = f"{verdict}; at last: {last['verdict']}"
    return Cell(verdict, f"{small}; one run {arm.trouble}" if arm.trouble else small)


def _steps(arm: Arm) -> Cell:
    planned = arm.record.get("steps")
    early: list[int] = [run["steps"] for run in arm.runs if run.get("stopped_early")]
    done: list[int] = [run["steps"] for run in arm.runs if run.get("steps") is not None]
    if planned is None or not done or min(done) >= planned:
        return Cell(count(planned if planned is not None else max(done, default=None)))
    if len(early) == len(done):
        return Cell(f"{between(done)} of {planned:,}", "stopped early")
    return Cell(f"{min(done):,} of {planned:,}", f"{len(early)} stopped early" if early else "")


def _median_seconds(arm: Arm) -> float | None:
    known = sorted(run["seconds_per_step"] for run in arm.runs if run.get("seconds_per_step"))
    return known[len(known) // 2] if known else None


def _fixed(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}"


def _times(value: float | None) -> str:
    return DASH if value is None else f"{value:,.1f}"
