"""What newer studies record besides, added to a made-up folder of `synthetic`: figures of the usual size."""

import copy
import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from onechange import compare

RATES = (0.001, 0.002, 0.004)
THETAS = (500.0, 500_000.0)


def record_statistics(folder: Path) -> dict[str, Any]:
    """Spread, noise floor, p and Holm's p, figures at equal amounts, overfitting, from what is there."""
    results = json.loads((folder / "results.json").read_text())
    arms = {arm["name"]: arm for arm in results["arms"]}
    for arm in results["arms"]:
        arm["sweep"] = None
        arm["over_seeds"] = {point: _over_seeds(folder, arm, point) for point in ("best", "last")}
        for run in arm["runs"]:
            run["stopped_early"] = False
            run["overfitting"] = _overfitting(run["history"])
        if arm["from"]:
            parent = arms[arm["from"]]
            for point, key in (("best", "versus_parent"), ("last", "versus_parent_last")):
                arm[key].update(_chances(arm[key], _values(arm, point), _values(parent, point)))
            arm["at_equal"] = _at_equal(arm, parent)
    _holm(results, ("versus_parent", "versus_parent_last"))
    results["tuning"] = None
    (folder / "results.json").write_text(json.dumps(results))
    return results


def record_test(folder: Path) -> dict[str, Any]:
    """A test text: every figure a little higher than on validation text, the choice of the best step flattered."""
    results = json.loads((folder / "results.json").read_text())
    results["corpus"].update(test_documents=190, test_characters=151_204)
    for arm in results["arms"]:
        for run in arm["runs"]:
            for point, above in (("best", 0.007), ("last", 0.004)):
                figures = run[point]
                run[point]["test"] = {
                    **{key: figures[key] for key in ("nats_per_token", "bits_per_byte")},
                    "nats_per_character": figures["nats_per_character"] + above,
                    "low": figures["low"] + above,
                    "high": figures["high"] + above,
                }
            gained = run["last"]["nats_per_character"] - run["best"]["nats_per_character"]
            cost = 0.003 if gained else 0.0
            run["choosing"] = {"gained_on_validation": gained, "gained_on_test": gained - cost, "cost": cost}
        for point, above in (("best", 0.007), ("last", 0.004)):
            over = copy.deepcopy(arm["over_seeds"][point])
            for key in ("mean", "low", "high"):
                over[key] = over[key] and over[key] + above
            arm["over_seeds"][f"{point}_test"] = over
        for key, test in (
            ("versus_parent", "versus_parent_test"),
            ("versus_parent_last", "versus_parent_test_last"),
        ):
            arm[test] = arm[key] and _moved(arm[key], 0.002)
    _holm(results, ("versus_parent_test", "versus_parent_test_last"))
    (folder / "results.json").write_text(json.dumps(results))
    return results


def record_tuning(folder: Path, turns: bool = True) -> dict[str, Any]:
    """Every arm at three learning rates; where it ``turns``, the last change is no better once both are tuned."""
    results = json.loads((folder / "results.json").read_text())
    tuned = []
    for number, arm in enumerate(results["arms"]):
        best, over = 0.002 if number < 2 else 0.004, arm["over_seeds"]["best"]
        candidates = []
        for rate in RATES:
            off = 0.06 * math.log2(rate / best) ** 2
            candidates.append(
                {
                    "value": rate,
                    "name": f"{arm['name']}.learning_rate-{rate}",
                    "validation": over["mean"] + off,
                    "spread": over["spread"],
                    "test": over["mean"] + off + 0.007,
                    "seeds": over["seeds"],
                }
            )
        own, equal = None, arm.get("versus_parent_test") or arm["versus_parent"]
        if equal:
            own = _moved(equal, 0.0)
            if turns and number == 2:
                own.update(
                    nats_per_character_difference=-0.003, low=-0.014, high=0.008, verdict="no difference seen"
                )
        tuned.append(
            {"name": arm["name"], "own": 0.002, "chosen": best, "candidates": candidates}
            | {"equal": equal, "tuned": own}
        )
    results["tuning"] = {"setting": "optimizer.learning_rate", "values": list(RATES), "arms": tuned}
    (folder / "results.json").write_text(json.dumps(results))
    return results


