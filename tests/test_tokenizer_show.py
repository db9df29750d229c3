"""How a split is shown: nothing lost in the figures, every space visible, ids under tokens, all text escaped."""

import json
from html.parser import HTMLParser

import pytest
from rich.cells import cell_len

from onechange import tokenizer_card, tokenizer_show
from onechange.tokenizer.bpe import Bpe
from onechange.tokenizer.character import Character


@pytest.fixture
def tokenizer() -> Bpe:
    tokenizer = Bpe(vocabulary=12)
    tokenizer.learn(["the cat", "the the"], "\t\n aceht")
    return tokenizer


def characters(alphabet: str) -> Character:
    tokenizer = Character()
    tokenizer.learn([], alphabet)
    return tokenizer


class Read(HTMLParser):
    """The tags and the text of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.titles: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.titles += [value or "" for name, value in attrs if name == "title"]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_figures(tokenizer: Bpe):
    shown = tokenizer_show.split(tokenizer, "the  cat\n").to_json()
    assert json.loads(json.dumps(shown)) == {
        "text": "the  cat\n",
        "tokens": ["the", " ", " ", "cat", "\n"],
        "ids": [9, 2, 2, 11, 1],
        "token_count": 5,
        "characters": 9,
        "characters_per_token": 1.8,
    }


def test_an_empty_text_has_no_characters_per_token(tokenizer: Bpe):
    shown = tokenizer_show.split(tokenizer, "")
    assert (shown.tokens, shown.ids, shown.characters_per_token) == ((), (), None)
    assert str(tokenizer_show.over_ids(shown, 40, colours=False)) == ""


def test_spaces_are_visible_and_neighbours_differ(tokenizer: Bpe):
    shown = tokenizer_show.split(tokenizer, "the cat\n\tthe")
    drawn = tokenizer_show.coloured(shown)
    assert drawn.plain == "the·cat↵\n→\tthe"
    assert len(drawn.spans) == len(shown.ids)
    assert all(one.style != other.style for one, other in zip(drawn.spans, drawn.spans[1:], strict=False))
    assert tokenizer_show.marked(shown) == "the│·│cat│↵\n│→\t│the"
    assert repr(shown) == r"Split('the│·│cat│↵\n│→\t│the')"


def test_what_a_terminal_would_obey_is_spelled_out():
    shown = tokenizer_show.split(characters("\x1b[a\xa0\u200b"), "\x1b[a\xa0\u200b")
    assert tokenizer_show.coloured(shown).plain == "U+001B[aU+00A0U+200B"


def test_ids_stand_under_their_tokens_and_rows_fit_the_width(tokenizer: Bpe):
    shown = tokenizer_show.split(tokenizer, "the cat\nthe the the the")
    assert str(tokenizer_show.over_ids(shown, 80, colours=False)).splitlines() == [
        "the│·│cat│↵",
        "9  │2│11 │1",
        "the│·│the│·│the│·│the",
        "9  │2│9  │2│9  │2│9  ".rstrip(),
    ]
    narrow = str(tokenizer_show.over_ids(shown, 11, colours=False)).splitlines()
    assert max(map(len, narrow)) <= 11
    assert "".join(narrow[::2]).replace("│", "") == "the·cat↵the·the·the·the"


def test_wide_characters_take_two_columns():
    shown = tokenizer_show.split(characters("a世界"), "世a界")
    tokens, ids = str(tokenizer_show.over_ids(shown, 80, colours=False)).splitlines()
    assert (tokens, ids) == ("世│a│界", "1 │0│2")
    assert cell_len(tokens) == 7


def test_a_notebook_shows_a_split_with_its_text_escaped():
    tokens = ("<b>", "&lt;", "'\"", " ", "<script>")
    shown = tokenizer_show.Split("".join(tokens), tokens, (3, 1, 4, 1, 5))
    read = Read(shown._repr_html_())
    assert {*read.tags} == {"div", "span", "wbr"}
    assert read.tags.count("span") == len(tokens)
    assert read.text.startswith("<b>&lt;'\"·<script>")
    assert read.titles == [f"id {number}" for number in shown.ids]


def test_a_notebook_shows_a_tokenizer_before_and_after_it_has_learned(tokenizer: Bpe):
    assert "not yet" in Read(Bpe(vocabulary=12)._repr_html_()).text
    assert "not yet" in Read(Character()._repr_html_()).text
    text = Read(tokenizer._repr_html_()).text
    for part in (
        "bpe",
        "vocabulary12",
        "learn_fromtraining",
        "tokens12",
        "losslessyes",
        "the │ cat",
        "th │ the",
    ):
        assert part in text
    marks = Bpe(vocabulary=4)
    marks.learn(["<&< <&<"], " &<")
    assert marks.tokens()[-1] == "<&"
    assert "&lt;&amp;" in marks._repr_html_()


def test_the_first_tokens_are_those_of_the_first_merges_and_the_longest_are_the_longest(tokenizer: Bpe):
    made = [left + right for left, right in tokenizer.merges]
    assert tokenizer_card.first(tokenizer, 99) == made
    assert tokenizer_card.first(tokenizer, 2) == made[:2]
    assert tokenizer_card.longest(tokenizer, 3) == [
        "the",
        "cat",
        *[token for token in made if len(token) == 2][:1],
    ]
