"""SOURCE words."""

from pathlib import Path

import pytest

from onechange import source


def test_words_become_resolved_tables() -> None:
    assert source.parse("tinystories") == {
        "name": "tinystories",
        "path": None,
        "characters": 1_600_000,
        "separator": "\n\n",
        "test": 0.0,
    }
    assert source.parse("tinystories:some where/a.txt")["path"] == "some where/a.txt"
    assert source.parse(r"file:C:\texts\a.txt") == {
        "name": "file",
        "path": r"C:\texts\a.txt",
        "field": "text",
        "characters": None,
        "separator": "\n\n",
        "test": 0.0,
    }


def test_what_is_allowed() -> None:
    allowed = source.allowed()
    assert {"tinystories", "tinystories:PATH", "file:PATH"} <= set(allowed)
    assert "file" not in allowed
    assert "storyworld:PATH" not in allowed


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("stories", "'stories'.*file:PATH.*tinystories, tinystories:PATH"),
        ("", "''.*one of"),
        ("http://example.org/a.txt", "one of"),
        ("file", "file:PATH"),
        ("file:", "empty.*file:PATH"),
        ("tinystories:", "empty"),
    ],
)
def test_other_words_are_errors_that_say_what_is_allowed(word: str, said: str) -> None:
    with pytest.raises((LookupError, ValueError), match=said) as caught:
        source.parse(word)
    assert "\n" not in str(caught.value)


def test_a_bare_path_gets_advice(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("text")
    with pytest.raises(LookupError, match=f"write file:{file}"):
        source.parse(str(file))


def test_a_generator_takes_no_path() -> None:
    pytest.importorskip("onechange.corpus.storyworld")
    assert source.parse("storyworld")["name"] == "storyworld"
    with pytest.raises(ValueError, match="storyworld takes no path"):
        source.parse("storyworld:a.txt")
