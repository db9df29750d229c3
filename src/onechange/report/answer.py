"""The answer in words: one sentence per change, made from the recorded differences and their verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onechange.report import tuning
from onechange.report.digits import decimals_for, plain
from onechange.report.study import JUDGED, Arm, Study

SECONDS = "budget in seconds: not judged"
FAMILIES = {
    "tokenizer": "how text is cut into the pieces that the model reads and writes",
    "position": "how the model is told where in the text a piece stands",
    "norm": "how the numbers inside the model are kept in scale",
    "placement": "where in a layer the numbers are brought to scale",
    "mlp": "the part of a layer that works on one piece at a time",
    "attention": "the part of a layer that lets a piece look back at those before it",
    "embedding": "from which table the next piece is scored",
    "initialization": "from what random numbers the weights begin",
    "optimizer": "the rule by which training changes the weights",
    "schedule": "how the size of those changes goes up and down during training",
    "window": "how many pieces the model sees at once",
    "width": "how many numbers stand for one piece inside the model",
    "layers": "how many layers the model has",
    "heads": "in how many ways a layer looks back at once",
    "batch": "how many windows one training step reads",
    "dropout": "the share of the model's inner numbers that is left out at random in training",
}


@dataclass(frozen=True)
class Answer:
    """What came of one change, in plain text; ``verdict`` is the recorded word."""

    arm: Arm
    change: str
    verdict: str
    headline: str
    detail: str


def answers(study: Study) -> list[Answer]:
    """One answer per arm that changes something, in the study's order."""
    return [_answer(study, arm) for arm in study.changed()]


def caution(study: Study) -> str | None:
    """Why differences were not judged, said once for all of them; None where every one was."""
    unjudged = {
        found["verdict"]
        for arm in study.changed()
        if (found := arm.versus("best")) and found["verdict"] not in JUDGED
    }
    if not unjudged:
        return None
    if unjudged == {SECONDS}:
        return (
            "Not judged, because the budget is in seconds: how much training fits into them depends on the "
            "machine and on what else it does, so that the same study has another answer elsewhere. A budget in "
            "steps, tokens, characters or operations can be judged."
        )
    return (
        "Not judged, because two runs of the very same model differ too, by their random first weights and "
        "the order of the text. Whether a change did more than that shows from three runs of each model on, "
        "with three seeds. "
        "An interval over the text knows how stories differ, not how runs do."
    )


def decimals(study: Study) -> int:
    """The decimals of nats per character on the whole page, from the intervals of the differences."""
    intervals = [arm.versus(point) for arm in study.arms for point in ("best", "last")]
    halves = [_half(found) for found in intervals if found]
    if not any(halves):
        halves = [(a.best.high - a.best.low) / 2 for a in study.arms if a.best and a.best.low and a.best.high]
    return decimals_for(halves)


def changed_key(arm: Arm) -> str | None:
    return next(iter(arm.record.get("change") or {}), None)


def member(arm: Arm) -> str:
    """The name of what the arm put in its parent's place, without settings."""
    value = next(iter((arm.record.get("change") or {}).values()), None)
    return _described({"name": value["name"]} if isinstance(value, Mapping) and "name" in value else value)


def change(study: Study, arm: Arm, brief: bool = False) -> str:
    """``tokenizer: character → bpe, vocabulary 4,096``; the old side is left out where it is not recorded.

    Of the same member with other settings only those: ``tokenizer: vocabulary 4,096 → 256``. Where ``brief``, the
    settings of a new member are left out.
    """
    key = changed_key(arm)
    if key is None:
        return ""
    value, old = arm.record["change"][key], _before(study, arm, key)
    if isinstance(value, Mapping) and len(value) > 1 and old == value.get("name"):
        settings = {setting: given for setting, given in value.items() if setting != "name"}
        told = [
            f"{setting} {_setting_before(study, arm, key, setting)}{_described(given)}"
            for setting, given in settings.items()
        ]
        return f"{key}: {', '.join(told)}"
    new = member(arm) if brief else _described(value)
    return f"{key}: {old} → {new}" if old else f"{key}: {new}"


def _setting_before(study: Study, arm: Arm, key: str, setting: str) -> str:
    """What the parent's member has for ``setting``, with an arrow; nothing where it is not recorded."""
    names = {other.name: other for other in study.arms}
    parent = names.get(arm.parent or "")
    recorded = [parent.record.get(key)] if parent is not None else []
    while parent is not None:
        recorded.append((parent.record.get("change") or {}).get(key))
        parent = names.get(parent.parent or "")
    recorded.append((study.record.get("settings") or {}).get(key))
    for found in recorded:
        if isinstance(found, Mapping) and setting in found:
            return f"{_described(found[setting])} → "
    return ""


