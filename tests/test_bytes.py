"""Tokens that are part of a character, on text of emoji and ideographs: the laws hold, the figures are the file's."""

import json
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from onechange import encoding, readings, windows
from onechange.encoding import Encoding, encode
from onechange.generate import generate
from onechange.measure import measure
from onechange.model import Model
from onechange.readings import measured
from onechange.sampling import Sampling
from onechange.tokenizer import Tokenizer
from onechange.tokenizer.byte import Byte
from onechange.windows import Windows
from shards import Shards
from small_models import character, plain_surprise, small_model
from small_studies import files, onechange, study_file

SEPARATOR = "\n\n"
STORIES = [
    f"{who}去了{where}{mark}。{who} säw 🐟{'🐠' * (number % 4)} – {number} ok{'!' * (number % 3)}"
    for number, (who, where, mark) in enumerate(
        (who, where, mark)
        for who in ("小猫", "Tom", "日本の犬", "Zoë")
        for where in ("公园", "the lake", "海")
        for mark in ("😀", "👩‍👩‍👧🏽", "e\u0301")
    )
]
TEXT = "".join(story + SEPARATOR for story in STORIES)


def tokenizers() -> dict[str, Tokenizer]:
    return {"character": character(TEXT), "byte": Byte(), "shards": Shards(SEPARATOR, *STORIES)}


def parts() -> dict[str, Tokenizer]:
    return {name: found for name, found in tokenizers().items() if name != "character"}


def plain_starts(tokenizer: Tokenizer, text: Encoding) -> list[int | None]:
    """The character with which every token begins, counted byte by byte; ``None`` where it begins inside one."""
    at: dict[int, int] = {}
    place = 0
    for number, letter in enumerate(TEXT):
        at[place] = number
        place += len(letter.encode())
    tokens, place, found = tokenizer.token_bytes(), 0, []
    for number in text.ids.tolist():
        found.append(at.get(place))
        place += len(tokens[number])
    assert place == len(TEXT.encode())
    return found


def test_the_text_is_one_that_tells() -> None:
    assert len(TEXT.encode()) > 1.8 * len(TEXT)
    starts = plain_starts(Shards(SEPARATOR, *STORIES), encode(parts()["shards"], STORIES, SEPARATOR))
    assert 0.2 < starts.count(None) / len(starts) < 0.8


