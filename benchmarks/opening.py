"""How long a report takes to open, and what it weighs: a study of three arms and five seeds, or a page of yours.

    python benchmarks/opening.py [PAGE.html] [--rounds 9] [--json]

Chromium opens the file offline, at 1,280 pixels. *Readable* is when text and still pictures stand there (the page's
load event), *alive* when its chart answers to the pointer, both from when the browser was told to open it. Medians.
Needs `chromium` and `chromedriver`.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "report"))

import browser
import instrument
import measured_stories
import synthetic
import test_report_where

from onechange import report

ALIVE = "return document.querySelector('#chart-curves.moves svg') !== null"


def page(folder: Path) -> Path:
    """A report of three arms and five seeds with every section there is."""
    made = synthetic.make_study(folder, seeds=5, floor=0.46)
    instrument.record_statistics(made)
    instrument.record_test(made)
    test_report_where.with_readings(made)
    instrument.record_tuning(made)
    measured_stories.record(made, each=64)
    instrument.record_sweep(made)
    return report.write(made)


def opened(window: browser.Browser, path: Path) -> tuple[float, float]:
    """Seconds until the page is readable, and until it is alive."""
    began = time.perf_counter()
    window.open(path)
    readable = time.perf_counter() - began
    window.wait_for(ALIVE)
    return readable, time.perf_counter() - began


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("page", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.page or page(Path(folder) / "study")
        window = browser.Browser(Path(folder) / "profile")
        try:
            opened(window, path)
            found = [opened(window, path) for _ in range(arguments.rounds)]
        finally:
            window.close()
        readable, alive = ([times[part] for times in found] for part in (0, 1))
        told = {
            "bytes": path.stat().st_size,
            "readable_seconds": statistics.median(readable),
            "readable_slowest": max(readable),
            "alive_seconds": statistics.median(alive),
            "alive_slowest": max(alive),
        }
    if arguments.json:
        print(json.dumps(told))
        return
    print(f"{told['bytes'] / 1e6:.2f} MB")
    for name, times in (("readable", readable), ("alive", alive)):
        print(f"{name:10} {statistics.median(times):6.2f} s   {min(times):.2f} to {max(times):.2f}")


if __name__ == "__main__":
    main()
