"""`progress.json`: where a run is between two evaluations, for `onechange status`; there only while a run goes on.

It is no record: it is replaced every few seconds, not forced onto the disk, and a disk without room stops nothing.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from onechange.history import History
from onechange.training import Moment, Watch

SECONDS = 5.0
"""Between two of them."""


@contextmanager
def beating(
    run: Path, watch: Watch, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[Moment], None]]:
    """Yields a ``watch`` that also writes the file; it is removed at the end, however the run ends but by a kill."""
    path, started = run / "progress.json", clock()
    spent, last = 0.0, -SECONDS

    def beat(moment: Moment) -> None:
        nonlocal spent, last
        watch(moment)
        now = clock()
        if now - last < SECONDS and moment.step < moment.steps:
            return
        if last < 0:
            rows = History(run / "timing.jsonl").readable()
            spent = max((row["seconds"] for row in rows if row["step"] < moment.step), default=0.0)
        last = now
        content = {
            "step": moment.step,
            "seconds": spent + now - started,
            "seconds_left": moment.seconds_left,
        }
        unfinished = path.with_name(f"{path.name}.part")
        with suppress(OSError):
            unfinished.write_bytes(json.dumps(content).encode() + b"\n")
            unfinished.replace(path)

    try:
        yield beat
    finally:
        for name in (path.name, f"{path.name}.part"):
            (run / name).unlink(missing_ok=True)
