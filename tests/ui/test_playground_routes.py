"""What the playground answers: the same text as `onechange sample`, the ruler's surprise, and one clear line."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import small_playground
from onechange import measure
from onechange.checkpoint_reader import read
from onechange.encoding import encode
from onechange.ui.playground import STATIC
from onechange.ui.playground.limits import Limits
from small_models import plain_surprise
from small_playground import PLACE
from small_studies import files, onechange

PROMPT = "The sun"
LENGTH = ("--characters", 200)
ARMS = ["plain", "merged", "turned"]
BODY: dict[str, Any] = {"arm": "merged", "seed": 0, "prompt": PROMPT}


def written(client: TestClient, **body: Any) -> list[dict[str, Any]]:
    answer = client.post(f"{PLACE}/write", json={**BODY, **body})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


def text_of(lines: list[dict[str, Any]]) -> str:
    return "".join(line["text"] for line in lines[1:-1])


# The page and what it asks first


def test_the_page_loads_nothing_but_what_the_server_has(client: TestClient, study: Path) -> None:
    answer = client.get(PLACE)
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:" in policy
    )
    assert "unsafe" not in policy
    assert "What do merges and rotation buy [here]?" in answer.text
    assert f"onechange sample {study} --prompt" in answer.text
    assert (
        " style=" not in answer.text and " on" + "click=" not in answer.text and "<script>" not in answer.text
    )
    for name in ("playground.js", "playground.css", "page.css"):
        assert f"/static/{name}" in answer.text
        assert client.get(f"/static/{name}").status_code == 200


def test_every_script_that_is_imported_is_served(client: TestClient) -> None:
    for name, path in STATIC.items():
        if path.suffix == ".js":
            text = path.read_text("utf-8")
            for line in text.splitlines():
                if line.startswith("import "):
                    imported = line.rpartition('"./')[2].removesuffix('";')
                    assert imported in STATIC, f"{name} imports {imported}"
            assert "innerHTML" not in text
            assert client.get(f"/static/{name}").headers["content-type"].startswith("text/javascript")


def test_the_models_are_those_of_the_results(client: TestClient, study: Path) -> None:
    found = client.get(f"{PLACE}/models").json()
    results = json.loads((study / "results.json").read_text("utf-8"))
    assert [arm["name"] for arm in found["arms"]] == ARMS
    assert [arm["index"] for arm in found["arms"]] == [0, 1, 2]
    for arm, told in zip(found["arms"], results["arms"], strict=True):
        assert (arm["change"], arm["parameters"]) == (told["change"], told["parameters"])
        (seed,), (run,) = arm["seeds"], told["runs"]
        for which in ("best", "last"):
            assert seed["checkpoints"][which]["step"] == run[which]["step"]
            assert seed["checkpoints"][which]["nats_per_character"] == run[which]["nats_per_character"]
    assert found["prompts"] == results["prompts"]
    assert (found["sampling"]["seed"], found["sampling"]["top_k"]) == (42, results["sampling"]["top_k"])
    assert found["limits"]["prompt"] == Limits().prompt


def test_a_run_without_a_checkpoint_is_not_offered_and_says_why(study: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(study, tmp_path / "out"))
    shutil.rmtree(copy / "arms/merged/seed-0/checkpoints")
    client = TestClient(small_playground.application(copy))
    arms = client.get(f"{PLACE}/models").json()["arms"]
    assert [len(arm["seeds"]) for arm in arms] == [1, 0, 1]
    answer = client.post(f"{PLACE}/write", json=BODY)
    assert (answer.status_code, answer.json()["error"].startswith("merged, seed 0: has no checkpoint")) == (
        404,
        True,
    )


# Writing


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("checkpoint", ["best", "last"])
def test_it_writes_what_the_command_line_writes(
    client: TestClient, study: Path, arm: str, checkpoint: str
) -> None:
    said = {
        "seed": 7,
        "characters": 90,
        "temperature": 1.1,
        "top_k": 12,
        "top_p": 0.9,
        "repetition_penalty": 1.2,
    }
    options = [word for key, value in said.items() for word in (f"--{key.replace('_', '-')}", value)]
    words = [study / f"arms/{arm}/seed-0", "--prompt", PROMPT, "--checkpoint", checkpoint, *options]
    outcome = onechange("sample", *words, "--json")
    lines = written(client, arm=arm, checkpoint=checkpoint, sampling=said)
    assert text_of(lines) == outcome.document["text"]
    ended = "story" if outcome.document["ended"] else "length"
    assert lines[-1] == {
        "ended": ended,
        "tokens": outcome.document["tokens"],
        "characters": len(text_of(lines)),
    }
    assert lines[0]["step"] == outcome.document["step"]
    assert text_of(written(client, arm=arm, checkpoint=checkpoint, sampling={**said, "seed": 8})) != text_of(
        lines
    )


def test_a_story_goes_on_where_it_is_asked_to(client: TestClient, study: Path) -> None:
    outcome = onechange(
        "sample", study / "arms/plain/seed-0", "--prompt", PROMPT, "--go-on", "--json", *LENGTH
    )
    lines = written(client, arm="plain", go_on=True, sampling={"characters": 200})
    assert text_of(lines) == outcome.document["text"]
    assert lines[-1]["ended"] == "length" and lines[-1]["characters"] == 200


def test_every_token_comes_with_the_models_own_probabilities(client: TestClient, study: Path) -> None:
    """Against a plain forward pass over the separator, the prompt and the text so far."""
    trained = read(study / "arms/merged/seed-0", "best")
    separator = trained.tokenizer.encode("\n\n").tolist()
    lines = written(client, sampling={"characters": 20, "temperature": 1.5, "top_k": 3})
    seen = [*separator, *(token["id"] for token in lines[0]["prompt"])]
    assert "".join(token["token"] for token in lines[0]["prompt"]) == PROMPT
    window, checked = trained.model.sizes.window, 0
    for line in lines[1:-1]:
        if len(seen) <= window:  # afterwards the last half is read anew
            for other in [line, *line["alternatives"]]:
                nats = plain_surprise(trained.model, seen, other["id"])
                assert math.isclose(other["p"], math.exp(-nats), rel_tol=1e-4)
                assert other["token"] == trained.tokenizer.tokens()[other["id"]]
            ranked = sorted(
                range(trained.model.sizes.vocabulary),
                key=lambda one: plain_surprise(trained.model, seen, one),
            )
            assert ranked.index(line["id"]) + 1 == line["rank"]
            assert [other["id"] for other in line["alternatives"]] == ranked[:8]
            checked += 1
        likely = [other["p"] for other in line["alternatives"]]
        assert likely == sorted(likely, reverse=True) and sum(likely) <= 1 + 1e-9
        allowed = [other for other in line["alternatives"] if other["allowed"]]
        assert [other["allowed"] for other in line["alternatives"]] == [True] * 3 + [False] * 5
        assert line["allowed"] == 3 and abs(sum(other["share"] for other in allowed) - 1) < 1e-9
        assert line["share"] > 0
        seen.append(line["id"])
    assert checked >= 3


# Reading


@pytest.mark.parametrize("arm", ARMS)
def test_the_surprise_is_the_rulers(client: TestClient, study: Path, arm: str) -> None:
    """Longer than the window, so that the overlap of windows counts."""
    text = "The sun was warm. The cat sat on a red mat and the dog ran away."
    trained = read(study / f"arms/{arm}/seed-0", "best")
    ids, separator = (trained.tokenizer.encode(one).astype("int64") for one in (text, "\n\n"))
    assert len(ids) > 2 * trained.model.sizes.window
    expected = measure.surprises(trained.model, ids, separator)
    answer = client.post(f"{PLACE}/surprise", json={"arm": arm, "seed": 0, "text": text})
    found = answer.json()
    assert [token["nats"] for token in found["tokens"]] == pytest.approx(expected.tolist(), rel=2e-6)
    assert found["nats"] == pytest.approx(expected.sum(), rel=2e-6)
    assert found["nats_per_character"] == pytest.approx(expected.sum() / len(text), rel=2e-6)
    first = plain_surprise(trained.model, separator.tolist(), int(ids[0]))
    assert found["tokens"][0]["nats"] == pytest.approx(first, rel=1e-5)
    assert "".join(text[token["start"] : token["end"]] for token in found["tokens"]) == text
    for token in found["tokens"]:
        assert text[token["start"] : token["end"]] == token["token"]
        best = token["alternatives"][0]
        assert (best["id"] == token["id"]) == (token["rank"] == 1) and best["p"] >= token["p"] - 1e-12


def test_the_figure_of_one_story_is_measures_but_for_the_separator(client: TestClient, study: Path) -> None:
    """Within a window nothing depends on what follows, so the whole ruler's figure is ours and the separator's."""
    trained = read(study / "arms/merged/seed-0", "best")
    separator = trained.tokenizer.encode("\n\n").astype("int64")
    whole = measure.measure(
        trained.model, trained.tokenizer, encode(trained.tokenizer, ["Tom ran."], "\n\n"), separator
    )
    found = client.post(f"{PLACE}/surprise", json={"arm": "merged", "seed": 0, "text": "Tom ran."}).json()
    seen = [*separator.tolist(), *(token["id"] for token in found["tokens"])]
    end = 0.0
    for number in separator.tolist():
        end += plain_surprise(trained.model, seen, number)
        seen.append(number)
    assert found["nats"] + end == pytest.approx(whole.total_nats, rel=1e-5)


def test_nothing_is_written_into_the_study(client: TestClient, study: Path) -> None:
    before = files(study, leave_out=())
    for place in (PLACE, f"{PLACE}/models"):
        client.get(place)
    written(client)
    client.post(f"{PLACE}/surprise", json={"arm": "turned", "seed": 0, "text": "The cat."})
    assert files(study, leave_out=()) == before
