"""The family `schedule`: how the learning rate moves over a run. One file per shape."""

from abc import ABC, abstractmethod
from typing import ClassVar


class Schedule(ABC):
    """A pure function of the step, so that a resumed run needs nothing remembered."""

    version: ClassVar[int] = 1

    @abstractmethod
    def share(self, step: int, steps: int) -> float:
        """The share of the peak rate, in [0, 1], of update number ``step``; the first is 1, the last ``steps``.

        Step 0, where a warm-up begins, has one too, and beyond the last step the rate stays.
        """
