"""The studies that are shipped, run from their names to their reports."""

import json
from pathlib import Path
from typing import Any

import pytest

from onechange import study_file
from onechange.corpus.storyworld import Storyworld
from small_studies import onechange

STORIES = 120


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated stories as a file: no study needs the network for them."""
    path, world = tmp_path_factory.mktemp("text") / "stories.txt", Storyworld()
    stories = (world.story(number).text for number in range(STORIES))
    path.write_text("\n<|endoftext|>\n".join(stories), encoding="utf-8")
    return path


def ran(study: str, text: Path, folder: Path) -> dict[str, Any]:
    """The study's results at scale `tiny`, with one seed."""
    outcome = onechange(
        "run", study, "--scale", "tiny", "--data", f"file:{text}", "--out", folder / study, "--seeds", 1
    )
    assert outcome.status == 0, outcome.err
    return json.loads((folder / study / "results.json").read_text(encoding="utf-8"))


@pytest.mark.long
def test_norms_and_mlps_from_its_name_to_its_report(text: Path, tmp_path: Path):
    results = ran("norms-and-mlps", text, tmp_path)
    assert results["status"] == "finished"
    arms = {arm["name"]: arm for arm in results["arms"]}
    changes = {name: (arm["from"], arm["change"]) for name, arm in arms.items() if arm["change"]}
    assert changes["rms"] == ("layer", {"norm": "rms"})
    assert changes["rms-swiglu"] == ("rms", {"mlp": "swiglu"})
    parameters = {name: arm["parameters"] for name, arm in arms.items()}
    assert parameters["rms"] == parameters["layer"], "no bias to lose"
    for gated in ("rms-swiglu", "rms-geglu"):
        assert parameters[gated] == pytest.approx(parameters["rms"], rel=0.01)
    scores = {name: arm["runs"][0]["best"]["nats_per_character"] for name, arm in arms.items()}
    assert len(set(scores.values())) == len(scores), "two arms that are one"
    for arm in arms.values():
        assert arm["costs"]["tokens_per_second"]["value"] > 0
        assert [each["why_not"] for each in arm["runs"][0]["best"]["probes"]["longer"]["lengths"]] == [
            None
        ] * 3
    page = (tmp_path / "norms-and-mlps" / "report.html").read_text(encoding="utf-8")
    for heading in ("What it costs", "More than one number", "Where the heads look"):
        assert heading in page


@pytest.mark.long
@pytest.mark.parametrize("study", [name for name in study_file.builtin() if name != "norms-and-mlps"])
def test_every_shipped_study_runs(study: str, text: Path, tmp_path: Path):
    results = ran(study, text, tmp_path)
    assert results["status"] == "finished"
    scores = [arm["runs"][0]["best"]["nats_per_character"] for arm in results["arms"]]
    assert len(scores) > 1 and all(0.5 < score < 5 for score in scores)
