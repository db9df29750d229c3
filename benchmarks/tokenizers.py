"""How fast byte-pair encodings are learned and used, against the peers that are installed.

    python benchmarks/tokenizers.py [--data TEXT] [--megabytes 100] [--rounds 3] [--json]

TEXT holds stories separated by lines ``<|endoftext|>``; without it they are storyworld's. They are repeated until there
are so many megabytes, and from the second time on every tenth word is replaced by an invented one, drawn from 60,000
by Zipf's law: repeated stories alone would not have 32,768 different pieces. All learn from the same stories, cut by
GPT-2's pattern into bytes, on all cores. Encoding is measured per core: one thread each, story after story, with the
merges that we learned; no one has seen a piece before. (`tokenizers` encodes on all cores at once, its fastest way.)

A round runs everyone once; the table gives the medians of the rounds, with the fastest and the slowest. A ratio is the
peer's median over ours: above 1 we are faster.
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
import random
import re
import statistics
import time
from collections.abc import Callable
from itertools import accumulate, cycle
from typing import Any

from onechange.pieces import Pieces
from onechange.tokenizer.byte_bpe import ByteBpe

PEERS = ("rustbpe", "tokenizers", "tiktoken")
VOCABULARIES = (4096, 32768)
ENCODED_WITH = VOCABULARIES[0]
PATTERN = Pieces("gpt2").regex
INVENTED = 60_000
Task = tuple[str, str, Callable[[], Any], Callable[[Any], int]]
"""What is done, who does it, what is prepared untimed, and what is then timed and gives a count to compare."""


def ours(stories: list[str]) -> list[Task]:
    def learning(vocabulary: int) -> Task:
        def learn(tokenizer: ByteBpe) -> int:
            tokenizer.learn(stories)
            return tokenizer.vocabulary_size

        return f"learn_{vocabulary}", "onechange", lambda: ByteBpe(vocabulary=vocabulary), learn

    learned = ByteBpe(vocabulary=ENCODED_WITH)
    learned.learn(stories)
    content = learned.to_json()

    def fresh() -> ByteBpe:
        tokenizer = ByteBpe(vocabulary=ENCODED_WITH)
        tokenizer.restore(content)
        return tokenizer

    def encode(tokenizer: ByteBpe) -> int:
        return sum(len(tokenizer.encode(story)) for story in stories)

    return [*map(learning, VOCABULARIES), ("encode", "onechange", fresh, encode)]


def with_rustbpe(stories: list[str]) -> list[Task]:
    library = importlib.import_module("rustbpe")

    def learning(vocabulary: int) -> Task:
        def learn(tokenizer: Any) -> int:
            tokenizer.train_from_iterator(iter(stories), vocabulary, pattern=PATTERN)
            return tokenizer.vocab_size

        return f"learn_{vocabulary}", "rustbpe", library.Tokenizer, learn

    return [*map(learning, VOCABULARIES)]


def with_tokenizers(stories: list[str]) -> list[Task]:
    library = importlib.import_module("tokenizers")

    def empty() -> Any:
        tokenizer = library.Tokenizer(library.models.BPE())
        tokenizer.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
        return tokenizer

    def learning(vocabulary: int) -> Task:
        def learn(tokenizer: Any) -> int:
            trainer = library.trainers.BpeTrainer(
                vocab_size=vocabulary,
                initial_alphabet=library.pre_tokenizers.ByteLevel.alphabet(),
                show_progress=False,
            )
            tokenizer.train_from_iterator(stories, trainer, length=len(stories))
            return tokenizer.get_vocab_size()

        return f"learn_{vocabulary}", "tokenizers", empty, learn

    learned = ByteBpe(vocabulary=ENCODED_WITH)
    learned.learn(stories)
    content = json.dumps(learned.to_json())

    def fresh() -> Any:
        tokenizer = library.Tokenizer.from_str(content)
        # The library's own cut for this pattern is faster than the same as a regular expression.
        tokenizer.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
        return tokenizer

    def encode(tokenizer: Any) -> int:
        return sum(len(found.ids) for found in tokenizer.encode_batch_fast(stories))

    return [*map(learning, VOCABULARIES), ("encode", "tokenizers", fresh, encode)]


def with_tiktoken(stories: list[str]) -> list[Task]:
    library = importlib.import_module("tiktoken")
    public = importlib.import_module("tiktoken_ext.openai_public")
    learned = ByteBpe(vocabulary=ENCODED_WITH)
    learned.learn(stories)
    ranks = {token: rank for rank, token in enumerate(learned.token_bytes())}

    def fresh() -> Any:
        return library.Encoding("ours", pat_str=public.r50k_pat_str, mergeable_ranks=ranks, special_tokens={})

    def encode(encoding: Any) -> int:
        return sum(len(encoding.encode_ordinary(story)) for story in stories)

    return [("encode", "tiktoken", fresh, encode)]


def measured(tasks: list[Task], rounds: int, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Rows of medians and spreads in seconds; ``count`` is tokens learned, or tokens encoded to."""
    seconds: dict[tuple[str, str], list[float]] = {(what, who): [] for what, who, _, _ in tasks}
    counts: dict[tuple[str, str], int] = {}
    for turn in range(rounds):
        for what, who, prepare, work in tasks:
            prepared = prepare()
            gc.collect()
            start = time.perf_counter()
            counts[what, who] = work(prepared)
            seconds[what, who].append(time.perf_counter() - start)
            say(f"round {turn + 1} of {rounds}: {what} {who} {seconds[what, who][-1]:.2f} s")
    return [
        {
            "task": what,
            "who": who,
            "median_seconds": statistics.median(times),
            "fastest_seconds": min(times),
            "slowest_seconds": max(times),
            "rounds": rounds,
            "count": counts[what, who],
        }
        for (what, who), times in sorted(seconds.items(), key=lambda item: item[0][0])
    ]


