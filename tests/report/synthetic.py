"""A study's folder with made-up figures, to test the report and to look at it: no model was trained."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from onechange.compare import Scores, difference, interval_over_stories

PROMPTS = [
    "Lucy found a small box under her bed. When she opened it,",
    "Tom wanted to fly his kite, but there was no wind.",
    "The little dog was afraid of the water. One day,",
    '"Why is the moon following us?" asked Lily.',
]
STORIES = 198
FIRST_KEYS = ("nats_per_character_difference", "low", "high", "verdict", "interval", "seeds")
"""Of a difference, in the first studies' results; `instrument` adds the later ones."""
ARMS: dict[str, dict[str, Any]] = {
    "char-wpe": {
        "from": None,
        "change": None,
        "parameters": 10_846_848,
        "vocabulary": 74,
        "characters_per_token": 1.0,
        "best": 1.331,
        "start": 3.4,
        "overfits": 0.0,
        "tokenizer": {"name": "character"},
        "summary": "Every character is a token of its own.",
    },
    "bpe-wpe": {
        "from": "char-wpe",
        "change": {"tokenizer": {"name": "bpe", "vocabulary": 4096}},
        "parameters": 12_391_296,
        "vocabulary": 4096,
        "characters_per_token": 2.2541,
        "best": 1.088,
        "start": 2.9,
        "overfits": 0.0,
        "tokenizer": {"name": "bpe", "vocabulary": 4096, "learn_from": "training"},
        "summary": "The most frequent pair of neighbouring tokens becomes one token, again and again.",
    },
    "bpe-rope": {
        "from": "bpe-wpe",
        "change": {"position": "rope"},
        "parameters": 12_194_688,
        "vocabulary": 4096,
        "characters_per_token": 2.2541,
        "best": 1.052,
        "start": 2.8,
        "overfits": 0.09,
        "tokenizer": {"name": "bpe", "vocabulary": 4096, "learn_from": "training"},
        "summary": "Queries and keys are turned by an angle that grows with their position.",
    },
}
POISON = (
    "</script><script>window.poisoned = 1</script><!--<script>"
    "<img src=http://example.invalid/x onerror='window.poisoned = 1'>\"'`|*_#{{ 7 * 7 }}${7}"
)
DEMONSTRATION = "Lucy found a small box under her bed. When she opened it,"


def make_study(folder: Path, seeds: int = 1, floor: float | None = None) -> Path:
    """Write a finished study of three arms into ``folder``; `edit` turns it into any other."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    characters = rng.integers(350, 1300, STORIES)
    hardness = rng.normal(0, 0.11, STORIES)
    scores: dict[str, dict[str, list[Scores]]] = {}
    arms = []
    for name, arm in ARMS.items():
        runs, scores[name] = [], {"best": [], "last": []}
        for seed in range(seeds):
            offset = float(rng.normal(0, 0.008)) if seed else 0.0
            run, run_scores = _run(arm, seed, arm["best"] + offset, characters, hardness, rng)
            runs.append(run)
            for point in ("best", "last"):
                scores[name][point].append(run_scores[point])
            _write_run(folder / "arms" / name / f"seed-{seed}", name, run, run_scores)
        arms.append(_arm(name, arm, runs, scores))
    results = {
        "format": 1,
        "study": "tokenizers-and-positions",
        "scale": "quick",
        "question": "What do learned tokens and rotary positions buy a small story model?",
        "status": "finished",
        "command": "onechange run tokenizers-and-positions --scale quick --data storyworld",
        "prompts": PROMPTS,
        "sampling": {"seed": 42, "temperature": 0.7, "top_k": 30, "tokens": 180},
        "entropy_floor": floor,
        "corpus": {
            "name": "synthetic",
            "documents": 1980,
            "training_documents": 1782,
            "validation_documents": STORIES,
            "characters": 1_600_743,
            "distinct_characters": 74,
            "duplicates_removed": 12,
            "fingerprint": "3f6c0a" + "9b" * 29,
            "training_characters": 1_440_224,
            "validation_characters": 160_519,
            "separator": "\n\n",
            "notes": ["31 carriage returns before line feeds were removed"],
            "cut": "stopped with the story that reached 1,600,000 characters",
        },
        "machine": {"processor": "A made-up processor", "cores": 2, "memory_gb": 8},
        "versions": {"onechange": "0.1.0", "python": "3.11.9", "torch": "2.13.0"},
        "settings": {
            "batch": 16, "window": 128, "layers": 4, "heads": 4, "width": 128, "dropout": 0.0,
            "precision": "float32", "compile": False, "threads": 2, "position": "learned",
        },
        "demonstration": {"text": DEMONSTRATION, "arms": _demonstration()},
        "arms": arms,
    }  # fmt: skip
    (folder / "results.json").write_text(json.dumps(results))
    return folder


def edit(folder: Path, change) -> dict[str, Any]:
    """Pass results.json's content to ``change``, which alters it in place, and write it back."""
    results = json.loads((folder / "results.json").read_text())
    change(results)
    (folder / "results.json").write_text(json.dumps(results))
    return results