def record_sweep(folder: Path) -> dict[str, Any]:
    """Two arms more, children of bpe-rope, that turn its theta."""
    results = json.loads((folder / "results.json").read_text())
    parent = results["arms"][2]
    parent["settings"] = {"position": {"name": "rope", "theta": 10_000.0}, "width": 128}
    for theta, above in zip(THETAS, (0.012, -0.005), strict=True):
        arm = copy.deepcopy(parent)
        arm["name"], arm["from"] = f"theta-{theta:.0f}", "bpe-rope"
        shutil.copytree(folder / "arms" / "bpe-rope", folder / "arms" / arm["name"])
        arm["change"] = {"position": {"name": "rope", "theta": theta}}
        arm["sweep"] = {"name": "theta", "setting": "position.theta", "value": theta}
        for figures in arm["over_seeds"].values():
            for key in ("mean", "low", "high"):
                figures[key] = figures[key] and figures[key] + above
        for key in [key for key in arm if key.startswith("versus_parent")]:
            found = arm[key]
            middle = above - found["nats_per_character_difference"]
            arm[key] = _moved(found, middle)
        results["arms"].append(arm)
    _holm(results, [key for key in parent if key.startswith("versus_parent")])
    (folder / "results.json").write_text(json.dumps(results))
    return results


def stop_early(results: dict[str, Any]) -> None:
    """The last arm's runs stopped at step 1,200."""
    for run in results["arms"][2]["runs"]:
        run.update(stopped_early=True, steps=1200)


def budget_in_seconds(results: dict[str, Any]) -> None:
    """No difference is judged."""
    for arm in results["arms"]:
        for key in [key for key in arm if key.startswith("versus_parent")]:
            if arm[key]:
                arm[key].update(verdict="budget in seconds: not judged", p=None, holm=None)
    results["judged_changes"] = 0


def forget(results: dict[str, Any]) -> None:
    """Every new key is there and null."""
    results.update(judged_changes=None, tuning=None)
    for arm in results["arms"]:
        arm.update(over_seeds=None, at_equal=None, sweep=None)
        for key in ("versus_parent", "versus_parent_last"):
            if arm[key]:
                arm[key].update(p=None, holm=None, noise_floor=None, seed_differences=None)
        arm.update(versus_parent_test=None, versus_parent_test_last=None)
        for run in arm["runs"]:
            run.update(overfitting=None, stopped_early=None, choosing=None)


def _values(arm: dict[str, Any], point: str) -> np.ndarray:
    return np.array([run[point]["nats_per_character"] for run in arm["runs"]])


def _over_seeds(folder: Path, arm: dict[str, Any], point: str) -> dict[str, Any]:
    scores = []
    for run in arm["runs"]:
        path = folder / "arms" / arm["name"] / f"seed-{run['seed']}" / "measures.json"
        stories = json.loads(path.read_text())[point]["stories"]
        scores.append(compare.Scores(np.array(stories["nats"]), np.array(stories["characters"])))
    found, values = compare.level(scores), _values(arm, point)
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    return {"mean": found.nats_per_character, "spread": spread, "low": found.low, "high": found.high} | {
        "interval": found.interval,
        "seeds": found.seeds,
    }


