"""Trackers: programs that show how runs go. A file of this folder is a tracker, its name is the word for `--track`.

A tracker is part of no recipe. It is told what stands in the runs' files and can change nothing about them.
"""

import importlib
import inspect
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Tracker(ABC):
    """Told of the runs of one study by the study's own process, always from the same thread.

    Several runs may be under way at once, so every call says of which one it speaks. Whatever a method raises ends the
    tracking and nothing else.
    """

    def __init__(self, folder: Path) -> None:
        """``folder``: where it may write; it need not exist yet and is the same when the study is resumed."""
        self.folder = folder

    @abstractmethod
    def begin(self, arm: str, seed: int, recipe: Mapping[str, Any], run: Path) -> None:
        """A run begins, or is told from its beginning once more: what was told of it before, by an earlier process
        too, counts no longer. ``recipe`` is as in `recipe.toml`, ``run`` the run's folder."""

    @abstractmethod
    def row(self, arm: str, seed: int, row: Mapping[str, Any]) -> None:
        """An evaluation, in the order of steps: a line of `metrics.jsonl` and, where it is known, its ``seconds``."""

    @abstractmethod
    def end(self, arm: str, seed: int, measures: Mapping[str, Any] | None) -> None:
        """A run has ended: ``measures`` as in `measures.json`, ``None`` where it failed. Not told of a run that was
        stopped and can go on."""

    @abstractmethod
    def close(self) -> None:
        """The study ends, or is stopped."""


def names() -> list[str]:
    """The words for `--track` that need no package of someone else's."""
    return sorted(found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_"))


def find(word: str) -> type[Tracker]:
    """The tracker that ``word`` names: one of `names`, or ``some.package:Class``.

    Raises a `LookupError` or `ValueError` that says what there is, or what must be installed.
    """
    if ":" in word:
        return _foreign(word)
    if word not in names():
        raise LookupError(f"--track {word!r}: must be {', '.join(names())} or some.package:Class")
    try:
        module = importlib.import_module(f"{__name__}.{word}")
    except ImportError as error:
        raise ValueError(f"--track {word}: {error}; pip install 'onechange[track]'") from None
    found = [
        thing
        for thing in vars(module).values()
        if inspect.isclass(thing) and issubclass(thing, Tracker) and thing.__module__ == module.__name__
    ]
    assert len(found) == 1, f"{module.__name__} must hold exactly one tracker, it holds {found}"
    return found[0]


def _foreign(word: str) -> type[Tracker]:
    package, _, name = word.partition(":")
    try:
        found = getattr(importlib.import_module(package), name, None)
    except Exception as error:  # someone else's module may fail in any way
        raise ValueError(f"--track {word}: {package!r} cannot be imported: {error}") from None
    if not (inspect.isclass(found) and issubclass(found, Tracker)) or inspect.isabstract(found):
        raise ValueError(
            f"--track {word}: {name!r} must be a class with all methods of onechange.tracker.Tracker"
        )
    return found
