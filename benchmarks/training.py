"""How fast a training step of the article's size is, and what share of the machine's matrix-product rate it reaches.

    python benchmarks/training.py [--rounds 3] [--scale full] [--json]

Interleaved in one run: a step with learned positions, a step with RoPE, and a bare bf16 product of
16,384 × 384 × 1,536, forward and backward. Medians, and ratios of medians.
"""

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable

import torch

from onechange import family, processor
from onechange.engine import Engine
from onechange.operations import per_token
from onechange.recipe import Recipe
from onechange.study_file import locate, read

ROWS, INNER, OUTER = 16_384, 384, 1_536
VOCABULARY = 4_096


def engine(scale: str, position: str) -> Engine:
    """The built-in study's BPE model with the given position, compiled where this machine can."""
    study = read(locate("tokenizers-and-positions"))
    settings = study.settings("bpe-wpe", scale)
    steps = settings.pop("budget")["steps"]
    settings.update(
        position=family.resolve("position", position),
        threads=processor.threads(0),
        precision=processor.precision("auto"),
        compile=processor.why_not_compile() is None,
    )
    return Engine(Recipe(corpus={}, corpus_fingerprint="", steps=steps, seed=0, **settings), VOCABULARY)


def step_of(one: Engine) -> Callable[[], None]:
    """One whole update on a fixed batch."""
    rows, window = one.recipe.batch, one.recipe.window
    ids = torch.randint(0, VOCABULARY, (rows, window + 1), generator=torch.Generator().manual_seed(0))
    return lambda: void(one.update(1, ids[:, :-1], ids[:, 1:]))


def void(value: object) -> None:
    """Drop a result."""


def product() -> Callable[[], None]:
    """A bf16 product, forward and backward: 6 · rows · inner · outer operations."""
    left = torch.randn(ROWS, INNER, dtype=torch.bfloat16, requires_grad=True)
    right = torch.randn(INNER, OUTER, dtype=torch.bfloat16, requires_grad=True)
    slope = torch.randn(ROWS, OUTER, dtype=torch.bfloat16)
    return lambda: void(torch.autograd.grad(left @ right, (left, right), slope))


def seconds(action: Callable[[], None], repeats: int = 1) -> float:
    """Wall-clock time of one call, the mean over ``repeats``."""
    started = time.perf_counter()
    for _ in range(repeats):
        action()
    return (time.perf_counter() - started) / repeats


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", default="full")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    engines = {position: engine(arguments.scale, position) for position in ("learned", "rope")}
    actions = {f"step, {name}": step_of(one) for name, one in engines.items()}
    actions["product"] = product()
    repeats = {name: 20 if name == "product" else 1 for name in actions}
    for action in actions.values():  # compiles, and fills the caches
        action()
        action()
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(arguments.rounds):
        for name, action in actions.items():
            times[name].append(seconds(action, repeats[name]))
    median = {name: statistics.median(found) for name, found in times.items()}

    learned = engines["learned"]
    tokens = learned.recipe.batch * learned.recipe.window
    operations = tokens * per_token(learned.model, learned.model.sizes)
    rate = 6 * ROWS * INNER * OUTER / median["product"]
    result = {
        "ratios": {
            "share_of_matrix_rate": operations / median["step, learned"] / rate,
            "rope_vs_learned": median["step, learned"] / median["step, rope"],
        },
        "rows": [
            {
                "what": name,
                "median_seconds": median[name],
                "fastest_seconds": min(times[name]),
                "slowest_seconds": max(times[name]),
                "tokens_per_second": tokens / median[name] if name != "product" else None,
            }
            for name in actions
        ],
        "operations_per_step": operations,
        "matrix_operations_per_second": rate,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "machine": {
            **processor.machine(),
            **processor.versions(),
            "threads": learned.recipe.threads,
            "precision": learned.recipe.precision,
            "compile": learned.recipe.compile,
        },
    }
    if arguments.json:
        print(json.dumps(result, indent=1))
        return
    print(
        f"scale {arguments.scale}, {tokens:,} tokens and {operations / 1e9:,.0f} GFLOP a step, "
        f"{learned.recipe.precision}, {'compiled' if learned.recipe.compile else 'eager'}, "
        f"{learned.recipe.threads} threads, {arguments.rounds} rounds\n"
    )
    print(f"{'what':<16}{'median s':>10}{'fastest':>10}{'slowest':>10}{'tokens/s':>10}")
    for row in result["rows"]:
        speed = f"{row['tokens_per_second']:,.0f}" if row["tokens_per_second"] else ""
        print(
            f"{row['what']:<16}{row['median_seconds']:>10.4f}{row['fastest_seconds']:>10.4f}"
            f"{row['slowest_seconds']:>10.4f}{speed:>10}"
        )
    print(f"\nmatrix products      {rate / 1e9:,.0f} GFLOP/s")
    print(f"share of that rate   {result['ratios']['share_of_matrix_rate']:.0%}")
    print(f"rope vs learned      {result['ratios']['rope_vs_learned']:.2f} (above 1: RoPE is faster)")
    print(f"peak memory          {result['peak_memory_bytes'] / 2**30:.1f} GiB, both models in one process")


if __name__ == "__main__":
    main()
