"""What a person or a stranger gets wrong, and what is damaged: one clear line, and nothing else reached."""

import asyncio
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import small_playground
from small_playground import PLACE

BODY: dict[str, Any] = {"arm": "merged", "seed": 0, "prompt": "The sun", "sampling": {"characters": 30}}


@pytest.mark.parametrize(
    ("what", "change", "status", "line"),
    [
        ("write", {"arm": "none"}, 404, "no arm 'none' in this study; there is plain, merged, turned"),
        ("write", {"arm": "../../plain"}, 404, "no arm '../../plain'"),
        ("write", {"seed": 9}, 404, "merged has no seed 9; there is 0"),
        ("write", {"seed": -1}, 400, "seed: Expected int >= 0"),
        ("write", {"checkpoint": "step-3"}, 400, "checkpoint = 'step-3': must be best or last"),
        ("write", {"prompt": "Zoë"}, 400, "prompt: 1 character outside the tokenizer's alphabet"),
        ("write", {"prompt": "a" * 4001}, 400, "the prompt has 4,001 characters: it may have at most 4,000"),
        ("write", {"prompt": 5}, 400, "prompt: Expected str, got int"),
        ("write", {"other": 1}, 400, "unknown field other"),
        ("write", {"sampling": {"temperature": -0.5}}, 400, "temperature = -0.5: must be a finite number"),
        ("write", {"sampling": {"top_k": 0}}, 400, "sampling.top_k: Expected int >= 1"),
        ("write", {"sampling": {"top_p": 1.5}}, 400, "top_p = 1.5: must be above 0 and at most 1"),
        (
            "write",
            {"sampling": {"characters": 4001}},
            400,
            "sampling.characters = 4,001: must be at most 4,000",
        ),
        ("write", {"sampling": {"samples": 900}}, 400, "unknown field samples"),
        ("write", {"sampling": {"seed": 2**53}}, 400, "sampling.seed: Expected int"),
        ("surprise", {"text": ""}, 400, "the text is empty"),
        ("surprise", {"text": "a" * 8001}, 400, "the text has 8,001 characters"),
        ("surprise", {"text": "über"}, 400, "text: 1 character outside the tokenizer's alphabet"),
        ("load", {"arm": "none"}, 404, "no arm 'none'"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    client: TestClient, what: str, change: dict[str, Any], status: int, line: str
) -> None:
    usual = {"write": BODY, "surprise": {"arm": "merged", "seed": 0}, "load": {"arm": "merged", "seed": 0}}[
        what
    ]
    answer = client.post(f"{PLACE}/{what}", json={**usual, **change})
    assert answer.status_code == status
    assert line in answer.json()["error"]
    assert "\n" not in answer.json()["error"] and len(answer.json()["error"]) < 300


@pytest.mark.parametrize(
    ("content", "status", "line"),
    [
        (b"", 400, "no JSON"),
        (b"{", 400, "no JSON"),
        (b"[]", 400, "Expected object"),
        (b'{"arm":"merged","seed":0,"prompt":"\xff"}', 400, "no JSON"),
        (b'{"arm":"merged","seed":0,"prompt":"\\ud800"}', 400, "no JSON"),
        (b'{"arm":"merged","seed":0,"prompt":"a","sampling":{"temperature":NaN}}', 400, "no JSON"),
        (b'{"arm":"merged","seed":0,"prompt":"a","sampling":{"temperature":1e999}}', 400, "temperature"),
        (b'{"arm":"merged","seed":0,"seed":1e30,"prompt":"a"}', 400, "seed"),
        (b"[" * 60_000, 400, ""),
        (b'{"arm":' + b"[" * 60_000, 400, ""),
        (b" " * 200_000, 413, "more than 65,536 bytes"),
    ],
)
def test_a_body_that_makes_no_sense_is_refused(
    client: TestClient, content: bytes, status: int, line: str
) -> None:
    answer = client.post(f"{PLACE}/write", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == status
    assert line in answer.json()["error"]


def test_only_json_is_read_and_only_posts_compute(client: TestClient) -> None:
    """A form of another site cannot send JSON as JSON."""
    content = json.dumps(BODY).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = client.post(f"{PLACE}/write", content=content, headers={"Content-Type": kind})
        assert answer.status_code == 415
    for what in ("write", "surprise", "load"):
        assert client.get(f"{PLACE}/{what}").status_code == 405


def test_a_body_that_does_not_say_how_long_it_is_is_cut_off_too(client: TestClient) -> None:
    read = []

    def endless() -> Iterator[bytes]:
        for number in range(1000):
            read.append(number)
            yield b" " * 10_000

    answer = client.post(f"{PLACE}/write", content=endless(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


@pytest.mark.parametrize("name", ["other", "..", "%2e%2e", "..%2fout", "out%00", "%2fetc", "o\\ut"])
def test_only_studies_that_are_there_are_reached(client: TestClient, name: str) -> None:
    for path in ("", "/models"):
        assert client.get(f"/studies/{name}/playground{path}").status_code in (400, 404)
    assert client.post(f"/studies/{name}/playground/write", json=BODY).status_code in (400, 404)


def test_a_damaged_checkpoint_is_named_and_the_others_write(study: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(study, tmp_path / "out"))
    for weights in copy.glob("arms/merged/seed-0/checkpoints/*/model.safetensors"):
        weights.write_bytes(weights.read_bytes()[:-1])
    client = TestClient(small_playground.application(copy))
    answer = client.post(f"{PLACE}/write", json=BODY)
    assert answer.status_code == 400 and "model.safetensors is damaged" in answer.json()["error"]
    lines = client.post(f"{PLACE}/write", json={**BODY, "arm": "plain"}).text.splitlines()
    assert json.loads(lines[-1])["characters"] == 30


def test_a_folder_whose_name_is_no_text_is_shown_all_the_same(study: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(study, os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff")))
    shutil.rmtree(copy / "arms/plain/seed-0/checkpoints")
    (copy / "arms/plain/seed-0/checkpoints").mkdir()

    async def asked(path: str, body: dict[str, Any] | None) -> tuple[int, str]:
        """As the server asks: names that are no UTF-8 have surrogates."""
        sent: list[Any] = []
        content = iter([{"type": "http.request", "body": json.dumps(body).encode()}])

        async def receive() -> Any:
            return next(content, {"type": "http.disconnect"})

        async def send(message: Any) -> None:
            sent.append(message)

        head = [(b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST" if body else "GET", "path": path, "headers": head}
        await small_playground.application(copy)({**scope, "query_string": b""}, receive, send)
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:]).decode()

    status, page = asyncio.run(asked("/studies/odd\udcff/playground", None))
    assert status == 200 and "odd?" in page
    assert asyncio.run(asked("/studies/odd\udcff/playground/models", None))[0] == 200
    status, told = asyncio.run(asked("/studies/odd\udcff/playground/write", {**BODY, "arm": "plain"}))
    assert status == 404 and "no checkpoint yet" in told


def test_a_hostile_study_stays_text_on_the_page(study: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(study, tmp_path / "<img src=x>"))
    file = copy / "study.toml"
    file.write_text(file.read_text("utf-8").replace("buy [here]", "<script>alert(1)</script>"), "utf-8")
    answer = TestClient(small_playground.application(copy)).get("/studies/%3Cimg src=x%3E/playground")
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text and "<img" not in answer.text
    assert "&lt;script&gt;alert(1)" in answer.text
