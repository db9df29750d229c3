"""What every tokenizer must do. Members are found, not listed.

The test file of each member, `tests/tokenizer/test_<member>.py`, holds ``turns``: for each of its settings a
value and another that makes a difference.
"""

import importlib.util
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onechange
from onechange import family, tokenizer_file
from onechange.stream_decoding import StreamDecoder
from onechange.token_table import token_table
from onechange.tokenizer import Tokenizer

MEMBERS = family.members("tokenizer")
TRAINING = [
    "The cat sat.",
    "there, there -- 1223 cats",
    "aaa aaaa",
    "abababa_ab",
    "cafe\u0301 café 中中",
    "",
] * 3
VALIDATION = ["old coat", "is not here!", "blah blah blah blah"]
UNSEEN = "\t\nXYZ9²½éİßا\u200b\u2028😀𐐀"
WIDE = ["😀", "中文。", "a😀中é\u0301👩‍👩‍👧🏽 b", "日本\n\n🐟🐟 ok"]
ALPHABET = "".join(sorted(set("".join([*TRAINING, *VALIDATION, UNSEEN, *WIDE]))))


def turns(name: str) -> dict[str, tuple[Any, Any]]:
    path = Path(__file__).parents[1] / "tokenizer" / f"test_{name}.py"
    spec = importlib.util.spec_from_file_location(f"turns_of_{name}", path)
    assert spec is not None and spec.loader is not None, f"{path} is missing"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.turns


def resolved(name: str, **other: Any) -> dict[str, Any]:
    first = {setting: value for setting, (value, _) in turns(name).items()}
    return family.resolve("tokenizer", {"name": name, **first, **other})


def learned(settings: dict[str, Any], documents: list[str] | None = None) -> Tokenizer:
    tokenizer: Tokenizer = family.build("tokenizer", settings)
    assert tokenizer.learn_from in ("training", "all")
    if documents is None:
        documents = TRAINING + (VALIDATION if tokenizer.learn_from == "all" else [])
    tokenizer.learn(documents, ALPHABET)
    return tokenizer


def behaviour(tokenizer: Tokenizer) -> list[Any]:
    return [
        tokenizer.tokens(),
        *(tokenizer.encode(text).tolist() for text in [*TRAINING, *VALIDATION, ALPHABET]),
    ]


@pytest.fixture(params=MEMBERS, scope="module")
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def tokenizer(name: str) -> Tokenizer:
    return learned(resolved(name))


def test_there_are_members():
    assert {"bpe", "byte", "character"} <= set(MEMBERS)


def writes_all(tokenizer: Tokenizer) -> bool:
    """Whether it needs no alphabet: it takes a character that it was never told of."""
    try:
        return len(tokenizer.encode("ж")) > 0
    except ValueError:
        return False


def texts(tokenizer: Tokenizer) -> st.SearchStrategy[str]:
    """Over all of Unicode, or over the tokenizer's alphabet."""
    return st.text() if writes_all(tokenizer) else st.text(alphabet=ALPHABET)


@given(data=st.data())
def test_decoding_undoes_encoding(tokenizer: Tokenizer, data: st.DataObject):
    text = data.draw(texts(tokenizer))
    assert tokenizer.lossless == (tokenizer.loss is None)
    if tokenizer.lossless:
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert tokenizer.decode(tokenizer.encode(text).tolist()) == text


@given(data=st.data())
def test_ids_are_int32_in_one_row_within_the_vocabulary(tokenizer: Tokenizer, data: st.DataObject):
    text = data.draw(texts(tokenizer))
    ids = tokenizer.encode(text)
    assert (ids.dtype, ids.ndim) == (np.dtype(np.int32), 1)
    assert len(ids) == 0 or (ids.min() >= 0 and ids.max() < tokenizer.vocabulary_size)
    assert (len(ids) == 0) == (text == "")


@given(data=st.data())
def test_the_bytes_of_the_ids_are_the_text_s(tokenizer: Tokenizer, data: st.DataObject):
    text = data.draw(texts(tokenizer))
    tokens = tokenizer.token_bytes()
    assert len(tokens) == tokenizer.vocabulary_size == len(tokenizer.tokens())
    ids = tokenizer.encode(text)
    joined = b"".join(tokens[number] for number in ids)
    assert joined.decode(errors="replace") == tokenizer.decode(ids)
    if tokenizer.lossless:
        assert joined == text.encode()


