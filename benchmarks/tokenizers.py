"""How fast `bpe` learns and encodes, against the peers that are installed.

    python benchmarks/tokenizers.py --data TEXT [--characters N] [--vocabulary N] [--rounds N] [--json]

TEXT holds stories separated by lines ``<|endoftext|>``. Everyone learns the same number of merges from the
same stories, cut into the same four kinds of pieces, and encodes the same stories, each on its own, having
seen no piece before. Ours is plain Python on one processor core; the peers are Rust and may use all cores. A
round runs everyone once; the table gives the medians of the rounds, with the fastest and the slowest. A ratio
is the peer's median over ours: above 1 we are faster.

Peers: tokenizers (on characters, as ours), rustbpe and tiktoken (on bytes; tiktoken is given our tokens).
"""

# ruff: noqa: E402
import sys
from pathlib import Path

# This file is named like a library that it measures: its own folder must not be searched for it.
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).parent.resolve()]

import argparse
import gc
import importlib
import importlib.metadata
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from typing import Any

from onechange.tokenizer.bpe import Bpe

PEERS = ("tokenizers", "rustbpe", "tiktoken")
PIECES = r"\p{L}+|\p{Nd}+|\s+|[^\p{L}\p{Nd}\s]+"
Task = tuple[Callable[[], Any], Callable[[Any], int]]
"""What is prepared untimed, and what is then timed and gives a count to compare."""


def ours(stories: list[str], alphabet: str, vocabulary: int) -> dict[str, Task]:
    learned = Bpe(vocabulary=vocabulary)
    learned.learn(stories, alphabet)
    state = learned.to_json()

    def learn(tokenizer: Bpe) -> int:
        tokenizer.learn(stories, alphabet)
        return tokenizer.vocabulary_size

    def fresh() -> Bpe:
        tokenizer = Bpe(vocabulary=vocabulary)
        tokenizer.restore(state)
        return tokenizer

    def encode(tokenizer: Bpe) -> int:
        return sum(len(tokenizer.encode(story)) for story in stories)

    return {"learn": (lambda: Bpe(vocabulary=vocabulary), learn), "encode": (fresh, encode)}


def with_tokenizers(stories: list[str], alphabet: str, vocabulary: int) -> dict[str, Task]:
    library = importlib.import_module("tokenizers")

    def empty() -> Any:
        tokenizer = library.Tokenizer(library.models.BPE())
        tokenizer.pre_tokenizer = library.pre_tokenizers.Split(library.Regex(PIECES), behavior="isolated")
        return tokenizer

    def learn(tokenizer: Any) -> int:
        trainer = library.trainers.BpeTrainer(
            vocab_size=vocabulary, initial_alphabet=list(alphabet), show_progress=False
        )
        tokenizer.train_from_iterator(stories, trainer, length=len(stories))
        return tokenizer.get_vocab_size()

    learned = empty()
    learn(learned)
    written = learned.to_str()

    def encode(tokenizer: Any) -> int:
        return sum(len(found.ids) for found in tokenizer.encode_batch_fast(stories))

    return {"learn": (empty, learn), "encode": (lambda: library.Tokenizer.from_str(written), encode)}


def with_rustbpe(stories: list[str], alphabet: str, vocabulary: int) -> dict[str, Task]:
    library = importlib.import_module("rustbpe")
    merges = vocabulary - len(alphabet)

    def learn(tokenizer: Any) -> int:
        tokenizer.train_from_iterator(iter(stories), 256 + merges, pattern=PIECES)
        return tokenizer.vocab_size

    return {"learn": (library.Tokenizer, learn)}


def with_tiktoken(stories: list[str], alphabet: str, vocabulary: int) -> dict[str, Task]:
    library = importlib.import_module("tiktoken")
    learned = Bpe(vocabulary=vocabulary)
    learned.learn(stories, alphabet)
    texts = [*(bytes([byte]) for byte in range(256)), *(token.encode() for token in learned.tokens())]
    ranks = {text: rank for rank, text in enumerate(dict.fromkeys(texts))}

    def fresh() -> Any:
        return library.Encoding("ours", pat_str=PIECES, mergeable_ranks=ranks, special_tokens={})

    def encode(encoding: Any) -> int:
        found = encoding.encode_ordinary_batch(stories, num_threads=os.cpu_count() or 1)
        return sum(map(len, found))

    return {"encode": (fresh, encode)}


