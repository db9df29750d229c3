"""`onechange sample`: one run's stories as they are written, several runs' side by side, JSON lines for programs."""

import io
import json
import shutil
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from onechange.checkpoint_reader import read as read_run
from onechange.generate import Continuation, Piece, generate
from onechange.sampling import Sampling
from onechange.verbs import output, sampling, stories
from small_studies import STUDY, in_haste, onechange, study_file

TALES = "\n<|endoftext|>\n".join(
    f"Tom saw {n} red {'cats' if n % 2 else 'dogs'} in the park. One day, he ran home." for n in range(30)
)
ARMS = ("plain", "merged", "turned")


@pytest.fixture(scope="module", autouse=True)
def _alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with in_haste(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    (folder / "tales.txt").write_text(TALES)
    file = study_file(folder, STUDY)
    words = [
        "run",
        file,
        "--scale",
        "tiny",
        "--data",
        f"file:{folder / 'tales.txt'}",
        "--out",
        folder / "out",
    ]
    outcome = onechange(*words)
    assert outcome.status == 0, outcome.err
    return folder / "out"


def run_of(study: Path, arm: str) -> Path:
    return study / "arms" / arm / "seed-0"


def lines(*words: object) -> list[dict[str, Any]]:
    outcome = onechange("sample", *words, "--json")
    assert (outcome.status, outcome.err) == (0, "")
    return [json.loads(line) for line in outcome.out.splitlines()]


def test_a_program_reads_one_object_per_story(study: Path) -> None:
    runs = [run_of(study, arm) for arm in ("plain", "turned")]
    words = ["--prompt", "Tom ", "--prompt", "One day, ", "--tokens", 7, "--samples", 2, "--top-p", 0.9]
    found = lines(*runs, *words)
    assert [(line["run"], line["prompt"], line["number"]) for line in found] == [
        (str(run), prompt, number) for run in runs for prompt in ("Tom ", "One day, ") for number in (0, 1)
    ]
    settings = Sampling(tokens=7, samples=2, top_p=0.9, stop=["\n\n"])
    for line in found:
        trained = read_run(Path(line["run"]), "best")
        assert (line["arm"], line["seed"]) == (Path(line["run"]).parent.name, 0)
        assert (line["checkpoint"], line["step"]) == ("best", trained.step)
        assert line["settings"]["top_p"] == 0.9
        (told,) = generate(trained.model, trained.tokenizer, [line["prompt"]], settings, before="\n\n")[
            line["number"] : line["number"] + 1
        ]
        assert (line["text"], line["tokens"], line["ended"]) == (told.text, told.tokens, told.ended)
        assert set(line) == {
            "run", "arm", "seed", "checkpoint", "step", "prompt", "number", "text", "tokens", "ended", "settings",
        }  # fmt: skip


def test_as_many_characters_as_were_asked_for(study: Path) -> None:
    """Of models with other tokens equally many; without a word 800."""
    runs = [run_of(study, arm) for arm in ("plain", "merged")]
    found = lines(*runs, "--prompt", "Tom ", "--characters", 33, "--go-on")
    assert [len(line["text"]) for line in found] == [33, 33]
    (line,) = lines(runs[0], "--prompt", "Tom ", "--go-on")
    assert len(line["text"]) == 800


def test_one_run_is_read_as_plain_text(study: Path) -> None:
    """To the last character, however long its lines are."""
    run = run_of(study, "merged")
    words = [run, "--prompt", "Tom ", "--prompt", "One day, ", "--samples", 2, "--tokens", 150, "--go-on"]
    expected = "".join(
        f"{run}, best (step {line['step']}), sample {line['number'] + 1}\n{line['prompt']}{line['text']}\n\n"
        for line in lines(*words)
    )
    assert max(map(len, expected.split("\n"))) > 100, "longer than the terminal is wide"
    assert onechange("sample", *words).out == expected


def test_several_runs_stand_side_by_side(study: Path) -> None:
    runs = [run_of(study, arm) for arm in ("plain", "turned")]
    words = [*runs, "--prompt", "Tom ", "--prompt", "One day, ", "--characters", 60]
    shown = onechange("sample", *words).out
    left, right = (
        [line[part].strip() for line in shown.splitlines()] for part in (slice(0, 50), slice(50, 100))
    )
    for column, run in ((left, runs[0]), (right, runs[1])):
        measures = json.loads((run / "measures.json").read_text())["best"]
        assert column[1:4] == [
            f"{run.parent.name}, seed 0",
            f"best (step {measures['step']})",
            f"{measures['nats_per_character']:.4f} nats per character",
        ]
        together = "".join("".join(column).split())
        for line in lines(*words):
            if line["run"] == str(run):
                assert "".join((line["prompt"] + line["text"]).split()) in together


def test_a_narrow_terminal_shows_one_below_another(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [run_of(study, arm) for arm in ("plain", "turned")]
    words = [*runs, "--prompt", "Tom ", "--characters", 60]
    monkeypatch.setenv("COLUMNS", "59")
    expected = "".join(
        f"{line['run']}, best (step {line['step']})\n{line['prompt']}{line['text']}\n\n"
        for line in lines(*words)
    )
    assert onechange("sample", *words).out == expected
    monkeypatch.setenv("COLUMNS", "60")
    assert onechange("sample", *words).out != expected


def test_two_runs_of_one_name_are_told_apart(study: Path, tmp_path: Path) -> None:
    """The same arm of another study: the folders are the headings."""
    other = shutil.copytree(run_of(study, "plain"), tmp_path / "o/arms/plain/seed-0")
    shown = onechange("sample", run_of(study, "plain"), other, "--prompt", "Tom ", "--characters", 5).out
    assert "plain, seed 0" not in shown
    assert str(other)[-20:] in "".join(line[50:].strip() for line in shown.splitlines())


def test_an_arm_stands_for_its_first_finished_seed_and_a_study_for_all_its_arms(
    study: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(study, tmp_path / "copy"))
    for seed in (12, 3):
        shutil.copytree(run_of(copy, "plain"), copy / f"arms/plain/seed-{seed}")
    (run_of(copy, "plain") / "measures.json").unlink()
    shutil.rmtree(copy / "arms/merged/seed-0")
    words = ["--prompt", "Tom ", "--characters", 5]
    (line,) = lines(copy / "arms/plain", *words)
    assert line["run"] == str(copy / "arms/plain/seed-3")
    outcome = onechange("sample", copy, *words, "--json")
    assert [json.loads(line)["arm"] for line in outcome.out.splitlines()] == ["plain", "turned"]
    assert outcome.err.count("\n") == 1 and "merged" in outcome.err and "left out" in outcome.err
    assert [line["arm"] for line in lines(study, *words)] == list(ARMS)


def test_a_story_ends_where_the_model_ends_it(study: Path) -> None:
    """At the separator of the run's corpus, unless it shall go on; at any other text that is named."""
    run = run_of(study, "plain")
    words = [run, "--prompt", "Tom ", "--characters", 100, "--temperature", 9, "--seed", 48]
    (on,) = lines(*words, "--go-on")
    (story,) = lines(*words)
    assert (len(on["text"]), on["ended"], on["settings"]["stop"]) == (100, False, [])
    assert "\n\n" in on["text"], "almost noise, by a seed that was looked for"
    assert (story["text"], story["ended"]) == (on["text"].split("\n\n")[0], True)
    (ended,) = lines(*words, "--go-on", "--stop", "never", "--stop", "a")
    assert (ended["text"], ended["ended"]) == (on["text"].split("a")[0], True)


def test_a_prompt_comes_from_standard_input_or_is_no_prompt_at_all(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, words = run_of(study, "plain"), ["--characters", 20, "--go-on"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Tom saw\n"), encoding="utf-8"))
    assert (
        lines(run, run_of(study, "turned"), "--prompt", "-", *words)[0]
        == lines(run, "--prompt", "Tom saw", *words)[0]
    )
    trained = read_run(run, "best")
    (begun,) = generate(trained.model, trained.tokenizer, [""], Sampling(characters=20), before="\n\n")
    (line,) = lines(run, "--prompt", "", *words)
    assert (line["prompt"], line["text"]) == ("", begun.text)


def test_any_checkpoint_that_is_still_there(study: Path, tmp_path: Path) -> None:
    """Best, last, or by its step; `measure` takes the same words."""
    run = Path(shutil.copytree(run_of(study, "plain"), tmp_path / "arms/plain/seed-0"))
    words = ["--prompt", "Tom ", "--characters", 20]
    by_name = lines(run, *words, "--checkpoint", "last")[0]
    by_step = lines(run, *words, "--checkpoint", "step-6")[0]
    assert by_step == {**by_name, "checkpoint": "step-6"}
    assert lines(run, *words, "--checkpoint", "step-000006")[0]["text"] == by_name["text"]
    assert onechange("sample", run, *words, "--checkpoint", "step-6").out.startswith(f"{run}, step 6\n")
    measured = [
        onechange("measure", run, "--checkpoint", word, "--json").document for word in ("last", "step-6")
    ]
    assert measured[1] == {**measured[0], "checkpoint": "step-6"}
    refused = onechange("measure", run, "--checkpoint", "step-4")
    assert (refused.status, refused.out) == (2, "")
    assert "keeps no checkpoint of step 4; there is step-6" in refused.err
    for word in ("step-", "step-0", "step-x", "6", "first"):
        refused = onechange("sample", run, "--checkpoint", word)
        assert (refused.status, refused.err.count("\n")) == (2, 1)
        assert f"--checkpoint {word!r}: must be one of best, last, step-N" in refused.err


def test_more_candidates_than_tokens_are_said(study: Path) -> None:
    run = run_of(study, "plain")
    words = ["sample", run, "--prompt", "Tom ", "--characters", 9, "--top-k", 5000]
    tokens = read_run(run, "best").tokenizer.vocabulary_size
    assert (
        onechange(*words).err == f"{run}: top_k = 5000: there are {tokens} tokens, all of them are allowed\n"
    )
    assert onechange(*words).out == onechange(*words[:-1], tokens).out


# --- while it is written --------------------------------------------------------------------------------------------


def pieces(*written: tuple[int, str, bool]) -> Iterator[Piece]:
    texts: dict[int, str] = {}
    for place, text, last in written:
        texts[place] = texts.get(place, "") + text
        whole = Continuation("", place, texts[place], 0, False) if last else None
        yield Piece(place, "", place, text, whole)


def test_stories_that_are_written_at_the_same_time_are_read_one_after_another() -> None:
    arrived = [
        (1, "x", False),
        (0, "a", False),
        (2, "u", True),
        (1, "y", True),
        (0, "b", True),
        (3, "k", True),
    ]
    seen: list[str] = []

    def watched() -> Iterator[Piece]:
        for piece in pieces(*arrived):
            seen.append(f"+{piece.text}")
            yield piece

    for piece in stories.in_order(watched()):
        seen.append(piece.text)
    assert " ".join(seen) == "+x +a a +u +y +b b x y u +k k"


def test_ctrl_c_leaves_what_was_written(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["sample", run_of(study, "plain"), "--prompt", "Tom ", "--characters", 40, "--go-on"]
    whole = onechange(*words).out
    original = sampling.write

    def interrupted(*given: Any, **named: Any) -> Iterator[Piece]:
        yield from islice(original(*given, **named), 5)
        raise KeyboardInterrupt

    monkeypatch.setattr(sampling, "write", interrupted)
    outcome = onechange(*words)
    assert (outcome.status, outcome.err) == (130, "\nonechange: stopped\n")
    assert whole.startswith(outcome.out)
    assert len(whole) - len(outcome.out) == 35 + len("\n\n")


def test_a_person_sees_every_piece_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        flushed = 0

        def flush(self) -> None:
            self.flushed += 1

    for looks_on in (True, False):
        screen = Screen()
        monkeypatch.setattr(output.out, "_force_terminal", looks_on)
        with patch.object(sys, "stdout", screen):
            output.text("[b]a")
        assert (screen.getvalue(), screen.flushed) == ("[b]a", int(looks_on))