def _before(study: Study, arm: Arm, key: str) -> str | None:
    names = {other.name: other for other in study.arms}
    parent = names.get(arm.parent or "")
    while parent is not None:
        if key in (parent.record.get("change") or {}):
            return _described(parent.record["change"][key])
        if parent.parent is None:
            break
        parent = names.get(parent.parent)
    if key == "tokenizer" and parent is not None and parent.record.get("tokenizer"):
        return _described({"name": parent.record["tokenizer"].get("name")})
    value = (study.record.get("settings") or {}).get(key)
    return (
        None
        if value is None
        else _described({"name": value["name"]} if isinstance(value, Mapping) else value)
    )


def _described(value: Any) -> str:
    if isinstance(value, Mapping):
        settings = [f"{key} {_described(given)}" for key, given in value.items() if key != "name"]
        if "name" not in value and [*value] == ["characters"]:  # a window
            return f"{_described(value['characters'])} characters"
        return ", ".join([str(value["name"]), *settings] if "name" in value else settings)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def _half(found: Mapping[str, Any]) -> float | None:
    return None if found.get("low") is None else (found["high"] - found["low"]) / 2


def _answer(study: Study, arm: Arm) -> Answer:
    label, found = change(study, arm), arm.versus("best")
    parent = next((other for other in study.arms if other.name == arm.parent), None)
    if found is None or arm.best is None or parent is None or parent.best is None:
        return Answer(arm, label, "", _nothing(arm, parent), _why_not(study, arm, parent))
    digits = decimals(study)
    size = plain(abs(found["nats_per_character_difference"]), digits)
    direction = "lower" if found["nats_per_character_difference"] <= 0 else "higher"
    verdict, seeds = found["verdict"], found.get("seeds") or 1
    headline = {
        "better": f"Better, by {size} nats per character.",
        "worse": f"Worse, by {size} nats per character.",
        "no difference seen": "No difference seen.",
        SECONDS: f"{size} nats per character {direction}, but not judged: the budget is in seconds.",
    }.get(verdict, f"{size} nats per character {direction}, but not judged: {seeds_in_words(seeds)} alone.")
    moved = (
        f"{plain(parent.best.nats_per_character, digits)} became {plain(arm.best.nats_per_character, digits)}"
        + (f", {size} {direction}" if verdict == "no difference seen" else "")
        + _interval(found, digits)
    )
    if verdict == "no difference seen":
        moved += ", which leaves room for none"
    return Answer(
        arm, label, verdict, headline, moved + "." + _at_last(arm, found, digits) + tuning.turned(study, arm)
    )


def _at_last(arm: Arm, best: Mapping[str, Any], digits: int) -> str:
    """A second sentence where the last step says something else than the best one."""
    last = arm.versus("last")
    if last is None:
        return ""
    value, before = last["nats_per_character_difference"], best["nats_per_character_difference"]
    turned = last["verdict"] != best["verdict"] or (last["verdict"] not in JUDGED and value * before < 0)
    if not turned:
        return ""
    size = f"{plain(abs(value), digits)} {'lower' if value < 0 else 'higher'}"
    verdict = f"{last['verdict']}, {size}" if last["verdict"] in JUDGED else size
    return f" At the last step of both: {verdict}{_interval(last, digits)}."


def _interval(found: Mapping[str, Any], digits: int) -> str:
    low, high = found.get("low"), found.get("high")
    if low is None or high is None:
        return "; there is no interval, since the text is a single piece"
    seeds = found.get("seeds") or 1
    over = {
        "seeds and text": f"over {seeds} seeds and the text",
        "seeds": f"over {seeds} seeds (the text is a single piece)",
    }.get(found.get("interval", ""), "over the text alone")
    if low < 0 < high:
        span = f"{plain(-low, digits)} lower to {plain(high, digits)} higher"
    else:
        small, large = sorted((abs(low), abs(high)))
        span = f"{plain(small, digits)} to {plain(large, digits)} {'lower' if high <= 0 else 'higher'}"
    return f"; 95% interval {over}, {span}"


def _why_not(study: Study, arm: Arm, parent: Arm | None) -> str:
    if not study.has_validation:
        return "The corpus left no text for validation, so there is nothing to measure the models on."
    if arm.trouble:
        return sentence(f"{arm.name} {arm.trouble}")
    if parent is not None and parent.trouble:
        return sentence(f"{parent.name}, from which it starts, {parent.trouble}")
    return "No comparison of the two is recorded in the results."


def left_out(study: Study) -> list[str]:
    """Runs that left out updates, since what they would have learned from was not finite."""
    return [
        f"{arm.name}, seed {run['seed']}, left out {run['steps_left_out']:,} of its steps: "
        "their loss or gradient was not finite."
        for arm in study.arms
        for run in arm.runs
        if run.get("steps_left_out")
    ]


def sentence(text: str) -> str:
    """``text`` with a full stop, if it has no end of its own."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _nothing(arm: Arm, parent: Arm | None) -> str:
    waiting = any(r.get("status") in ("running", "missing") for a in (arm, parent) if a for r in a.runs)
    return "Nothing can be said yet." if waiting else "Nothing can be said."


def seeds_in_words(seeds: int) -> str:
    return {1: "one seed", 2: "two seeds"}.get(seeds, f"{seeds} seeds")
