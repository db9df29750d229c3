"""Whether bf16 changes what a study finds: its distance from float32 beside the distance between two seeds.

    python benchmarks/precision.py [--scale quick] [--steps 200] [--seeds 5] [--arm NAME …] [--data SOURCE] [--json]

The built-in study's BPE models, with learned positions and with RoPE, train from the same first weights on the same
batches, for every seed: in float32; in float32 once more with every batch in two halves, so that nothing but the order
of sums differs; and in bf16. The ruler reads all of them, in float32. A small difference grows while a model trains,
whatever it came from; the second run shows how far the smallest one of all gets. Two seeds differ by about √2 times
the deviation between seeds; that is what the difference between the precisions is set against.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from onechange import checkpoint_reader, processor, source, tokenizer_file
from onechange.dataset import Dataset
from onechange.measure import measure
from onechange.plan import Means, Plan
from onechange.recipe import Precision
from onechange.study_file import locate, read
from onechange.training import train

ARMS = ("bpe-wpe", "bpe-rope")
VARIANTS: Mapping[str, tuple[Precision, int]] = {
    "float32": ("float32", 1),
    "other order": ("float32", 2),
    "bf16": ("bf16", 1),
}
"""Precision, and into how many parts a batch is cut."""


def plan(variant: str, scale: str, steps: int, data: str) -> Plan:
    """The built-in study with a shortened budget."""
    precision, parts = VARIANTS[variant]
    study = read(locate("tokenizers-and-positions"))
    rows = study.settings(ARMS[0], scale)["batch"]
    changed = study.scales.setdefault(scale, {})
    changed["budget"] = {"steps": steps}
    changed["micro_batch"] = rows // parts
    threads = processor.threads(study.settings(ARMS[0], scale)["threads"])
    means = Means(threads, precision, processor.why_not_compile() is None)
    return Plan(study, scale, source.parse(data), [0], list(ARMS), means)


def nats_per_character(chosen: Plan, arm: str, seed: int, data: Dataset) -> float:
    """Trained, and read by the ruler at its last step."""
    with tempfile.TemporaryDirectory() as folder:
        run, recipe = Path(folder), chosen.recipe(arm, seed)
        (run / "recipe.toml").write_text(recipe.to_toml())
        tokenizer_file.save(data.tokenizer, recipe.tokenizer, run / "tokenizer.json")
        train(recipe, data, run)
        trained = checkpoint_reader.read(run, "last")
        found = measure(trained.model, data.tokenizer, data.validation, data.separator)
        return found.total_nats / found.characters


def summary(found: Mapping[tuple[str, str, int], float], arms: list[str], seeds: int) -> dict[str, Any]:
    """Per arm: every figure; how far apart the variants are, and two seeds."""
    rows = []
    for arm in arms:
        by = {name: [found[name, arm, seed] for seed in range(seeds)] for name in VARIANTS}
        apart = {
            name: [ours - plain for ours, plain in zip(by[name], by["float32"], strict=True)]
            for name in VARIANTS
            if name != "float32"
        }
        deviation = statistics.mean(statistics.variance(values) for values in by.values()) ** 0.5
        rows.append(
            {
                "arm": arm,
                "nats_per_character": by,
                "minus_float32": apart,
                "mean_minus_float32": {name: statistics.mean(values) for name, values in apart.items()},
                "typical_distance": {
                    name: statistics.mean(value**2 for value in values) ** 0.5
                    for name, values in apart.items()
                },
                "typical_distance_of_two_seeds": 2**0.5 * deviation,
            }
        )
    result: dict[str, Any] = {
        "ratios": {
            f"bf16_vs_two_seeds_{row['arm']}": row["typical_distance"]["bf16"]
            / row["typical_distance_of_two_seeds"]
            for row in rows
        },
        "rows": rows,
    }
    if len(arms) == len(ARMS):
        result["change"] = {
            name: statistics.mean(found[name, ARMS[1], s] - found[name, ARMS[0], s] for s in range(seeds))
            for name in VARIANTS
        }
    return result


def show(result: Mapping[str, Any]) -> None:
    """The tables."""
    print(f"{'arm':<10}{'seed':>5}" + "".join(f"{name:>13}" for name in VARIANTS) + f"{'bf16 − float32':>17}")
    for row in result["rows"]:
        by = row["nats_per_character"]
        for seed, values in enumerate(zip(*by.values(), strict=True)):
            figures = "".join(f"{value:>13.5f}" for value in values)
            print(f"{row['arm']:<10}{seed:>5}{figures}{row['minus_float32']['bf16'][seed]:>+17.5f}")
        for name, distance in row["typical_distance"].items():
            print(
                f"{'':<10}{name} from float32: mean {row['mean_minus_float32'][name]:+.5f}, typically {distance:.5f}"
            )
        print(f"{'':<10}two seeds from each other: typically {row['typical_distance_of_two_seeds']:.5f}\n")
    for name, value in result.get("change", {}).items():
        print(f"RoPE minus learned positions, {name}: {value:+.5f} nats per character")
    for name, value in result["ratios"].items():
        print(f"{name:<32}{value:>6.2f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", default="quick")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--arm", action="append", choices=ARMS)
    parser.add_argument("--data", default="storyworld")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.seeds < 2:
        parser.error("--seeds: at least 2, or there is no spread to compare with")
    arms: list[str] = arguments.arm or list(ARMS)
    plans = {name: plan(name, arguments.scale, arguments.steps, arguments.data) for name in VARIANTS}
    data = plans["float32"].dataset(arms[0])
    found = {
        (name, arm, seed): nats_per_character(plans[name], arm, seed, data)
        for seed, arm, name in product(range(arguments.seeds), arms, VARIANTS)
    }
    result = summary(found, arms, arguments.seeds)
    result["machine"] = {**processor.machine(), **processor.versions()}
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        show(result)


if __name__ == "__main__":
    main()
