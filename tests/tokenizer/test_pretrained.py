"""`pretrained`: someone else's tokenizer encodes as with them, and whether it loses text is found out."""

import base64
import hashlib
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from onechange import family, hugging_face, tiktoken_encoding, tokenizer_file
from onechange.tokenizer.byte_bpe import ByteBpe
from onechange.tokenizer.pretrained import Pretrained

FILES = Path(__file__).parent / "pretrained"
turns = {
    "source": (str(FILES / "gpt.json"), str(FILES / "other.json")),
    "sha256": ("", "0" * 64),
}
TEXT = ["The cat sat on the mat.", "the cats, the café", "there is a cat on the mat"] * 4
ALPHABET = "".join(sorted(set("".join(TEXT))))


def trained(tokenizer: tokenizers.Tokenizer, trainer: Any) -> tokenizers.Tokenizer:
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer


def bert() -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=60, show_progress=False, special_tokens=["[UNK]", "[CLS]", "[SEP]"]
    )
    tokenizer = trained(tokenizer, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=64)
    return tokenizer


def llama() -> tokenizers.Tokenizer:
    """Spaces as ▁, one before each text; bytes where there is no token."""
    tokenizer = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    special = ["<unk>", *(f"<0x{value:02X}>" for value in range(256))]
    return trained(
        tokenizer, trainers.BpeTrainer(vocab_size=320, show_progress=False, special_tokens=special)
    )


def words() -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "isolated")
    tokenizer.decoder = decoders.Fuse()
    return trained(
        tokenizer, trainers.WordLevelTrainer(vocab_size=9, show_progress=False, special_tokens=["[UNK]"])
    )


def written(tokenizer: tokenizers.Tokenizer, folder: Path) -> Pretrained:
    tokenizer.save(str(folder / "tokenizer.json"))
    return Pretrained(source=str(folder))


def learned(tokenizer: Pretrained, documents: list[str] = TEXT, alphabet: str = ALPHABET) -> Pretrained:
    tokenizer.learn(documents, alphabet)
    return tokenizer


def test_it_encodes_as_the_library_does(tmp_path: Path):
    peer = llama()
    tokenizer = learned(written(peer, tmp_path))
    for text in [*TEXT, "日本 😀\n", ""]:
        assert tokenizer.encode(text).tolist() == peer.encode(text, add_special_tokens=False).ids


def test_what_is_put_around_a_text_or_cut_off_is_left_out(tmp_path: Path):
    peer = bert()
    assert peer.encode("the cat sat on the mat").tokens[0] == "[CLS]"
    tokenizer = learned(written(peer, tmp_path))
    assert tokenizer.encode("the cat sat on the mat").size > 4
    loaded = tokenizers.Tokenizer.from_str(json.dumps(tokenizer.to_json()))
    for text in TEXT:
        assert tokenizer.encode(text).tolist() == loaded.encode(text).ids
        assert 1 not in tokenizer.encode(text)


@pytest.mark.parametrize(
    ("made", "documents", "loss"),
    [
        (bert, ["The cat"], "it lowers capitals"),
        (bert, ["the cat"], "it alters white space"),
        (llama, TEXT, "it puts a space before each text"),
        (words, ["the cat", "a dog"], "it has no token for 'dog'"),
    ],
)
def test_why_text_is_lost(made: Any, documents: list[str], loss: str, tmp_path: Path):
    tokenizer = learned(written(made(), tmp_path), documents)
    assert (tokenizer.loss, tokenizer.lossless) == (loss, False)


def normalized(normalizer: Any) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer.from_file(turns["source"][0])
    tokenizer.normalizer = normalizer
    return tokenizer


BARE = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()])


@pytest.mark.parametrize(
    ("normalizer", "text", "loss"),
    [
        (normalizers.NFC(), "cafe\u0301", "it writes 'e\u0301' as 'é'"),
        (normalizers.NFKC(), "ﬁt", "it writes 'ﬁ' as 'fi'"),
        (normalizers.NFD(), "café", "it writes 'é' as 'e\u0301'"),
        (
            normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]),
            "café",
            "it takes the marks off letters",
        ),
        (normalizers.Strip(), "cat ", "it alters white space"),
        (normalizers.Replace("cat", "dog"), "a cat", "it writes 'dog' for 'cat'"),
        (normalizers.Replace("x", ""), "axb", "it leaves out 'x'"),
        (normalizers.Prepend("!"), "cat", "it writes '!cat' for 'cat'"),
        (normalizers.Replace("t", "t!"), "cat", "it adds '!' to the end of a text"),
        (normalizers.NFC(), "café", None),
    ],
)
def test_why_normalized_text_is_lost(normalizer: Any, text: str, loss: str | None, tmp_path: Path):
    assert learned(written(normalized(normalizer), tmp_path), [text], "a").loss == loss


