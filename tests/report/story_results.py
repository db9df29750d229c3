"""What `results.json` says of stories, written by hand: two arms of which the second copies more at its last step."""

import json
from pathlib import Path
from typing import Any

from onechange.report import story_figures
from onechange.report.story_figures import StoryFigures
from onechange.report.study import Study, read

UNJUDGED = "one seed: not judged"


def figure(value: float | None, half: float | None = None, seeds: int = 3) -> dict[str, Any]:
    low, high = (None, None) if value is None or half is None else (value - half, value + half)
    return {"figure": value, "low": low, "high": high, "seeds": seeds}


def apart(value: float, half: float, verdict: str, seeds: int = 3) -> dict[str, Any]:
    p = None if verdict == UNJUDGED else 0.001
    return {
        "difference": value, "low": value - half, "high": value + half, "seeds": seeds, "p": p, "p_holm": p,
        "verdict": verdict,
    }  # fmt: skip


def run(best: int, last: int) -> dict[str, Any]:
    return {
        "seed": 0,
        "status": "finished",
        "best": {"step": best, "nats_per_character": 1.0, "written": {"length": {"stories": 64}}},
        "last": {"step": last, "nats_per_character": 1.1},
    }


def results() -> dict[str, Any]:
    """A base that ends at its best step, and a change that goes on and copies more then."""
    base = {
        "unknown_words": figure(0.05, 0.004),
        "hero_kept": figure(0.6, 0.05),
        "length": figure(500.0, 20.0),
        "copied": figure(0.04, 0.01),
        "longest_copy": figure(40.0, 3.0),
        "sentence_ends": figure(None),
    }
    best = base | {
        "unknown_words": figure(0.02, 0.003),
        "new_names": figure(0.0),
        "world_whole": figure(0.5, 0.1),
    }
    last = best | {
        "copied": figure(0.09, 0.01),
        "unknown_words": figure(0.03, 0.003),
        "longest_copy": figure(44, 5),
    }
    real = {
        "unknown_words": figure(0.009, 0.002), "hero_kept": figure(0.9, 0.05), "length": figure(657.0, 18.0),
        "copied": figure(0.045, 0.009), "longest_copy": figure(38.1, 1.3), "world_whole": figure(1.0),
    }  # fmt: skip
    return {
        "arms": [
            {"name": "base", "from": None, "change": None, "runs": [run(800, 800)], "stories": {
                "best": base, "last": base, "versus_parent": None, "versus_parent_last": None,
                "last_versus_best": None,
            }},
            {"name": "rope", "from": "base", "change": {"position": "rope"}, "runs": [run(800, 2000)], "stories": {
                "best": best, "last": last,
                "versus_parent": {
                    "unknown_words": apart(-0.03, 0.004, "better"),
                    "hero_kept": apart(0.0, 0.07, "no difference seen"),
                    "length": apart(0.0, 28.0, "no difference seen"),
                },
                "versus_parent_last": {"unknown_words": apart(-0.02, 0.004, "better")},
                "last_versus_best": {
                    "copied": apart(0.05, 0.012, "higher"),
                    "longest_copy": apart(4.0, 6.0, "no difference seen"),
                    "unknown_words": apart(0.01, 0.004, "worse"),
                    "hero_kept": apart(0.0, 0.07, "no difference seen"),
                },
            }},
        ],
        "stories": {
            "prompt_words": 12, "characters": 800,
            "real": {name: {**found, "stories": 198} for name, found in real.items()},
        },
        "stories_tracking": {
            "unknown_words": tracking(0.9, (0.8, 0.0004)),
            "length": tracking(-0.95, (-1.0, 0.0001)),
            "hero_kept": tracking(0.05, (0.1, 0.9)),
            "copied": tracking(-0.2, (-0.2, 0.4)),
            "longest_copy": tracking(None, None),
        },
    }  # fmt: skip


def tracking(rho: float | None, within_runs: tuple[float, float] | None) -> dict[str, Any]:
    level = within_runs and {"rho": within_runs[0], "p": within_runs[1]}
    return {"points": 9, "all": rho, "between_arms": None, "within_arms": None, "within_runs": level}


def studied(folder: Path, record: dict[str, Any]) -> Study:
    (folder / "results.json").write_text(json.dumps(record))
    return read(folder)


def figures(study: Study) -> StoryFigures:
    found = story_figures.read(study)
    assert found is not None
    return found
