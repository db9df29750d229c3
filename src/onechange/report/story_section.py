"""What the page's section on measured stories is made of."""

from typing import Any

from onechange.report import story_sentences, story_table, story_tracking
from onechange.report.digits import DASH, significant
from onechange.report.story_figures import JUDGED, ArmStories, Compared, StoryFigures, read
from onechange.report.study import Arm, Study
from onechange.stories.measures import ALL

COMPARED: dict[Compared, str] = {
    "last_versus_best": "last step minus best",
    "versus_parent": "minus its parent, at best",
    "versus_parent_last": "minus its parent, at last",
}
Compare = tuple[Arm, str, list[tuple[str, list[str]]]]
"""An arm, with what it is compared, and for every measure the texts of `HEADS`."""
HEADS = ("difference", "95% interval", "p", "Holm’s p", "verdict")


def section(study: Study) -> dict[str, Any] | None:
    """Tables and sentences; None where no story was measured."""
    written = read(study)
    if written is None:
        return None
    last, parents = (
        story_sentences.last_against_best(written),
        story_sentences.against_parents(study, written),
    )
    common = story_sentences.common_caution([*last, *parents])
    columns, groups = story_table.columns(written), story_table.rows(written)
    differences = _differences(written)
    judged = any(cells[-1] in JUDGED for _, _, lines in differences for _, cells in lines)
    return {
        "reference": written.reference,
        "stories": _stories(written),
        "over": _over(written),
        "missing": [arm.name for arm in study.arms if written.arm(arm.name) is None],
        "arms": [(one.arm, 1 + one.goes_on) for one in written.arms],
        "columns": columns,
        "groups": groups,
        "sides": any(cell.side for _, rows in groups for row in rows for cell in row.figures),
        "caution": common,
        "last": [(one, story_sentences.cautioned(one, common)) for one in last],
        "ended": story_sentences.ended_at_best(written),
        "parents": [(one, story_sentences.cautioned(one, common)) for one in parents],
        "heads": HEADS if judged else HEADS[:2],
        "differences": differences if judged else _without_words(differences),
        "judged": judged,
        "tracking": story_tracking.rows(written),
        "tracking_words": story_tracking.words(written),
        "levels": list(story_tracking.LEVELS.values()),
    }


def _stories(written: StoryFigures) -> int | None:
    """How many stories a run wrote at one step, where all wrote as many."""
    found = {
        (((run.get("best") or {}).get("written") or {}).get("length") or {}).get("stories")
        for one in written.arms
        for run in one.arm.runs
    }
    return found.pop() if len(found) == 1 else None


def _over(written: StoryFigures) -> str:
    seeds = {found["seeds"] for one in written.arms for found in one.found["best"].values()}
    return "seeds and samples" if seeds and max(seeds) > 2 else "the samples alone, not over seeds"


def _without_words(differences: list[Compare]) -> list[Compare]:
    """The same without the columns that judge: there is nothing in them."""
    return [(arm, title, [(label, cells[:2]) for label, cells in lines]) for arm, title, lines in differences]


def _differences(written: StoryFigures) -> list[Compare]:
    return [
        (one.arm, title, lines)
        for one in written.arms
        for key, title in COMPARED.items()
        if (key != "versus_parent_last" or _either_goes_on(written, one))
        and (lines := _lines(written, one, key))
    ]


def _either_goes_on(written: StoryFigures, one: ArmStories) -> bool:
    """Else the comparison at last is that at best once more."""
    parent = written.arm(one.arm.parent)
    return one.goes_on or (parent is not None and parent.goes_on)


def _lines(written: StoryFigures, one: ArmStories, key: Compared) -> list[tuple[str, list[str]]]:
    found = one.differences(key)
    lines = []
    for name in written.measures():
        if name in found:
            this = found[name]
            cells = [
                written.apart(this["difference"], name),
                written.interval(this, name) or DASH,
                significant(this["p"], 2),
                significant(this["p_holm"], 2),
                this["verdict"],
            ]
            lines.append((ALL[name].label, cells))
    return lines
