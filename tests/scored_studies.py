"""A study's folder made of scores alone: what `record` reads of finished runs, and nothing was trained."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from onechange.compare import Scores
from onechange.study_folder import StudyFolder

STUDY = """\
question = "What do changes buy that do nothing?"
corpus = "storyworld"

[base]
name = "{base}"
"""
ARM = """
[[arm]]
name = "{name}"
from = "{parent}"
change.dropout = {value}
"""


def write(folder: Path, arms: Mapping[str, Sequence[Scores]], star: bool = False) -> StudyFolder:
    """Finished runs with these scores, one a seed, at best as at last. Every arm is the child of the one before it,
    or with ``star`` of the first."""
    names = list(arms)
    parents = [None, *(names[:1] * len(names) if star else names)][: len(names)]
    content = STUDY.format(base=names[0])
    for place, (name, parent) in enumerate(zip(names, parents, strict=True)):
        if parent is not None:
            content += ARM.format(name=name, parent=parent, value=0.01 * place)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(content, encoding="utf-8")
    _write(folder / "start.json", START)
    first = next(iter(arms.values()))[0]
    characters = int(first.characters.sum())
    _write(
        folder / "corpus.json",
        {**CORPUS, "validation_documents": len(first.nats), "validation_characters": characters},
    )
    for name, parent in zip(names, parents, strict=True):
        change = None if parent is None else {"dropout": 0.01}
        _write(folder / "arms" / name / "arm.json", {**FACTS, "name": name, "from": parent, "change": change})
        for seed, scores in enumerate(arms[name]):
            figures = _figures(scores)
            run = folder / "arms" / name / f"seed-{seed}"
            _write(run / "measures.json", {"best": figures, "last": figures})
    return StudyFolder(folder)


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def _figures(scores: Scores) -> dict[str, Any]:
    nats, characters = float(np.sum(scores.nats)), int(scores.characters.sum())
    lengths = scores.characters.tolist()
    return {
        "step": 40,
        "nats": nats,
        "tokens": characters,
        "characters": characters,
        "bytes": characters,
        "nats_per_token": nats / characters,
        "nats_per_character": nats / characters,
        "bits_per_byte": nats / characters / np.log(2),
        "stories": {"nats": scores.nats.tolist(), "characters": lengths, "bytes": lengths},
    }


START = {
    "scale": "tiny",
    "source": {"name": "storyworld"},
    "threads": 1,
    "precision": "float32",
    "compile": False,
    "study": "scored",
    "command": "onechange run scored.toml --scale tiny",
}
CORPUS = {
    "name": "storyworld",
    "fingerprint": "0" * 64,
    "prompts": [],
    "demonstration": "The sun was warm.",
    "entropy_floor": None,
    "documents": 1000,
    "characters": 800_000,
    "distinct_characters": 60,
    "duplicates_removed": 0,
    "training_documents": 900,
    "training_characters": 720_000,
    "separator": "\n\n",
    "split": "the last tenth",
    "cut": None,
    "notes": [],
    "settings": {"name": "storyworld"},
}
FACTS = {
    "summary": None,
    "parameters": 1000,
    "embedding_share": 0.1,
    "vocabulary": 60,
    "tokenizer": {"name": "character"},
    "remarks": [],
    "peeking": False,
    "lossless": True,
    "training_tokens": 720_000,
    "validation_tokens": 80_000,
    "characters_per_token": 1.0,
    "window": 32,
    "characters_per_window": 32.0,
    "steps": 40,
    "tokens": 10_240,
    "times_text_seen": 0.1,
    "operations": 1e9,
    "operations_per_character": 1e5,
    "settings": {
        "tokenizer": {"name": "character"},
        "schedule": {"name": "cosine", "warmup": 5, "final": 0.1},
    },
    "demonstration": [["T", 1]],
}
