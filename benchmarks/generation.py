"""How fast stories are written: against transformers' GPT-2 with its cache, and against reading the weights once.

    python benchmarks/generation.py [--rounds 7] [--scale full] [--only NAME …] [--json]

Every contestant lives in a process of its own and takes its turn, round after round: 200 new tokens after prompts of
16, one prompt or 64, temperature 0.7 and top-k 30, everything included from the prompt to the text. All have the
article's sizes (6 layers of width 384, 4,096 tokens, learned positions, a window of 512), first weights, and the same
number of threads. transformers takes part as it comes (float32) and in bf16. What is compiled was compiled before.

Medians, and ratios of medians: `one_prompt_vs_transformers` and `batch_64_vs_transformers` are transformers as it comes
over ours, compiled and with bf16 weights. The limit is reading the weights once for each token, as fast as this machine
reads them over and over. transformers takes part where it is installed (`pip install 'onechange[bench]'`).
"""

import argparse
import importlib
import json
import statistics
import sys
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from training import VOCABULARY, Contestant, Step, present, recipe, serve

from onechange import processor
from onechange.cached import decoder
from onechange.corpus.storyworld import Storyworld
from onechange.first_weights import fill
from onechange.generate import generate
from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.model import Model
from onechange.row_linear import Weights
from onechange.sampling import Sampling
from onechange.tokenizer.bpe import Bpe

PROMPT, TOKENS = 16, 200
READS = 50
"""How often the weights are read in one turn of the reading contestant."""
PROGRAM = (__file__,)
sys.path.remove(
    str(Path(__file__).parent)
)  # a file beside this one has the name of a package that transformers needs


def model(scale: str) -> Model:
    """The article's BPE model at its start."""
    chosen = recipe(scale)
    torch.set_num_threads(chosen.threads)
    made = Model(chosen.sizes(VOCABULARY), chosen.parts)
    fill(made, 0, chosen.layers, Gpt2Initialization())
    return made.eval()


def tokenizer_and_prompts(number: int) -> tuple[Bpe, list[str]]:
    """A tokenizer of 4,096 tokens, and different texts of exactly so many tokens."""
    stories = [*islice(Storyworld().documents(), 1_000)]
    tokenizer = Bpe(vocabulary=VOCABULARY)
    tokenizer.learn(stories, "".join(sorted(set("".join(stories)))))
    assert tokenizer.vocabulary_size == VOCABULARY
    beginnings = (tokenizer.decode(tokenizer.encode(story)[:PROMPT].tolist()) for story in stories)
    fitting = (text for text in beginnings if len(tokenizer.encode(text)) == PROMPT)
    return tokenizer, [*islice(fitting, number)]


def ours(rows: int, weights: Weights, compiled: bool) -> Callable[[str], Step]:
    """Our generation, from prompts to texts."""

    def make(scale: str) -> Step:
        tokenizer, prompts = tokenizer_and_prompts(rows)
        trained = model(scale)
        made = decoder(trained, rows, weights=weights, compiled=compiled)
        sampling = Sampling(tokens=TOKENS, temperature=0.7, top_k=30)
        return lambda: generate(trained, tokenizer, prompts, sampling, decoder=lambda *_: made)

    return make


def transformers_gpt2(rows: int, dtype: torch.dtype) -> Callable[[str], Step]:
    """transformers' GPT-2 and its `generate`, with its cache."""

    def make(scale: str) -> Step:
        transformers = importlib.import_module("transformers")
        chosen = recipe(scale)
        torch.set_num_threads(chosen.threads)
        config = transformers.GPT2Config(
            vocab_size=VOCABULARY,
            n_positions=chosen.window,
            n_embd=chosen.width,
            n_layer=chosen.layers,
            n_head=chosen.heads,
            bos_token_id=0,
            eos_token_id=None,
        )
        peer = transformers.GPT2LMHeadModel(config).eval().to(dtype)
        given = torch.randint(1, VOCABULARY, (rows, PROMPT), generator=torch.Generator().manual_seed(0))
        write = partial(
            peer.generate,
            given,
            attention_mask=torch.ones_like(given),
            min_new_tokens=TOKENS,
            max_new_tokens=TOKENS,
            do_sample=True,
            temperature=0.7,
            top_k=30,
            pad_token_id=0,
        )
        return torch.no_grad()(write)

    return make


