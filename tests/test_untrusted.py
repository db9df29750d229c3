"""A folder from a stranger: whatever is in it, reading it gives a result or one line, and takes little memory."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onechange import laboratory
from onechange import report as pages
from small_studies import Outcome, files, onechange
from test_checkpoint import sealed
from test_laboratory import run, tale, text_file

MEMORY = 64 << 20
"""Bytes that reading a damaged folder of a few hundred kilobytes may take on top of what a whole one takes."""


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("COLUMNS", "100")
        patch.setattr(os, "fsync", lambda file: None)
        patch.setattr(laboratory.report, "write", lambda folder: None)
        yield


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return text_file(tmp_path_factory.mktemp("text") / "tales.txt", [tale(number) for number in range(30)])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, text: Path) -> Path:
    """A sound study of two arms."""
    folder = tmp_path_factory.mktemp("whole")
    assert run(folder, text, "--arm", "plain", "--arm", "merged").status == 0
    return folder / "out"


@pytest.fixture
def study(whole: Path, tmp_path: Path) -> Path:
    """A copy of it to be spoiled."""
    return shutil.copytree(whole, tmp_path / "study")


def readings(study: Path, text: Path) -> Iterator[Outcome]:
    """What every verb that reads says of the study, or of its BPE run."""
    run = study / "arms/merged/seed-0"
    yield onechange("sample", run, "--tokens", 2, "--prompt", "The ")
    yield onechange("sample", run, "--tokens", 2, "--prompt", "The ", "--checkpoint", "last")
    yield onechange("measure", run, "--data", f"file:{text}")
    yield onechange("tokenizer", "show", run, "--text", "The ")
    yield onechange("status", study)
    yield onechange("report", study)


def one_line(outcome: Outcome) -> bool:
    return outcome.status == 2 and outcome.err.count("\n") == 1 and outcome.err.startswith("onechange: ")


def check(study: Path, text: Path) -> int:
    """Every reading ends well or in one line; how many did the latter."""
    outcomes = list(readings(study, text))
    for outcome in outcomes:
        assert outcome.status == 0 or one_line(outcome), outcome
    return sum(outcome.status == 2 for outcome in outcomes)


def test_the_sound_study_is_read(study: Path, text: Path):
    assert check(study, text) == 0


# --- anything anywhere ----------------------------------------------------------------------------------------------


def spoiled(content: bytes, random: np.random.Generator) -> bytes:
    """One or more bits flipped, an end lost, a stretch repeated, zeroed or cut out."""
    if not content:
        return b"\0"
    at = int(random.integers(len(content)))
    length = int(random.integers(1, 40))
    kind = random.integers(6)
    if kind == 0:
        return content[:at]
    if kind == 1:
        return content[:at] + content[at + length :]
    if kind == 2:
        return content[: at + length] + content[at:]
    if kind == 3:
        return content[:at] + bytes(length) + content[at + length :]
    altered = bytearray(content)
    for place in random.integers(len(content), size=1 if kind == 4 else 8):
        altered[place] ^= 1 << random.integers(8)
    return bytes(altered)


ODD: list[Callable[[], Any]] = [
    lambda: None,
    lambda: True,
    lambda: -1,
    lambda: 0,
    lambda: 10**30,
    lambda: 1e308,
    lambda: float("nan"),
    lambda: "",
    lambda: "../../../etc",
    list,
    dict,
    lambda: [[]],
    lambda: {"name": "x"},
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where in a JSON value there is something that could be something else."""
    yield path
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    )
    for key, found in inner:
        yield from places(found, (*path, key))


def swapped(content: bytes, random: np.random.Generator) -> bytes:
    """JSON, or its first line, with one value replaced or taken out."""
    first, newline, rest = content.partition(b"\n")
    try:
        value = json.loads(content)
        first, newline, rest = content, b"", b""
    except ValueError:
        value = json.loads(first)
    found = list(places(value))[1:]
    path = found[random.integers(len(found))]
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    if random.integers(4):
        holder[path[-1]] = ODD[random.integers(len(ODD))]()
    else:
        del holder[path[-1]]
    if isinstance(value, dict) and "sha256" in value and random.integers(2):
        return sealed(value).encode()
    return json.dumps(value).encode() + newline + rest


def fuzz(study: Path, text: Path, seed: int, rounds: int) -> None:
    random = np.random.default_rng(seed)
    sound = files(study, (".lock",))
    names = sorted(sound)
    refused = 0
    for _ in range(rounds):
        name = names[random.integers(len(names))]
        is_json = name.endswith((".json", ".jsonl")) and sound[name].strip()
        spoil = swapped if is_json and random.integers(2) else spoiled
        (study / name).write_bytes(spoil(sound[name], random))
        try:
            refused += check(study, text)
        except BaseException as error:
            error.add_note(f"{name}: {(study / name).read_bytes()[:3000]!r}")
            raise
        for other, content in sound.items():
            if not (study / other).is_file() or (study / other).read_bytes() != content:
                (study / other).write_bytes(content)
    assert refused > rounds // 4, "most damage must be seen by someone, or nothing was tried"


@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_spoiled_is_a_result_or_one_line(
    study: Path, text: Path, seed: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pages, "write", lambda folder: None)
    fuzz(study, text, seed, 40)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 108))
def test_whatever_is_spoiled_anywhere_is_a_result_or_one_line(
    study: Path, text: Path, seed: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pages, "write", lambda folder: None)
    fuzz(study, text, seed, 400)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200, 204))
def test_the_page_of_a_spoiled_study_is_a_page_or_one_line(study: Path, text: Path, seed: int):
    fuzz(study, text, seed, 20)
