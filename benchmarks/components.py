"""What a component costs: the time of a training step with it, beside the same step without.

    python benchmarks/components.py [--rounds 5] [--scale quick] [--only NAME …] [--json]

The base is the built-in study's BPE model: learned positions, LayerNorm before each part, GELU, multi-head attention, a
tied table, AdamW. Each contestant changes one thing of it and takes turns with the base, one step each, both in
processes of their own. Ratios are the base's median over the contestant's, so below 1 it is slower than the base.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Mapping
from typing import Any

from training import VOCABULARY, Contestant, Step, ours, recipe, serve

from onechange import family, processor
from onechange.engine import Engine
from onechange.model import parameter_count
from onechange.operations import per_token

BASE = "base"
PROGRAM = (__file__,)


def contestants() -> dict[str, tuple[str, dict[str, Any]]]:
    """Every other member of the families of the model and `optimizer`, and the settings of attention."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for kind in (*family.MODEL_FAMILIES, "optimizer"):
        for word in family.members(kind):
            found[f"{kind} {word}"] = (kind, family.resolve(kind, word))
    for setting, value in (("query_key_norm", "rms"), ("sliding", 16), ("gate", "feature")):
        resolved = family.resolve("attention", {"name": "heads", setting: value})
        found[f"attention heads, {setting} {value}"] = ("attention", resolved)
    usual = recipe("quick")
    return {name: pair for name, pair in found.items() if getattr(usual, pair[0]) != pair[1]}


def maker(name: str) -> Callable[[str], Step]:
    """Makes the steps of a contestant or of the base."""
    return ours() if name == BASE else ours(**dict([contestants()[name]]))


def compared(name: str, scale: str, rounds: int) -> dict[str, Any]:
    """A contestant and the base, interleaved."""
    pair = [Contestant(one, scale, PROGRAM) for one in (BASE, name)]
    try:
        for one in pair:
            for _ in range(2):
                one.step()
        for _ in range(rounds):
            for one in pair:
                one.seconds.append(one.step())
    finally:
        for one in pair:
            one.close()
    base, own = (statistics.median(one.seconds) for one in pair)
    kind, resolved = contestants()[name]
    chosen = recipe(scale, **{kind: resolved})
    model = Engine(recipe(scale, **{kind: resolved}, compile=False), VOCABULARY).model
    return {
        "what": name,
        "median_seconds": own,
        "fastest_seconds": min(pair[1].seconds),
        "slowest_seconds": max(pair[1].seconds),
        "base_median_seconds": base,
        "tokens_per_second": chosen.batch * chosen.window / own,
        "parameters": parameter_count(model),
        "operations_per_token": per_token(model, model.sizes),
        "peak_memory_bytes": pair[1].peak,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", default="quick")
    parser.add_argument("--only", action="append", choices=list(contestants()))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", choices=[BASE, *contestants()], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(maker(arguments.serve), arguments.scale)
        return
    rows = []
    for name in arguments.only or contestants():
        rows.append(compared(name, arguments.scale, arguments.rounds))
        if not arguments.json:
            show(rows[-1])
    machine = {**processor.machine(), **processor.versions(), "threads": recipe(arguments.scale).threads}
    if arguments.json:
        ratios = {row["what"]: row["base_median_seconds"] / row["median_seconds"] for row in rows}
        print(json.dumps({"ratios": ratios, "rows": rows, "machine": machine}, indent=1))
    else:
        print(f"scale {arguments.scale}, {arguments.rounds} rounds, {machine}")


def show(row: Mapping[str, Any]) -> None:
    """One line of the table."""
    spread = (row["slowest_seconds"] - row["fastest_seconds"]) / row["median_seconds"]
    print(
        f"{row['what']:34} {1e3 * row['median_seconds']:8.1f} ms ± {spread:4.0%}"
        f"  base {1e3 * row['base_median_seconds']:8.1f} ms"
        f"  {row['base_median_seconds'] / row['median_seconds']:5.2f}  {row['tokens_per_second']:9,.0f} tokens/s"
        f"  {row['parameters']:11,} parameters  {row['peak_memory_bytes'] / 2**20:6,.0f} MiB",
        flush=True,
    )


if __name__ == "__main__":
    main()