def test_characters_of_validation_text_are_looked_at_too(tmp_path: Path):
    tokenizer = learned(written(normalized(normalizers.Lowercase()), tmp_path), ["cat"], "AC")
    assert tokenizer.loss == "it lowers capitals"


def test_why_it_is_lossy_is_kept_in_a_run(tmp_path: Path):
    tokenizer = learned(written(bert(), tmp_path))
    resolved = family.resolve("tokenizer", {"name": "pretrained", "source": str(tmp_path)})
    (tmp_path / "run").mkdir()
    tokenizer_file.save(tokenizer, resolved, tmp_path / "run")
    (tmp_path / "tokenizer.json").unlink()
    loaded = tokenizer_file.load(tmp_path / "run")
    assert loaded.loss == tokenizer.loss == "it lowers capitals"
    assert loaded.encode("The cat").tolist() == tokenizer.encode("The cat").tolist()


def test_a_run_s_folder_is_a_source(tmp_path: Path):
    ours = ByteBpe(vocabulary=280, special_tokens=("<|end|>",))
    ours.learn(TEXT)
    tokenizer_file.save(ours, {"name": "byte_bpe"}, tmp_path)
    tokenizer = learned(Pretrained(source=str(tmp_path)))
    assert tokenizer.lossless and tokenizer.token_bytes() == ours.token_bytes()
    for text in [*TEXT, "日本<|end|>😀"]:
        assert tokenizer.encode(text).tolist() == ours.encode(text).tolist()


# --- which one it was -----------------------------------------------------------------------------------------------


def test_the_recipe_says_which_file_it_was_and_another_is_refused(tmp_path: Path):
    path = tmp_path / "tokenizer.json"
    shutil.copy(turns["source"][0], path)
    resolved = family.resolve("tokenizer", {"name": "pretrained", "source": str(path)})
    pinned = Pretrained.pinned(resolved)
    assert pinned == {**resolved, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert Pretrained.pinned(pinned) == pinned
    learned(family.build("tokenizer", pinned))
    shutil.copy(turns["source"][1], path)
    assert Pretrained.pinned(pinned) == pinned
    with pytest.raises(
        ValueError, match=rf"source = '{path}' is another one now: .* says {pinned['sha256']}"
    ):
        learned(family.build("tokenizer", pinned))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "source is empty"),
        ("nowhere/tokenizer.json", "source = 'nowhere/tokenizer.json': nowhere/tokenizer.json is no file"),
        (str(FILES), r"pretrained/tokenizer\.json is no file; a study needs it"),
        (__file__, "test_pretrained.py is damaged: it is not JSON"),
        ("tiktoken:morse", "tiktoken has no such encoding; there is .*gpt2"),
    ],
)
def test_a_source_that_is_none_is_one_line(source: str, message: str):
    with pytest.raises(ValueError, match=message) as raised:
        learned(Pretrained(source=source))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": {"type": "Morse"}}, "cannot take it"),
        ({"pre_tokenizer": hugging_face.split("(")}, "cannot take it: Oniguruma error"),
        (
            {"model": {"type": "WordLevel", "vocab": {"a": 1 << 30}, "unk_token": "a"}},
            "its ids go up to 1,073,741,824",
        ),
        (
            {"model": {"type": "WordLevel", "vocab": {}, "unk_token": "a"}, "added_tokens": []},
            "its ids go up to -1",
        ),
    ],
)
def test_a_file_that_is_none_is_named(change: dict[str, Any], message: str, tmp_path: Path):
    content = {**json.loads(Path(turns["source"][0]).read_text(encoding="utf-8")), **change}
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message) as raised:
        learned(Pretrained(source=str(tmp_path)))
    assert str(raised.value).startswith(f"tokenizer.source = '{tmp_path}': ")


# --- tiktoken -------------------------------------------------------------------------------------------------------

PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
    r"|\s+(?!\S)|\s"
)


