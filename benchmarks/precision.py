"""Whether bf16 changes what a study finds: its distance from float32 beside the distance between two seeds.

    python benchmarks/precision.py [--scale quick] [--steps 200] [--seeds 3] [--data SOURCE] [--json]

The built-in study's BPE models, with learned positions and with RoPE, train from the same first weights on the same
batches, once in bf16 and once in float32, for every seed. The ruler reads all of them, in float32. What matters: the
difference between the precisions must be smaller than the spread between seeds, and the change (RoPE minus learned
positions) must come out the same.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any, get_args

from onechange import checkpoint_reader, processor, source, tokenizer_file
from onechange.dataset import Dataset
from onechange.measure import measure
from onechange.plan import Means, Plan
from onechange.recipe import Precision
from onechange.study_file import locate, read
from onechange.training import train

ARMS = ("bpe-wpe", "bpe-rope")


def plans(scale: str, steps: int, seeds: int, data: str) -> dict[Precision, Plan]:
    """The same study, once for each precision; only the budget is shortened."""
    study = read(locate("tokenizers-and-positions"))
    study.scales.setdefault(scale, {})["budget"] = {"steps": steps}
    compiled = processor.why_not_compile() is None
    return {
        precision: Plan(
            study,
            scale,
            source.parse(data),
            range(seeds),
            list(ARMS),
            Means(processor.threads(0), precision, compiled),
        )
        for precision in get_args(Precision)
    }


def nats_per_character(plan: Plan, arm: str, seed: int, data: Dataset) -> float:
    """Trained and read by the ruler at its last step."""
    with tempfile.TemporaryDirectory() as folder:
        run, recipe = Path(folder), plan.recipe(arm, seed)
        (run / "recipe.toml").write_text(recipe.to_toml())
        tokenizer_file.save(data.tokenizer, recipe.tokenizer, run / "tokenizer.json")
        train(recipe, data, run)
        trained = checkpoint_reader.read(run, "last")
        return measure(trained.model, data.tokenizer, data.validation, data.separator).to_json()[
            "nats_per_character"
        ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", default="quick")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", default="storyworld")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.seeds < 2:
        parser.error("--seeds: at least 2, or there is no spread to compare with")
    both = plans(arguments.scale, arguments.steps, arguments.seeds, arguments.data)
    data = both["float32"].dataset(ARMS[0])
    found: dict[tuple[str, str, int], float] = {}
    seconds: dict[str, float] = dict.fromkeys(both, 0.0)
    for seed, arm, (name, plan) in product(range(arguments.seeds), ARMS, both.items()):
        started = time.perf_counter()
        found[name, arm, seed] = nats_per_character(plan, arm, seed, data)
        seconds[name] += time.perf_counter() - started
    result = summary(found, arguments.seeds)
    result["ratios"]["float32_vs_bf16_time"] = seconds["float32"] / seconds["bf16"]
    result["machine"] = {**processor.machine(), **processor.versions()}
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        show(result)


def summary(found: Mapping[tuple[str, str, int], float], seeds: int) -> dict[str, Any]:
    """Per arm: every figure, the largest and mean distance of the precisions, the spread between seeds."""
    rows = []
    for arm in ARMS:
        by = {name: [found[name, arm, seed] for seed in range(seeds)] for name in get_args(Precision)}
        apart = [low - high for low, high in zip(by["bf16"], by["float32"], strict=True)]
        rows.append(
            {
                "arm": arm,
                **by,
                "bf16_minus_float32": apart,
                "largest_distance": max(map(abs, apart)),
                "spread_between_seeds": statistics.stdev(by["float32"]),
                "widest_between_seeds": max(by["float32"]) - min(by["float32"]),
            }
        )
    change = {
        name: statistics.mean(
            found[name, ARMS[1], seed] - found[name, ARMS[0], seed] for seed in range(seeds)
        )
        for name in get_args(Precision)
    }
    worst = max(row["largest_distance"] / row["spread_between_seeds"] for row in rows)
    return {"ratios": {"largest_distance_vs_spread": worst}, "rows": rows, "change": change}


def show(result: Mapping[str, Any]) -> None:
    """The table."""
    print(f"{'arm':<10}{'seed':>5}{'float32':>10}{'bf16':>10}{'bf16 − float32':>16}")
    for row in result["rows"]:
        for seed, values in enumerate(
            zip(row["float32"], row["bf16"], row["bf16_minus_float32"], strict=True)
        ):
            print(f"{row['arm']:<10}{seed:>5}{values[0]:>10.5f}{values[1]:>10.5f}{values[2]:>+16.5f}")
        print(
            f"{'':<10}largest distance {row['largest_distance']:.5f}; "
            f"between seeds: deviation {row['spread_between_seeds']:.5f}, widest {row['widest_between_seeds']:.5f}\n"
        )
    change = result["change"]
    print(f"the change, nats per character: float32 {change['float32']:+.5f}, bf16 {change['bf16']:+.5f}")
    for name, value in result["ratios"].items():
        print(f"{name:<30}{value:>6.2f}")


if __name__ == "__main__":
    main()
