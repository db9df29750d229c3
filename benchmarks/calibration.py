"""How often a verdict is false, and what is found: studies of known truth through the code that judges real ones.

    python benchmarks/calibration.py [--studies 2000] [--json]

False alarms: studies whose changes do nothing, for 3, 5 and 10 seeds under several kinds of noise. What is found:
effects of several sizes, and the smallest one that is found in 80% of studies beside what `onechange plan` predicts.
Three changes: how often a study says anything false, with Holm's correction and without. Folders: some of the studies
are written as folders of finished runs and collected as `onechange report` does. The draws are the same every time.
"""

import argparse
import importlib
import json
import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from worlds import STRESS, WORLDS, World

from onechange import holm, power, record
from onechange.compare import difference

SEEDS = (3, 5, 10)
EFFECTS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
"""In standard deviations of a seed's difference."""
AROUND = (0.7, 0.85, 1.0, 1.15, 1.3)
"""Of the effect that is predicted to be found in 80% of studies."""
FOLDERS = 300


def error(share: float, studies: int) -> float:
    """The standard error of a share of so many studies."""
    return math.sqrt(share * (1 - share) / studies)


def false_alarms(world: World, seeds: int, studies: int, seed: int = 0) -> float:
    """The share of null studies with a verdict of ``better`` or ``worse``."""
    rng = np.random.default_rng([seed, seeds])
    wrong = 0
    for _ in range(studies):
        parent, arm = world.draw(rng, seeds, [0.0])
        wrong += difference(arm, parent).verdict != "no difference seen"
    return wrong / studies


def found(world: World, seeds: int, effect: float, studies: int, seed: int = 1) -> float:
    """The share of studies that call a true ``effect``, in nats per character, what it is."""
    rng = np.random.default_rng([seed, seeds, round(effect * 1e9)])
    right = 0
    for _ in range(studies):
        parent, arm = world.draw(rng, seeds, [effect])
        right += difference(arm, parent).verdict == ("worse" if effect > 0 else "better")
    return right / studies


def predicted(world: World, seeds: int) -> float:
    """What `power` says is found in 80% of studies of this world, from its true spreads."""
    resolution = power.resolution(world.spread(), _text_error(world, seeds), seeds)
    assert resolution is not None
    return resolution


def _text_error(world: World, seeds: int) -> float:
    """As a study sees it: what single runs are better at is in the variance over stories too, over ``seeds``."""
    alone = world.spread() ** 2 - world.over_seeds**2
    return math.sqrt(world.text_error() ** 2 + alone / seeds)


def family(world: World, seeds: int, studies: int, seed: int = 2) -> tuple[float, float]:
    """The share of studies of three changes, each to the arm before, with a false verdict: without Holm, with."""
    rng = np.random.default_rng([seed, seeds])
    without = corrected = 0
    for _ in range(studies):
        arms = world.draw(rng, seeds, [0.0, 0.0, 0.0])
        ladder = {str(place): difference(arm, arms[place]) for place, arm in enumerate(arms[1:])}
        without += any(one.verdict != "no difference seen" for one in ladder.values())
        corrected += any(one.verdict != "no difference seen" for one in holm.correct(ladder).values())
    return without / studies, corrected / studies


def through_folders(world: World, seeds: int, studies: int, seed: int = 0) -> tuple[float, int]:
    """Null studies from `measures.json` to `results.json`: false alarms, and how many verdicts are not those of
    the scores themselves."""
    scored_studies = importlib.import_module("scored_studies")
    rng = np.random.default_rng([seed, seeds])
    wrong = other = 0
    for _ in range(studies):
        parent, arm = world.draw(rng, seeds, [0.0])
        with tempfile.TemporaryDirectory() as folder:
            results = record.collect(scored_studies.write(Path(folder), {"parent": parent, "arm": arm}))
        verdict = results["arms"][1]["versus_parent"]["verdict"]
        wrong += verdict != "no difference seen"
        other += verdict != difference(arm, parent).verdict
    return wrong / studies, other


