"""The probes: how much text they read, and that they come into a run's files, its record, and nothing else's way."""

import json
from pathlib import Path

import pytest
import torch

from onechange import checkpoint_reader, finished_run, record, shapes
from onechange.costs import COSTS
from onechange.encoding import Encoding, encode
from onechange.probes import beginning, probed
from onechange.study_folder import StudyFolder
from onechange.tokenizer import Tokenizer
from small_models import bpe, character, small_model
from small_studies import in_haste, onechange, study_file

SEPARATOR = "\n\n"
STORIES = ["The cat sat on the mat.", "A dog ran to the red sun and back.", "Oh!"]
ALPHABET = "".join(STORIES) + SEPARATOR
TOKENIZERS: list[Tokenizer] = [character(ALPHABET), bpe([*STORIES, SEPARATOR], 60)]


def text(tokenizer: Tokenizer) -> Encoding:
    return encode(tokenizer, STORIES, SEPARATOR)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished study of one seed."""
    place = tmp_path_factory.mktemp("probed")
    with in_haste(place):
        outcome = onechange("run", study_file(place), "--scale", "tiny", "--out", place / "out", "--seeds", 1)
    assert outcome.status == 0, outcome.err
    return place / "out"


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize(("characters", "stories"), [(25, 1), (60, 1), (61, 2), (65, 2), (66, 3), (1000, 3)])
def test_whole_stories_are_read(tokenizer: Tokenizer, characters: int, stories: int) -> None:
    encoded = text(tokenizer)
    ids = encoded.ids[: beginning(encoded, characters)]
    assert tokenizer.decode(ids.tolist()) == "".join(story + SEPARATOR for story in STORIES[:stories])


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_a_first_story_that_is_too_long_is_cut(tokenizer: Tokenizer) -> None:
    encoded = text(tokenizer)
    read = tokenizer.decode(encoded.ids[: beginning(encoded, 10)].tolist())
    assert STORIES[0].startswith(read)
    assert 10 <= len(read) < 10 + max(map(len, tokenizer.tokens()))


def test_a_model_is_left_as_it_was() -> None:
    tokenizer = TOKENIZERS[0]
    model = small_model(tokenizer.vocabulary_size, 8, dropout=0.5)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    for training in (True, False):
        model.train(training)
        first, second = (probed(model, text(tokenizer), tokenizer.encode(SEPARATOR)) for _ in range(2))
        assert first == second, "dropout is off"
        assert model.training is training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())


def test_they_stand_in_the_measures_and_the_results(folder: Path) -> None:
    results = json.loads((folder / "results.json").read_text())
    for arm in results["arms"]:
        run = folder / "arms" / arm["name"] / "seed-0"
        measures = json.loads((run / "measures.json").read_text())
        for which in ("best", "last"):
            found = measures[which]["probes"]
            shapes.fit(found, shapes.Probes, run)
            assert arm["runs"][0][which]["probes"] == found
        trained = checkpoint_reader.read(run, "last")
        assert found["attention"] is not None and len(found["attention"]["shares"]) == 1
        lengths = found["longer"]["lengths"]
        assert [each["window"] for each in lengths] == [16, 32, 64]
        moves = trained.recipe.position["name"] == "learned"
        assert [each["nats"] is None for each in lengths] == [False, moves, moves]
        assert (abs(found["shift"]["layers"][-1]["change"]) > 1e-5) is moves
    assert len({arm["runs"][0]["best"]["probes"]["longer"]["characters"] for arm in results["arms"]}) == 1


def test_what_an_arm_costs_stands_in_the_results(folder: Path) -> None:
    base, merged, _ = json.loads((folder / "results.json").read_text())["arms"]
    (run,), found = merged["runs"], merged["costs"]
    assert set(found) == set(COSTS) and base["costs"]["parameters"]["ratio"] is None
    assert found["parameters"]["ratio"] == merged["parameters"] / base["parameters"]
    last = run["history"][-1]
    assert found["characters_per_second"]["value"] == pytest.approx(last["characters"] / last["seconds"])
    assert found["tokens_per_second"]["high"] == pytest.approx(6 * 4 * 16 / last["seconds"])
    assert found["peak_memory_bytes"]["value"] == run["peak_memory_bytes"]


DAMAGE = {
    "longer": lambda probes: probes["longer"].pop("lengths"),
    "nats": lambda probes: probes["longer"]["lengths"][0].update(nats="many"),
    "places": lambda probes: probes["shift"].update(positions=[1, 2, 3]),
    "layers": lambda probes: probes["shift"]["layers"][0].pop("kl"),
    "shares": lambda probes: probes["attention"].update(shares=[0.5]),
    "bins": lambda probes: probes["attention"]["bins"][0].update(to=0),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_probes_are_told_by_name(folder: Path, damage: str) -> None:
    path = folder / "arms" / "plain" / "seed-0" / "measures.json"
    content = path.read_text()
    measures = json.loads(content)
    DAMAGE[damage](measures["best"]["probes"])
    try:
        path.write_text(json.dumps(measures))
        with pytest.raises(ValueError, match=r"measures\.json is damaged"):
            record.collect(StudyFolder(folder))
    finally:
        path.write_text(content)


def test_a_run_of_an_earlier_version_has_none_and_is_read(folder: Path) -> None:
    path = folder / "arms" / "plain" / "seed-0" / "measures.json"
    content = path.read_text()
    measures = json.loads(content)
    for which in ("best", "last"):
        del measures[which]["probes"]
    try:
        path.write_text(json.dumps(measures))
        assert "probes" not in finished_run.read(path.parent, "best").figures
        assert "probes" not in record.collect(StudyFolder(folder))["arms"][0]["runs"][0]["best"]
    finally:
        path.write_text(content)