@pytest.mark.parametrize("name", tokenizers())
def test_an_encoding_has_the_file_s_characters_and_bytes(name: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text(TEXT, encoding="utf-8", newline="")
    content = (tmp_path / "text").read_bytes()
    found = encode(tokenizers()[name], STORIES, SEPARATOR)
    assert found.bytes == found.tokens.bytes[found.ids].sum() == len(content)
    assert found.characters == found.tokens.characters[found.ids].sum() == len(content.decode())
    assert found.story_bytes.tolist() == [len(story.encode()) + 2 for story in STORIES]
    assert found.story_characters.tolist() == [len(story) + 2 for story in STORIES]


@pytest.mark.parametrize("span", [2, 3, 1024])
@pytest.mark.parametrize("name", tokenizers())
def test_every_place_finds_the_first_token_that_begins_with_a_character(
    name: str, span: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "SPAN", span)
    tokenizer = tokenizers()[name]
    text = encode(tokenizer, STORIES, SEPARATOR)
    starts = plain_starts(tokenizer, text)
    for place in range(len(TEXT)):
        after = [number for number, start in enumerate(starts) if start is not None and start >= place]
        assert text.first_token(place) == (after[0] if after else len(text.ids))


def test_law_2_bytes_start_their_windows_where_characters_do() -> None:
    plain, cut = (encode(tokenizers()[name], STORIES, SEPARATOR) for name in ("character", "byte"))
    ring = TEXT * 2
    inside = 0
    for seed in range(3):
        for step in range(1, 30):
            of_characters, _, _ = Windows(plain, seed, 8, 12).batch(step)
            of_bytes, targets, held = Windows(cut, seed, 8, 12).batch(step)
            places = windows.places(seed, step, 8, len(TEXT))
            for row, place in enumerate(places.tolist()):
                assert character(TEXT).decode(of_characters[row]) == ring[place : place + 12]
                assert of_bytes[row].tolist() == list(ring[place : place + 12].encode())[:12]
            inside += int((targets[:, -1] & 0xC0 == 0x80).sum())
            assert held == int((targets & 0xC0 != 0x80).sum())
    assert inside > 50, "windows may end anywhere"


@pytest.mark.parametrize("name", parts())
def test_the_ruler_divides_by_the_file_s_own_characters_and_bytes(name: str) -> None:
    tokenizer = parts()[name]
    text, before = encode(tokenizer, STORIES, SEPARATOR), tokenizer.encode(SEPARATOR)
    model = small_model(tokenizer.vocabulary_size, 6)
    found = measure(model, tokenizer, text, before).to_json()
    assert found["nats_per_character"] == pytest.approx(found["nats"] / len(TEXT), rel=1e-12)
    assert found["bits_per_byte"] == pytest.approx(
        found["nats"] / math.log(2) / len(TEXT.encode()), rel=1e-12
    )
    assert found["stories"]["characters"] == [len(story) + 2 for story in STORIES]
    assert found["stories"]["bytes"] == [len(story.encode()) + 2 for story in STORIES]


def test_equally_likely_bytes_cost_as_much_as_they_are_many() -> None:
    model = small_model(256, 6)
    model.embedding.data.zero_()
    text = encode(Byte(), STORIES, SEPARATOR)
    ruler, found = measured(model, Byte(), text, Byte().encode(SEPARATOR))
    assert ruler.to_json()["bits_per_byte"] == pytest.approx(8, rel=1e-6)
    sizes = [len(letter.encode()) for letter in TEXT]
    np.testing.assert_allclose(found.characters, np.array(sizes) * math.log(256), rtol=1e-6)


@pytest.mark.parametrize("rows", [1, 3, 32])
@pytest.mark.parametrize("window", [2, 5, 16])
@pytest.mark.parametrize("name", parts())
def test_a_character_bears_the_surprise_of_its_bytes_across_tokens_and_batches(
    name: str, window: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = parts()[name]
    text, before = encode(tokenizer, STORIES, SEPARATOR), tokenizer.encode(SEPARATOR)
    model = small_model(tokenizer.vocabulary_size, window)
    ruler, found = measured(model, tokenizer, text, before, rows)
    assert len(found.characters) == ruler.characters == len(TEXT)
    total = ruler.total_nats
    assert found.characters.sum(dtype=np.float64) == pytest.approx(total, rel=1e-6)
    kinds = found.by_kind.values()
    assert math.fsum(kind["nats"] for kind in kinds) == pytest.approx(total, rel=1e-12)
    assert sum(kind["characters"] for kind in kinds) == len(TEXT)
    for bins in (found.by_position, found.by_context):
        assert sum(each["tokens"] for each in bins) == ruler.tokens
        assert sum(each["characters"] for each in bins) == len(TEXT)
    if name == "byte":
        expected = by_bytes(model, text, before.tolist(), window)
        np.testing.assert_allclose(found.characters[:200], expected[:200], rtol=2e-4, atol=1e-5)
    monkeypatch.setattr(readings, "MOST_CHARACTERS", 100)
    _, few = measured(model, tokenizer, text, before, rows)
    np.testing.assert_array_equal(few.characters, found.characters[: len(few.characters)])
    assert 50 < len(few.characters) <= 100


def by_bytes(model: Model, text: Encoding, before: list[int], window: int) -> list[float]:
    """Every character's surprise from the definition: its bytes', each scored alone in the window that counts it."""
    stream = before[-window:] + text.ids[:900].tolist()
    first, half = len(before[-window:]), max(1, window // 2)
    found: list[float] = []
    for at in range(first, len(stream)):
        start = next(start for start in range(0, at, half) if at <= start + window)
        nats = plain_surprise(model, stream[start:at], stream[at])
        if stream[at] & 0xC0 == 0x80:
            found[-1] += nats
        else:
            found.append(nats)
    return found


@pytest.mark.parametrize(("what", "change"), [("bytes", (1, -1)), ("characters", (-1, 1))])
def test_bytes_that_do_not_add_up_story_by_story_are_an_error(what: str, change: tuple[int, int]) -> None:
    text = encode(Byte(), STORIES, SEPARATOR)
    table = getattr(text, f"story_{what}").copy()
    table[[3, 4]] += change
    wrong = replace(text, **{f"story_{what}": table})
    with pytest.raises(ValueError, match="not the same text, story by story"):
        measure(small_model(256, 8), Byte(), wrong, Byte().encode(SEPARATOR))
    with pytest.raises(ValueError, match=r"the tokens hold .* not the same text$"):
        measure(small_model(256, 8), Byte(), replace(text, **{what: 7}), Byte().encode(SEPARATOR))


def test_a_story_that_loses_a_byte_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The characters still add up: only the bytes tell."""
    tokenizer = Byte()
    whole = tokenizer.encode
    monkeypatch.setattr(
        tokenizer, "encode", lambda text: np.delete(whole(text), -1) if "🐟" in text else whole(text)
    )
    stories = ["ok", "中文🐟", "ok"]
    with pytest.raises(ValueError, match=r"^story 1: .* 3 in 9 bytes, not 3 in 10: '中文🐟'"):
        encode(tokenizer, stories, SEPARATOR)


def test_a_story_with_half_a_character_in_it_is_named() -> None:
    with pytest.raises(ValueError, match=r"story 1: .*U\+D83D\) at 2"):
        encode(Byte(), ["ok", "ab\ud83d"], SEPARATOR)


def test_what_a_model_writes_is_text_even_where_it_ends_inside_a_character() -> None:
    sampling = Sampling(tokens=60, seed=1, temperature=1.0, top_k=256)
    (written,) = generate(small_model(256, 8), Byte(), ["小猫 "], sampling)
    assert written.tokens == 60
    assert written.text.encode().decode() == written.text
    assert "\ufffd" in written.text, "a model of noise does not write UTF-8"


STUDY = """\
question = "What do bytes cost?"
prompts = ["小猫"]
demonstration = "小猫 säw 🐟"

[base]
name = "characters"
tokenizer = "character"

[[arm]]
name = "bytes"
from = "characters"
change.tokenizer = "byte"

[sampling]
tokens = 10

[scale.tiny]
layers = 1
width = 16
window = 16
batch = 4
budget = { steps = 6 }
evaluate_every = 3
precision = "float32"
"""


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(os, "fsync", lambda file: None)
        yield


def test_a_study_with_bytes_from_beginning_to_end(tmp_path: Path) -> None:
    file = tmp_path / "tales.txt"
    file.write_text("\n<|endoftext|>\n".join(STORIES), encoding="utf-8")
    study, out = study_file(tmp_path, STUDY), tmp_path / "out"
    outcome = onechange("run", study, "--scale", "tiny", "--data", f"file:{file}", "--out", out)
    assert outcome.status == 0, outcome.err
    results = json.loads((out / "results.json").read_text())
    validation = [story + SEPARATOR for story in STORIES[9::10]]
    content = "".join(validation)
    for arm in results["arms"]:
        run = out / "arms" / arm["name"] / "seed-0"
        figures = json.loads((run / "measures.json").read_text())["best"]
        assert (figures["characters"], figures["bytes"]) == (len(content), len(content.encode()))
        assert arm["runs"][0]["best"]["nats_per_character"] == pytest.approx(
            math.fsum(figures["stories"]["nats"]) / len(content), rel=1e-12
        )
        sampled = onechange("sample", run, "--tokens", 9, "--prompt", "小猫")
        assert (sampled.status, sampled.err) == (0, "")
    characters, of_bytes = results["arms"]
    assert (of_bytes["vocabulary"], of_bytes["lossless"]) == (256, True)
    assert of_bytes["validation_tokens"] == len(content.encode())
    assert characters["validation_tokens"] == len(content)
    shown = results["demonstration"]["arms"]["bytes"]
    assert [number for _, number in shown] == list("小猫 säw 🐟".encode())
    assert shown[0][0] == "\\xe5"
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "\\xe5" in page and "What do bytes cost?" in page
    before = files(out / "arms/bytes")
    again = onechange("run", "--out", out, "--resume", "--seeds", 2)
    assert again.status == 0, again.err
    after = files(out / "arms/bytes")
    assert len(after) > len(before)
    assert {name: after[name] for name in before} == before
