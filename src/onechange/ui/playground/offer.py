"""Which models a study has to offer, and what the page should know before it asks for one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec

from onechange import json_file, shapes
from onechange.checkpoint import Checkpoints, Which
from onechange.report import marks
from onechange.sampling import CHARACTERS
from onechange.study import Study
from onechange.study_folder import StudyFolder
from onechange.ui.playground.asked import Chosen, Draw
from onechange.ui.playground.limits import Limits


def run(folder: Path, chosen: Chosen) -> Path:
    """The folder of the run that is meant; a `LookupError` lists what there is instead."""
    study = StudyFolder(folder)
    names = study.study().run_names(study.start().scale)
    if chosen.arm not in names:
        raise LookupError(f"no arm {chosen.arm!r} in this study; there is {', '.join(names)}")
    seeds = study.seeds(chosen.arm)
    if chosen.seed not in seeds:
        there = ", ".join(map(str, seeds)) or "none yet"
        raise LookupError(f"{chosen.arm} has no seed {chosen.seed}; there is {there}")
    return study.run(chosen.arm, chosen.seed)


def offer(folder: Path, limits: Limits) -> dict[str, Any]:
    """The answer to the page's first question. Arms without a checkpoint are in it, without seeds."""
    study = StudyFolder(folder)
    scale = study.start().scale
    found = study.study()
    return {
        "question": found.question,
        "arms": [*_arms(study, found, scale)],
        "prompts": _prompts(study, found),
        "sampling": _usual(found, scale),
        "limits": msgspec.structs.asdict(limits),
    }


def _arms(study: StudyFolder, found: Study, scale: str) -> Iterator[dict[str, Any]]:
    for index, name in enumerate(found.run_names(scale)):
        facts = _facts(study.path / "arms" / name / "arm.json", shapes.Arm) or {}
        arm = found.arm(name)
        yield {
            "name": name,
            "index": index,
            "colour": marks.colour(index),
            "symbol": marks.symbol(index),
            "from": arm.parent if arm else None,
            "change": facts.get("change") or (arm.change if arm else None),
            "parameters": facts.get("parameters"),
            "vocabulary": facts.get("vocabulary"),
            "lossless": facts.get("lossless", True),
            "seeds": [
                seed for number in study.seeds(name) if (seed := _seed(study.run(name, number), number))
            ],
        }


def _seed(run: Path, number: int) -> dict[str, Any] | None:
    """A run with its checkpoints; ``None`` if it has none yet. A damaged one is named when it is asked for."""
    measures = _facts(run / "measures.json", shapes.Measures) or {}
    points: dict[str, Any] = {}
    for which in get_args(Which):
        try:
            step = Checkpoints(run).step(which)
        except (ValueError, OSError):
            continue
        if step is not None:
            known = {figures["step"]: figures["nats_per_character"] for figures in measures.values()}
            points[which] = {"step": step, "nats_per_character": known.get(step)}
    return {"seed": number, "finished": bool(measures), "checkpoints": points} if points else None


def _facts(path: Path, kind: Any) -> dict[str, Any] | None:
    """The object in a file; ``None`` where there is none that can be used: the page does without."""
    try:
        found = json_file.read(path)
        shapes.fit(found, kind, path)
    except (OSError, ValueError):
        return None
    return found


def _prompts(study: StudyFolder, found: Study) -> list[str]:
    """Those that the corpus can write, once it is known which they are."""
    corpus = _facts(study.path / "corpus.json", shapes.Corpus)
    return corpus["prompts"] if corpus else found.prompts


def _usual(found: Study, scale: str) -> dict[str, Any]:
    """The study's own settings; a length in tokens is none that is the same for all models."""
    sampled = found.sampled(scale)
    usual = {field: getattr(sampled, field) for field in Draw.__struct_fields__}
    return {**usual, "characters": sampled.characters or CHARACTERS}
