"""A folder from a stranger: whatever is in it, reading it gives a result or one line, and takes little memory."""

import json
import os
import pickle
import resource
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onechange import digest, laboratory, merges, tokenizer_file, untrusted
from onechange import report as pages
from onechange.checkpoint import Checkpoints
from onechange.tensor_file import describe
from small_studies import Outcome, files, in_haste, onechange
from test_checkpoint import sealed
from test_laboratory import run, tale, text_file

MEMORY = 64 << 20
"""Bytes that reading a damaged folder of a few hundred kilobytes may take on top of what a whole one takes."""


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with in_haste(tmp_path_factory.mktemp("cache")):
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
    yield onechange("compare", study / "arms/plain", run)
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
@pytest.mark.parametrize("seed", range(100, 116))
def test_whatever_is_spoiled_anywhere_is_a_result_or_one_line(
    study: Path, text: Path, seed: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pages, "write", lambda folder: None)
    fuzz(study, text, seed, 150)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200, 204))
def test_the_page_of_a_spoiled_study_is_a_page_or_one_line(study: Path, text: Path, seed: int):
    fuzz(study, text, seed, 20)


# --- what someone might do on purpose -------------------------------------------------------------------------------


def grown(action: Callable[[], Any]) -> int:
    """Bytes by which the memory of this process was at most larger while ``action`` ran: Python's, and torch's too."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    action()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("width", "100000000", "embedding has shape"),
        ("width", "1000000000", "its sizes make no model"),
        ("width", "1000000000000000000", "its sizes make no model"),
        ("layers", "1000000000", "layers = 1000000000, but the checkpoint's weights are"),
        ("window", "1000000000", "position.table has shape"),
        ("threads", "1000000000", "threads = 1000000000: must be at most 4096"),
    ],
)
def test_sizes_that_no_memory_holds_are_refused_before_anything_is_allocated(
    study: Path, key: str, value: str, told: str
):
    run = study / "arms/merged/seed-0"
    recipe = (run / "recipe.toml").read_text()
    lines = [f"{key} = {value}" if line.startswith(f"{key} = ") else line for line in recipe.splitlines()]
    (run / "recipe.toml").write_text("\n".join(lines))
    outcome: list[Outcome] = []
    assert grown(lambda: outcome.append(onechange("sample", run, "--prompt", "The "))) < MEMORY
    assert one_line(outcome[0]), outcome
    assert told in outcome[0].err


def tensor_file(path: Path, head: Any, data: bytes = b"", claimed: int | None = None) -> None:
    """A safetensors file, its head as given."""
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text) if claimed is None else claimed) + text + data)


def test_a_head_too_long_is_not_read(tmp_path: Path):
    """It names nothing, and holds four million spaces."""
    path = tmp_path / "weights.safetensors"
    tensor_file(path, b"{}" + b" " * ((1 << 22) - 2))
    assert describe(path) == {}
    tensor_file(path, b"{}" + b" " * (1 << 22))
    with pytest.raises(
        ValueError, match=r"damaged: its head has 4,194,306 bytes, it may have at most 4,194,304"
    ):
        describe(path)


@pytest.mark.parametrize(
    ("head", "claimed"),
    [
        ({}, 1 << 62),
        ({}, (1 << 22) + 1),
        (b"[" * 100_000, None),
        ({"embedding": {"dtype": "F32", "shape": [1 << 40, 1 << 40], "data_offsets": [0, 4]}}, None),
        ({"embedding": {"dtype": "F32", "shape": [1 << 30], "data_offsets": [0, 1 << 32]}}, None),
        ({"embedding": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, None),
    ],
)
def test_a_head_that_promises_more_than_the_file_has_is_refused(study: Path, head: Any, claimed: int | None):
    """Marked as it should be, so that only the head tells."""
    run = study / "arms/merged/seed-0"
    step = Checkpoints(run).step("best")
    assert step is not None
    path = run / f"checkpoints/step-{step:06d}/model.safetensors"
    tensor_file(path, head, bytes(4), claimed)
    state = json.loads((path.parent / "state.json").read_text())
    state["files"][path.name] = digest.of_file(path)
    (path.parent / "state.json").write_text(sealed(state))
    pointer = json.loads((run / "checkpoints/best.json").read_text())
    seal = json.loads((path.parent / "state.json").read_text())["sha256"]
    (run / "checkpoints/best.json").write_text(sealed({**pointer, "checkpoint": seal}))
    outcome: list[Outcome] = []
    assert grown(lambda: outcome.append(onechange("sample", run, "--prompt", "The "))) < MEMORY
    assert one_line(outcome[0]), outcome
    assert "model.safetensors" in outcome[0].err or "recipe.toml: layers" in outcome[0].err


def test_merges_that_double_and_double_are_refused(study: Path):
    """Sixty merges, each of the longest token with itself: 2⁶⁰ characters."""
    run = study / "arms/merged/seed-0"
    content = json.loads((run / "tokenizer.json").read_text())
    model = content["model"]
    alphabet = [token for token in model["vocab"] if len(token) == 1]
    letter = alphabet[-1]
    model["merges"] = [[letter * (1 << n), letter * (1 << n)] for n in range(12)]
    tokens = [*alphabet, *(letter * (2 << n) for n in range(12))]
    model["vocab"] = {token: number for number, token in enumerate(tokens)}
    (run / "tokenizer.json").write_text(json.dumps(content))
    config = json.loads((run / "tokenizer_config.json").read_text())
    config["onechange"]["sha256"] = digest.of_file(run / "tokenizer.json")["sha256"]
    (run / "tokenizer_config.json").write_text(json.dumps(config))
    assert tokenizer_file.load(run).vocabulary_size == len(tokens)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merges, "MOST_BYTES", 1 << 10)
        with pytest.raises(ValueError, match="merge 9 makes the tokens longer than 1,024 bytes in all"):
            tokenizer_file.load(run)


@pytest.mark.parametrize("depth", [2_000, 200_000])
@pytest.mark.parametrize(
    "name",
    [
        "start.json",
        "corpus.json",
        "study.toml",
        "arms/merged/arm.json",
        "arms/merged/seed-0/recipe.toml",
        "arms/merged/seed-0/tokenizer.json",
        "arms/merged/seed-0/tokenizer_config.json",
        "arms/merged/seed-0/metrics.jsonl",
        "arms/merged/seed-0/timing.jsonl",
        "arms/merged/seed-0/measures.json",
        "arms/plain/seed-0/environment.json",
        "arms/merged/seed-0/checkpoints/best.json",
        "arms/merged/seed-0/checkpoints/step-000006/state.json",
    ],
)
def test_deep_nesting_is_one_line(study: Path, text: Path, name: str, depth: int):
    deep = "[" * depth + "]" * depth
    key = {"start.json": "source", "tokenizer.json": "model", "tokenizer_config.json": "onechange"}.get(
        Path(name).name, "step"
    )
    content = f"question = {deep}" if name.endswith(".toml") else f'{{"{key}": {{"x": {deep}}}}}\n'
    (study / name).write_text(content)
    assert check(study, text) >= 1


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("start.json", untrusted.SMALL),
        ("study.toml", untrusted.SMALL),
        ("corpus.json", untrusted.LARGE),
        ("arms/merged/arm.json", untrusted.LARGE),
        ("arms/merged/seed-0/recipe.toml", untrusted.SMALL),
        ("arms/merged/seed-0/tokenizer.json", untrusted.LARGE),
        ("arms/merged/seed-0/tokenizer_config.json", untrusted.SMALL),
        ("arms/merged/seed-0/metrics.jsonl", untrusted.LARGE),
        ("arms/merged/seed-0/measures.json", untrusted.LARGE),
        ("arms/merged/seed-0/checkpoints/best.json", untrusted.SMALL),
        ("arms/merged/seed-0/checkpoints/last.json", untrusted.SMALL),
    ],
)
def test_a_file_too_long_is_not_read(study: Path, text: Path, name: str, most: int):
    """With holes, so that it takes no room here either."""
    os.truncate(study / name, most + 1)
    found: list[int] = []
    assert grown(lambda: found.append(check(study, text))) < MEMORY
    assert found[0] >= 1


@pytest.mark.parametrize("where", ["", "arms", "arms/merged/seed-0", "arms/merged/seed-0/checkpoints"])
@pytest.mark.parametrize("target", ["file", "folder", "nothing", "itself"])
def test_a_link_that_leads_out_is_not_followed(
    study: Path, text: Path, tmp_path: Path, where: str, target: str
):
    outside = tmp_path / "outside"
    if target == "file":
        outside.write_text("secret")
    elif target == "folder":
        outside.mkdir()
    for name in ("results.json.part", "step-000009", "recipe.toml.part"):
        link = study / where / name
        link.symlink_to(link if target == "itself" else outside)
    for outcome in (
        onechange("status", study),
        onechange("report", study),
        onechange("run", "--out", study, "--resume"),
    ):
        assert one_line(outcome), outcome
        assert "is a link that leads out of" in outcome.err
    run = study / "arms/merged/seed-0"
    if where.startswith("arms/merged"):
        assert "is a link that leads out of" in onechange("sample", run, "--prompt", "The ").err
    assert outside.exists() == (target in ("file", "folder"))
    assert target != "file" or outside.read_text() == "secret"
    assert target != "folder" or list(outside.iterdir()) == []


def test_a_link_within_and_a_link_to_the_folder_are_followed(study: Path, text: Path, tmp_path: Path):
    (study / "arms/merged/seed-0/again.toml").symlink_to("recipe.toml")
    (tmp_path / "link").symlink_to(study)
    assert check(tmp_path / "link", text) == 0


def test_what_is_no_file_is_not_waited_for(study: Path):
    path = study / "arms/merged/seed-0/tokenizer.json"
    path.unlink()
    os.mkfifo(path)
    outcome = onechange("sample", path.parent, "--prompt", "The ")
    assert one_line(outcome)
    assert f"{path} is neither a file nor a folder" in outcome.err


@pytest.mark.parametrize("name", ["../../../outside", "/outside", "..", "a/b", ""])
def test_an_arm_s_name_is_no_path(study: Path, name: str):
    path = study / "arms/merged/arm.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "name": name}))
    outcome = onechange("report", study)
    assert one_line(outcome)
    assert f"{path} is damaged: it is of an arm called {name!r}" in outcome.err
    table = (study / "study.toml").read_text().replace('name = "merged"', f"name = {json.dumps(name)}")
    (study / "study.toml").write_text(table.replace('from = "merged"', f"from = {json.dumps(name)}"))
    outcome = onechange("report", study)
    assert one_line(outcome)
    assert f"arm {name!r}: a name has 1 to 64 letters" in outcome.err


def test_nothing_is_unpickled(study: Path, tmp_path: Path):
    """A pickle that would write a file, in the place of every file of tensors."""

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.write_text, (tmp_path / "ran", "evil")

    for path in study.rglob("*.safetensors"):
        path.write_bytes(pickle.dumps(Evil()))
    for which in ("best", "last"):
        assert one_line(
            onechange("sample", study / "arms/merged/seed-0", "--checkpoint", which, "--prompt", "The ")
        )
    run = study / "arms/merged/seed-0"
    (run / "measures.json").unlink()
    assert onechange("run", "--out", study, "--resume").status == 0
    assert not (tmp_path / "ran").exists()
    sources = [path.read_text() for path in Path(laboratory.__file__).parent.rglob("*.py")]
    assert not any(word in source for source in sources for word in ("import pickle", "torch.load"))


def test_a_file_that_is_gone_the_next_moment_is_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder is looked at while runs in it replace their files."""
    walk = os.walk
    monkeypatch.setattr(
        os, "walk", lambda top: [(place, [], ["last.json.part"]) for place, _, _ in walk(top)]
    )
    untrusted.stay_inside(tmp_path)
