"""Validation text coloured, character by character: how surprised an arm was, how it differs from its parent."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from onechange import json_file, shapes
from onechange.report.digits import plain, signed
from onechange.report.study import Arm, Study

DIGITS = 2
_NICE = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Nats at which a colour may be at its strongest."""


@dataclass(frozen=True)
class Character:
    """One character as it is shown, how strong its colour is (0 to 1), its figure, and on which side it lies."""

    shown: str
    strength: str
    told: str
    side: str
    """``more`` nats or ``less``; what is neither has no colour."""


@dataclass(frozen=True, eq=False)
class Heat:
    """The excerpt, and every arm's surprise at each character of it, the mean over the seeds that have it."""

    text: str
    arms: list[tuple[Arm, Float[np.ndarray, " characters"]]]
    changes: list[tuple[Arm, Arm]]
    """Arms with their parents, where both have the figures."""

    @property
    def most(self) -> float:
        """Nats at which the colour of a surprise is at its strongest."""
        return _strongest([nats for _, nats in self.arms])

    def most_apart(self, arm: Arm, parent: Arm) -> float:
        """The same of the difference between two arms."""
        return _strongest([np.abs(self._apart(arm, parent))])

    def first(self) -> list[Character]:
        """The first arm's surprise."""
        return [
            Character(_shown(character), _strength(nats, self.most), plain(nats, DIGITS), "more")
            for character, nats in zip(self.text, self.arms[0][1].tolist(), strict=True)
        ]

    def last(self) -> list[Character]:
        """The last change's differences."""
        pair = self.changes[-1]
        most, apart = self.most_apart(*pair), self._apart(*pair).tolist()
        return [
            Character(
                _shown(character),
                _strength(abs(nats), most),
                signed(nats, DIGITS),
                "more" if nats > 0 else "less",
            )
            for character, nats in zip(self.text, apart, strict=True)
        ]

    def words(self) -> list[tuple[str, list[str]]]:
        """Every word with the space after it, and each arm's nats for it."""
        found = []
        for match in re.finditer(r"\S+\s*|\s+", self.text):
            nats = [plain(float(each[slice(*match.span())].sum()), DIGITS) for _, each in self.arms]
            found.append(("".join(map(_shown, match.group().strip())) or "space", nats))
        return found

    def data(self) -> dict[str, Any]:
        """What the page needs to show another arm or another change."""
        return {
            "arms": {str(arm.index): np.round(nats, 3).tolist() for arm, nats in self.arms},
            "parents": {str(arm.index): str(parent.index) for arm, parent in self.changes},
            "most": self.most,
            "apart": {str(arm.index): self.most_apart(arm, parent) for arm, parent in self.changes},
            "digits": DIGITS,
        }

    def _apart(self, arm: Arm, parent: Arm) -> Float[np.ndarray, " characters"]:
        by_index = {each.index: nats for each, nats in self.arms}
        return by_index[arm.index] - by_index[parent.index]


def heat(study: Study) -> Heat | None:
    """The excerpt's figures; None where the study has no excerpt or no arm has its figures."""
    text = study.record.get("excerpt")
    if not isinstance(text, str) or not text:
        return None
    found = {arm.name: nats for arm in study.arms if (nats := _nats(study, arm, len(text))) is not None}
    arms = [(arm, found[arm.name]) for arm in study.arms if arm.name in found]
    if not arms:
        return None
    known = {arm.name: arm for arm, _ in arms}
    changes = [(arm, known[arm.parent]) for arm, _ in arms if arm.parent is not None and arm.parent in known]
    return Heat(text, arms, changes)


def _nats(study: Study, arm: Arm, characters: int) -> Float[np.ndarray, " characters"] | None:
    seeds = []
    for run in arm.scored("best"):
        path = study.folder / "arms" / arm.name / f"seed-{run['seed']}" / "measures.json"
        if not path.is_file():
            continue
        readings = (json_file.read(path).get("best") or {}).get("readings")
        if readings is None:
            continue
        shapes.fit(readings, shapes.Readings, path)
        if len(readings.get("excerpt", [])) == characters:
            seeds.append(readings["excerpt"])
    return np.mean(np.array(seeds, dtype=np.float64), axis=0) if seeds else None


def _strongest(values: list[Float[np.ndarray, " characters"]]) -> float:
    """A round number near what few characters are above."""
    if not values:
        return _NICE[-1]
    high = float(np.quantile(np.concatenate(values), 0.95))
    return next((nice for nice in _NICE if nice >= high), _NICE[-1])


def _strength(nats: float, most: float) -> str:
    return f"{min(1.0, max(0.0, nats) / most):.2f}"


def _shown(character: str) -> str:
    """A line's end as an arrow before it; what cannot be seen, or turns the text around, as a box."""
    if character == "\n":
        return "↵\n"
    return "\ufffd" if unicodedata.category(character)[0] == "C" else character