def timed(task: Task) -> tuple[float, int]:
    prepare, work = task
    prepared = prepare()
    gc.collect()
    start = time.perf_counter()
    count = work(prepared)
    return time.perf_counter() - start, count


def measured(tasks: dict[tuple[str, str], Task], rounds: int) -> list[dict[str, Any]]:
    """Rows of medians and spreads in seconds; ``count`` is tokens learned, or tokens encoded to."""
    seconds: dict[tuple[str, str], list[float]] = {key: [] for key in tasks}
    counts: dict[tuple[str, str], int] = {}
    for _ in range(rounds):
        for key, task in tasks.items():
            taken, counts[key] = timed(task)
            seconds[key].append(taken)
    return [
        {
            "task": task,
            "who": who,
            "median_seconds": statistics.median(seconds[task, who]),
            "fastest_seconds": min(seconds[task, who]),
            "slowest_seconds": max(seconds[task, who]),
            "rounds": rounds,
            "count": counts[task, who],
        }
        for task, who in tasks
    ]


def stories_of(path: Path, characters: int) -> list[str]:
    stories: list[str] = []
    total = 0
    for story in path.read_text(encoding="utf-8").split("<|endoftext|>"):
        if story.strip() and total < characters:
            stories += [story.strip(), "\n\n"]
            total += len(story.strip())
    return stories


def installed() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for peer in PEERS:
        try:
            found[peer] = importlib.metadata.version(peer)
        except importlib.metadata.PackageNotFoundError:
            found[peer] = None
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    options.add_argument("--data", type=Path, required=True, help="a text of stories")
    options.add_argument("--characters", type=int, default=1_600_000, help="how much of it")
    options.add_argument("--vocabulary", type=int, default=4096)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--json", action="store_true", help="one JSON document instead of the table")
    given = options.parse_args()
    stories = stories_of(given.data, given.characters)
    alphabet = "".join(sorted(set("".join(stories))))
    versions = installed()
    makers = {"tokenizers": with_tokenizers, "rustbpe": with_rustbpe, "tiktoken": with_tiktoken}
    found = {"onechange": ours(stories, alphabet, given.vocabulary)}
    found |= {who: make(stories, alphabet, given.vocabulary) for who, make in makers.items() if versions[who]}
    tasks = {
        (task, who): found[who][task] for task in ("learn", "encode") for who in found if task in found[who]
    }
    rows = measured(tasks, given.rounds)
    medians = {(row["task"], row["who"]): row["median_seconds"] for row in rows}
    words = {"learn": f"learn_{given.vocabulary}", "encode": "encode"}
    for row in rows:
        row["ratio"] = row["median_seconds"] / medians[row["task"], "onechange"]
    peers = [row for row in rows if row["who"] != "onechange"]
    result = {
        "ratios": {f"{words[row['task']]}_vs_{row['who']}": row["ratio"] for row in peers},
        "rows": rows,
        "absent": [peer for peer, version in versions.items() if version is None],
        "text": {"characters": sum(map(len, stories)), "distinct_characters": len(alphabet)},
        "machine": {
            "system": platform.platform(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "versions": versions,
        },
    }
    print(json.dumps(result, indent=2) if given.json else table(result))


def table(result: dict[str, Any]) -> str:
    lines = [f"{'':8}{'':12}{'median':>9}{'fastest':>10}{'slowest':>10}{'tokens':>10}{'ratio':>8}"]
    for row in result["rows"]:
        times = f"{row['median_seconds']:8.3f}s{row['fastest_seconds']:9.3f}s{row['slowest_seconds']:9.3f}s"
        lines.append(f"{row['task']:8}{row['who']:12}{times}{row['count']:10,}{row['ratio']:8.2f}")
    lines.append("ratio: the peer's median over ours, above 1 we are faster")
    if result["absent"]:
        lines.append(f"not installed, so not measured: {', '.join(result['absent'])}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
