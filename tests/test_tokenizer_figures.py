"""A tokenizer's figures on a corpus, against counts done by hand and by plain Python."""

import json
import re
from pathlib import Path

import pytest

from onechange import dataset, documents, source, tokenizer_compare, tokenizer_word
from onechange.documents import Corpus
from onechange.tokenizer_compare import COLUMNS, Comparison
from onechange.tokenizer_figures import figures

SEPARATOR = "\n\n"


def corpus(training: list[str], validation: list[str]) -> Corpus:
    facts = {"name": "hand", "separator": SEPARATOR, "fingerprint": "0" * 64}
    for name, stories in {"training": training, "validation": validation}.items():
        facts |= {f"{name}_documents": len(stories), f"{name}_characters": sum(map(len, stories))}
    return Corpus(
        training=tuple(training),
        validation=tuple(validation),
        separator=SEPARATOR,
        fingerprint="0" * 64,
        facts=facts,
        validation_log_probability=None,
    )


def resolved(word: str) -> dict[str, object]:
    found = tokenizer_word.one(word).resolved
    assert found is not None
    return found


def test_counts_done_by_hand():
    found = corpus(["the cat", "the cat again"], ["cat!", "a naïve 世"])
    result = figures(found, dataset.made(found, resolved("character")), width=8, layers=1)
    assert (result.training.tokens, result.training.characters, result.training.bytes) == (24, 24, 24)
    # "cat!" + 2, and "a naïve 世" + 2, in which ï has two bytes and 世 three
    assert (result.validation.characters, result.validation.bytes) == (6 + 11, 6 + 11 + 1 + 2)
    assert result.validation.characters_per_token == 1.0
    assert result.validation.bytes_per_token == 20 / 17
    assert result.words == 4  # cat, a, naïve, 世
    assert result.tokens_per_word == (3 + 1 + 5 + 1) / 4
    assert result.unused_tokens == ("!", "v", "ï", "世")
    assert result.unused == 4


def test_merged_tokens_by_hand():
    found = corpus(["the cat", "the the"], ["cat the", "he"])
    data = dataset.made(found, resolved("bpe:vocabulary=12"))
    assert data.tokenizer.tokens() == [*"\n aceht", "th", "the", "\n\n", "ca", "cat"]
    result = figures(found, data, width=8, layers=1)
    # the·cat↵↵ and the·the↵↵; cat·the↵↵ and h·e↵↵, where · parts tokens and is a space, but for the last
    assert (result.training.tokens, result.validation.tokens) == (4 + 4, 4 + 3)
    assert result.training.characters_per_token == 18 / 8
    assert result.validation.characters_per_token == 13 / 7
    assert result.tokens_per_word == (1 + 1 + 2) / 3
    assert result.unused_tokens == ("\n", "a", "c", "e", "h", "t", "th", "ca")
    assert result.longest_tokens[:3] == ("the", "cat", "th")


@pytest.mark.parametrize("word", ["byte", "character", "bpe:vocabulary=100"])
def test_tokens_per_word_are_those_of_plain_python(word: str):
    training = [f"Zoë saw {n} cats, didn't she? 世界 🙂 {'na' * (n % 4)}ïve" for n in range(60)]
    found = corpus([*training, "x"], ["Zoë didn't see 世界… naïve! saw", "🙂 cats", "didn't-she 12 xnan"])
    data = dataset.made(found, resolved(word))
    result = figures(found, data, width=8, layers=1)
    words = touching = 0
    for story in found.validation:
        contents = data.tokenizer.token_bytes()
        owners = [place for place, id in enumerate(data.tokenizer.encode(story)) for _ in contents[id]]
        for match in re.finditer(r"[^\W\d_]+(?:'[^\W\d_]+)*", story):
            words += 1
            begin, end = (len(story[:place].encode()) for place in match.span())
            touching += len({*owners[begin:end]})
    assert (result.words, result.tokens_per_word) == (words, touching / words)


def test_the_share_of_the_embedding_is_that_of_the_model_that_would_be_trained():
    """The quick study's base: 813,440 parameters with 74 characters (README.md)."""
    alphabet = "".join(map(chr, range(0x100, 0x100 + 73)))
    found = corpus([alphabet], ["Ā"])
    result = figures(found, dataset.made(found, resolved("character")), width=128, layers=4)
    assert result.vocabulary == 74
    assert result.parameters == 813_440
    assert result.embedding_share == 74 * 128 / 813_440


def test_without_validation_text_words_are_those_of_the_training_text():
    found = corpus(["the cat"], [])
    result = figures(found, dataset.made(found, resolved("character")), width=8, layers=1)
    assert (result.words, result.tokens_per_word) == (2, 3.0)
    assert result.validation.characters_per_token is None
    assert result.density == (1.0, "training")


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    path = tmp_path_factory.mktemp("text") / "tales.txt"
    path.write_text("\n<|endoftext|>\n".join(f"Tom saw {n} red cats. He ran <b>home</b>." for n in range(30)))
    wanted = [one for word in ("character", "bpe:vocabulary=40,60") for one in tokenizer_word.parse(word)]
    return tokenizer_compare.compare(
        documents.prepare(source.parse(f"file:{path}"), cache=None), wanted, width=16, layers=2
    )


def test_a_comparison_has_the_figures_of_each_and_the_text_under_each(comparison: Comparison):
    told = json.loads(json.dumps(comparison.to_json()))
    assert [each["tokenizer"] for each in told["tokenizers"]] == [
        "character",
        "bpe:vocabulary=40",
        "bpe:vocabulary=60",
    ]
    assert [each["vocabulary"] for each in told["tokenizers"]][1:] == [40, 60]
    densities = [each["validation"]["characters_per_token"] for each in told["tokenizers"]]
    assert densities == sorted(densities)
    assert densities[0] == 1.0
    for each in told["tokenizers"]:
        assert "".join(each["split"]["tokens"]) == told["tokenizers"][0]["split"]["text"]
    assert (told["width"], told["layers"]) == (16, 2)


def test_a_comparison_shows_itself_in_a_notebook(comparison: Comparison):
    html = comparison._repr_html_()
    assert html.count("<tr>") == 4
    for title in COLUMNS:
        assert title in html
    assert "<b>home" not in html
    assert repr(comparison) == "Comparison of character, bpe:vocabulary=40, bpe:vocabulary=60"


def test_a_text_outside_the_alphabet_names_the_tokenizer(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_text("abc abc")
    corpus = documents.prepare(source.parse(f"file:{path}"), cache=None)
    with pytest.raises(ValueError, match=r"^character: 1 character outside .* 'z'"):
        tokenizer_compare.compare(corpus, tokenizer_word.parse("character"), text="z")
