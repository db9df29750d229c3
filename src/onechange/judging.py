"""What a study's measured runs say: levels over seeds, every change's differences, and the choice of a tuned setting.

The seeds of two arms are compared in pairs: those that both have finished. What is judged together is corrected
together (`onechange.holm`): all changes at one checkpoint on one text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal, get_args

from onechange import compare, holm
from onechange.checkpoint import Which
from onechange.compare import Difference, Scores, Verdict
from onechange.tuning import Tuning

Text = Literal["validation", "test"]
Kept = Mapping[int, Mapping[tuple[Which, Text], Scores]]
"""An arm's finished runs by seed: their scores at either checkpoint on either text, as far as they were measured."""
SECONDS: Verdict = "budget in seconds: not judged"
_SUFFIX: dict[tuple[Which, Text], str] = {
    ("best", "validation"): "",
    ("last", "validation"): "_last",
    ("best", "test"): "_test",
    ("last", "test"): "_test_last",
}


def over_seeds(runs: Kept) -> dict[str, Any]:
    """An arm's figures over its seeds: ``best``, ``last``, ``best_test``, ``last_test`` where there are any."""
    found = {}
    for which in get_args(Which):
        for text in get_args(Text):
            scores = [kept[which, text] for kept in runs.values() if (which, text) in kept]
            if scores:
                level = asdict(compare.level(scores))
                key = which if text == "validation" else f"{which}_{text}"
                found[key] = {"mean": level.pop("nats_per_character"), **level}
    return found


def changes(
    arms: Sequence[Mapping[str, Any]], runs: Mapping[str, Kept], *, timed: bool
) -> dict[str, dict[str, Any]]:
    """By arm: ``versus_parent``, ``…_last``, ``…_test``, ``…_test_last`` as they stand in `results.json`.

    ``timed``: the budget was one of seconds, which decides no verdict.
    """
    found: dict[str, dict[str, Any]] = {arm["name"]: {} for arm in arms}
    for (which, text), suffix in _SUFFIX.items():
        differences = {
            arm["name"]: difference
            for arm in arms
            if arm["from"] in runs
            and (difference := _difference(runs[arm["name"]], runs[arm["from"]], which, text, timed))
        }
        told = _told(differences)
        for arm in arms:
            if text == "validation" or told:
                found[arm["name"]][f"versus_parent{suffix}"] = told.get(arm["name"])
    return found


def tuned(
    tuning: Tuning,
    candidates: Mapping[str, Mapping[Any, str]],
    parents: Mapping[str, str | None],
    runs: Mapping[str, Kept],
    *,
    timed: bool,
) -> dict[str, Any]:
    """The key ``tuning`` of `results.json`.

    ``candidates``: of every arm the values it is run at, with the name that it has there; ``parents``: every arm's. A
    value is chosen by the mean over seeds at best on validation text, once all values have the same seeds; both
    verdicts are on test text: each arm at its own value, and each at the one that was chosen for it.
    """
    arms = []
    for name, values in candidates.items():
        arms.append({"name": name, "own": _own(name, values), **_choice(values, runs)})
    chosen = {
        arm["name"]: candidates[arm["name"]][arm["chosen"]] for arm in arms if arm["chosen"] is not None
    }
    pairs = {name: parent for name, parent in parents.items() if parent in candidates and name in candidates}
    equal = {
        name: found
        for name, parent in pairs.items()
        if parent and (found := _difference(runs[name], runs[parent], "best", "test", timed))
    }
    best = {
        name: found
        for name, parent in pairs.items()
        if name in chosen
        and parent in chosen
        and (found := _difference(runs[chosen[name]], runs[chosen[parent]], "best", "test", timed))
    }
    at_equal, at_best = _told(equal), _told(best)
    for arm in arms:
        arm["equal"], arm["tuned"] = at_equal.get(arm["name"]), at_best.get(arm["name"])
    return {"setting": tuning.path, "values": list(tuning.values), "arms": arms}


def _own(name: str, values: Mapping[Any, str]) -> Any:
    return next(value for value, called in values.items() if called == name)


def _choice(values: Mapping[Any, str], runs: Mapping[str, Kept]) -> dict[str, Any]:
    found, seeds = [], []
    for value, name in values.items():
        kept = {seed: scores for seed, scores in runs[name].items() if ("best", "validation") in scores}
        seeds.append({*kept})
        level = over_seeds(kept) if kept else {}
        found.append(
            {
                "value": value,
                "name": name,
                "validation": level.get("best", {}).get("mean"),
                "spread": level.get("best", {}).get("spread"),
                "test": level.get("best_test", {}).get("mean"),
                "seeds": len(kept),
            }
        )
    whole = bool(seeds[0]) and all(some == seeds[0] for some in seeds)
    chosen = min(found, key=lambda candidate: candidate["validation"])["value"] if whole else None
    return {"chosen": chosen, "candidates": found}


def _difference(arm: Kept, parent: Kept, which: Which, text: Text, timed: bool) -> Difference | None:
    """Arm minus parent over the seeds that both have; None where there is none."""
    key = which, text
    seeds = sorted(seed for seed in arm.keys() & parent.keys() if key in arm[seed] and key in parent[seed])
    if not seeds:
        return None
    ours, theirs = ([kept[seed][key] for seed in seeds] for kept in (arm, parent))
    found = compare.difference(ours, theirs, seeds)
    return replace(found, verdict=SECONDS, p=None) if timed else found


def _told(differences: Mapping[str, Difference]) -> dict[str, dict[str, Any]]:
    """As JSON values, each with what Holm's correction leaves of it."""
    corrected = holm.correct(differences)
    return {
        name: {**_plain(found), "holm": asdict(corrected[name]) if name in corrected else None}
        for name, found in differences.items()
    }


def _plain(found: Difference) -> dict[str, Any]:
    told = asdict(found)
    return {**told, "seed_differences": [*told["seed_differences"]]}