@pytest.mark.parametrize("text", WIDE)
def test_emoji_and_ideographs_have_the_text_s_bytes_and_characters(tokenizer: Tokenizer, text: str):
    ids = tokenizer.encode(text)
    if tokenizer.lossless:
        assert b"".join(tokenizer.token_bytes()[number] for number in ids) == text.encode()
        table = token_table(tokenizer.token_bytes())
        assert table.characters[ids].sum() == len(text)
        assert table.bytes[ids].sum() == len(text.encode())


@given(data=st.data())
def test_a_stream_gives_the_decoded_text_and_no_half_character(tokenizer: Tokenizer, data: st.DataObject):
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocabulary_size - 1), max_size=40))
    for some in (ids, tokenizer.encode(data.draw(texts(tokenizer))).tolist()):
        stream = StreamDecoder(tokenizer)
        found = [*(stream.feed([number]) for number in some), stream.finish()]
        assert "".join(found) == tokenizer.decode(some)


@given(data=st.data())
def test_what_a_stream_gave_is_the_text_so_far(tokenizer: Tokenizer, data: st.DataObject):
    text = data.draw(texts(tokenizer))
    if tokenizer.lossless:
        stream, given_so_far = StreamDecoder(tokenizer), ""
        for number in tokenizer.encode(text):
            given_so_far += stream.feed([int(number)])
            assert text.startswith(given_so_far)
        assert (given_so_far, stream.finish()) == (text, "")


def test_a_lone_surrogate_is_named_with_its_place(tokenizer: Tokenizer):
    with pytest.raises(ValueError, match=r"'\\ud800' \(U\+D800\) at 3"):
        tokenizer.encode("the\ud800 cat")


def test_tokens_differ_and_are_not_empty(tokenizer: Tokenizer):
    tokens = tokenizer.token_bytes()
    assert len(set(tokens)) == len(tokens)
    assert b"" not in tokens


def test_every_character_of_the_alphabet_can_be_written(tokenizer: Tokenizer):
    for character in ALPHABET:
        assert tokenizer.decode(tokenizer.encode(character)) == character


def test_nothing_encodes_to_nothing(tokenizer: Tokenizer):
    assert tokenizer.encode("").shape == (0,)
    assert tokenizer.decode([]) == ""


def test_a_character_outside_the_alphabet_is_named_with_its_place(tokenizer: Tokenizer):
    if writes_all(tokenizer):
        assert tokenizer.decode(tokenizer.encode("the Qatжc")) == "the Qatжc"
        return
    with pytest.raises(
        ValueError, match=r"^2 characters outside .*'Q' \(U\+0051\) at 4, 'ж' \(U\+0436\) at 7"
    ):
        tokenizer.encode("the Qatжc")


@pytest.mark.parametrize("wrong", [-1, "one beyond"])
def test_an_id_that_is_none_is_named(tokenizer: Tokenizer, wrong: Any):
    number = tokenizer.vocabulary_size if wrong == "one beyond" else wrong
    with pytest.raises(ValueError, match=rf"the id {number}: ids are 0 to {tokenizer.vocabulary_size - 1}"):
        tokenizer.decode([0, number])


def test_the_content_survives_json(name: str, tokenizer: Tokenizer):
    restored: Tokenizer = family.build("tokenizer", resolved(name))
    restored.restore(json.loads(json.dumps(tokenizer.to_json())))
    assert behaviour(restored) == behaviour(tokenizer)
    assert restored.to_json() == tokenizer.to_json()
    assert restored.remarks() == tokenizer.remarks()


def test_the_file_gives_the_same_tokenizer_and_settings(name: str, tokenizer: Tokenizer, tmp_path: Path):
    tokenizer_file.save(tokenizer, resolved(name), tmp_path / "tokenizer.json")
    loaded = tokenizer_file.load(tmp_path / "tokenizer.json")
    assert type(loaded) is type(tokenizer)
    assert behaviour(loaded) == behaviour(tokenizer)
    assert loaded.learn_from == tokenizer.learn_from


