"""Makes the caches of a text in processes of their own that are killed, each at another instant, and then once more.

    python killed_caches.py TEXT FOLDER HOW-MANY

An instant is a place where a kill could hurt: before a write, amid one, before something is put on the disk, renamed
or removed; of each kind HOW-MANY are taken, evenly. Prints for each instant its name, how the killed process ended,
whether the next one found the same as a process that was left alone, and what unfinished things lie about then.
"""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import large_texts
from onechange import finished


class Instants:
    """Counts instants and kills this process at one of them."""

    def __init__(self, kill_at: int | None) -> None:
        self.kill_at = kill_at
        self.passed: list[str] = []

    def here(self, name: str, halfway: Callable[[], object] = lambda: None) -> None:
        if len(self.passed) == self.kill_at:
            halfway()
            os.write(2, f"{name}\n".encode())
            os.kill(os.getpid(), signal.SIGKILL)
        self.passed.append(name)

    def before(self, place: Any, name: str) -> None:
        original = getattr(place, name)

        def instrumented(*given: Any, **named: Any) -> Any:
            self.here(f"before {name}")
            return original(*given, **named)

        setattr(place, name, instrumented)

    def amid_writes(self) -> None:
        write = finished.Writer.write

        def instrumented(writer: finished.Writer, content: bytes) -> None:
            def half() -> None:
                write(writer, content[: len(content) // 2])
                writer._file.flush()

            self.here("amid write", half)
            write(writer, content)

        finished.Writer.write = instrumented  # type: ignore[method-assign]  # a stand-in


def child(text: Path, cache: Path, kill_at: int | None, answer: int) -> None:
    instants = Instants(kill_at)
    for place, name in (
        (os, "fsync"),
        (Path, "rename"),
        (Path, "replace"),
        (Path, "mkdir"),
        (shutil, "rmtree"),
    ):
        instants.before(place, name)
    instants.amid_writes()
    found = large_texts.work(text, cache)
    with os.fdopen(answer, "w") as pipe:
        json.dump([instants.passed, found], pipe)


def run(text: Path, cache: Path, kill_at: int | None) -> tuple[int, list[str], Any]:
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        child(text, cache, kill_at, writing)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        passed, found = json.loads(pipe.read() or "[[], null]")
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), passed, found


def main() -> None:
    text, folder, many = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    folder.mkdir()
    large_texts.small(setattr)
    status, instants, truth = run(text, folder / "alone", None)
    assert status == 0
    outcomes = []
    for number, name in enumerate(instants):
        same = [other for other, another in enumerate(instants) if another == name]
        if number not in same[:: -(-len(same) // many)]:
            continue
        cache = folder / str(number)
        status, _, _ = run(text, cache, number)
        _, _, found = run(text, cache, None)
        left = [path.name for path in cache.rglob("*.part")]
        outcomes.append([name, status, found == truth, left])
    json.dump({"truth": truth, "outcomes": outcomes}, sys.stdout)


if __name__ == "__main__":
    main()
