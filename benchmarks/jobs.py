"""Whether small runs go faster side by side with one thread each than one after another with several.

    python benchmarks/jobs.py [--rounds 5] [--steps 20] [--scale quick] [--arm NAME …] [--eager] [--json]

Interleaved in one run, for every arm of the built-in study: a step alone with two threads, a step alone with one,
and two steps at once in processes of their own with one thread each, begun by a common signal. Seconds per step of
all runs together, medians over the rounds, and ratios of medians.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import chain

import torch

from onechange import processor
from onechange.engine import Engine
from onechange.recipe import Recipe
from onechange.study_file import locate, read

STUDY = "tokenizers-and-positions"
VOCABULARY = {"character": 74, "bpe": 4_096}
"""Of TinyStories; the text of a step is random."""
TOGETHER = 2
WAYS = {"one after another, 2 threads": (2, 1), "one after another, 1 thread": (1, 1),
        "2 at once, 1 thread each": (1, TOGETHER)}  # fmt: skip
"""Threads of a run, and how many runs at once."""


def work(arm: str, scale: str, threads: int, eager: bool) -> None:
    """The program of a process: a number of steps for every line of standard input, then a line of answer."""
    settings = read(locate(STUDY)).settings(arm, scale)
    steps = settings.pop("budget")["steps"]
    settings.update(
        threads=threads,
        precision=processor.precision("auto"),
        compile=not eager and processor.why_not_compile() is None,
    )
    vocabulary = VOCABULARY[settings["tokenizer"]["name"]]
    engine = Engine(Recipe(corpus={}, corpus_fingerprint="", steps=steps, seed=0, **settings), vocabulary)
    shape = settings["batch"], settings["window"] + 1
    ids = torch.randint(0, vocabulary, shape, generator=torch.Generator().manual_seed(0))
    for line in chain(["3"], sys.stdin):  # the first three compile, and fill the caches
        for step in range(int(line)):
            engine.update(1 + step % steps, ids[:, :-1], ids[:, 1:])
        print("done", flush=True)


@dataclass
class Worker:
    """Such a process, seen from outside."""

    process: subprocess.Popen[str]

    @classmethod
    def start(cls, arm: str, threads: int, arguments: argparse.Namespace) -> "Worker":
        """Start it; it answers when it is warm."""
        words = [sys.executable, __file__, "--scale", arguments.scale, "--work", arm, str(threads)]
        if arguments.eager:
            words.append("--eager")
        return cls(subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))

    def go(self, steps: int) -> None:
        """Let it make steps."""
        assert self.process.stdin
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()

    def wait(self) -> None:
        """Wait until they are made."""
        assert self.process.stdout
        if not self.process.stdout.readline():
            raise SystemExit("a process of the benchmark died")

    def end(self) -> None:
        """End it."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def seconds(workers: list[Worker], steps: int) -> float:
    """Wall-clock seconds per step of all workers together, from the common signal until the last has ended."""
    started = time.perf_counter()
    for worker in workers:
        worker.go(steps)
    for worker in workers:
        worker.wait()
    return (time.perf_counter() - started) / steps / len(workers)


def main() -> None:
    """Measure and print."""
    study = read(locate(STUDY))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20, help="steps of each worker in a round")
    parser.add_argument("--scale", default="quick")
    parser.add_argument("--arm", action="append", choices=study.arm_names)
    parser.add_argument("--eager", action="store_true", help="do not compile")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--work", nargs=2, metavar=("ARM", "THREADS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.work[0], arguments.scale, int(arguments.work[1]), arguments.eager)
        return

    arms = arguments.arm or study.arm_names
    workers = {
        arm: {
            threads: [Worker.start(arm, threads, arguments) for _ in range(number)]
            for threads, number in ((1, TOGETHER), (2, 1))
        }
        for arm in arms
    }
    everyone = [one for by_threads in workers.values() for some in by_threads.values() for one in some]
    for worker in everyone:
        worker.wait()
    times: dict[tuple[str, str], list[float]] = {(arm, way): [] for arm in arms for way in WAYS}
    for _ in range(arguments.rounds):
        for arm, way in times:
            threads, number = WAYS[way]
            times[arm, way].append(seconds(workers[arm][threads][:number], arguments.steps))
    for worker in everyone:
        worker.end()

    median = {key: statistics.median(found) for key, found in times.items()}
    total = {way: sum(median[arm, way] for arm in arms) for way in WAYS}
    two, one, together = total.values()
    alone, _, beside = WAYS
    result = {
        "ratios": {
            "two_at_once_vs_two_threads": two / together,
            "two_at_once_vs_one_thread": one / together,
            "one_thread_vs_two_threads": two / one,
            **{f"two_at_once_vs_two_threads_{arm}": median[arm, alone] / median[arm, beside] for arm in arms},
        },
        "rows": [
            {
                "arm": arm,
                "way": way,
                "median_seconds": median[arm, way],
                "fastest_seconds": min(found),
                "slowest_seconds": max(found),
            }
            for (arm, way), found in times.items()
        ],
        "machine": {
            **processor.machine(),
            **processor.versions(),
            "precision": processor.precision("auto"),
            "compile": not arguments.eager and processor.why_not_compile() is None,
        },
    }
    if arguments.json:
        print(json.dumps(result, indent=1))
        return
    how = "compiled" if result["machine"]["compile"] else "eager"
    print(
        f"scale {arguments.scale}, {result['machine']['precision']}, {how}, {arguments.rounds} rounds of "
        f"{arguments.steps} steps; milliseconds per step of all runs together\n"
    )
    print(f"{'arm':<10}{'way':<30}{'median':>9}{'fastest':>9}{'slowest':>9}")
    for row in result["rows"]:
        figures = [row[f"{which}_seconds"] * 1000 for which in ("median", "fastest", "slowest")]
        print(f"{row['arm']:<10}{row['way']:<30}" + "".join(f"{figure:>9.1f}" for figure in figures))
    print(f"\n2 at once vs 2 threads   {two / together:.2f} (above 1: side by side is faster)")
    print(f"2 at once vs 1 thread    {one / together:.2f} (2 at best: one run does not slow the other)")
    print(f"1 thread vs 2 threads    {two / one:.2f}")


if __name__ == "__main__":
    main()
