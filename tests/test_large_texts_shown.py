"""A large text at the command line: a study on it, what is shown meanwhile, and a disk that cannot take it."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from large_texts import TEXT, small
from onechange import finished
from onechange.verbs import output, preparing
from small_studies import onechange, study_file


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return path


def run(text: Path, out: Path) -> tuple[bytes, ...]:
    words = ["run", study_file(text.parent), "--scale", "tiny", "--data", f"file:{text}", "--out", out]
    outcome = onechange(*words, "--arm", "merged")
    assert outcome.status == 0, outcome.err
    seed = out / "arms" / "merged" / "seed-0"
    names = ("metrics.jsonl", "measures.json", "tokenizer.json")
    return tuple((seed / name).read_bytes() for name in names)


def test_a_study_on_a_large_text_is_that_on_a_small_one(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory = run(text, tmp_path / "small")
    assert not (tmp_path / "cache" / "onechange").exists()
    small(monkeypatch.setattr)
    assert run(text, tmp_path / "large") == in_memory
    assert len(list((tmp_path / "cache" / "onechange").glob("*/*/finished.json"))) == 3, (
        "text and two tokenizers"
    )
    monkeypatch.setattr(finished, "make", None)
    assert run(text, tmp_path / "again") == in_memory, "from the cache"


def test_a_cache_that_cannot_take_it_is_one_line(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch.setattr)
    (text.parent / "cache").write_text("in the way")
    outcome = onechange("corpus", "describe", f"file:{text}")
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert outcome.err.startswith(f"onechange: {text.parent}/cache/onechange/corpora: ")
    assert "XDG_CACHE_HOME=FOLDER keeps it elsewhere" in outcome.err


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(preparing, "time", clock)
    yield clock
    preparing._shown.stop()


def shown_on(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    written = io.StringIO()
    console = Console(file=written, force_terminal=terminal, width=100, _environ={"TERM": "xterm"})
    monkeypatch.setattr(output, "notes", console)
    return written


def test_a_bar_is_drawn_only_of_work_that_takes_longer(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    written = shown_on(True, monkeypatch)
    with preparing.shown():
        preparing.watch(0, 4_000_000, "encoding text")
        clock.now += 1.9
        preparing.watch(1_000_000, 4_000_000, "encoding text")
        assert not written.getvalue()
        clock.now += 0.2
        preparing.watch(2_000_000, 4_000_000, "encoding text")
        assert preparing._shown._bar is not None
        preparing.watch(4_000_000, 4_000_000, "encoding text")
        assert preparing._shown._bar is None, "done"
    assert "encoding text" in written.getvalue()


def test_no_bar_is_left_whatever_happens(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    shown_on(True, monkeypatch)
    with pytest.raises(KeyboardInterrupt), preparing.shown():
        preparing.watch(0, None, "reading text")
        clock.now += 3
        preparing.watch(5, None, "reading text")
        assert preparing._shown._bar is not None
        raise KeyboardInterrupt
    assert preparing._shown._bar is None


def test_elsewhere_a_line_now_and_then(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    written = shown_on(False, monkeypatch)
    with preparing.shown():
        for second in range(70):
            preparing.watch(second * 1_000_000, 70_000_000, "learning from text")
            clock.now += 1
        preparing.watch(3_000_000, None, "reading text")
        clock.now += 3
        preparing.watch(9_000_000, None, "reading text")
    assert written.getvalue().splitlines() == [
        "learning from text: 3 of 70 MB",
        "learning from text: 34 of 70 MB",
        "learning from text: 65 of 70 MB",
        "reading text: 9 MB",
    ]
