"""Where a change helps: nats per character by kind of text and by context, at best, over the seeds that have them.

All figures are ratios of sums: nats of a kind, over its characters. What a kind explains of a difference is its own
difference times its share of the text; these add up to the whole difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from onechange import shapes
from onechange.kinds import KINDS
from onechange.report.answer import change, decimals
from onechange.report.digits import DASH, plain, signed
from onechange.report.study import Arm, Study

Across = Literal["by_context", "by_position"]
ACROSS: dict[Across, str] = {"by_context": "characters in view", "by_position": "tokens in view"}
FEW = 200
"""Characters of a run: a bin with fewer is in the table but not in the picture."""
_AT = {
    "inside words": "inside words",
    "first letters": "at the first letters of words",
    "names": "in names",
    "spaces": "at spaces",
    "punctuation": "at punctuation",
    "digits": "at digits",
}
_DOUBTED = {
    "no difference seen": "The difference as a whole may be none, so its parts are no more than a hint. ",
    "one seed: not judged": "The difference as a whole was not judged, so its parts are not either. ",
}


@dataclass(frozen=True)
class Bars:
    """One kind of text: its share of all characters, and every arm's nats per character of it."""

    kind: str
    share: float
    arms: list[tuple[Arm, float, float]]
    """Arm, nats per character, and how long its bar is, in percent of the longest of all."""


@dataclass(frozen=True)
class Part:
    """What one kind of text has to do with the difference between an arm and its parent."""

    kind: str
    share: str
    parent: str
    arm: str
    difference: str
    explains: str
    of_all: str
    bar: float
    """How long the bar of `explains` is, in percent of the longest; below 0 where the arm is better."""


@dataclass(frozen=True)
class Pair:
    """An arm beside its parent."""

    arm: Arm
    parent: Arm
    change: str
    parts: list[Part]
    explains: str
    """All parts together: the difference."""
    words: str


def readings(arm: Arm) -> dict[int, dict[str, Any]]:
    """The readings at best of every seed that has them. A `ValueError` says that they are damaged."""
    found = {run["seed"]: (run.get("best") or {}).get("readings") for run in arm.runs}
    for seed, one in found.items():
        if one is not None:
            shapes.fit(one, shapes.Readings, f"results.json: readings of {arm.name}, seed {seed}")
    return {seed: one for seed, one in found.items() if one is not None}


def bars(study: Study) -> list[Bars]:
    """One entry for every kind that the text has; empty if no arm has readings."""
    sums = {arm.index: _kinds(list(readings(arm).values())) for arm in study.arms}
    known = [arm for arm in study.arms if sums[arm.index]]
    if not known:
        return []
    first = sums[known[0].index]
    characters = sum(count for _, count in first.values())
    figures = {
        (arm.index, kind): nats / count for arm in known for kind, (nats, count) in sums[arm.index].items()
    }
    longest = max(max(figures.values()), 1e-9)
    return [
        Bars(
            kind,
            first[kind][1] / characters,
            [
                (arm, figures[arm.index, kind], 100 * figures[arm.index, kind] / longest)
                for arm in known
                if (arm.index, kind) in figures
            ],
        )
        for kind in first
    ]


def pairs(study: Study) -> list[Pair]:
    """Every arm that has readings with the same seeds and on the same text as its parent."""
    found = []
    for arm in study.changed():
        parent = next((other for other in study.arms if other.name == arm.parent), None)
        if parent is None:
            continue
        ours, theirs = readings(arm), readings(parent)
        seeds = sorted(ours.keys() & theirs.keys())
        mine, others = (_kinds([each[seed] for seed in seeds]) for each in (ours, theirs))
        counts = [{kind: count for kind, (_, count) in sums.items()} for sums in (mine, others)]
        if mine and counts[0] == counts[1]:
            found.append(_pair(study, arm, parent, mine, others))
    return found


