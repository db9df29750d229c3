"""The prepared corpus: cleaning, cut, facts, fingerprint and what is kept."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from onechange import documents, family
from onechange.corpus import Source
from onechange.documents import Corpus, prepare

TWELVE = [f"story {number}" for number in range(1, 13)]


class Given(Source):
    """Documents that a test gives."""

    texts: Iterable[str] = ()
    made = 0

    def __init__(
        self,
        *,
        characters: int | None = None,
        separator: str = "\n\n",
        path: str = "",
        test: float = 0.0,
    ) -> None:
        self.characters = characters
        self.separator, self.test = separator, test

    def documents(self) -> Iterator[str]:
        type(self).made += 1
        yield from self.texts


class Known(Given):
    reproducible = True

    def log_probability(self, document: str) -> float | None:
        return -0.5 * len(document)


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch):
    def from_texts(
        texts: list[str], kind: type[Given] = Given, cache: Path | None = None, **settings: Any
    ) -> Corpus:
        monkeypatch.setattr(kind, "texts", texts)
        monkeypatch.setattr(
            family, "build", lambda name, table: kind(**{k: table[k] for k in table if k != "name"})
        )
        table = {"name": "given", "characters": None, "separator": "\n\n", "test": 0.0, **settings}
        return prepare(table, cache=cache)

    return from_texts


def test_cleaning_comes_before_counting_and_splitting(prepared) -> None:
    texts = ["\n story 1\n", "", "story 1", " \n ", *TWELVE[1:9], "story 2 ", *TWELVE[9:]]
    corpus = prepared(texts)
    assert corpus.training == tuple(TWELVE[:9] + TWELVE[10:])
    assert corpus.validation == ("story 10",)
    assert corpus.facts["duplicates_removed"] == 2
    assert corpus.facts["documents"] == 12
    assert corpus.facts["characters"] == sum(map(len, TWELVE)) == 9 * 7 + 3 * 8
    assert corpus.facts["validation_characters"] == 8
    assert corpus.facts["cut"] is None


@pytest.mark.parametrize(("characters", "count"), [(69, 10), (70, 10), (71, 10), (72, 11)])
def test_the_story_that_reaches_the_wanted_number_is_the_last(prepared, characters: int, count: int) -> None:
    corpus = prepared(TWELVE, characters=characters)
    assert corpus.facts["documents"] == count
    assert corpus.facts["cut"] == (
        f"cut after {count} stories, the last of them reaching the {characters} characters wanted"
    )


def test_no_more_is_read_than_wanted(prepared) -> None:
    def texts() -> Iterator[str]:
        yield from TWELVE[:10]
        raise AssertionError("read too far")

    assert prepared(texts(), characters=64).facts["documents"] == 10


def test_less_than_wanted_is_noted(prepared) -> None:
    corpus = prepared(TWELVE, characters=1000)
    assert corpus.facts["cut"] is None
    assert corpus.facts["notes"] == [
        "the source holds 87 characters, fewer than the 1,000 wanted: all are used"
    ]


def test_one_long_text_is_cut_within(prepared) -> None:
    corpus = prepared(["word " * 100], characters=198)
    assert (
        corpus.facts["characters"] == 199 - 1
    )  # forty words and the spaces between them, less the one at the split
    assert corpus.facts["cut"] == "cut after a word, 199 characters kept of 499; 198 were wanted"
    assert corpus.facts["split"] == "the last tenth of the text"


@pytest.mark.parametrize(
    ("texts", "said"), [([], "no text"), ([" \n"], "no text"), (["x"], "'x'; a corpus needs two")]
)
def test_too_little_text_is_an_error_that_names_the_source(prepared, texts: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=f"^there.txt: .*{said}"):
        prepared(texts, path="there.txt")


def test_wrong_settings(prepared) -> None:
    with pytest.raises(ValueError, match="separator"):
        prepared(TWELVE, separator="")
    with pytest.raises(ValueError, match=r"corpus\.characters = 0"):
        prepared(TWELVE, characters=0)


def test_a_test_takes_nothing_from_validation_and_marks_the_text(prepared) -> None:
    plain, tested = prepared(TWELVE), prepared(TWELVE, test=0.1)
    assert tested.validation == plain.validation == ("story 10",)
    assert tested.test == ("story 9",) and plain.test == ()
    assert tested.training == tuple(story for story in plain.training if story != "story 9")
    assert (tested.facts["test_documents"], tested.facts["test_characters"]) == (1, len("story 9"))
    content = {
        "separator": "\n\n",
        "training": list(tested.training),
        "validation": ["story 10"],
        "test": ["story 9"],
    }
    truth = hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()
    assert tested.fingerprint == truth != plain.fingerprint


@pytest.mark.parametrize("share", [-0.1, 0.51, 1.0])
def test_a_share_that_cannot_be_put_aside(prepared, share: float) -> None:
    with pytest.raises(ValueError, match=rf"corpus\.test = {share}: must be from 0 .* to 0\.5"):
        prepared(TWELVE, test=share)


def test_a_story_may_hold_the_separator(prepared) -> None:
    assert prepared(["a b", "a  b"], separator=" ").training == ("a b",)


def test_alphabet_is_of_all_stories_and_the_separator(prepared) -> None:
    corpus = prepared(["ab", "é🐟"], separator="<>")
    assert corpus.alphabet == "<>abé🐟"
    assert corpus.facts["distinct_characters"] == 4


def test_fingerprint_is_of_content_split_and_separator(prepared) -> None:
    first = prepared(TWELVE)
    content = {"separator": "\n\n", "training": TWELVE[:9] + TWELVE[10:], "validation": ["story 10"]}
    truth = hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()
    assert first.fingerprint == first.facts["fingerprint"] == truth
    assert prepared([" story 1", *TWELVE], path="elsewhere", characters=87).fingerprint == truth
    assert prepared(TWELVE, separator="\n").fingerprint != truth
    assert prepared([*TWELVE, "one more"]).fingerprint != truth
    assert prepared(TWELVE[::-1]).fingerprint != truth


def test_facts_are_json(prepared) -> None:
    facts = prepared(TWELVE).facts
    assert json.loads(json.dumps(facts)) == facts


def test_log_probability_is_summed_over_validation(prepared) -> None:
    texts = [f"story number {number}" for number in range(40)]
    corpus = prepared(texts, Known)
    assert corpus.validation_log_probability == -0.5 * sum(map(len, texts[9::10]))
    validation = sum(map(len, texts[9::10]))
    assert corpus.entropy_floor == 0.5 * validation / (validation + 4 * len("\n\n"))
    assert prepared(texts).validation_log_probability is None
    assert prepared(texts).entropy_floor is None
    assert prepared(texts[:1], Known).validation_log_probability is None, (
        "a part of a story has no probability"
    )


class TestKept:
    def test_a_generators_text_is_made_once(self, prepared, tmp_path: Path) -> None:
        first = prepared(TWELVE, Known, tmp_path)
        made = Known.made
        again = prepared(TWELVE, Known, tmp_path)
        assert Known.made == made
        assert again == first
        assert isinstance(again.validation_log_probability, float)
        assert not [file for file in tmp_path.rglob("*") if file.suffix == ".new"]

    def test_other_settings_and_versions_are_kept_apart(self, prepared, tmp_path: Path, monkeypatch) -> None:
        prepared(TWELVE, Known, tmp_path)
        assert prepared(TWELVE, Known, tmp_path, characters=64).facts["documents"] == 10
        monkeypatch.setattr(Known, "version", 2)
        assert prepared(TWELVE[:11], Known, tmp_path).facts["documents"] == 11
        monkeypatch.setattr(Known, "identity", lambda source: {"words": "others"})
        assert prepared(TWELVE[:10], Known, tmp_path).facts["documents"] == 10

    @pytest.mark.parametrize("damage", ["cut short", "other text", "another mark", "empty", "no text"])
    def test_damage_is_repaired_silently(self, prepared, tmp_path: Path, damage: str) -> None:
        first = prepared(TWELVE, Known, tmp_path)
        (file,) = (tmp_path / "corpora").iterdir()
        text = file.read_text()
        file.write_text(
            {
                "cut short": text[: len(text) // 2],
                "other text": text.replace("story 3", "story X"),
                "another mark": "0" + text[1:],
                "no text": "é\n",
                "empty": "",
            }[damage]
        )
        assert prepared(TWELVE, Known, tmp_path) == first
        assert file.read_text() == text

    def test_a_folder_that_cannot_be_written_is_no_reason_to_stop(self, prepared, tmp_path: Path) -> None:
        (tmp_path / "corpora").write_text("in the way")
        assert prepared(TWELVE, Known, tmp_path).facts["documents"] == 12

    def test_other_sources_are_not_kept(self, prepared, tmp_path: Path) -> None:
        prepared(TWELVE, Given, tmp_path)
        assert not list(tmp_path.iterdir())


def test_the_users_cache_follows_the_convention(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert documents.user_cache() == tmp_path / "onechange"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert documents.user_cache() == tmp_path / ".cache" / "onechange"
