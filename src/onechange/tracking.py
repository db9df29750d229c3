"""Telling trackers how runs go, from the runs' own files: the same for runs one by one, side by side and far away.

Every tracker has a thread of its own in the study's process, so a slow one holds up no run. What it was told is
compared with the files again and again: where a resumed run has made rows anew, it is told anew from its beginning.
"""

import json
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from onechange import atomic, digest, json_file, shapes
from onechange.digest import Mark
from onechange.history import History
from onechange.laboratory import Watcher
from onechange.plan import Run
from onechange.recipe import Recipe
from onechange.tracker import Tracker
from onechange.training import Moment

SECONDS_BETWEEN_LOOKS = 0.5
PATIENCE = 30.0
"""Seconds that a tracker may take to finish once the study is done; then it is left alone."""
DONE = "told.json"
"""Of which finished runs a tracker was told all; in its folder."""


@contextmanager
def told(
    kinds: Mapping[str, type[Tracker]],
    out: Path,
    runs: Mapping[Run, Path],
    unfinished: Collection[Run],
    watcher: Watcher,
) -> Iterator[Watcher]:
    """A watcher that does what ``watcher`` does, while trackers of these ``kinds`` are told of ``runs``.

    ``kinds`` are named by the words that chose them. ``out`` is the study's folder; trackers write below `tracking` in
    it. A run that is not ``unfinished`` is told too, unless a tracker was told all of it before. A tracker that raises
    is dropped with one note.
    """
    followers = [
        _Follower(word, kind, out / "tracking" / word.replace(":", "."), runs, unfinished, watcher)
        for word, kind in kinds.items()
    ]
    with ExitStack() as stack:
        for follower in followers:
            stack.callback(follower.finish)
            follower.start()
        yield _Telling(watcher, followers)


@dataclass
class _Told:
    """One run as a tracker knows it."""

    path: Path
    over: bool
    """No more rows will come."""
    begun: bool = False
    rows: list[dict[str, Any]] = field(default_factory=list)
    seen: Any = None
    """Times and sizes of its files when they were last read."""


class _Telling:
    """A `Watcher` before another one."""

    def __init__(self, watcher: Watcher, followers: Collection["_Follower"]) -> None:
        self._watcher, self._followers = watcher, followers

    def watch(self, arm: str, seed: int, moment: Moment) -> None:
        self._watcher.watch(arm, seed, moment)

    def ended(self, arm: str, seed: int) -> None:
        for follower in self._followers:
            follower.ended((arm, seed))
        self._watcher.ended(arm, seed)

    def say(self, note: str) -> None:
        self._watcher.say(note)


class _Follower:
    """One tracker and its thread."""

    def __init__(
        self,
        word: str,
        kind: type[Tracker],
        folder: Path,
        runs: Mapping[Run, Path],
        unfinished: Collection[Run],
        watcher: Watcher,
    ) -> None:
        self._word, self._kind, self._folder, self._watcher = word, kind, folder, watcher
        self._runs = {run: _Told(path, over=run not in unfinished) for run, path in runs.items()}
        self._stop = threading.Event()
        # A daemon: one that hangs must not keep the process.
        self._thread = threading.Thread(target=self._follow, name=f"track {word}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ended(self, run: Run) -> None:
        """All files of the run are written."""
        if known := self._runs.get(run):
            known.over = True

    def finish(self) -> None:
        """Tell what is left, then end the thread."""
        self._stop.set()
        self._thread.join(PATIENCE)
        if self._thread.is_alive():
            self._watcher.say(f"--track {self._word}: did not end within {PATIENCE:.0f} s, it is left alone")

    def _follow(self) -> None:
        try:
            done = self._done()
            self._runs = {
                run: known
                for run, known in self._runs.items()
                if not known.over or done.get(_name(run)) != _mark(known.path)
            }
            tracker = self._kind(self._folder)
            try:
                stopping = False
                while not stopping:
                    stopping = self._stop.wait(SECONDS_BETWEEN_LOOKS)
                    for run, known in [*self._runs.items()]:
                        self._look(tracker, run, known, done)
            finally:
                tracker.close()
        except (Exception, SystemExit) as error:  # someone else's code may fail in any way
            what = str(error) or type(error).__name__
            self._watcher.say(f"--track {self._word}: {what}; tracking ends here, the runs go on")

    def _look(self, tracker: Tracker, run: Run, known: _Told, done: dict[str, Any]) -> None:
        over = known.over  # before the files are read: then nothing is missed
        written = [_written(known.path / name) for name in ("metrics.jsonl", "timing.jsonl")]
        if written == known.seen and not over:
            return
        known.seen = written
        rows = _rows(known.path, over)
        if not rows and not over:
            return
        if rows[: len(known.rows)] != known.rows:
            if not over and known.rows[: len(rows)] == rows:
                return  # cut to its last checkpoint: the rest will come again
            known.begun = False
        if not known.begun:
            tracker.begin(*run, msgspec.to_builtins(Recipe.read(known.path / "recipe.toml")), known.path)
            known.begun, known.rows = True, []
        for row in rows[len(known.rows) :]:
            tracker.row(*run, row)
            known.rows.append(row)
        if over:
            measures = _measures(known.path)
            tracker.end(*run, measures)
            del self._runs[run]
            if measures is not None:
                done[_name(run)] = _mark(known.path)
                self._folder.mkdir(parents=True, exist_ok=True)
                atomic.write(self._folder / DONE, json.dumps(done, indent=1) + "\n")

    def _done(self) -> dict[str, Any]:
        """What an earlier process wrote; nothing where it cannot be read, and then all is told anew."""
        with suppress(OSError, ValueError):
            return json_file.read(self._folder / DONE)
        return {}


def _written(path: Path) -> tuple[int, int] | None:
    """When the file was written and how long it is; ``None`` where there is none."""
    with suppress(FileNotFoundError):
        status = path.stat()
        return status.st_mtime_ns, status.st_size
    return None


def _rows(run: Path, over: bool) -> list[dict[str, Any]]:
    """The history with its times, as far as both are written; whatever there is once the run is ``over``.

    What cannot be read is passed over: a run that is about to be resumed mends its files.
    """
    seconds = {row["step"]: row["seconds"] for row in _readable(run / "timing.jsonl", shapes.Times)}
    rows = [
        {**row, "seconds": seconds.get(row["step"])} for row in _readable(run / "metrics.jsonl", shapes.Row)
    ]
    return [row for row in rows if over or row["seconds"] is not None]


def _readable(path: Path, kind: Any) -> list[dict[str, Any]]:
    found = []
    with suppress(FileNotFoundError):  # set aside this moment
        for row in History(path).readable():
            with suppress(ValueError):
                shapes.fit(row, kind, path)
                found.append(row)
    return found


def _measures(run: Path) -> dict[str, Any] | None:
    if not (run / "measures.json").is_file():
        return None
    found = json_file.read(run / "measures.json")
    shapes.fit(found, shapes.Measures, run / "measures.json")
    return found


def _mark(run: Path) -> Mark:
    return digest.of_bytes(json.dumps(_rows(run, over=True)).encode())


def _name(run: Run) -> str:
    return f"{run[0]}/seed-{run[1]}"
