"""Trackers as someone else might write them."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from onechange.tracker import Tracker

Call = tuple[Any, ...]


class Recorder(Tracker):
    """Keeps what it was told."""

    calls: ClassVar[list[Call]] = []

    def begin(self, arm: str, seed: int, recipe: Mapping[str, Any], run: Path) -> None:
        self.calls.append(("begin", arm, seed, recipe["seed"], run))

    def row(self, arm: str, seed: int, row: Mapping[str, Any]) -> None:
        self.calls.append(("row", arm, seed, row["step"], row["seconds"]))

    def end(self, arm: str, seed: int, measures: Mapping[str, Any] | None) -> None:
        self.calls.append(("end", arm, seed, measures and measures["best"]["nats_per_character"]))

    def close(self) -> None:
        self.calls.append(("close",))


class Raising(Recorder):
    """Fails in the method that ``where`` names."""

    where: ClassVar[str] = "row"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._raise("__init__")

    def begin(self, arm: str, seed: int, recipe: Mapping[str, Any], run: Path) -> None:
        self._raise("begin")

    def row(self, arm: str, seed: int, row: Mapping[str, Any]) -> None:
        self._raise("row")

    def end(self, arm: str, seed: int, measures: Mapping[str, Any] | None) -> None:
        self._raise("end")

    def close(self) -> None:
        self._raise("close")

    def _raise(self, where: str) -> None:
        if self.where == where:
            raise RuntimeError(f"no network in {where}")


class Hanging(Recorder):
    """Never comes back, or not for long."""

    def begin(self, arm: str, seed: int, recipe: Mapping[str, Any], run: Path) -> None:
        time.sleep(3)


class Half(Tracker):
    """Lacks methods."""

    def close(self) -> None:
        pass


class Other:
    """No tracker at all."""
