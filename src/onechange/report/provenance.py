"""Where a study's figures come from: corpus, settings, machine, versions, and what is exact among them."""

import json
from typing import Any

from onechange.report.answer import decimals
from onechange.report.digits import DASH, count, plain
from onechange.report.study import Arm, Study


def facts(study: Study) -> list[tuple[str, list[tuple[str, str]]]]:
    """Groups of (name, value) to be listed; unknown values are left out."""
    corpus, sampling = study.corpus, study.record.get("sampling") or {}
    groups = [
        ("Corpus", _corpus(corpus)),
        ("Study", _study(study, sampling)),
        ("Settings of the base", _table(study.record.get("settings"))),
        ("Tokenizers", [(arm.name, _value(arm.record.get("tokenizer"))) for arm in study.arms]),
        ("Machine", _table(study.record.get("machine"))),
        ("Versions", _table(study.record.get("versions"))),
    ]
    kept = [(name, [(key, text) for key, text in pairs if text not in ("", DASH)]) for name, pairs in groups]
    return [(name, pairs) for name, pairs in kept if pairs]


def rulers(study: Study) -> list[tuple[Arm, list[str]]]:
    """For each arm nats per character, bits per byte and the rough conversion: at best, means over seeds."""
    digits = decimals(study)
    found = []
    for arm in study.arms:
        runs = [run["best"] for run in arm.scored("best", "validation")]
        if runs:
            keys = ("nats_per_character", "bits_per_byte", "rough_nats_per_character")
            found.append((arm, [_mean(runs, key, digits) for key in keys]))
    return found


def _mean(runs: list[dict[str, Any]], key: str, digits: int) -> str:
    values = [run[key] for run in runs if run.get(key) is not None]
    return plain(sum(values) / len(values), digits) if values else DASH


def _corpus(corpus: dict[str, Any]) -> list[tuple[str, str]]:
    def part(which: str) -> str:
        characters = corpus.get(f"{which}_characters")
        if characters is None:
            return ""
        stories = corpus.get(f"{which}_documents")
        return (
            f"{count(stories)} stories, " if stories is not None else ""
        ) + f"{count(characters)} characters"

    whole = f"{count(corpus.get('documents'))} stories, {count(corpus.get('characters'))} characters"
    distinct = corpus.get("distinct_characters")
    separator = corpus.get("separator")
    return [
        ("name", str(corpus.get("name") or "")),
        ("text", whole + (f", {count(distinct)} distinct" if distinct else "")),
        ("training", part("training")),
        ("validation", part("validation")),
        ("test", part("test")),
        ("duplicates removed", count(corpus.get("duplicates_removed"))),
        ("cut", str(corpus.get("cut") or "")),
        ("after each story", "" if separator is None else json.dumps(separator, ensure_ascii=False)),
        ("noted", "; ".join(str(note) for note in corpus.get("notes") or [])),
        ("fingerprint", str(corpus.get("fingerprint") or "")),
    ]


def _study(study: Study, sampling: dict[str, Any]) -> list[tuple[str, str]]:
    said = {key: value for key, value in sampling.items() if value not in (None, [])}  # one budget of the two
    samples = ", ".join(f"{key.replace('_', '-')} {_value(value)}" for key, value in said.items())
    return [
        ("name", str(study.record.get("study") or "")),
        ("scale", str(study.record.get("scale") or "")),
        ("seeds", ", ".join(map(str, study.seeds))),
        ("samples", samples),
    ]


def _table(values: dict[str, Any] | None) -> list[tuple[str, str]]:
    return [(str(key).replace("_", " "), _value(value)) for key, value in (values or {}).items()]


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        name = [str(value["name"])] if "name" in value else []
        return ", ".join(
            name
            + [f"{key.replace('_', ' ')} {_value(given)}" for key, given in value.items() if key != "name"]
        )
    return "" if value is None else str(value)
