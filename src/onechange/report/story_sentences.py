"""What differences between stories say: the last step beside the best, and an arm beside its parent."""

from collections.abc import Sequence
from dataclasses import dataclass

from onechange.report import answer, story_shapes
from onechange.report.digits import between
from onechange.report.story_figures import JUDGED, ArmStories, StoryFigures, apart_from_zero, scale
from onechange.report.study import Arm, Point, Study
from onechange.report.wording import listed
from onechange.stories.measures import ALL

COPYING = ("copied", "longest_copy")
_WORDS = ("better", "worse", "higher", "lower")


@dataclass(frozen=True, eq=False)
class Told:
    """What is compared, in a few words, and sentences about it. ``caution`` says why nothing is judged, if so."""

    arm: Arm
    compared: str
    caution: str | None
    sentences: tuple[str, ...]


def last_against_best(written: StoryFigures) -> list[Told]:
    """One entry per arm that was trained past its best step: does it copy more, is it better or worse, by what?"""
    told = []
    for one in written.arms:
        if found := one.differences("last_versus_best"):
            steps = {point: between(one.arm.steps_at(point)) for point in ("best", "last")}
            pair = _Pair(written, (one, "best"), (one, "last"), found)
            others = [name for name in pair.names if name not in COPYING]
            compared = f"at step {steps['last']} instead of {steps['best']}"
            told.append(Told(one.arm, compared, pair.caution(), (*pair.copying(), *pair.moved(others))))
    return told


def copying(written: StoryFigures) -> list[str]:
    """In short, where it is judged: which arms copy more or less past their best step."""
    return [
        f"Stories of {one.arm.name} {one.compared}. {one.sentences[0]}"
        for one in last_against_best(written)
        if one.sentences[0].startswith("It copies")
    ]


def ended_at_best(written: StoryFigures) -> str | None:
    """Which arms have nothing past their best step, in a sentence."""
    names = [one.arm.name for one in written.arms if not one.goes_on]
    if not names:
        return None
    return f"The last step of {listed(names)} is {'its' if len(names) == 1 else 'their'} best."


def against_parents(study: Study, written: StoryFigures) -> list[Told]:
    """One entry per change: which measures it moved, both at their best step."""
    told = []
    for one in written.arms:
        parent, found = written.arm(one.arm.parent), one.differences("versus_parent")
        if parent is not None and found:
            pair = _Pair(written, (parent, "best"), (one, "best"), found)
            label = answer.change(study, one.arm)
            told.append(Told(one.arm, label, pair.caution(), tuple(pair.moved(pair.names))))
    return told


def common_caution(told: Sequence[Told]) -> str | None:
    """What holds for all of them, so that it need not be said of each; None where they differ."""
    found = {one.caution for one in told}
    return found.pop() if len(found) == 1 else None


def cautioned(one: Told, common: str | None) -> str:
    """The sentences as one text, with their own caution if that is not the ``common`` one."""
    own = [one.caution] if one.caution and one.caution != common else []
    return " ".join([*own, *one.sentences])


@dataclass(frozen=True, eq=False)
class _Pair:
    """Stories of two checkpoints and the differences, ``after`` minus ``before``."""

    written: StoryFigures
    before: tuple[ArmStories, Point]
    after: tuple[ArmStories, Point]
    found: story_shapes.Differences

    @property
    def names(self) -> list[str]:
        """The measures that are compared, in the order of the table."""
        return [name for name in self.written.measures() if name in self.found]

    @property
    def judged(self) -> bool:
        return all(one["verdict"] in JUDGED for one in self.found.values())

    def caution(self) -> str | None:
        """Why nothing is judged; None where it is."""
        if self.judged:
            return None
        reason = next(one["verdict"] for one in self.found.values() if one["verdict"] not in JUDGED)
        if reason.startswith("one seed"):
            seeds = max(one["seeds"] for one in self.found.values())
            reason = f"{answer.seeds_in_words(seeds)}: not judged"
        return f"{reason[:1].upper()}{reason[1:]}. Intervals are over the samples alone."

    def copying(self) -> list[str]:
        """Whether more is copied."""
        names = [name for name in COPYING if name in self.found]
        if not names:
            return []
        words = {self.found[name]["verdict"] for name in names}
        if not self.judged:
            said = "What it copies"
        elif words == {"no difference seen"}:
            said = "No difference seen in what it copies"
        elif words >= {"higher", "lower"}:
            said = "It copies otherwise"
        else:
            said = "It copies more" if "higher" in words else "It copies less"
        each = len(words) > 1 or any(self._corrected(name) for name in names)
        items = [self._item(name, verdict=each, real=True) for name in names]
        return [f"{said}: {'; '.join(items)}."]

    def moved(self, names: Sequence[str]) -> list[str]:
        """Which of ``names`` differ, by the words for it, or have an interval apart from 0; how many do not."""
        if not self.judged:
            apart = [name for name in names if apart_from_zero(self.found[name])]
            # Where nothing is judged the intervals stay in the table: many words for little.
            told = [f"Intervals apart from 0: {'; '.join(map(self._moved, apart))}."] if apart else []
            return [*told, *self._others("No interval apart from 0 in {}.", names, apart)]
        told, moved = [], []
        for word in _WORDS:
            if some := [name for name in names if self.found[name]["verdict"] == word]:
                told.append(f"{word.capitalize()}: {self._items(some, real=word in ('higher', 'lower'))}.")
                moved += some
        if some := [name for name in names if self._corrected(name)]:
            told.append(f"Apart from 0, but not after Holm’s correction: {self._items(some)}.")
            moved += some
        return [*told, *self._others("No difference seen in {}.", names, moved)]

    def _others(self, said: str, names: Sequence[str], moved: Sequence[str]) -> list[str]:
        left = len(names) - len(moved)
        if not left:
            return []
        which = "the other" if moved or len(names) < len(self.found) else "any of"
        return [said.format(f"{which} {left} measures" if left > 1 else f"{which} measure")]

    def _corrected(self, name: str) -> bool:
        """Whether Holm's correction left nothing of a difference whose own interval is apart from 0."""
        return self.found[name]["verdict"] == "no difference seen" and apart_from_zero(self.found[name])

    def _items(self, names: Sequence[str], real: bool = False) -> str:
        return "; ".join(self._item(name, real=real) for name in names)

    def _item(self, name: str, verdict: bool = False, real: bool = False) -> str:
        """``longest copy, 38 → 44 (+2 to +10; real stories 38)``."""
        found, notes = self.found[name], []
        if interval := self.written.interval(found, name):
            notes.append(interval + " points" * (scale(name) == 100))
        if verdict:
            notes.append(found["verdict"] + " after Holm’s correction" * self._corrected(name))
        reference = self.written.real(name)
        if real and reference and reference["figure"] is not None:
            notes.append(f"real stories {self.written.written(reference['figure'], name)}")
        return self._moved(name) + (f" ({'; '.join(notes)})" if notes else "")

    def _moved(self, name: str) -> str:
        """``longest copy, 38 → 44``."""
        values = [one.figure(point, name) for one, point in (self.before, self.after)]
        before, after = (self.written.written(value and value["figure"], name) for value in values)
        return f"{ALL[name].label}, {before}\u00a0→\u00a0{after}"
