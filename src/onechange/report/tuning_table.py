"""The tables of tuning as plain text, one source for the page, the Markdown report and the terminal."""

from typing import Any

from onechange.report import digits as digits_of
from onechange.report.answer import decimals
from onechange.report.digits import DASH, plain, signed
from onechange.report.study import Study
from onechange.report.tuning import Candidate, edges, sentence, setting, tuned, written

COLUMNS = ("arm", "value", "validation", "test", "seeds", "")
VERDICTS = ("arm", "at equal value", "verdict", "each at its own best", "verdict there")


def table(study: Study) -> list[list[str]]:
    """One row of `COLUMNS` per candidate; the last cell marks the chosen value and the study's own."""
    return [
        [found.arm.name, *cells(study, candidate)] for found in tuned(study) for candidate in found.candidates
    ]


def cells(study: Study, candidate: Candidate) -> list[str]:
    """What stands behind the arm's name in a row of `table`."""
    digits = decimals(study)
    spread = "" if candidate.spread is None else f" ± {digits_of.spread(candidate.spread, digits)}"
    noted = ["best on validation text"] * candidate.chosen + ["the study’s own"] * candidate.own
    return [
        written(candidate.value),
        DASH if candidate.validation is None else plain(candidate.validation, digits) + spread,
        DASH if candidate.test is None else plain(candidate.test, digits),
        str(candidate.seeds),
        ", ".join(noted),
    ]


def verdicts(study: Study) -> list[list[str]]:
    """One row of `VERDICTS` per arm that has a difference at equal value or at each one's own best."""
    digits = decimals(study)
    return [
        [found.arm.name, *_versus(found.equal, digits), *_versus(found.tuned, digits)]
        for found in tuned(study)
        if found.equal or found.tuned
    ]


def lines(study: Study) -> list[str]:
    """What the terminal says of tuning: both differences of every change, and whether a verdict changes."""
    told = [
        f"{name}: at equal {setting(study)} {equal}, {verdict}; each at its own best {own}, {there}."
        for name, equal, verdict, own, there in verdicts(study)
    ]
    return [*told, *([said] if (said := sentence(study)) else []), *edges(study)]


def _versus(found: dict[str, Any] | None, digits: int) -> list[str]:
    if not found:
        return [DASH, "not known yet"]
    low, high = found.get("low"), found.get("high")
    text = signed(found["nats_per_character_difference"], digits)
    interval = "" if low is None or high is None else f" ({signed(low, digits)} to {signed(high, digits)})"
    return [text + interval, str(found["verdict"])]
