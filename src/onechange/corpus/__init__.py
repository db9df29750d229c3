"""The family `corpus`: where documents come from. One file per source."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar


class Source(ABC):
    """Gives raw documents in a fixed order; `onechange.documents.prepare` cleans, cuts and splits them.

    A member's keyword-only settings always include ``characters`` (how much text is wanted; ``None``: all of
    it), ``separator`` (the text that follows every document, never empty) and ``test`` (the share of the text that is
    put aside for a test).
    """

    version: ClassVar[int] = 1

    reproducible: ClassVar[bool] = False
    """True where settings and `version` alone decide every document: a generator. `prepare` keeps it."""

    characters: int | None
    separator: str
    test: float

    cache: Path | None = None
    """A folder for what is expensive to fetch, set by `prepare` before it reads; ``None``: keep nothing."""

    @abstractmethod
    def documents(self) -> Iterator[str]:
        """Documents one at a time, uncleaned; read no further than the caller asks.

        Raises `ValueError` or `OSError` with advice where the source cannot be read.
        """

    def identity(self) -> dict[str, object]:
        """What, besides the settings, decides the documents: a revision, a file's hash. Never a path."""
        return {}

    def stamp(self) -> dict[str, Any] | None:
        """What shows without reading the text whether it is still the one read before: the files' sizes and times.

        A large corpus is kept under it; ``None``: nothing shows it, and it is not kept.
        """
        return {} if self.reproducible else None

    def notes(self) -> list[str]:
        """What reading `documents` changed or left out, one sentence each."""
        return []

    def log_probability(self, document: str) -> float | None:
        """The exact log-probability of ``document`` in nats, where the source knows it: the entropy floor."""
        return None

    def checked(self, texts: Sequence[str], ended: Sequence[bool]) -> dict[str, Any] | None:
        """How well ``texts`` agree with the world behind this source, ready for JSON; ``None``: no world is known.

        Each text begins where a story begins. ``ended``: whether its story came to an end there, or was cut off.
        ``measures`` has by name ``counts`` and ``of``, a number per text each: a measure over all is Σ counts / Σ of.
        Reports show those that `onechange.stories.measures.WORLD` names.
        """
        return None
