"""Every member of every family of the model and of training, as the one thing that a whole run or a study changes."""

from pathlib import Path

import pytest
from safetensors.torch import load_file

from killed_runs import recipe, train
from onechange import family
from onechange.settings import DEFAULTS
from onechange.training import Moment
from small_studies import STUDY, in_haste, onechange, study_file

CHANGES = [
    (kind, name)
    for kind in (*family.MODEL_FAMILIES, *family.TRAINING_FAMILIES)
    for name in family.members(kind)
    if name != DEFAULTS[kind]
]


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The history of a run with the default members."""
    run = tmp_path_factory.mktemp("usual")
    train(run, recipe())
    return (run / "metrics.jsonl").read_bytes()


def cut_short(moment: Moment) -> None:
    """Amid step 6 of 12, the last checkpoint at 4."""
    if moment.step == 6:
        raise InterruptedError


@pytest.mark.parametrize(("kind", "name"), CHANGES, ids=[f"{kind}-{name}" for kind, name in CHANGES])
def test_a_run_that_was_cut_short_ends_bit_for_bit_as_a_whole_one(
    kind: str, name: str, usual: bytes, tmp_path: Path
):
    settings = {"warmup": 3} if kind == "schedule" else {}
    chosen = recipe(**{kind: family.resolve(kind, {"name": name, **settings})})
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    train(whole, chosen)
    with pytest.raises(InterruptedError):
        train(resumed, chosen, watch=cut_short)
    train(resumed, chosen)
    history = (whole / "metrics.jsonl").read_bytes()
    assert history == (resumed / "metrics.jsonl").read_bytes() != usual
    for file in ("model.safetensors", "optimizer.safetensors"):
        one, two = (load_file(run / "checkpoints" / "step-000012" / file) for run in (whole, resumed))
        assert one.keys() == two.keys()
        assert all(one[key].equal(two[key]) for key in one)


@pytest.mark.long
def test_a_study_of_them_all(tmp_path: Path):
    """From the file to `results.json`, samples included."""
    first, rest = STUDY.split("[[arm]]", 1)
    arms = "".join(
        f'[[arm]]\nname = "{kind}-{name}"\nfrom = "plain"\nchange.{kind} = "{name}"\n\n'
        for kind, name in CHANGES
    )
    path = study_file(tmp_path, first + arms + rest[rest.index("[sampling]") :])
    with in_haste(tmp_path):
        found = onechange("run", path, "--scale", "tiny", "--out", tmp_path / "out", "--jobs", 1, "--json")
    assert found.status == 0, found.err
    told = {arm["name"]: arm for arm in found.document["arms"]}
    assert told.keys() == {"plain", *(f"{kind}-{name}" for kind, name in CHANGES)}
    for kind, name in CHANGES:
        arm = told[f"{kind}-{name}"]
        assert arm["change"] == {kind: name}
        assert arm["versus_parent_last"]["nats_per_character_difference"] != 0
        samples = tmp_path / "out" / "arms" / arm["name"] / "seed-0" / "samples" / "last.jsonl"
        assert len(samples.read_text("utf-8").splitlines()) == 3 * 2, "two prompts and none, two samples"
