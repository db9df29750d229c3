"""What the server reads of a study's folder while it runs: never written to, and costing it little."""

import asyncio
import hashlib
import os
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from onechange import mistake, run_lock, standing
from onechange.report import marks
from onechange.study_folder import StudyFolder
from onechange.ui.whole import whole

SHARE = 0.05
"""Of a processor's time: what looking at a study may cost."""
TOGETHER = 0.5
"""Seconds within which what was read is told to others who ask for the same."""
OF_THE_STUDY = ("start.json", "study.toml", "corpus.json")
OF_A_RUN = (
    "recipe.toml", "environment.json", "metrics.jsonl", "timing.jsonl", "measures.json", "failure.json",
    "samples/best.jsonl", "samples/last.jsonl",
)  # fmt: skip
"""The files that a page is made of; how far a run is between two evaluations is in none of them."""
T = TypeVar("T")


class Reader:
    """One thread that looks into folders for all who ask, so that many clients cost no more than one."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "reader")
        self._read: dict[Hashable, tuple[float, asyncio.Future[Any]]] = {}

    async def read(self, key: Hashable, what: Callable[[], T]) -> tuple[T, float]:
        """What ``what`` returns, and the seconds that it took; for all who ask with one ``key`` at about one time."""

        def timed() -> tuple[T, float]:
            started = time.thread_time()
            return what(), time.thread_time() - started

        now = time.monotonic()
        self._read = {key: found for key, found in self._read.items() if now - found[0] < TOGETHER}
        if key not in self._read:
            self._read[key] = now, asyncio.get_running_loop().run_in_executor(self._thread, timed)
        return await asyncio.shield(self._read[key][1])

    def close(self) -> None:
        """End the thread after what it reads now."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def version(path: Path) -> str:
    """What the files look like that the page of the study in ``path`` is made of: changed files, another version."""
    places = [path / name for name in OF_THE_STUDY]
    for arm in sorted(path.glob("arms/*")):
        places.append(arm / "arm.json")
        places += [run / name for run in sorted(arm.glob("seed-*")) for name in OF_A_RUN]
    seen = []
    for place in places:
        with suppress(OSError):
            status = place.stat()
            seen.append(f"{place}\0{status.st_mtime_ns}\0{status.st_size}\0{status.st_ino}")
    return hashlib.sha256("\n".join(seen).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def where_it_stands(path: Path) -> dict[str, Any]:
    """What a live page shows of a study: `onechange.standing`'s document, with the whole of it and the arms' marks.

    A study that cannot be read is told with an ``error`` in one line, and nothing else.
    """
    folder = StudyFolder(path)
    try:
        found = standing.collect(folder)
        study = folder.study()
        names = study.names(found["scale"])
        held = run_lock.is_locked(path)
    except (ValueError, LookupError, OSError) as error:
        return {"error": trouble(error, path)}
    for run in found["runs"]:
        run["mark"] = names.index(run["arm"]) if run["arm"] in names else None
        run["symbol"] = "" if run["mark"] is None else marks.symbol(run["mark"])
    return {**found, "question": study.question, **asdict(whole(found["runs"], held))}


def trouble(error: Exception, path: Path) -> str:
    """The error's line, without the way to the folder: that is nobody's business who looks from afar."""
    return mistake.sentence(error).replace(f"{path}{os.sep}", "").replace(str(path), path.name)