def unfinish(results: dict[str, Any]) -> None:
    """The last arm is still running, without a best."""
    arm = results["arms"][-1]
    results["status"] = "unfinished"
    arm["versus_parent"] = arm["versus_parent_last"] = None
    for run in arm["runs"]:
        run.update(status="running", best=None, last=None, history=run["history"][:4], steps=600)


def fail(results: dict[str, Any]) -> None:
    """The second arm failed, so that the third has no parent to compare with."""
    for arm in results["arms"][1:]:
        arm["versus_parent"] = arm["versus_parent_last"] = None
    for run in results["arms"][1]["runs"]:
        run.update(status="failed", best=None, last=None, history=run["history"][:2], steps=200)
        run["error"] = "step 311: the loss is not finite (nan); the last good checkpoint is step 200"


def no_validation(results: dict[str, Any]) -> None:
    """The corpus left no story for validation."""
    results["corpus"].update(validation_characters=0, validation_documents=0)
    for arm in results["arms"]:
        arm["versus_parent"] = arm["versus_parent_last"] = None
        for run in arm["runs"]:
            run.update(best=None, last=None)
            for entry in run["history"]:
                entry.update(validation_loss=None, validation_nats_per_character=None)


def alone(results: dict[str, Any]) -> None:
    """There is a base and no other arm."""
    del results["arms"][1:]


def peek(results: dict[str, Any]) -> None:
    """Tokens were learned from all text."""
    for arm in results["arms"][1:]:
        arm["peeking"] = True


def lose(results: dict[str, Any]) -> None:
    """The second arm's tokenizer does not give the text back."""
    arm = results["arms"][1]
    arm["lossless"] = False
    for other in results["arms"][1:]:
        other["versus_parent"] = other["versus_parent_last"] = None
    for run in arm["runs"]:
        for point in ("best", "last"):
            run[point].update(nats_per_character=None, bits_per_byte=None, low=None, high=None)
        for entry in run["history"]:
            entry.update(training_nats_per_character=None, validation_nats_per_character=None)


def poison(folder: Path) -> None:
    """Put markup and script wherever text of a person, a corpus or a model can stand."""
    results = json.loads((folder / "results.json").read_text())
    for key in ("question", "study", "scale", "command"):
        results[key] = POISON + results[key]
    results["corpus"].update(name=POISON, notes=[POISON], cut=POISON, separator=POISON, fingerprint=POISON)
    results["machine"][POISON] = results["versions"][POISON] = results["settings"][POISON] = POISON
    results["prompts"][0] = POISON
    results["demonstration"]["text"] = POISON
    for arm in results["arms"]:
        arm["summary"] = arm["tokenizer"]["name"] = POISON
        (folder / "arms" / arm["name"]).rename(folder / "arms" / _hostile(arm["name"]))
        results["demonstration"]["arms"][_hostile(arm["name"])] = [[POISON, 1], ["\u202e\x00\n", 2]]
        arm["name"] = _hostile(arm["name"])
        arm["from"] = arm["from"] and _hostile(arm["from"])
        if arm["change"]:
            arm["change"] = {key: {"name": POISON, POISON: POISON} for key in arm["change"]}
        arm["runs"][0]["error"] = POISON
    results["arms"][2]["runs"][0]["status"] = "failed"
    for path in folder.glob("arms/*/seed-*/samples/*.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        marks = {
            "copies": [[0, 99]],
            "longest_copy": [0, 99],
            "repeated": [[2, 120]],
            "loop": [0, 0],
            "unknown": [[3, 9]],
        }
        lines[0].update(prompt=POISON, text=POISON + "\u2028</p></article>", marks=marks)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "results.json").write_text(json.dumps(results))


def _hostile(name: str) -> str:
    """A hostile arm's name; a name that a folder can have, too, as there is no slash in it."""
    return f"<!--<script><img src=x onerror=window.poisoned=1>\"'&{name}"