def _chances(found: dict[str, Any], ours: np.ndarray, theirs: np.ndarray) -> dict[str, Any]:
    """Roughly what is recorded besides: p from the interval's own half-width."""
    n, differences = len(ours), ours - theirs
    chances: dict[str, Any] = {"p": None, "holm": None, "noise_floor": None}
    chances["seed_differences"] = [
        {"seed": seed, "difference": float(value)} for seed, value in enumerate(differences)
    ]
    if n > 1:
        both = [2 * (values - values.mean()).var(ddof=1) for values in (ours, theirs)]
        chances["noise_floor"] = math.sqrt(float(np.mean(both)))
    if n > 2:
        error = (found["high"] - found["low"]) / 2 / stats.t.ppf(0.975, n - 1)
        chances["p"] = float(2 * stats.t.sf(abs(found["nats_per_character_difference"]) / error, n - 1))
    return chances


def _holm(results: dict[str, Any], keys) -> None:
    for key in keys:
        judged = [arm[key] for arm in results["arms"] if arm.get(key) and arm[key]["p"]]
        largest = 0.0
        for place, found in enumerate(sorted(judged, key=lambda found: found["p"])):
            largest = max(largest, min(1.0, (len(judged) - place) * found["p"]))
            verdict = found["verdict"] if largest < 0.05 else "no difference seen"
            found["holm"] = {"p": largest, "verdict": verdict, "changes": len(judged)}
        results["judged_changes"] = len(judged)


def _moved(found: dict[str, Any], by: float) -> dict[str, Any]:
    """The same difference elsewhere, with the verdict and the p that go with it."""
    moved = copy.deepcopy(found)
    error = (
        (found["high"] - found["low"]) / 2 / stats.t.ppf(0.975, found["seeds"] - 1) if found["p"] else None
    )
    for key in ("nats_per_character_difference", "low", "high"):
        moved[key] = moved[key] and moved[key] + by
    for entry in moved["seed_differences"]:
        entry["difference"] += by
    if error is not None:
        size = abs(moved["nats_per_character_difference"])
        moved["p"] = float(2 * stats.t.sf(size / error, found["seeds"] - 1))
        moved["verdict"] = _verdict(moved)
    return moved


def _verdict(found: dict[str, Any]) -> str:
    return "better" if found["high"] < 0 else "worse" if found["low"] > 0 else "no difference seen"


def _overfitting(history: list[dict[str, Any]]) -> dict[str, Any]:
    def gap(row: dict[str, Any]) -> float:
        return row["validation_nats_per_character"] - row["training_nats_per_character"]

    lowest = min(history, key=lambda row: row["validation_nats_per_character"])
    return {
        "step": lowest["step"],
        "nats_per_character": lowest["validation_nats_per_character"],
        "rise": history[-1]["validation_nats_per_character"] - lowest["validation_nats_per_character"],
        "gap_at_best": gap(lowest),
        "gap_at_last": gap(history[-1]),
    }


def _at_equal(arm: dict[str, Any], parent: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for measure in ("steps", "characters", "operations", "seconds"):
        key = "step" if measure == "steps" else measure
        ends = [other["runs"][0]["history"][-1][key] for other in (arm, parent)]
        shares = [min(ends) / end for end in ends]
        fair, why = min(shares) > 0.99, []
        if not fair:
            late = arm if shares[0] < shares[1] else parent
            why.append(
                f"{late['name']} is read at step {2000 * min(shares):,.0f} of 2,000, where its learning rate is 61% "
                f"of the peak and has still to come down to 10%; budget = {{ {measure} = {round(min(ends))} }} runs "
                "both to the end of their schedules there"
            )
        if measure == "seconds":
            why.append("seconds are those of A made-up processor, on another they may differ")
        moved = arm["versus_parent"]["nats_per_character_difference"] * (0.6 if not fair else 1.0)
        half = 0.011 if len(arm["runs"]) > 2 else None
        found[measure] = {
            "at": min(ends), "nats_per_character_difference": moved, "low": half and moved - half,
            "high": half and moved + half, "seeds": len(arm["runs"]), "arm_share": shares[0],
            "parent_share": shares[1], "fair": fair, "why": "; ".join(why) or None,
        }  # fmt: skip
    return found