def encoding(merges: int = 120) -> tiktoken.Encoding:
    """As cl100k_base, but small: bytes in another order, a hole in the ids before the special token."""
    trained = ByteBpe(vocabulary=256 + merges, split="gpt4")
    trained.learn([*TEXT, "banana bandana 12345 1234 日本日本語 😀😀😃", "aaaa aaaaaaa aaa abababab"] * 3)
    tokens = trained.token_bytes()
    random.Random(0).shuffle(single := tokens[:256])
    ranks = {token: rank for rank, token in enumerate([*single, *tokens[256:]])}
    return tiktoken.Encoding(
        "small", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={"<|endoftext|>": len(ranks) + 1}
    )


@pytest.fixture(scope="module")
def small() -> tiktoken.Encoding:
    return encoding()


@pytest.fixture(scope="module")
def converted(small: tiktoken.Encoding) -> Pretrained:
    tokenizer = Pretrained(source="tiktoken:small")
    tokenizer.restore(tiktoken_encoding.content(small))
    return tokenizer


PIECES = [
    "banana",
    "bandana",
    "12345",
    "日本",
    "😀",
    "aaaaaaa",
    " ",
    "\n",
    "\r\n",
    "\t ",
    "'LL",
    "'s",
    "…",
    "<|endoftext|>",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=10).map("".join))
def test_tiktoken_s_ids(small: tiktoken.Encoding, converted: Pretrained, text: str):
    ids = small.encode(text, allowed_special="all")
    assert converted.encode(text).tolist() == ids
    assert converted.decode(ids) == text


def test_every_token_of_tiktoken_has_its_bytes(small: tiktoken.Encoding, converted: Pretrained):
    tokens = converted.token_bytes()
    assert len(tokens) == small.n_vocab == converted.vocabulary_size
    assert tokens[small.eot_token - 1] == b""
    for number in [*range(small.eot_token - 1), small.eot_token]:
        assert tokens[number] == small.decode_single_token_bytes(number)


def test_merges_are_found_again_from_ranks():
    ours = ByteBpe(vocabulary=256 + 150)
    ours.learn(["abab aaaa aaaaaa babab abaaab", *TEXT, "日本日本語"] * 3)
    ranks = {token: rank for rank, token in enumerate(ours.token_bytes())}
    assert tiktoken_encoding.merges(ranks) == ours.merges


def test_a_token_that_nothing_leaves_has_no_merge():
    ranks = {bytes([value]): value for value in range(256)} | {b"ab": 256, b"xyz": 257}
    assert tiktoken_encoding.merges(ranks) == [(b"a", b"b")]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (r"\p{N}{1,3}+|a", r"\p{N}{1,3}|a"),
        (r"\s++$|\$", r"\s++(?![\s\S])|\$"),
        (PATTERN.replace("{1,3}+", "{1,3}").replace("$", r"(?![\s\S])"),) * 2,
    ],
)
def test_patterns(given: str, expected: str):
    assert tiktoken_encoding.pattern(given) == expected


def test_a_pattern_that_the_library_would_read_otherwise_is_refused():
    with pytest.raises(ValueError, match="cannot be written"):
        tiktoken_encoding.pattern(r"\d{1,3}+\d")


def test_an_encoding_that_is_nowhere_says_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def fetches(*_: Any) -> bytes:
        raise ConnectionError("no network")

    monkeypatch.setattr("tiktoken.load.read_file", fetches)
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {})
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(
        ValueError, match=rf"gpt2': it is not in tiktoken's cache {tmp_path} .* ConnectionError"
    ):
        learned(Pretrained(source="tiktoken:gpt2"))


def test_an_encoding_in_the_cache_is_used(small: tiktoken.Encoding, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tiktoken.list_encoding_names", lambda: ["small"])
    monkeypatch.setattr("tiktoken.get_encoding", lambda name: small)
    resolved = Pretrained.pinned(
        family.resolve("tokenizer", {"name": "pretrained", "source": "tiktoken:small"})
    )
    tokenizer = learned(family.build("tokenizer", resolved))
    assert tokenizer.lossless
    assert tokenizer.encode("banana").tolist() == small.encode("banana")
    more = encoding(merges=9)
    monkeypatch.setattr("tiktoken.get_encoding", lambda name: more)
    with pytest.raises(ValueError, match="'tiktoken:small' is another one now"):
        learned(family.build("tokenizer", resolved))


def test_the_digest_of_an_encoding_is_that_of_its_tokens_and_pattern(small: tiktoken.Encoding):
    ranks = {base64.b64encode(token).decode(): rank for token, rank in small._mergeable_ranks.items()}
    plain = json.dumps([dict(sorted(ranks.items())), {"<|endoftext|>": small.eot_token}, PATTERN])
    assert tiktoken_encoding.sha256(small) == hashlib.sha256(plain.encode()).hexdigest()
