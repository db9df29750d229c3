"""What a text larger than memory costs: time and peak memory of reading, learning, encoding and batches.

    python benchmarks/large_corpus.py [--size 2000000000] [--tokenizer bpe] [--folder DIR] [--json]

The text is generated: halves of storyworld's stories put together anew, and in each a name out of a million, some of
them beyond ASCII; one story in 500 is an exact copy. A process of its own then does what a run does, with an empty
cache (stages "read", "learn and encode", "100 batches"), and another with the cache that the first one left. Memory is
read from /proc every 50 ms, so this runs on Linux only: the resident pages of the process and all its workers added
up, pages that several of them share counted in each. Plain reading is `cat FILE > /dev/null`, cold (the file's pages
given up first) and warm.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onechange import processor

STAGES = ("read", "learn and encode", "100 batches")
_MATERIAL = 8_000_000
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in ("a", "e", "i", "o", "u", "ë")]


def generate(path: Path, size: int, seed: int = 0) -> None:
    """Write at least ``size`` bytes of stories to ``path``, ``<|endoftext|>`` lines between them."""
    from onechange.corpus.storyworld import Storyworld

    draw, written, material = random.Random(seed), 0, 0
    beginnings, endings = [], []
    for story in Storyworld().documents():
        cut = story.index(". ", len(story) // 3) + 1 if ". " in story[len(story) // 3 :] else len(story) // 2
        beginnings.append(story[:cut])
        endings.append(story[cut:])
        material += len(story)
        if material > min(size / 4, _MATERIAL):
            break
    story = ""
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            if not story or draw.random() > 1 / 500:
                beginning, ending = draw.choice(beginnings), draw.choice(endings)
                story = f"{beginning} Someone called {_name(draw)} saw it.{ending}"
            written += file.write(f"{story}\n<|endoftext|>\n")


def _name(draw: random.Random) -> str:
    """A name out of a million: few are frequent, most are rare."""
    rank, name = int(10 ** (6 * draw.random())), ""
    while rank:
        rank, syllable = divmod(rank, len(_SYLLABLES))
        name += _SYLLABLES[syllable]
    return name.capitalize()


def stages(path: Path, tokenizer: str) -> None:
    """What a run does before and between its updates; prints a line of JSON after each stage."""
    import torch

    from onechange import dataset, documents, family, source
    from onechange.windows import Windows

    torch.set_num_threads(1)
    started = time.monotonic()

    def done(**facts: Any) -> None:
        nonlocal started
        print(json.dumps({"seconds": time.monotonic() - started, **facts}), flush=True)
        started = time.monotonic()

    corpus = documents.prepare(source.parse(f"file:{path}"))
    done(stories=corpus.facts["documents"], duplicates=corpus.facts["duplicates_removed"])
    data = dataset.made(corpus, family.resolve("tokenizer", tokenizer))
    done(tokens=len(data.training.ids) + len(data.validation.ids), id_bytes=data.training.ids.itemsize)
    windows = Windows(data.training, 0, 32, 512)
    held = sum(windows.batch(step)[2] for step in range(1, 101))
    done(characters=held)


def measure(path: Path, tokenizer: str, cache: Path) -> dict[str, Any]:
    """Run `stages` in a process of its own; seconds of each, and the peak memory of all processes together."""
    command = [sys.executable, __file__, "--stages", str(path), "--tokenizer", tokenizer]
    started = time.monotonic()
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "XDG_CACHE_HOME": str(cache)}
    )
    peak = {"resident": 0, "anonymous": 0, "file": 0}
    highest: dict[int, int] = {}
    most_processes = 0
    while child.poll() is None:
        found = [memory for pid in _tree(child.pid) if (memory := _memory(pid))]
        total = {kind: sum(memory[kind] for memory in found) for kind in peak}
        peak = max(peak, total, key=lambda one: one["resident"])
        most_processes = max(most_processes, len(found))
        highest |= {memory["pid"]: memory["highest"] for memory in found}
        time.sleep(0.05)
    seconds = time.monotonic() - started
    if child.returncode:
        sys.exit(f"the measured process ended with status {child.returncode}")
    assert child.stdout is not None
    rows = [json.loads(line) for line in child.stdout]
    return {
        "seconds": seconds,
        "stages": dict(zip(STAGES, rows, strict=True)),
        "peak_resident_bytes": peak["resident"],
        "peak_anonymous_bytes": peak["anonymous"],
        "peak_file_bytes": peak["file"],
        "sum_of_highest_bytes": sum(sorted(highest.values(), reverse=True)[:most_processes]),
        "processes": most_processes,
    }


def _tree(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    except OSError:
        return
    for child in children:
        yield from _tree(int(child))


def _memory(pid: int) -> dict[str, int] | None:
    names = {"VmRSS": "resident", "RssAnon": "anonymous", "RssFile": "file", "VmHWM": "highest"}
    found = {"pid": pid}
    try:
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name in names:
                found[names[name]] = 1024 * int(value.split()[0])
    except OSError:
        return None
    return found if len(found) == 5 else None


def plain_reading(path: Path) -> dict[str, float]:
    """Seconds of `cat FILE > /dev/null`, the file's pages given up before the first of two times."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    found = {}
    for which in ("cold", "warm"):
        started = time.monotonic()
        subprocess.run(["cat", str(path)], stdout=subprocess.DEVNULL, check=True)
        found[which] = time.monotonic() - started
    return found


