"""Tuning: what every arm gets at each value of a setting, and what its own best value does to the verdict."""

from dataclasses import dataclass
from typing import Any

from onechange.report.digits import significant
from onechange.report.study import Arm, Study
from onechange.report.wording import listed


@dataclass(frozen=True)
class Candidate:
    """One arm at one value. Nats per character, the mean over ``seeds``; None where there is no figure yet."""

    value: float
    validation: float | None
    spread: float | None
    test: float | None
    seeds: int
    chosen: bool
    own: bool


@dataclass(frozen=True)
class Tuned:
    """One arm's candidates by value, and its difference to the parent at equal value and at each one's own best."""

    arm: Arm
    candidates: tuple[Candidate, ...]
    equal: dict[str, Any] | None
    tuned: dict[str, Any] | None

    @property
    def chosen(self) -> Candidate | None:
        return next((candidate for candidate in self.candidates if candidate.chosen), None)

    @property
    def at_the_edge(self) -> str | None:
        """``lowest`` or ``highest`` where the best value is the first or the last that was tried."""
        if self.chosen is None or len(self.candidates) < 2:
            return None
        place = self.candidates.index(self.chosen)
        return "lowest" if place == 0 else "highest" if place == len(self.candidates) - 1 else None


def tuned(study: Study) -> list[Tuned]:
    """One entry per arm that was tuned, in the study's order; empty where nothing was."""
    records = {
        str(found.get("name")): found for found in (study.record.get("tuning") or {}).get("arms") or []
    }
    return [_tuned(arm, records[arm.name]) for arm in study.arms if arm.name in records]


def setting(study: Study) -> str:
    """What was tuned, as its last word: ``learning rate``."""
    return str((study.record.get("tuning") or {}).get("setting") or "").rpartition(".")[2].replace("_", " ")


def written(value: float) -> str:
    return significant(value, 6).rstrip("0").rstrip(".") if value % 1 else f"{value:,.0f}"


def turned(study: Study, arm: Arm) -> str:
    """A sentence for the answer where tuning gives another verdict than the study's own value; else nothing."""
    found = next((found for found in tuned(study) if found.arm is arm), None)
    if found is None or not found.equal or not found.tuned or not _turned(found):
        return ""
    return f" But with each model at its own best {setting(study)}: {found.tuned['verdict']}."


def sentence(study: Study) -> str | None:
    """Whether tuning changes a verdict; None where there is nothing to compare."""
    known = [found for found in tuned(study) if found.equal and found.tuned]
    if not known:
        return None
    other = [
        f"on {found.arm.name} from “{found.equal['verdict']}” to “{found.tuned['verdict']}”"
        for found in known
        if found.equal and found.tuned and _turned(found)
    ]
    if other:
        return f"Tuning changes the verdict {' and '.join(other)}."
    return f"Tuning changes {'no verdict' if len(known) > 1 else 'nothing about the verdict'}."


def edges(study: Study) -> list[str]:
    """One sentence per value at the edge of those that were tried that is the best of some arm, or of several."""
    found: dict[str, list[str]] = {}
    for arm in tuned(study):
        if arm.chosen and arm.at_the_edge:
            where = f"{written(arm.chosen.value)}, the {arm.at_the_edge} that was tried"
            found.setdefault(where, []).append(arm.arm.name)
    beyond = f"a better {setting(study)} may lie beyond it."
    return [
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} best at {where}: {beyond}"
        for where, names in found.items()
    ]


def _turned(found: Tuned) -> bool:
    return (found.equal or {}).get("verdict") != (found.tuned or {}).get("verdict")


def _tuned(arm: Arm, record: dict[str, Any]) -> Tuned:
    candidates = [
        Candidate(
            value=float(found["value"]),
            validation=found.get("validation"),
            spread=found.get("spread"),
            test=found.get("test"),
            seeds=found.get("seeds") or 0,
            chosen=found["value"] == record.get("chosen"),
            own=found["value"] == record.get("own"),
        )
        for found in record.get("candidates") or []
    ]
    in_order = sorted(candidates, key=lambda candidate: candidate.value)
    return Tuned(arm, tuple(in_order), record.get("equal"), record.get("tuned"))
