"""The page of all studies: what each asks, where it stands, what came out; kept while the records stay."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from onechange import json_file, run_lock
from onechange.study_folder import StudyFolder
from onechange.ui import reading, sheets
from onechange.ui.live import Watch
from onechange.ui.reading import Reader
from onechange.ui.studies import Studies


@dataclass(frozen=True)
class Verdict:
    """What came of one arm's change; the difference in nats per character."""

    arm: str
    verdict: str
    difference: str


@dataclass(frozen=True)
class Summary:
    """One study in a few lines; ``error`` is why there are none."""

    name: str
    question: str = ""
    scale: str = ""
    corpus: str = ""
    state: str = "damaged"
    finished: int = 0
    of: int = 0
    share: float = 0.0
    seconds_left: float | None = None
    heard: str | None = None
    best: tuple[str, str] | None = None
    """The arm with the lowest nats per character, and how low."""
    verdicts: tuple[Verdict, ...] = ()
    reasons: tuple[str, ...] = ()
    """Of the runs that failed."""
    error: str | None = None


class Index:
    """The summaries; those of studies that no process holds are read again only when their files have changed."""

    def __init__(self, studies: Studies, reader: Reader) -> None:
        self._studies, self._reader = studies, reader
        self._known: dict[Path, tuple[str, Summary]] = {}

    async def page(self) -> tuple[str, str, float]:
        """The page, the version of what it says, and the seconds that reading took."""
        (summaries, error), seconds = await self._reader.read("index", self._read)
        said = sheets.render("studies.html.jinja", summaries=summaries, error=error)
        version = hashlib.sha256(sheets.encoded(said)).hexdigest()[:16]
        folder = self._studies.folder
        return sheets.render("index.html.jinja", said=said, version=version, folder=folder), version, seconds

    async def look(self, watch: Watch) -> float:
        """Tell of the version of the page."""
        _, version, seconds = await self.page()
        watch.tell("page", {"version": version})
        return seconds

    def _read(self) -> tuple[list[Summary], str | None]:
        try:
            paths = self._studies.all()
        except OSError as error:
            return [], reading.trouble(error, self._studies.folder)
        self._known = {path: self._known[path] for path in paths.values() if path in self._known}
        return sorted((self._summary(name, path) for name, path in paths.items()), key=_place), None

    def _summary(self, name: str, path: Path) -> Summary:
        looks = reading.version(path) + _stamp(path / "results.json")
        try:
            held = run_lock.is_locked(path)
        except OSError as error:
            return Summary(name, error=reading.trouble(error, path))
        known = self._known.get(path)
        if known is not None and known[0] == looks and not held and known[1].state != "running":
            return known[1]
        found = summary(name, path)
        self._known[path] = looks, found
        return found


def summary(name: str, path: Path) -> Summary:
    """The study in ``path``; one that cannot be read is a summary too."""
    stands = reading.where_it_stands(path)
    if "error" in stands:
        return Summary(name, error=stands["error"])
    folder = StudyFolder(path)
    try:
        start, question = folder.start(), folder.study().question
        results = json_file.read(path / "results.json") if (path / "results.json").is_file() else {}
        best, verdicts = _outcome(results)
    except (ValueError, LookupError, OSError, TypeError, AttributeError) as error:
        return Summary(name, error=reading.trouble(error, path))
    whole = {key: stands[key] for key in ("state", "finished", "of", "share", "seconds_left", "heard")}
    failed = tuple(
        f"{run['arm']}, seed {run['seed']}: {run['error']}" for run in stands["runs"] if run["error"]
    )
    corpus = str(start.source.get("name", ""))
    return Summary(
        name, question or start.study, start.scale, corpus, **whole, best=best, verdicts=verdicts, reasons=failed
    )  # fmt: skip


def _outcome(results: Mapping[str, Any]) -> tuple[tuple[str, str] | None, tuple[Verdict, ...]]:
    """The best arm and the verdicts as `results.json` has them, on test text where the study is judged on it."""
    arms = results.get("arms", [])
    tested = any(arm.get("versus_parent_test") for arm in arms)
    levels = {}
    for arm in arms:
        found = (arm.get("over_seeds") or {}).get("best_test" if tested else "best")
        if found:
            levels[str(arm["name"])] = float(found["mean"])
    lowest = min(levels, key=lambda name: levels[name], default=None)
    verdicts = [
        Verdict(str(arm["name"]), str(found["verdict"]), _signed(found["nats_per_character_difference"]))
        for arm in arms
        if (found := arm.get("versus_parent_test" if tested else "versus_parent"))
    ]
    return (lowest, f"{levels[lowest]:.3f}") if lowest is not None else None, tuple(verdicts)


def _signed(value: float) -> str:
    text = f"{value:+.3f}"
    return "0.000" if float(text) == 0 else text.replace("-", "−")


def _place(found: Summary) -> tuple[int, float, str]:
    """What runs comes first, then the newest; what cannot be read comes last."""
    heard = datetime.fromisoformat(found.heard) if found.heard else datetime.fromtimestamp(0, UTC)
    rank = 0 if found.state == "running" else 2 if found.error else 1
    return rank, -heard.timestamp(), found.name


def _stamp(path: Path) -> str:
    try:
        return f"{path.stat().st_mtime_ns}"
    except OSError:
        return ""
