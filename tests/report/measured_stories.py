"""Made-up stories that are really measured, put into a made-up folder of `synthetic`: no model wrote them."""

import json
from pathlib import Path
from random import Random
from typing import Any

from onechange.stories import collected
from onechange.stories.measured import Measured, measured
from onechange.stories.story import Story, real

HEROES = ("Lucy", "Tom", "Lily", "Ben")
THINGS = ("box", "kite", "dog", "moon", "tree", "frog", "key", "cake", "boat", "hat", "ball", "bird")
WAYS = ("big", "red", "old", "small", "happy", "sleepy", "shiny", "wet", "funny", "lost", "kind", "blue")
DEEDS = ("saw", "found", "took", "liked", "lost", "wanted", "drew", "made", "hid", "fixed")
PLACES = ("in the park", "by the lake", "under the bed", "at home", "on the hill", "near the old mill")
KEPT = 40
"""Stories of the training text."""


def sentence(random: Random, hero: str) -> str:
    said = f"{hero} {random.choice(DEEDS)} the {random.choice(WAYS)} {random.choice(THINGS)} {random.choice(PLACES)}."
    return f'"{said}" {hero} said.' if random.random() < 0.15 else said


def story(random: Random, hero: str, sentences: int) -> str:
    return " ".join(sentence(random, hero) for _ in range(sentences))


TRAINING = [story(Random(number), HEROES[number % 4], 14) for number in range(KEPT)]


def written(random: Random, prompt: str, worse: float, copies: float) -> Story:
    """A story as a model might write it: the ``worse``, the more slips, loops and open quotes; ``copies`` from text."""
    hero = next((hero for hero in HEROES if hero in prompt), "She")
    parts = []
    for _ in range(random.randint(8, 14)):
        if random.random() < copies:
            kept = random.choice(TRAINING)
            at = random.randrange(len(kept) - 80)
            parts.append(kept[at : at + random.randint(45, 80)])
        else:
            parts.append(sentence(random, hero if random.random() > worse else "Max"))
        if random.random() < worse:
            parts[-1] = parts[-1].replace("the", random.choice(["teh", "thre", "tha"]), 1)
        if random.random() < worse / 2:
            parts.append(parts[-1])
    ended = random.random() > 0.3
    return Story(prompt, " " + " ".join(parts) if ended else (" " + " ".join(parts))[:400], ended)


def record(folder: Path, each: int = 8, world: bool = False) -> dict[str, Any]:
    """Measure ``each`` stories after every prompt at every checkpoint, and write what `results.json` has of them.

    ``world``: the corpus's world is known, and of the stories without a prompt it is asked.
    """
    results = json.loads((folder / "results.json").read_text())
    results["prompts"] += [""] * world
    runs: dict[str, list[collected.Run]] = {}
    for number, arm in enumerate(results["arms"]):
        runs[arm["name"]] = []
        for run in arm["runs"]:
            if run["status"] != "finished":
                continue
            made = {}
            for point in ("best", "last"):
                further = run[point]["step"] > run["best"]["step"]
                random = Random(f"{number} {run['seed']} {further}")
                worse, copies = (0.12, 0.03, 0.02)[number] + 0.02 * further, 0.04 + 0.16 * further
                stories = [
                    written(random, prompt, worse, copies)
                    for prompt in results["prompts"]
                    for _ in range(each)
                ]
                found = of(stories)
                agreeing = agreement(random, each, 1 - worse) if world else {}
                made[point] = {**found.to_json(), **agreeing}
                place = folder / "arms" / arm["name"] / f"seed-{run['seed']}" / "samples"
                (place / f"{point}.jsonl").write_text(lines(stories, found, run[point]["step"]))
            for point, found in made.items():
                run[point]["written"] = collected.figures(found)
            runs[arm["name"]].append(
                collected.Run(
                    run["seed"],
                    {point: run[point]["step"] for point in made},
                    {point: run[point]["nats_per_character"] for point in made},
                    made,
                )
            )
    for arm in results["arms"]:
        arm["stories"] = collected.of_arm(runs[arm["name"]], runs.get(arm["from"] or "", []))
    validation = [story(Random(1000 + number), HEROES[number % 4], 12) for number in range(60)]
    known = {**of(real(validation, 6, 400)).to_json(), **(agreement(Random(0), 60, 1.0) if world else {})}
    results["stories"] = {"prompt_words": 6, "characters": 400, "real": collected.figures(known)}
    results["stories_tracking"] = collected.tracked(runs)
    (folder / "results.json").write_text(json.dumps(results))
    return results


def agreement(random: Random, stories: int, share: float) -> dict[str, Any]:
    """Of stories of 100 characters; those that do not agree with the world break off somewhere."""
    parsed = [100 if random.random() < share else random.randint(10, 90) for _ in range(stories)]
    counts = {
        "world_parsed": (parsed, 100),
        "world_whole": ([int(characters == 100) for characters in parsed], 1),
        "world_read": ([min(100, characters + 5) for characters in parsed], 100),
        "world_contradictions": ([int(characters < 100) for characters in parsed], 1),
    }
    measures = {name: {"counts": found, "of": [of] * stories} for name, (found, of) in counts.items()}
    return {
        "world": {
            "stories": stories,
            "characters": 100 * stories,
            "prompts": [0] * stories,
            "measures": measures,
        }
    }


def of(stories: list[Story]) -> Measured:
    return measured(stories, TRAINING, "\n\n", frozenset({*HEROES, "Max"}))


def lines(stories: list[Story], found: Measured, step: int) -> str:
    """The file of samples, of which the first after every prompt has marks."""
    told, seen = "", dict[str, int]()
    for one, marks in zip(stories, found.marks, strict=True):
        number = seen[one.prompt] = seen.get(one.prompt, -1) + 1
        line = {"prompt": one.prompt, "text": one.text, "number": number, "ended": one.ended, "step": step}
        told += json.dumps(line | ({} if number else {"marks": marks.to_json()})) + "\n"
    return told