def _run(arm, seed, best, characters, hardness, rng):
    steps = [1, *range(200, 2001, 200)]
    best_step = 1200 if arm["overfits"] else 2000
    history = []
    for step in steps:
        decayed = best + (arm["start"] - best) * math.exp(-step / 210) + 0.18 * math.exp(-step / 700)
        after = max(0, step - best_step) / 800
        validation = decayed + arm["overfits"] * after**1.5 + 0.02
        training = decayed - 0.14 * (step / 2000) * (1 + 4 * arm["overfits"] * step / 1000)
        tokens = step * 16 * 128
        history.append(
            {
                "step": step,
                "tokens": tokens,
                "characters": tokens * arm["characters_per_token"],
                "operations": tokens * 6.0 * arm["parameters"] / 12,
                "seconds": step * (0.042 if "rope" in str(arm["change"]) else 0.035),
                "batch_loss": training * arm["characters_per_token"],
                "training_loss": training * arm["characters_per_token"],
                "validation_loss": validation * arm["characters_per_token"],
                "training_nats_per_character": training,
                "validation_nats_per_character": validation,
            }
        )
    scores = {}
    run = {
        "seed": seed,
        "steps": 2000,
        "seconds": history[-1]["seconds"],
        "status": "finished",
        "error": None,
    }
    run |= {
        "seconds_per_step": history[-1]["seconds"] / 2000,
        "peak_memory_bytes": 812_000_000,
        "history": history,
    }
    for point, value in (("best", best), ("last", best + arm["overfits"])):
        nats = (value + hardness + rng.normal(0, 0.04, len(characters))) * characters
        nats *= value / (nats.sum() / characters.sum())
        scores[point] = Scores(nats, characters)
        exact, low, high = interval_over_stories(nats, characters)
        run[point] = {
            "step": best_step if point == "best" else 2000,
            "nats_per_token": exact * arm["characters_per_token"],
            "nats_per_character": exact,
            "bits_per_byte": exact / math.log(2),
            "rough_nats_per_character": exact + 0.021,
            "low": low,
            "high": high,
        }
    return run, scores


def _arm(name, arm, runs, scores):
    def versus(point):
        if arm["from"] is None:
            return None
        found = difference(scores[name][point], scores[arm["from"]][point])
        return {key: getattr(found, key) for key in FIRST_KEYS}

    tokens = round(1_440_224 / arm["characters_per_token"])
    return {
        "name": name,
        **{key: arm[key] for key in ("from", "change", "parameters", "vocabulary", "characters_per_token")},
        **{key: arm[key] for key in ("tokenizer", "summary")},
        "training_tokens": tokens,
        "validation_tokens": tokens // 9,
        "window": 128,
        "characters_per_window": 128 * arm["characters_per_token"],
        "times_text_seen": 2000 * 16 * 128 / tokens,
        "steps": 2000,
        "operations_per_character": 6.0 * arm["parameters"] / 12 / arm["characters_per_token"],
        "embedding_share": 0.02 if arm["vocabulary"] < 100 else 0.39,
        "peeking": False,
        "lossless": True,
        "runs": runs,
        "versus_parent": versus("best"),
        "versus_parent_last": versus("last"),
    }


def _write_run(folder: Path, name: str, run: dict[str, Any], scores: dict[str, Scores]) -> None:
    (folder / "samples").mkdir(parents=True, exist_ok=True)
    measures = {}
    for point in ("best", "last"):
        stories = scores[point]
        measures[point] = {
            **{key: run[point][key] for key in run[point] if key not in ("low", "high")},
            "nats": float(stories.nats.sum()),
            "tokens": 70_692,
            "characters": int(stories.characters.sum()),
            "bytes": int(stories.characters.sum()),
            "stories": {
                "nats": stories.nats.tolist(),
                "characters": stories.characters.tolist(),
                "bytes": stories.characters.tolist(),
            },
        }
        lines = []
        for number, prompt in enumerate(PROMPTS):
            line = {
                "prompt": prompt,
                "text": _story(name, point, number),
                "seed": 42,
                "step": run[point]["step"],
            }
            line |= {"tokens": 180, "temperature": 0.7, "top_k": 30}
            lines.append(json.dumps(line) + "\n")
        (folder / "samples" / f"{point}.jsonl").write_text("".join(lines))
    (folder / "measures.json").write_text(json.dumps(measures))


def _story(name: str, point: str, number: int) -> str:
    if name == "char-wpe":
        return " she saw a litle shilver key. It was so happy and smal. The key was so happy to se"
    things = ["a tiny silver key", "a red feather", "a sleepy frog", "an old map"]
    text = (
        f' she saw {things[number]}. "What are you doing here?" she asked. It did not say a word. '
        "She took it to her mom, who smiled and sat down beside her.\n\n"
        '"I think somebody has lost it," said Mom. '
    )
    if point == "last":
        text += "They looked for the owner all day long. "
        text += "They looked for the owner all day long, and then they went home."
    else:
        text += "So they walked from house to house, until a boy with muddy shoes cried, "
        text += f'"That is my {things[number][2:]}!"'
    return text


def _demonstration() -> dict[str, list[list[Any]]]:
    alphabet = sorted(set(DEMONSTRATION))
    characters = [[letter, alphabet.index(letter) + 7] for letter in DEMONSTRATION]
    pieces, word = [], ""
    for letter in DEMONSTRATION + "\0":
        if letter.isalpha():
            word += letter
            continue
        if word:
            pieces.append([word, 1000 + len(word) * 37])
        word = ""
        if letter != "\0":
            pieces.append([letter, alphabet.index(letter)])
    return {"char-wpe": characters, "bpe-wpe": pieces, "bpe-rope": pieces}