def test_a_content_that_is_none_is_an_error(name: str, tokenizer: Tokenizer):
    content = tokenizer.to_json()
    model = content["model"]
    wrong: list[Any] = [{}, [], {**content, "surplus": 1}, {**content, "truncation": {}}]
    wrong += [
        {**content, "model": {**model, **other}} for other in ({"surplus": 1}, {"vocab": {}}, {"vocab": 3})
    ]
    wrong += [{key: value for key, value in content.items() if key != missing} for missing in content]
    wrong += [{**content, "model": {key: model[key] for key in model if key != missing}} for missing in model]
    wrong += [{**content, key: "other"} for key in content]
    for bad in wrong:
        with pytest.raises(ValueError):
            family.build("tokenizer", resolved(name)).restore(bad)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where in a JSON value there is something that could be something else; of long lists and tables the ends."""
    yield path
    inner = list(
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, found in inner if len(inner) < 20 else [*inner[:2], *inner[-2:]]:
        yield from places(found, (*path, key))


ODD = [
    None,
    True,
    -1,
    10**9,
    10**30,
    0.5,
    "",
    "ab",
    "\0",
    [],
    {},
    [[]],
    {"type": "Sequence"},
    {"type": "Split"},
]


def test_a_content_that_was_tampered_with_is_refused_or_used_as_it_says(name: str, tokenizer: Tokenizer):
    """Never anything but a `ValueError` in one line, and never a content that is silently taken for another."""
    content = json.dumps(tokenizer.to_json())
    for place in list(places(json.loads(content)))[1:]:
        for odd in ODD:
            altered = json.loads(content)
            holder = altered
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = odd
            other: Tokenizer = family.build("tokenizer", resolved(name))
            try:
                other.restore(altered)
            except ValueError as error:
                assert "\n" not in str(error)
                continue
            assert other.to_json() == altered
            other.token_bytes()


def test_the_order_of_documents_does_not_matter(name: str):
    documents = TRAINING + VALIDATION
    assert behaviour(learned(resolved(name), documents)) == behaviour(
        learned(resolved(name), documents[::-1])
    )


def test_learning_anew_forgets(name: str, tokenizer: Tokenizer):
    again = learned(resolved(name), ["blah blah lo lo lost"])
    behaviour(again)
    again.learn(TRAINING, ALPHABET)
    assert behaviour(again) == behaviour(tokenizer)


def test_what_was_encoded_before_does_not_matter(name: str, tokenizer: Tokenizer):
    texts = [*TRAINING, *VALIDATION]
    forwards, backwards = learned(resolved(name)), learned(resolved(name))
    first = [forwards.encode(text).tolist() for text in texts]
    last = [backwards.encode(text).tolist() for text in reversed(texts)]
    assert first == last[::-1]


def test_what_was_returned_may_be_changed(name: str, tokenizer: Tokenizer):
    spoiled = learned(resolved(name))
    spoiled.encode("there")[:] = 0
    spoiled.token_bytes().clear()
    spoiled.to_json().clear()
    assert behaviour(spoiled) == behaviour(tokenizer)


def test_python_s_hash_seed_does_not_matter(name: str):
    script = (
        "import json, sys; from onechange import family\n"
        "settings, documents, alphabet = json.load(sys.stdin)\n"
        "tokenizer = family.build('tokenizer', settings); tokenizer.learn(documents, alphabet)\n"
        "print(json.dumps([tokenizer.to_json(), [tokenizer.encode(text).tolist() for text in documents]]))"
    )
    given = json.dumps([resolved(name), TRAINING, ALPHABET])
    source = str(Path(onechange.__file__).parents[1])
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            input=given,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": source},
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(found) == 1


def test_every_setting_turns_something(name: str):
    assert turns(name).keys() == family.defaults("tokenizer", name).keys()
    for setting, (value, other) in turns(name).items():
        assert resolved(name)[setting] == value
        try:
            turned = behaviour(learned(resolved(name, **{setting: other})))
        except ValueError as error:  # that says what is wrong with the setting
            assert repr(resolved(name)[setting]) in str(error) or repr(other).strip("'") in str(error)
            continue
        assert behaviour(learned(resolved(name))) != turned


def test_the_defaults_learn_too(name: str):
    settings = family.defaults("tokenizer", name)
    must_be_given = {
        key: turns(name)[key][0] for key, value in settings.items() if value is inspect.Parameter.empty
    }
    resolved = family.resolve("tokenizer", {"name": name, **must_be_given})
    assert learned(resolved).vocabulary_size >= len(ALPHABET)


def test_nothing_can_be_encoded_before_learning_where_anything_is_learned(name: str, tokenizer: Tokenizer):
    fresh: Tokenizer = family.build("tokenizer", resolved(name))
    try:
        ids = fresh.encode("the")
    except AssertionError:
        return
    assert fresh.to_json() == tokenizer.to_json()
    assert ids.tolist() == tokenizer.encode("the").tolist()
