"""A text larger than memory: what comes of it is what memory would have held, whatever happens on the way."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onechange
from large_texts import BPE, STORIES, TEXT, facts, small, table, work
from onechange import dataset, documents, finished, processor, text_store
from onechange.documents import prepare
from onechange.finished import MARK
from onechange.text_store import DamagedError, Stories, StoriesWriter
from onechange.windows import Windows

HERE = Path(__file__).parent


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def truth(text: Path, tmp_path: Path) -> dict[str, Any]:
    """The same in memory, as a small text is treated."""
    return work(text, tmp_path / "unused")


@pytest.fixture
def large(truth: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the text is a large one."""
    small(monkeypatch.setattr)


def folders(cache: Path) -> list[Path]:
    return sorted(path for path in cache.glob("*/*") if path.is_dir())


def test_the_truth_itself_is_in_memory_and_by_hand(truth: dict[str, Any], tmp_path: Path) -> None:
    assert not (tmp_path / "unused").exists()
    assert truth["stories"] == [
        [story for number, story in enumerate(STORIES, 1) if number % 10],
        STORIES[9::10],
    ]
    assert truth["corpus"][0]["duplicates_removed"] == 2
    assert truth["test"] == []


@pytest.mark.parametrize(
    "tokenizer", [BPE, {**BPE, "learn_from": "all"}, {"name": "character"}, {"name": "byte"}], ids=str
)
def test_a_large_text_is_what_a_small_one_is(
    text: Path, tokenizer: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = work(text, tmp_path / "unused", tokenizer)
    small(monkeypatch.setattr)
    corpus = prepare(table(text), cache=tmp_path)
    assert isinstance(corpus.training, Stories) and len(corpus.training.blocks) > 5
    assert work(text, tmp_path, tokenizer) == truth
    assert work(text, tmp_path, tokenizer) == truth, "from the cache"


@pytest.mark.parametrize("learn_from", ["training", "all"])
def test_a_large_text_has_its_test_part_too(
    text: Path, learn_from: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = {**BPE, "learn_from": learn_from}
    truth = work(text, tmp_path / "unused", tokenizer, test=0.2)
    assert truth["test"] and truth["test.characters"] == sum(len(story) + 2 for story in truth["test"])
    small(monkeypatch.setattr)
    assert work(text, tmp_path, tokenizer, test=0.2) == truth
    assert work(text, tmp_path, tokenizer, test=0.2) == truth, "from the cache"


def test_batches_are_the_same_too(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def batches() -> list[Any]:
        corpus = prepare(table(text), cache=tmp_path)
        windows = Windows(dataset.made(corpus, BPE, cache=tmp_path).training, 3, 4, 16)
        return [(x.dtype, x.tolist(), y.tolist(), held) for x, y, held in map(windows.batch, range(1, 30))]

    in_memory = batches()
    small(monkeypatch.setattr)
    assert batches() == in_memory
    assert len(folders(tmp_path)) == 2


def test_the_number_of_processes_does_not_matter(
    text: Path, large: None, truth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processor, "threads", lambda wanted: 2)
    assert work(text, tmp_path) == truth


def test_nothing_is_made_twice(
    text: Path, large: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = work(text, tmp_path)
    monkeypatch.setattr(finished, "make", None)
    assert work(text, tmp_path) == first


def test_other_settings_and_a_changed_file_are_kept_apart(text: Path, large: None, tmp_path: Path) -> None:
    first = work(text, tmp_path)
    shorter = prepare(table(text, characters=1000), cache=tmp_path)
    assert len(shorter.training) < len(first["stories"][0])
    assert work(text, tmp_path, {**BPE, "vocabulary": 61})["tokenizer"] != first["tokenizer"]
    text.write_text(TEXT.replace("Lily", "Lucy"), encoding="utf-8")
    changed = work(text, tmp_path)
    assert "Lucy" in changed["stories"][0][4]
    assert changed["corpus"][1] != first["corpus"][1]


def test_a_text_with_few_stories_stays_in_memory(large: None, tmp_path: Path) -> None:
    path = tmp_path / "novel.txt"
    path.write_text("word " * 1000)
    assert isinstance(prepare(table(path), cache=tmp_path).training, tuple)


def test_a_generator_s_text_is_kept_likewise(large: None, tmp_path: Path) -> None:
    settings = {"name": "storyworld", "world": 0, "characters": 30_000, "separator": "\n\n", "test": 0.0}
    corpus = prepare(settings, cache=tmp_path)
    in_memory = prepare(settings, cache=None)
    assert isinstance(corpus.training, Stories) and isinstance(in_memory.training, tuple)
    assert list(corpus.validation) == list(in_memory.validation)
    assert corpus.facts == in_memory.facts
    assert corpus.entropy_floor == in_memory.entropy_floor is not None
    assert prepare(settings, cache=tmp_path).entropy_floor == in_memory.entropy_floor


def test_a_file_that_changes_while_it_is_read_is_an_error(
    text: Path, large: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = StoriesWriter.finish

    def changed(writer: StoriesWriter) -> Any:
        os.utime(text, ns=(1, 1))
        return finish(writer)

    monkeypatch.setattr(StoriesWriter, "finish", changed)
    with pytest.raises(ValueError, match=r"text\.txt: it was changed while it was read"):
        prepare(table(text), cache=tmp_path / "cache")
    assert not folders(tmp_path / "cache")


def test_work_is_told_of(text: Path, large: None, tmp_path: Path) -> None:
    told: list[tuple[int, int | None, str]] = []
    corpus = prepare(table(text), cache=tmp_path, watch=lambda *what: told.append(what))
    dataset.made(corpus, BPE, cache=tmp_path, watch=lambda *what: told.append(what))
    ends = [(done, what) for done, total, what in told if done == total]
    assert [what for _, what in ends] == ["reading text", "learning from text", "encoding text"]
    assert ends[2][0] > ends[1][0] > 0


class TestDamage:
    @pytest.mark.parametrize(
        "which", ["training.ids", "validation.landmarks", "training.tokens", "tokenizer.json"]
    )
    @pytest.mark.parametrize("damage", ["a flipped bit", "cut short", "gone"])
    def test_an_encoding_is_made_anew(
        self, text: Path, large: None, truth: dict[str, Any], tmp_path: Path, which: str, damage: str
    ) -> None:
        work(text, tmp_path)
        (file,) = tmp_path.glob(f"encodings/*/{which}")
        harm(file, damage)
        assert work(text, tmp_path) == truth
        assert len(folders(tmp_path)) == 2 and not list(tmp_path.rglob("*.part"))

    @pytest.mark.parametrize("damage", ["a flipped bit", "cut short", "gone"])
    @pytest.mark.parametrize("folder", ["corpora", "encodings"])
    def test_a_mark_that_is_not_whole_marks_nothing(
        self, text: Path, large: None, truth: dict[str, Any], tmp_path: Path, folder: str, damage: str
    ) -> None:
        work(text, tmp_path)
        (file,) = tmp_path.glob(f"{folder}/*/{MARK}")
        harm(file, damage)
        assert work(text, tmp_path) == truth

    def test_text_cut_short_is_read_anew(
        self, text: Path, large: None, truth: dict[str, Any], tmp_path: Path
    ) -> None:
        work(text, tmp_path)
        (file,) = tmp_path.glob("corpora/*/training.text")
        harm(file, "cut short")
        assert work(text, tmp_path) == truth

    @pytest.mark.parametrize("processes", [1, 2])
    def test_a_flipped_bit_of_text_is_found_when_it_is_read(
        self, text: Path, large: None, tmp_path: Path, processes: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(processor, "threads", lambda wanted: processes)
        corpus = prepare(table(text), cache=tmp_path)
        (file,) = tmp_path.glob("corpora/*/training.text")
        harm(file, "a flipped bit")
        with pytest.raises(DamagedError, match=r"damaged at byte .* of training\.text; delete this folder"):
            dataset.made(corpus, BPE, cache=tmp_path)
        with pytest.raises(DamagedError):
            list(corpus.training)
        assert len(folders(tmp_path)) == 1, "no encoding of it is left"


def harm(file: Path, damage: str) -> None:
    content = bytearray(file.read_bytes())
    if damage == "a flipped bit":
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    elif damage == "cut short":
        file.write_bytes(content[:-1])
    else:
        file.unlink()


@pytest.mark.parametrize("many", [3, pytest.param(1000, marks=pytest.mark.long)])
def test_a_kill_at_any_instant_costs_nothing_but_time(
    text: Path, truth: dict[str, Any], tmp_path: Path, many: int
) -> None:
    source = str(Path(onechange.__file__).parents[1])
    answer = subprocess.run(
        [sys.executable, str(HERE / "killed_caches.py"), str(text), str(tmp_path / "caches"), str(many)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert found["truth"] == json.loads(json.dumps(truth))
    assert {name for name, *_ in found["outcomes"]} >= {"before fsync", "before rename", "amid write"}
    assert len(found["outcomes"]) >= (12 if many == 3 else 60)
    for name, status, same, left in found["outcomes"]:
        assert (name, status, same, left) == (name, -9, True, [])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_one_line_and_leaves_nothing(
    text: Path, large: None, tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    corpus = prepare(table(text), cache=cache)

    def full(writer: finished.Writer, content: bytes) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(finished.Writer, "write", full)
    with pytest.raises(
        OSError, match=r"encodings: .*it takes about .* MB are free; XDG_CACHE_HOME"
    ) as caught:
        dataset.made(corpus, BPE, cache=cache)
    assert "\n" not in str(caught.value) and caught.value.errno is None
    os.utime(text, ns=(1, 1))
    with pytest.raises(OSError, match=r"corpora: .*it takes about .* MB are free; XDG_CACHE_HOME"):
        prepare(table(text), cache=cache)
    assert len(folders(cache)) == 1 and not list(cache.rglob("*.part"))


def test_a_cache_that_cannot_be_a_folder_is_one_line(text: Path, large: None, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(OSError, match=r"cache/corpora: .* XDG_CACHE_HOME=FOLDER keeps it elsewhere"):
        prepare(table(text), cache=tmp_path / "cache")


def test_an_error_of_the_source_is_not_blamed_on_the_cache(text: Path, large: None, tmp_path: Path) -> None:
    text.write_bytes(text.read_bytes() + b"\xff")
    with pytest.raises(ValueError, match=r"byte 0xff at offset"):
        prepare(table(text), cache=tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob("*.part"))


def test_two_at_once_do_not_hurt_each_other(
    text: Path, large: None, truth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the first is about to rename its folder, a second one makes the same from beginning to end."""
    rename = Path.rename
    seconds: list[dict[str, Any]] = []

    def overtaken(path: Path, to: Path) -> Path:
        if not path.name.startswith("."):
            return rename(path, to)
        monkeypatch.setattr(Path, "rename", rename)
        seconds.append(work(text, tmp_path))
        monkeypatch.setattr(Path, "rename", overtaken)
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", overtaken)
    assert work(text, tmp_path) == truth
    assert seconds and all(second == truth for second in seconds)
    assert len(folders(tmp_path)) == 2


def test_ids_are_mapped_and_not_held(text: Path, large: None, tmp_path: Path) -> None:
    data = dataset.made(prepare(table(text), cache=tmp_path), BPE, cache=tmp_path)
    assert isinstance(data.training.ids.base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        data.training.ids[0] = 1


@pytest.mark.skipif(
    not Path("/proc/self/smaps").exists(), reason="only Linux says what is resident of a mapped file"
)
def test_what_was_read_of_a_file_does_not_stay_in_memory(text: Path, large: None, tmp_path: Path) -> None:
    def resident() -> int:
        lines = iter(Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines())
        return sum(
            int(next(line for line in lines if line.startswith("Rss:")).split()[1])
            for line in lines
            if line.endswith("training.ids")
        )

    data = dataset.made(prepare(table(text), cache=tmp_path), BPE, cache=tmp_path)
    assert data.training.ids[5] == data.training.ids.tolist()[5]
    assert resident() > 0
    expected = data.training.ids.tolist()
    Windows(data.training, 3, 4, 16).batch(1)
    assert resident() == 0
    assert data.training.ids.tolist() == expected


def test_blocks_are_read_where_they_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_store, "BLOCK", 20)
    stories = ["a", "é" * 30, "日本", "", "🐟b" * 7, "z"]
    writer = StoriesWriter(finished.Writer(tmp_path / "part.text"))
    for story in stories:
        writer.add(story)
    mark = writer.finish()
    found = Stories(tmp_path, "part", json.loads(json.dumps(mark)))
    assert list(found) == [found[number] for number in range(6)] == stories
    assert [found[-1], found[1:5:2], found[4:99], found[9:]] == ["z", [stories[1], ""], stories[4:], []]
    assert (len(found), found.characters, found.distinct) == (6, 1 + 30 + 2 + 14 + 1, "abzé日本🐟")
    assert len(found.blocks) == 3
    for outside in (6, -7):
        with pytest.raises(IndexError):
            found[outside]


def test_what_is_in_memory_is_what_was_before(text: Path, truth: dict[str, Any]) -> None:
    """The line between small and large is far above every text of these tests."""
    assert documents.LARGE == 64_000_000
    corpus = prepare(table(text), cache=None)
    assert facts(corpus, dataset.dataset(corpus, dataset.learn(corpus, BPE))) == truth