def measured(size: int, tokenizer: str, folder: Path | None = None) -> dict[str, Any]:
    """Everything on a text of ``size`` bytes; what was written is gone afterwards."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path, cache = Path(name) / "text.txt", Path(name) / "cache"
        started = time.monotonic()
        generate(path, size)
        generated = time.monotonic() - started
        reading = plain_reading(path)
        first = measure(path, tokenizer, cache)
        again = measure(path, tokenizer, cache)
        kept = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file())
        size = path.stat().st_size
    assert again["stages"]["100 batches"]["characters"] == first["stages"]["100 batches"]["characters"]
    return {
        "ratios": {
            "plain_reading_vs_first_start": reading["cold"] / first["seconds"],
            "plain_reading_vs_later_start": reading["cold"] / again["seconds"],
        },
        "bytes": size,
        "tokenizer": tokenizer,
        "generating_seconds": generated,
        "plain_reading_seconds": reading,
        "first": first,
        "again": again,
        "cache_bytes": kept,
        "machine": {**processor.machine(), **processor.versions()},
    }


def table(result: dict[str, Any]) -> str:
    """The figures of `measured` as lines of text."""
    first, again, reading = result["first"], result["again"], result["plain_reading_seconds"]
    facts: dict[str, Any] = {}
    for row in first["stages"].values():
        facts |= row
    lines = [
        f"{result['bytes']:,} bytes, {facts['stories']:,} stories, {facts['duplicates']:,} copies dropped, "
        f"{facts['tokens']:,} tokens of {facts['id_bytes']} bytes ({result['tokenizer']}); cache "
        f"{result['cache_bytes']:,} bytes; generated in {result['generating_seconds']:.0f} s\n",
        f"{'':<22}{'first start':>14}{'later start':>14}",
    ]
    for stage in STAGES:
        lines.append(
            f"{stage:<22}{first['stages'][stage]['seconds']:>12.2f} s{again['stages'][stage]['seconds']:>12.2f} s"
        )
    for title, key in (
        ("peak memory", "peak_resident_bytes"),
        ("  anonymous", "peak_anonymous_bytes"),
        ("  pages of files", "peak_file_bytes"),
        ("sum of all peaks", "sum_of_highest_bytes"),
    ):
        lines.append(f"{title:<22}{first[key] / 1e6:>11,.0f} MB{again[key] / 1e6:>11,.0f} MB")
    lines.append(f"{'whole process':<22}{first['seconds']:>12.2f} s{again['seconds']:>12.2f} s")
    lines.append(f"{'processes':<22}{first['processes']:>12}  {again['processes']:>12}")
    lines.append(f"\nplain reading: {reading['cold']:.2f} s cold, {reading['warm']:.2f} s warm")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--size", type=lambda word: int(float(word)), default=50_000_000, help="bytes of text"
    )
    parser.add_argument("--tokenizer", default="bpe")
    parser.add_argument("--folder", type=Path, help="where the text and the cache may lie meanwhile")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--stages", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.stages:
        stages(given.stages, given.tokenizer)
        return
    result = measured(given.size, given.tokenizer, given.folder)
    print(json.dumps(result, indent=1) if given.json else table(result))


if __name__ == "__main__":
    main()
