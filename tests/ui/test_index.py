"""The page of all studies: what runs first, then the newest, and a damaged one in its line."""

import asyncio
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from onechange import run_lock
from onechange.study_folder import StudyFolder
from onechange.ui import index, reading
from onechange.ui.index import Index, summary
from onechange.ui.reading import Reader
from onechange.ui.studies import Studies
from small_servers import ask, port, serving

HOUR = 3600


@pytest.fixture(autouse=True)
def _nothing_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "TOGETHER", 0.0)


def age(study: Path, hours: float) -> None:
    """The study was last heard of so long ago."""
    for path in study.rglob("*"):
        then = path.stat().st_mtime - hours * HOUR
        os.utime(path, (then, then))


@pytest.fixture
def folder(tmp_path: Path, finished: Path) -> Iterator[Path]:
    """A study of every kind, the one that runs held by this process."""
    folder = tmp_path / "studies"
    for hours, name in enumerate(("newest", "older", "failed", "stopped", "damaged", "running"), 1):
        age(shutil.copytree(finished, folder / name), hours)
    (folder / "damaged/study.toml").write_text("{")
    (folder / "failed/arms/merged/seed-0/failure.json").write_text('{"error": "<b>a reason</b>"}')
    for name in ("stopped", "running"):
        (folder / name / "arms/turned/seed-0/measures.json").unlink()
    for name in ("no study", "empty"):
        (folder / name).mkdir()
    (folder / "a file").write_text("")
    with run_lock.locked(folder / "running/arms/turned/seed-0"):
        yield folder


def page(folder: Path) -> tuple[str, str]:
    """The index of ``folder`` and its version."""

    async def whole() -> tuple[str, str]:
        reader = Reader()
        text, version, _ = await Index(Studies(folder), reader).page()
        reader.close()
        return text, version

    return asyncio.run(whole())


def test_every_study_is_there_in_its_order(folder: Path):
    text, _ = page(folder)
    assert re.findall('href="/studies/([^/"]*)/"', text) == [
        "running", "failed", "newest", "older", "stopped", "damaged",
    ]  # fmt: skip
    told = dict(
        zip(
            re.findall(r'<li class="(\w+)">', text),
            re.findall('<p class="state">(.*)</p>', text),
            strict=True,
        )
    )
    assert told == {
        "running": "Running", "failed": "Failed", "finished": "Finished", "stopped": "Stopped",
        "damaged": "Cannot be read",
    }  # fmt: skip
    assert '<p class="count">6 studies, 1 running</p>' in text
    assert "merged, seed 0: &lt;b&gt;a reason&lt;/b&gt;" in text
    assert "study.toml: not TOML" in text and str(folder) not in text


def test_a_summary_says_what_the_record_says(finished: Path):
    found = summary("out", finished)
    results = json.loads((finished / "results.json").read_text())
    assert (found.question, found.scale, found.corpus) == (
        "What do merges and rotation buy [here]?",
        "tiny",
        "file",
    )
    assert (found.state, found.finished, found.of, found.share) == ("finished", 3, 3, 1.0)
    figures = {arm["name"]: arm["runs"][0]["best"]["nats_per_character"] for arm in results["arms"]}
    best = min(figures, key=lambda name: figures[name])
    assert found.best == (best, f"{figures[best]:.3f}")
    assert [v.arm for v in found.verdicts] == ["merged", "turned"]
    assert [v.verdict for v in found.verdicts] == ["one seed: not judged"] * 2
    difference = figures["merged"] - figures["plain"]
    assert found.verdicts[0].difference == f"{difference:+.3f}".replace("-", "−")


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "5", '{"arms": 5}',
     '{"arms": [5]}', '{"arms": [{}]}', '{"arms": [{"over_seeds": {"best": {"mean": "x"}}}]}',
     '{"arms": [{"name": "a", "versus_parent": {"verdict": 1, "nats_per_character_difference": null}}]}'],
)  # fmt: skip
def test_no_record_breaks_the_index(tmp_path: Path, finished: Path, content: str):
    study = shutil.copytree(finished, tmp_path / "study")
    (study / "results.json").write_text(content)
    found = summary("study", study)
    assert found.error or found.verdicts == (), "told in a line, or nothing is said of it"
    assert 'href="/studies/study/"' in page(tmp_path)[0]


def test_judged_on_test_text_it_says_that_figure():
    arm = {
        "name": "a",
        "over_seeds": {"best": {"mean": 1.0}, "best_test": {"mean": 2.0}},
        "versus_parent": {"verdict": "worse", "nats_per_character_difference": 0.5},
        "versus_parent_test": {"verdict": "better", "nats_per_character_difference": -0.0001},
    }
    best, verdicts = index._outcome({"arms": [arm]})
    assert best == ("a", "2.000")
    assert [(v.verdict, v.difference) for v in verdicts] == [("better", "0.000")]


def test_what_does_not_run_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch):
    read: list[str] = []
    real = index.summary

    def counted(name: str, path: Path) -> index.Summary:
        read.append(name)
        return real(name, path)

    monkeypatch.setattr(index, "summary", counted)

    async def whole() -> list[str]:
        reader = Reader()
        found = Index(Studies(folder), reader)
        versions = []
        for _ in range(3):
            versions.append((await found.page())[1])
        assert sorted(read) == [
            "damaged",
            "failed",
            "newest",
            "older",
            "running",
            "running",
            "running",
            "stopped",
        ]
        (folder / "older/arms/turned/seed-0/measures.json").unlink()
        versions.append((await found.page())[1])
        reader.close()
        return versions

    versions = asyncio.run(whole())
    assert read.count("older") == 2 and read.count("newest") == 1
    assert versions[0] == versions[1] == versions[2] != versions[3]


def test_a_study_that_begins_again_runs_before_any_file_says_so(folder: Path):
    async def whole() -> list[str]:
        reader = Reader()
        found = Index(Studies(folder), reader)
        told = [(await found.page())[0]]
        with StudyFolder(folder / "stopped").locked():
            told.append((await found.page())[0])
        told.append((await found.page())[0])
        reader.close()
        return told

    assert [text.count('<p class="state">Running</p>') for text in asyncio.run(whole())] == [1, 2, 1]


def test_a_folder_without_a_study_says_so_and_one_may_come(tmp_path: Path, finished: Path):
    folder = tmp_path / "empty"
    folder.mkdir()
    with serving(folder) as server:
        found = ask(port(server), "/")
        assert found.status == 200 and "There is no study here yet." in found.text
        shutil.copytree(finished, folder / "new")
        assert 'href="/studies/new/"' in ask(port(server), "/").text
        shutil.rmtree(folder)
        found = ask(port(server), "/")
        assert found.status == 200 and "The folder cannot be read" in found.text


def test_a_folder_that_is_a_study_leads_to_it(finished: Path):
    with serving(finished) as server:
        found = ask(port(server), "/")
        assert (found.status, found.headers["location"]) == (307, "/studies/out/")
