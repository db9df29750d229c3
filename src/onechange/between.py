"""Finished runs of any studies set against each other: which may be, which laws hold between them, what came of it.

Runs whose recipes are equal but for the seed are a group. The first group is the one that the others are compared with,
over the seeds that both have.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from onechange import changed, laws_between
from onechange.changed import Change, Setting
from onechange.checkpoint import Which
from onechange.compare import Difference, Level, difference, level
from onechange.finished_run import FinishedRun, below, read
from onechange.laws_between import Law

VERDICT_NEEDS = (1, 2, 4, 6)
"""The laws without which a difference says nothing about a change."""


@dataclass(frozen=True, eq=False)
class Group:
    """One recipe with its seeds, in order."""

    name: str
    runs: tuple[FinishedRun, ...]
    level: Level
    unfinished: tuple[Path, ...]

    @property
    def seeds(self) -> list[int]:
        return [run.recipe.seed for run in self.runs]

    def at(self, seeds: Sequence[int]) -> list[FinishedRun]:
        """The runs with these ``seeds``, in the group's order."""
        return [run for run in self.runs if run.recipe.seed in seeds]


@dataclass(frozen=True, eq=False)
class Comparison:
    """A group against the first: the group minus the first in nats per character, negative is better.

    ``difference`` is ``None`` where no seed is in both. ``verdict`` is ``None`` where a law that it needs does not
    hold; ``why`` then says which.
    """

    group: Group
    seeds: list[int]
    changes: list[Change]
    apart: list[Setting]
    laws: list[Law]
    difference: Difference | None
    verdict: str | None
    why: str | None


@dataclass(frozen=True, eq=False)
class Between:
    """All that `compare` found; the first of ``groups`` is in none of the ``comparisons``."""

    which: Which
    groups: list[Group]
    comparisons: list[Comparison]


def compare(named: Sequence[Path], which: Which) -> Between:
    """Compare the runs in the folders ``named``, each a run or an arm, at a checkpoint.

    Raises a `LookupError` or `ValueError` of one line where a folder holds no finished run, where text, split or
    stories differ, where a run is there twice, and where there is one recipe only.
    """
    found: list[FinishedRun] = []
    unfinished: list[Path] = []
    for folder in named:
        runs, left = below(folder)
        unfinished += left
        known = {run.folder.resolve() for run in found}
        found += [read(run, which) for run in runs if run.resolve() not in known]
    if not found:
        raise ValueError("no run was named; a run is OUT/arms/ARM/seed-N, an arm OUT/arms/ARM")
    for run in found[1:]:
        _check_text(found[0], run)
    if all(run.tested for run in found):  # what no choice has seen judges
        found = [read(run.folder, which, "test") for run in found]
    for run in found[1:]:
        _check_stories(found[0], run)
    groups = _groups(found, unfinished)
    if len(groups) == 1:
        raise ValueError(
            f"{', '.join(map(str, named))}: there is one recipe only, with seeds "
            f"{', '.join(map(str, groups[0].seeds))}; name runs or arms of another beside it"
        )
    return Between(which, groups, [_comparison(groups[0], group) for group in groups[1:]])


def _comparison(first: Group, group: Group) -> Comparison:
    seeds = [seed for seed in first.seeds if seed in group.seeds]
    ours, theirs = group.at(seeds) or list(group.runs), first.at(seeds) or list(first.runs)
    counting, apart = changed.changes(
        theirs[0].recipe, ours[0].recipe, theirs[0].components, ours[0].components
    )
    laws = laws_between.laws(theirs, ours, seeds, counting, apart)
    broken = [law for law in laws if law.number in VERDICT_NEEDS and law.state != "holds"]
    why = "; ".join(f"law {law.number}, {law.name}: {law.reason}" for law in broken) or None
    if not seeds:
        return Comparison(group, seeds, counting, apart, laws, None, None, why)
    scores = [run.scores for run in ours], [run.scores for run in theirs]
    found = difference(*scores, seeds)
    return Comparison(group, seeds, counting, apart, laws, found, None if broken else found.verdict, why)


def _groups(runs: Sequence[FinishedRun], unfinished: Sequence[Path]) -> list[Group]:
    gathered: list[list[FinishedRun]] = []
    for run in runs:
        home = next((found for found in gathered if all(_alike(run, other) for other in found)), None)
        if home is None:
            gathered.append([run])
        else:
            home.append(run)
    groups = []
    for name, found in zip(_names([found[0].folder for found in gathered]), gathered, strict=True):
        found.sort(key=lambda run: run.recipe.seed)
        for one, next_one in itertools.pairwise(found):
            if one.recipe.seed == next_one.recipe.seed:
                raise ValueError(
                    f"{one.folder} and {next_one.folder} are the same run, of one recipe with seed "
                    f"{one.recipe.seed}: name one of them"
                )
        arms = {run.folder.parent for run in found}
        left = tuple(path for path in unfinished if path.parent in arms)
        groups.append(Group(name, tuple(found), level([run.scores for run in found]), left))
    return groups


def _alike(one: FinishedRun, other: FinishedRun) -> bool:
    """Whether two runs differ in nothing but the seed, as far as is recorded."""
    recipes = [
        msgspec.structs.replace(run.recipe, seed=0, corpus={}) for run in (one, other)
    ]  # the fingerprint stands for the corpus
    versions = one.components, other.components
    return recipes[0] == recipes[1] and (None in versions or versions[0] == versions[1])


def _names(folders: Sequence[Path]) -> list[str]:
    """A word for every group: its arm's, with the study's folder before it where two arms are called alike."""
    paths = [folder.resolve() for folder in folders]
    for shown in (
        [path.parent.name for path in paths],
        [f"{path.parents[2].name}/{path.parent.name}" for path in paths],
        [f"{path.parent.name}/{path.name}" for path in paths],
    ):
        if len(set(shown)) == len(shown):
            return shown
    return [str(folder) for folder in folders]


def _check_text(first: FinishedRun, other: FinishedRun) -> None:
    """A `ValueError` unless both learned from the same text, split alike."""
    marks = first.recipe.corpus_fingerprint, other.recipe.corpus_fingerprint
    if marks[0] == marks[1]:
        return
    held, there = first.recipe.corpus, other.recipe.corpus
    differing = [
        f"{key}: {held.get(key)!r} and {there.get(key)!r}"
        for key in dict.fromkeys((*held, *there))
        if held.get(key) != there.get(key)
    ]
    what = (
        "; ".join(differing)
        or "the settings of the corpus are the same, so its text or its split has changed"
    )
    raise ValueError(
        f"{first.folder} and {other.folder} cannot be compared: text or split differ (fingerprints {marks[0][:12]} "
        f"and {marks[1][:12]}; {what})"
    )


def _check_stories(first: FinishedRun, other: FinishedRun) -> None:
    """A `ValueError` unless both were measured on the same stories, as far as their lengths tell."""
    for unit in ("characters", "bytes"):
        held, there = (np.array(run.figures["stories"][unit]) for run in (first, other))
        if len(held) != len(there):
            what = f"{len(held):,} stories and {len(there):,}"
        elif (places := np.flatnonzero(held != there)).size:
            at = int(places[0])
            what = f"story {at + 1:,} has {held[at]:,} {unit} and {there[at]:,}"
        else:
            continue
        raise ValueError(
            f"{first.folder} and {other.folder} cannot be compared: they were not measured on the same stories ({what})"
        )
