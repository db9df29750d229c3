"""Fair tuning: every arm at several values of one setting, so that no arm is judged at a value that suits another.

Each arm at another value than its own is an arm by itself, whose one change is that value. Which value is an arm's best
is chosen on validation text; the choice is judged on test text, which no choice has seen.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onechange import sweep

TEST = 0.1
"""The share of the text that is put aside for the test where a study tunes and does not say."""


@dataclass(frozen=True)
class Tuning:
    """What is tuned, and the values that a study lists."""

    key: str
    setting: str | None
    """``None`` where ``key`` is a size."""
    values: tuple[Any, ...]

    @property
    def path(self) -> str:
        """As it stands in a study: ``optimizer.learning_rate``."""
        return self.key if self.setting is None else f"{self.key}.{self.setting}"

    def name(self, arm: str, value: Any) -> str:
        """The name of ``arm`` at ``value``, where that is not the arm's own."""
        return f"{arm}.{self.setting or self.key}-{sweep.word(value)}"

    def change(self, value: Any) -> dict[str, Any]:
        """The one change from an arm to the same at ``value``."""
        return {self.key: value if self.setting is None else {self.setting: value}}

    def own(self, settings: Mapping[str, Any]) -> Any:
        """The value that an arm of these resolved ``settings`` has by itself; a `ValueError` if it has none."""
        found = settings[self.key]
        if self.setting is None:
            return found
        if self.setting not in found:
            raise ValueError(
                f"tune.{self.path}: {self.key} {found['name']!r} has no setting {self.setting!r}; "
                f"its settings are: {', '.join(name for name in found if name != 'name')}"
            )
        return found[self.setting]


def read(table: Any) -> Tuning | None:
    """What a study's ``tune`` says; ``None`` where there is nothing. A `ValueError` says what is wrong."""
    if not table:
        return None
    key, setting, values = sweep.path("tune", table)
    found = Tuning(key, setting, tuple(values))
    if len(values) < 2:
        raise ValueError(f"tune.{found.path} = {values!r}: must be a list of at least two values")
    return found
