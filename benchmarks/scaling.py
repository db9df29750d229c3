"""How cost grows, each against the line that the count of operations (or of bytes) predicts.

    python benchmarks/scaling.py [--rounds 3] [--part window|width|encoding|evaluation …] [--json]

window      a step over window lengths 256 to 4,096, with as many tokens a step
width       a step over widths 128 to 768, heads of 64
encoding    learning and encoding over the size of the text, time and peak memory, each in a process of its own
evaluation  an evaluation over the length of the validation text

Predicted is what the row marked * would cost if cost grew as operations, or as text, do. Steps are in the precision
that this machine is fast in, compiled where it can; rounds are interleaved; medians.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from training import VOCABULARY, recipe

from onechange import dataset, device, documents, evaluate, family, processor, source
from onechange.engine import Engine
from onechange.operations import per_token

TOKENS = 8_192
WINDOWS = (256, 512, 1_024, 2_048, 4_096)
WIDTHS = (128, 256, 384, 512, 768)
TEXT = (1, 2, 4, 8, 16)
"""Millions of characters."""
BATCHES = (4, 8, 16, 32)
"""Of the evaluated text."""


def step(**sizes: int) -> tuple[Callable[[], object], float]:
    """A whole update at these sizes, and its operations."""
    chosen = recipe("full", batch=TOKENS // sizes.get("window", 512), **sizes)
    engine = Engine(chosen, VOCABULARY)
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(0, VOCABULARY, (chosen.batch, chosen.window + 1), generator=generator)
    return lambda: engine.update(1, ids[:, :-1], ids[:, 1:]), TOKENS * per_token(
        engine.model, engine.model.sizes
    )


def evaluation(batches: int) -> tuple[Callable[[], object], float]:
    """An evaluation of so many batches of text at the scale `full`."""
    chosen = recipe("full", batch=16)
    engine = Engine(chosen, VOCABULARY)
    ids = np.random.default_rng(0).integers(0, VOCABULARY, batches * chosen.batch * chosen.window)
    return (
        lambda: evaluate.loss(engine.evaluated, ids, ids[:1], chosen.window, chosen.batch),
        float(batches),
    )


def rows(
    makers: Mapping[str, Callable[[], tuple[Callable[[], object], float]]], rounds: int, reference: str
) -> list[dict[str, Any]]:
    """Interleaved medians beside what the reference row predicts."""
    made = {name: make() for name, make in makers.items()}
    for action, _ in made.values():
        action()
        action()
    times: dict[str, list[float]] = {name: [] for name in made}
    for _ in range(rounds):
        for name, (action, _) in made.items():
            started = time.perf_counter()
            action()
            times[name].append(time.perf_counter() - started)
    median = {name: statistics.median(found) for name, found in times.items()}
    return compared({name: (median[name], made[name][1]) for name in made}, reference)


def compared(found: Mapping[str, tuple[float, float]], reference: str) -> list[dict[str, Any]]:
    """``found`` holds seconds and the amount of work of every row."""
    unit = found[reference][0] / found[reference][1]
    return [
        {
            "what": name,
            "seconds": seconds,
            "predicted_seconds": work * unit,
            "over_predicted": seconds / (work * unit),
            "reference": name == reference,
        }
        for name, (seconds, work) in found.items()
    ]


def encode(path: Path) -> dict[str, float]:
    """In a process of its own: prepare, learn and encode the text, nothing cached."""
    started = time.perf_counter()
    corpus = documents.prepare(source.parse(f"file:{path}"), cache=None)
    prepared = time.perf_counter()
    tokenizer = dataset.learn(corpus, family.resolve("tokenizer", "bpe"))
    learned = time.perf_counter()
    dataset.dataset(corpus, tokenizer)
    return {
        "prepare": prepared - started,
        "learn": learned - prepared,
        "encode": time.perf_counter() - learned,
        "peak_memory_bytes": device.peak_memory(torch.device("cpu")) or math.nan,
    }


def text(million: int) -> str:
    """So many million characters of storyworld."""
    settings = {"name": "storyworld", "characters": million * 1_000_000}
    corpus = documents.prepare(family.resolve("corpus", settings), cache=None)
    return "\n\n".join([*corpus.training, *corpus.validation])


def encodings(rounds: int) -> list[dict[str, Any]]:
    """Time and memory over the size of the text."""
    found: dict[int, list[dict[str, float]]] = {million: [] for million in TEXT}
    with tempfile.TemporaryDirectory() as folder:
        paths = {million: Path(folder) / f"{million}.txt" for million in TEXT}
        for million, path in paths.items():
            path.write_text(text(million), encoding="utf-8")
        for _ in range(rounds):
            for million, path in paths.items():
                words = [sys.executable, __file__, "--encode", str(path)]
                done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
                found[million].append(json.loads(done.stdout))

    def median(million: int, key: str) -> float:
        return statistics.median(one[key] for one in found[million])

    middle = TEXT[len(TEXT) // 2]
    total = {m: sum(median(m, stage) for stage in ("prepare", "learn", "encode")) for m in TEXT}
    listed = compared(
        {f"{m} million characters": (total[m], m) for m in TEXT}, f"{middle} million characters"
    )
    for row, million in zip(listed, TEXT, strict=True):
        row.update({key: median(million, key) for key in ("prepare", "learn", "encode", "peak_memory_bytes")})
    return listed


PARTS: Mapping[str, Callable[[int], Sequence[dict[str, Any]]]] = {
    "window": lambda rounds: rows(
        {f"window {w:,}": lambda w=w: step(window=w) for w in WINDOWS}, rounds, "window 512"
    ),
    "width": lambda rounds: rows(
        {f"width {w}": lambda w=w: step(width=w, heads=w // 64) for w in WIDTHS}, rounds, "width 384"
    ),
    "encoding": encodings,
    "evaluation": lambda rounds: rows(
        {f"{b * 8_192:,} tokens": lambda b=b: evaluation(b) for b in BATCHES}, rounds, f"{8 * 8_192:,} tokens"
    ),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--encode", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.encode:
        print(json.dumps(encode(arguments.encode)))
        return
    found = {part: list(PARTS[part](arguments.rounds)) for part in arguments.part or PARTS}
    ratios = {
        f"{part}_worst_over_predicted": max(row["over_predicted"] for row in one)
        for part, one in found.items()
    }
    if arguments.json:
        machine = {**processor.machine(), **processor.versions()}
        print(json.dumps({"ratios": ratios, "rows": found, "machine": machine}, indent=1))
        return
    for part, one in found.items():
        print(f"\n{part:<24}{'seconds':>10}{'predicted':>11}{'ratio':>7}")
        for row in one:
            memory = f"{row['peak_memory_bytes'] / 2**20:>8,.0f} MiB" if "peak_memory_bytes" in row else ""
            print(
                f"{row['what']:<22}{'*' if row['reference'] else ' '} {row['seconds']:>10.3f}"
                f"{row['predicted_seconds']:>11.3f}{row['over_predicted']:>7.2f}{memory}"
            )


if __name__ == "__main__":
    main()
