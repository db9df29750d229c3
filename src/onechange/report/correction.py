"""Several changes judged in one study: how many, and what Holm's correction does to their verdicts."""

from onechange.report.study import JUDGED, Arm, Study
from onechange.report.wording import listed


def judged(study: Study) -> list[Arm]:
    """The arms whose difference at best has a verdict."""
    return [arm for arm in study.changed() if (arm.versus("best") or {}).get("verdict") in JUDGED]


def sentence(study: Study) -> str | None:
    """One sentence for the reader; None where fewer than two changes were judged or no correction is on record."""
    known = [(arm, found) for arm in judged(study) if (found := (arm.versus("best") or {}).get("holm"))]
    number = study.record.get("judged_changes") or len(judged(study))
    if number < 2 or not known:
        return None
    other = [
        f"on {arm.name} becomes “{found['verdict']}”"
        for arm, found in known
        if found.get("verdict") != (arm.versus("best") or {})["verdict"]
    ]
    outcome = f"the verdict {listed(other)}" if other else "all verdicts stay"
    return f"{number} changes were judged; after Holm’s correction for that, {outcome}."
