"""A study run from Python is the study that the command line runs; run again, it trains nothing twice."""

from pathlib import Path

import pytest

from onechange import Results, Study, list_members, list_studies, load_study
from onechange.studies import __file__ as studies
from small_studies import TIMES, onechange


def files(folder: Path) -> dict[str, bytes]:
    """Every file whose content depends on no clock."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in TIMES
    }


def test_it_is_the_same_as_from_the_command_line(results: Results, file: Path, tmp_path: Path):
    done = onechange("run", file, "--scale", "tiny", "--seeds", "1,", "--out", tmp_path / "shell")
    assert done.status == 0, done.err
    theirs = files(tmp_path / "shell")
    ours = {
        name: content
        for name, content in files(results.folder).items()
        if not {"seed-0", "seed-2"} & {*name.split("/")}
    }
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name] and name != "start.json"] == []


def test_run_again_it_returns_what_is_there_and_adds_what_is_asked_for(study: Study, tmp_path: Path):
    out = tmp_path / "run"
    first = study.run(scale="tiny", out=out, arms=["plain"], quiet=True)
    assert (first.runs["arm"], first.runs["seed"]) == (["plain"], [0])
    measures = out / "arms/plain/seed-0/measures.json"
    before = measures.stat().st_mtime_ns
    second = study.run(scale="tiny", out=out, arms=["plain", "merged"], seeds=[2], quiet=True)
    done = second.runs.where(status="finished")
    assert {*zip(done["arm"], done["seed"], strict=True)} == {("plain", 0), ("plain", 2), ("merged", 2)}
    assert measures.stat().st_mtime_ns == before
    with pytest.raises(ValueError, match="holds a study already"):
        study.run(scale="tiny", out=out, resume=False, quiet=True)


def test_what_is_wrong_leaves_no_folder(study: Study, tmp_path: Path):
    for said, words in {
        "no arm 'turnd'": {"arms": ["turnd"]},
        "no scale 'huge'": {"scale": "huge"},
        "source 'novel'": {"data": "novel"},
        "--seeds '0'": {"seeds": 0},
    }.items():
        with pytest.raises((ValueError, LookupError), match=said):
            study.run(**{"scale": "tiny", "out": tmp_path / "run", "quiet": True, **words})  # type: ignore[arg-type]  # of several types
    assert not (tmp_path / "run").exists()


def test_quiet_says_nothing_and_otherwise_lines_are_written(
    study: Study, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    study.run(scale="tiny", out=tmp_path / "quiet", arms=["plain"], quiet=True)
    assert capfd.readouterr() == ("", "")
    study.run(scale="tiny", out=tmp_path / "loud", arms=["plain"])
    out, err = capfd.readouterr()
    assert out == "" and "1 thread" in err and "validation" in err


def test_a_preview_is_that_of_the_dry_run_and_leaves_nothing(
    study: Study, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    shown = onechange("run", file, "--scale", "tiny", "--dry-run", "--json").document
    table = study.preview(scale="tiny")
    assert [*tmp_path.iterdir()] == []
    for key in ("parameters", "vocabulary", "characters_per_token", "steps", "operations"):
        assert table[key] == [arm[key] for arm in shown["arms"]]
    assert table["change"] == [None, "tokenizer: bpe, vocabulary 120", "position: rope"]
    assert min(table["estimated_seconds"]) > 0


def test_a_study_shows_itself(study: Study):
    assert study.question == "What do merges and rotation buy [here]?"
    assert study.prompts == ["One day, ", "The "]
    assert study.arms["from"] == [None, "plain", "merged"]
    html = study._repr_html_()
    assert "merges and rotation" in html and "vocabulary 120" in html
    assert repr(study) == "Study merges: What do merges and rotation buy [here]?"
    with pytest.raises(
        LookupError, match="no study 'none': neither a file nor built in; built in: attention"
    ):
        load_study("none")


def test_what_there_is_to_choose_from():
    names = {path.stem for path in Path(studies).parent.glob("*.toml")}
    assert {*list_studies()["study"]} == names
    assert "rms" in list_members("norm")["member"]
    with pytest.raises(LookupError, match="no family 'norms'; there is corpus"):
        list_members("norms")
