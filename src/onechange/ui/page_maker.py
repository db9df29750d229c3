"""The program that makes report pages for the server, in a process of its own that gives way to all others.

A line of JSON comes in for every page, one goes out and then the page's bytes. It ends with its input, or when
nobody has asked for a while: it holds several hundred megabytes.
"""

import json
import os
import queue
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from onechange import apart, record
from onechange.report import page, study
from onechange.study_folder import StudyFolder
from onechange.ui import reading, sheets

IDLE_SECONDS = 120.0
NICENESS = 10
"""Trained runs come first. At 19 a page would take minutes beside runs that use every processor."""


def make(folder: Path, name: str, version: str, links: dict[str, Any]) -> bytes:
    """The live page of the study in ``folder``, read from its files as they are now; nothing is written."""
    kept = StudyFolder(folder)
    if kept.start() and not (folder / "corpus.json").is_file():
        raise LookupError("nothing is on record yet, no text and no tokenizers")
    found = study.parsed(folder, json.dumps(record.collect(kept)))
    live = page.Live(
        sheets.render("head.html.jinja", version=version, name=name),
        sheets.render("standing.html.jinja", **links),
    )
    return sheets.encoded(page.html(found, live))


def answer(asked: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """What is made of a request, and an ``error`` where it cannot be."""
    folder = Path(asked.pop("folder"))
    try:
        return {"error": None}, make(folder, **asked)
    except (ValueError, LookupError, OSError) as error:
        return {"error": reading.trouble(error, folder)}, b""
    except Exception:
        traceback.print_exc()
        return {"error": "the page cannot be drawn; the terminal of the server shows why"}, b""


def main() -> None:
    """Answer until the input ends. How much of the processor's time an answer took is told with it."""
    apart.give_way(NICENESS)
    asked = _lines()
    spent, output = 0.0, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing else may get between the pages
    while line := _next(asked, IDLE_SECONDS):
        told, made = answer(json.loads(line))
        before, spent = spent, time.process_time()
        told |= {"bytes": len(made), "seconds": spent - before}
        output.write(json.dumps(told).encode() + b"\n" + made)
        output.flush()


def _lines() -> "queue.SimpleQueue[bytes]":
    """The lines of standard input as they come, an empty one at its end. Windows waits for a pipe in no other way."""
    found: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        with os.fdopen(
            0, "rb", buffering=0, closefd=False
        ) as lines:  # without a buffer: its lock would outlive us
            for line in iter(lines.readline, b""):
                found.put(line)
        found.put(b"")

    threading.Thread(target=read, daemon=True).start()
    return found


def _next(lines: "queue.SimpleQueue[bytes]", patience: float) -> bytes:
    """The next line; an empty one at the end, and where none comes within ``patience`` seconds."""
    with suppress(queue.Empty):
        return lines.get(timeout=patience)
    return b""


if __name__ == "__main__":
    main()