def hardest(study: Study, found: Sequence[Bars]) -> str:
    """A sentence on the kinds that surprise the first arm most and least; empty where there is nothing to compare."""
    values = [(bars.arms[0][1], bars.kind) for bars in found if bars.share >= 0.01]
    if len(values) < 2:
        return ""
    arm, digits = found[0].arms[0][0], decimals(study)
    (least, easy), (most, hard) = min(values), max(values)
    return (
        f"Of what makes up at least a hundredth of the text, {arm.name} is surprised most {_AT.get(hard, hard)} "
        f"({plain(most, digits)} nats per character) and least {_AT.get(easy, easy)} ({plain(least, digits)})."
    )


def lines(study: Study, across: Across) -> list[dict[str, Any]]:
    """One row per arm and bin: the largest number of the bin, nats per character, share of the text."""
    rows = []
    for arm in study.arms:
        found = readings(arm)
        sums: dict[tuple[int, int], tuple[float, int]] = {}
        for one in found.values():
            for each in one[across]:
                nats, characters = sums.get((each["from"], each["to"]), (0.0, 0))
                key = each["from"], each["to"]
                sums[key] = nats + each["nats"], characters + each["characters"]
        total = sum(characters for _, characters in sums.values())
        rows += [
            {
                "arm": arm.index,
                "name": arm.name,
                "from": first,
                "at": end - 1,
                "nats": nats / characters,
                "share": characters / total,
                "drawn": characters >= FEW * len(found) and end > 1,
            }
            for (first, end), (nats, characters) in sorted(sums.items())
        ]
    return rows


def _kinds(found: Sequence[Mapping[str, Any]]) -> dict[str, tuple[float, int]]:
    """Nats and characters over some readings, by kind; kinds without a character are left out."""
    sums = {}
    for kind in [*KINDS, *sorted({kind for one in found for kind in one["by_kind"]} - set(KINDS))]:
        own = [one["by_kind"][kind] for one in found if kind in one["by_kind"]]
        characters = sum(each["characters"] for each in own)
        if characters:
            sums[kind] = sum(each["nats"] for each in own), characters
    return sums


def _pair(
    study: Study,
    arm: Arm,
    parent: Arm,
    ours: Mapping[str, tuple[float, int]],
    theirs: Mapping[str, tuple[float, int]],
) -> Pair:
    digits = decimals(study)
    characters = sum(count for _, count in ours.values())
    explained = {kind: (ours[kind][0] - theirs[kind][0]) / characters for kind in ours}
    whole, longest = sum(explained.values()), max(map(abs, explained.values())) or 1.0
    parts = []
    for kind, (nats, count) in ours.items():
        mine, other = nats / count, theirs[kind][0] / count
        parts.append(
            Part(
                kind=kind,
                share=f"{count / characters:.1%}",
                parent=plain(other, digits),
                arm=plain(mine, digits),
                difference=signed(mine - other, digits),
                explains=signed(explained[kind], digits),
                of_all=f"{plain(round(100 * explained[kind] / whole) + 0.0, 0)}%" if whole else DASH,
                bar=100 * explained[kind] / longest,
            )
        )
    words = _words(arm, explained, whole, digits)
    return Pair(arm, parent, change(study, arm), parts, signed(whole, digits), words)


def _words(arm: Arm, explained: Mapping[str, float], whole: float, digits: int) -> str:
    """What stands out of a pair."""
    verdict = (arm.versus("best") or {}).get("verdict", "")
    same = {kind: value for kind, value in explained.items() if value * whole > 0}
    text = _DOUBTED.get(verdict, "")
    if not same or float(f"{whole:.{digits}f}") == 0:
        return text + "All kinds together come out even."
    kind = max(same, key=lambda kind: abs(same[kind]))
    share = same[kind] / whole
    most = "More than all" if share > 1 else "Most" if share > 0.5 else "The largest part"
    text += (
        f"{most} of the difference lies {_AT.get(kind, kind)}: {signed(same[kind], digits)} nats per character of the "
        f"whole text, where all kinds together make {signed(whole, digits)}."
    )
    against = {other: value for other, value in explained.items() if value * whole < 0}
    other = max(against, key=lambda kind: abs(against[kind]), default=None)
    if other is not None and float(f"{against[other]:.{digits}f}") != 0:
        text += f" The other way it goes {_AT.get(other, other)}: {signed(against[other], digits)}."
    return text