def reading(bytes_per_weight: int) -> Callable[[str], Step]:
    """The bytes of the weights that a token needs, read `READS` times and added up."""

    def make(scale: str) -> Step:
        data = torch.ones(weights_of_a_token(scale) * bytes_per_weight // 8, dtype=torch.int64)
        add = torch.compile(torch.sum, dynamic=False)
        return lambda: [add(data) for _ in range(READS)]

    return make


def weights_of_a_token(scale: str) -> int:
    """How many numbers of the model every token is multiplied by; of the table of positions it needs one row."""
    made = model(scale)
    return sum(layer.weight.numel() for layer in linear_layers(made)) + made.scoring.numel()


def linear_layers(made: Model) -> list[torch.nn.Linear]:
    """All of them."""
    return [layer for layer in made.modules() if isinstance(layer, torch.nn.Linear)]


def contestants() -> dict[str, Callable[[str], Step]]:
    """In the order of their turns."""
    kinds: dict[str, tuple[Weights, bool]] = {
        "float32": ("float32", False),
        "bf16": ("bf16", False),
        "float32 + compile": ("float32", True),
        "bf16 + compile": ("bf16", True),
        "int8 + compile": ("int8", True),
    }
    found: dict[str, Callable[[str], Step]] = {
        "read bf16 weights": reading(2),
        "read int8 weights": reading(1),
    }
    for rows in (1, 64):
        for name, dtype in (("float32", torch.float32), ("bf16", torch.bfloat16)):
            found[f"transformers {name}, {prompts(rows)}"] = transformers_gpt2(rows, dtype)
        for name, (weights, compiled) in kinds.items():
            found[f"{name}, {prompts(rows)}"] = ours(rows, weights, compiled)
    return found


def prompts(rows: int) -> str:
    """In words."""
    return "1 prompt" if rows == 1 else f"{rows} prompts"


def tokens(name: str) -> int:
    """How many a contestant writes in a turn; 0 where it writes none."""
    return 0 if name.startswith("read") else TOKENS * (64 if name.endswith("64 prompts") else 1)


def measured(names: list[str], scale: str, rounds: int) -> list[Contestant]:
    """Every contestant's turns, interleaved."""
    found = []
    try:
        for name in names:
            found.append(Contestant(name, scale, PROGRAM))
            for _ in range(2):
                found[-1].step()
        for _ in range(rounds):
            for one in found:
                one.seconds.append(one.step())
    finally:
        for one in found:
            one.close()
    return found


def ratios(median: Mapping[str, float]) -> dict[str, float]:
    """Of the contestants that took part."""
    wanted = {
        "one_prompt_vs_transformers": ("transformers float32, 1 prompt", "bf16 + compile, 1 prompt"),
        "batch_64_vs_transformers": ("transformers float32, 64 prompts", "bf16 + compile, 64 prompts"),
        "one_prompt_float32_vs_transformers": (
            "transformers float32, 1 prompt",
            "float32 + compile, 1 prompt",
        ),
        "batch_64_float32_vs_transformers": (
            "transformers float32, 64 prompts",
            "float32 + compile, 64 prompts",
        ),
        "one_prompt_eager_vs_transformers": ("transformers float32, 1 prompt", "float32, 1 prompt"),
        "batch_64_eager_vs_transformers": ("transformers float32, 64 prompts", "float32, 64 prompts"),
    }
    found = {name: median[a] / median[b] for name, (a, b) in wanted.items() if a in median and b in median}
    for name, kind in (("share_of_memory_rate", "bf16"), ("share_of_memory_rate_int8", "int8")):
        limit, own = f"read {kind} weights", f"{kind} + compile, 1 prompt"
        if limit in median and own in median:
            found[name] = median[limit] / READS / (median[own] / TOKENS)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = contestants()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", default="full")
    parser.add_argument("--only", action="append", choices=list(every))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", choices=list(every), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(every[arguments.serve], arguments.scale)
        return
    names = [name for name in every if present(name) and name in (arguments.only or every)]
    found = measured(names, arguments.scale, arguments.rounds)
    median = {one.name: statistics.median(one.seconds) for one in found}
    result = {
        "ratios": ratios(median),
        "rows": [
            {
                "what": one.name,
                "median_seconds": median[one.name],
                "fastest_seconds": min(one.seconds),
                "slowest_seconds": max(one.seconds),
                "tokens_per_second": tokens(one.name) / median[one.name] or None,
                "peak_memory_bytes": one.peak,
            }
            for one in found
        ],
        "machine": {
            **processor.machine(),
            **processor.versions(),
            "threads": recipe(arguments.scale).threads,
        },
    }
    print(json.dumps(result, indent=1)) if arguments.json else show(result, arguments)


def show(result: Mapping[str, Any], arguments: argparse.Namespace) -> None:
    """The table."""
    weights = weights_of_a_token(arguments.scale)
    for row in result["rows"]:
        spread = (row["slowest_seconds"] - row["fastest_seconds"]) / row["median_seconds"]
        if row["tokens_per_second"]:
            rate = f"{row['tokens_per_second']:9,.0f} tokens/s"
        else:
            size = weights * (2 if "bf16" in row["what"] else 1)
            rate = f"{size * READS / row['median_seconds'] / 1e9:9,.0f} GB/s"
        print(
            f"{row['what']:36} {1e3 * row['median_seconds']:9.1f} ms ± {spread:4.0%}  {rate}"
            f"  {row['peak_memory_bytes'] / 2**20:6,.0f} MiB"
        )
    print()
    for name, ratio in result["ratios"].items():
        print(f"{name:36} {ratio:6.2f}")
    print(f"\nscale {arguments.scale}, {arguments.rounds} rounds, {result['machine']}")


if __name__ == "__main__":
    main()