def stories_of(data: Path | None, megabytes: float) -> list[str]:
    """Stories of so many megabytes; the same every time."""
    if data is None:
        from onechange import documents

        corpus = documents.prepare({"name": "storyworld", "characters": 4_000_000})
        first = list(corpus.training)
    else:
        first = [story.strip() for story in data.read_text(encoding="utf-8").split("<|endoftext|>")]
        first = [story for story in first if story]
    draw = random.Random(0)
    syllables = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in ("", "l", "n", "r", "st")]
    invented = ["".join(draw.choices(syllables, k=draw.randint(2, 4))) for _ in range(INVENTED)]
    weights = list(accumulate(1 / rank for rank in range(1, INVENTED + 1)))
    word = re.compile(r"[a-z]{4,}")

    def replaced(match: re.Match[str]) -> str:
        return match[0] if draw.random() > 0.1 else draw.choices(invented, cum_weights=weights)[0]

    stories, size = list(first), sum(len(story.encode()) for story in first)
    for story in cycle(first):
        if size >= megabytes * 1e6:
            break
        stories.append(word.sub(replaced, story))
        size += len(stories[-1].encode())
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
    options.add_argument("--data", type=Path, help="a text of stories; without it storyworld's")
    options.add_argument("--megabytes", type=float, default=100)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--json", action="store_true", help="one JSON document instead of the table")
    given = options.parse_args()
    stories = stories_of(given.data, given.megabytes)
    versions = installed()
    makers = {"rustbpe": with_rustbpe, "tokenizers": with_tokenizers, "tiktoken": with_tiktoken}
    tasks = ours(stories) + [task for who, make in makers.items() if versions[who] for task in make(stories)]
    rows = measured(tasks, given.rounds, lambda note: print(note, file=sys.stderr, flush=True))
    medians = {(row["task"], row["who"]): row["median_seconds"] for row in rows}
    for row in rows:
        row["ratio"] = row["median_seconds"] / medians[row["task"], "onechange"]
    result = {
        "ratios": {
            f"{row['task']}_vs_{row['who']}": row["ratio"] for row in rows if row["who"] != "onechange"
        },
        "rows": rows,
        "absent": [peer for peer, version in versions.items() if version is None],
        "text": {"stories": len(stories), "bytes": sum(len(story.encode()) for story in stories)},
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
    text = result["text"]
    lines = [
        f"{text['bytes'] / 1e6:,.0f} MB, {text['stories']:,} stories",
        f"{'':12}{'':12}{'median':>9}{'fastest':>10}{'slowest':>10}{'tokens':>12}{'ratio':>8}",
    ]
    for row in result["rows"]:
        times = f"{row['median_seconds']:8.2f}s{row['fastest_seconds']:9.2f}s{row['slowest_seconds']:9.2f}s"
        lines.append(f"{row['task']:12}{row['who']:12}{times}{row['count']:12,}{row['ratio']:8.2f}")
    lines.append("ratio: the peer's median over ours, above 1 we are faster")
    if result["absent"]:
        lines.append(f"not installed, so not measured: {', '.join(result['absent'])}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