def measured(studies: int) -> dict[str, Any]:
    """All of it, as the document of ``--json``."""
    plain = WORLDS["plain"]
    sizes = [
        {
            "seeds": seeds,
            "found": {size: found(plain, seeds, size * plain.spread(), studies) for size in EFFECTS},
        }
        for seeds in SEEDS
    ]
    eighty = []
    for name in ("seeds alone", "plain", "text dominates", "interaction"):
        for seeds in SEEDS:
            expected = predicted(WORLDS[name], seeds)
            near = [found(WORLDS[name], seeds, share * expected, studies) for share in AROUND]
            eighty.append(
                {
                    "world": name,
                    "seeds": seeds,
                    "predicted": expected,
                    "simulated": float(np.interp(power.FOUND, near, AROUND)) * expected,
                    "found_at_predicted": near[AROUND.index(1.0)],
                }
            )
    folders, other = through_folders(plain, 3, FOLDERS)
    return {
        "studies": studies,
        "false_alarms": _alarms(WORLDS, studies),
        "stress": _alarms(STRESS, studies),
        "found": sizes,
        "found_in_80_of_100": eighty,
        "three_changes": [
            dict(zip(("seeds", "without", "holm"), (seeds, *family(plain, seeds, studies)), strict=True))
            for seeds in SEEDS
        ],
        "folders": {"studies": FOLDERS, "seeds": 3, "false_alarms": folders, "verdicts_that_differ": other},
    }


def _alarms(worlds: Mapping[str, World], studies: int) -> list[dict[str, Any]]:
    rows = []
    for name, world in worlds.items():
        shares = {seeds: false_alarms(world, seeds, studies) for seeds in SEEDS}
        rows.append(
            {
                "world": name,
                "about": world.about,
                "false_alarms": shares,
                "error": {seeds: error(share, studies) for seeds, share in shares.items()},
            }
        )
    return rows


def show(result: Mapping[str, Any]) -> None:
    """The tables, in Markdown."""
    studies = result["studies"]
    for key, title in (("false_alarms", "False alarms"), ("stress", "Where the assumptions break")):
        _table(
            f"{title}, in {studies:,} studies each",
            ["world", *(f"{seeds} seeds" for seeds in SEEDS), "what it is"],
            [
                [
                    row["world"],
                    *(f"{row['false_alarms'][s]:.1%} ± {row['error'][s]:.1%}" for s in SEEDS),
                    row["about"],
                ]
                for row in result[key]
            ],
        )
    _table(
        "Found in the plain world, by the size of the effect in spreads of a seed's difference",
        ["seeds", *map(str, EFFECTS)],
        [
            [str(row["seeds"]), *(f"{share:.0%}" for share in row["found"].values())]
            for row in result["found"]
        ],
    )
    _table(
        "Found in 80% of studies: the effect in nats per character",
        ["world", "seeds", "predicted", "simulated", "found at the predicted"],
        [
            [
                row["world"],
                str(row["seeds"]),
                f"{row['predicted']:.4f}",
                f"{row['simulated']:.4f}",
                f"{row['found_at_predicted']:.1%} ± {error(row['found_at_predicted'], studies):.1%}",
            ]
            for row in result["found_in_80_of_100"]
        ],
    )
    _table(
        "Three changes that do nothing: studies with a false verdict",
        ["seeds", "each by itself", "with Holm"],
        [
            [
                str(row["seeds"]),
                *(f"{row[k]:.1%} ± {error(row[k], studies):.1%}" for k in ("without", "holm")),
            ]
            for row in result["three_changes"]
        ],
    )
    folders = result["folders"]
    print(
        f"{folders['studies']} null studies of {folders['seeds']} seeds as folders: {folders['false_alarms']:.1%} "
        f"false alarms, {folders['verdicts_that_differ']} verdicts other than those of the scores themselves"
    )


def _table(title: str, heading: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print(f"**{title}**\n")
    for row in (heading, ["---"] * len(heading), *rows):
        print(f"| {' | '.join(row)} |")
    print()


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.studies < 1:
        parser.error("--studies: at least 1")
    sys.path.append(str(Path(__file__).parents[1] / "tests"))  # where folders of made-up runs are written
    result = measured(arguments.studies)
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        show(result)


if __name__ == "__main__":
    main()
