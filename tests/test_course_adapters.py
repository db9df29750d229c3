"""What a course on language models asks of a tokenizer (Stanford CS336, assignment 1), by plain calls of the library.

Its tests call adapters of these names and signatures. Here is what they check, on texts of our own.
"""

import random
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import regex

import plain_merges
import rank_files
from onechange.tokenizer.byte_bpe import ByteBpe

END = "<|endoftext|>"
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
REPOSITORY = Path(__file__).parents[1]


def run_train_bpe(
    input_path: Path, vocab_size: int, special_tokens: list[str]
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    tokenizer = ByteBpe(vocabulary=vocab_size, special_tokens=tuple(special_tokens))
    tokenizer.learn([input_path.read_bytes().decode()])
    return dict(enumerate(tokenizer.token_bytes())), tokenizer.merges


class CourseTokenizer:
    def __init__(self, tokenizer: ByteBpe) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text).tolist()

    def encode_iterable(self, texts: Iterable[str]) -> Iterator[int]:
        return self._tokenizer.encode_iterable(texts)

    def decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids)


def get_tokenizer(
    vocab: dict[int, bytes], merges: list[tuple[bytes, bytes]], special_tokens: list[str] | None = None
) -> CourseTokenizer:
    return CourseTokenizer(ByteBpe.of(vocab, merges, special_tokens=special_tokens or []))


def plain_training(text: str, size: int, special: list[str]) -> tuple[set[bytes], list[tuple[bytes, bytes]]]:
    """The tokens and the merges by the book: split at special tokens, cut, then everything counted for every merge."""
    stretches = regex.split("|".join(map(regex.escape, special)), text) if special else [text]
    counts = Counter(piece.encode() for stretch in stretches for piece in regex.findall(GPT2, stretch))
    merges = plain_merges.merges(counts, size - 256 - len(special))
    tokens = {bytes([value]) for value in range(256)} | {left + right for left, right in merges}
    return tokens | {text.encode() for text in special}, merges


def own_text(size: int) -> str:
    """Sentences and code: this repository's pages and modules."""
    files = [*sorted((REPOSITORY / "docs").glob("*.md")), *sorted((REPOSITORY / "src").rglob("*.py"))]
    parts: list[str] = []
    while sum(map(len, parts)) < size:
        parts.append(files[len(parts)].read_text(encoding="utf-8"))
    return END.join(parts)[:size]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "text").write_text(own_text(130_000), encoding="utf-8", newline="")
    return tmp_path / "text"


@pytest.mark.parametrize(("size", "special"), [(300, []), (300, [END]), (320, [END, "def ", "the"])])
def test_vocabulary_and_merges_are_those_of_the_book(corpus: Path, size: int, special: list[str]):
    tokens, merges = plain_training(corpus.read_text(encoding="utf-8"), size, special)
    vocabulary, found = run_train_bpe(corpus, size, special)
    assert found == merges
    assert sorted(vocabulary) == list(range(size))
    assert set(vocabulary.values()) == tokens


def test_five_hundred_tokens_of_130_kilobytes(corpus: Path):
    text = corpus.read_text(encoding="utf-8")
    vocabulary, merges = run_train_bpe(corpus, 500, [END])
    assert (len(vocabulary), len(merges)) == (500, 243)
    assert all(b"<|" not in token for token in vocabulary.values() if token != END.encode())
    tokenizer = get_tokenizer(vocabulary, merges, [END])
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_ties_go_to_the_greatest_pair(tmp_path: Path):
    """Each pair once: first by the left token, then by the right one; bytes from 0x80 on are the greatest."""
    (tmp_path / "text").write_bytes("ab ac zé bz".encode())
    _, merges = run_train_bpe(tmp_path / "text", 262, [])
    assert merges[0] == (b"\xc3", b"\xa9")
    (tmp_path / "text").write_bytes(b"A B|A BA|A C|B A")
    assert run_train_bpe(tmp_path / "text", 257, [])[1] == [(b" ", b"B")]


def test_a_text_full_of_special_tokens_teaches_no_part_of_them(tmp_path: Path):
    draw = random.Random(3)
    lines = [
        " ".join(draw.choices(["lost", "list", "last", "end", "text", "of", "fact"], k=5)) for _ in range(400)
    ]
    (tmp_path / "text").write_text(END.join(lines) + END * 50, encoding="utf-8")
    vocabulary, merges = run_train_bpe(tmp_path / "text", 300, [END])
    learned = [token for token in vocabulary.values() if len(token) > 1 and token != END.encode()]
    assert len(learned) == len(merges) > 20
    for part in (b"<", b"|", b">", b"endof", b"oftext"):
        assert not any(part in token for token in learned)


TEXTS = [
    "",
    "s",
    "A quiet harbour, two boats; nobody's there.",
    "🙃",
    "Grüße aus Köln: 3,5 Äpfel wögen ungefähr ½ Pfund, sagt’s Jörg.",
    "Zażółć — naïve façade, crème brûlée! ¿Dónde está? 你好，世界。 नमस्ते שלום",
    "Write to jo.doe+test@mail.example.org or see https://www.example.org/~jo/?q=a%20b&lang=de#top, 12 Main St.",
    "👩🏽‍🚀🧑‍🚀🇧🇷 and 👍👍👍",
    "for i in range(10):\n\tprint(f'{i:>3}')  # right\n\n\n    \n",
    "\r\n\t \u00a0\u2003x\u2028y",
]


@pytest.fixture(scope="module")
def small() -> CourseTokenizer:
    """A tokenizer learned from a few sentences."""
    tokenizer = ByteBpe(vocabulary=330)
    tokenizer.learn(TEXTS * 2)
    return get_tokenizer(dict(enumerate(tokenizer.token_bytes())), tokenizer.merges, [END, END + END])


@pytest.mark.parametrize("text", TEXTS)
def test_what_was_encoded_comes_back(small: CourseTokenizer, text: str):
    ids = small.encode(text)
    assert isinstance(ids, list) and all(type(number) is int for number in ids)
    assert small.decode(ids) == text
    assert list(small.encode_iterable(text)) == ids
    assert list(small.encode_iterable([text])) == ids


def test_special_tokens_stay_whole_and_the_longest_is_taken(small: CourseTokenizer):
    text = f"one{END}two{END}{END}three{END}{END}{END}"
    shown = [small.decode([number]) for number in small.encode(text)]
    assert "".join(shown) == text
    assert [token for token in shown if "endoftext" in token] == [END, END * 2, END * 2, END]


def test_without_special_tokens_their_text_is_text():
    tokenizer = ByteBpe(vocabulary=256)
    tokenizer.learn([])
    course = get_tokenizer(dict(enumerate(tokenizer.token_bytes())), [])
    assert course.encode(END) == list(END.encode())


@pytest.mark.parametrize("text", TEXTS)
def test_gpt2_s_vocabulary_gives_what_tiktoken_gives(text: str):
    gpt2 = rank_files.gpt2()
    vocabulary = {number: token for token, number in gpt2.ranks.items()} | {50256: END.encode()}
    course = get_tokenizer(vocabulary, gpt2.merges, [END])
    for some in (text, f"{text}{END}{text}", f"{END}{END}{text}"):
        ids = course.encode(some)
        assert ids == gpt2.theirs.encode(some, allowed_special={END})
        assert course.decode(ids) == gpt2.theirs.decode(ids) == some


def test_stories_by_lines_are_what_tiktoken_gives_and_take_little_memory(shared_stories: Path):
    gpt2 = rank_files.gpt2()
    vocabulary = {number: token for token, number in gpt2.ranks.items()}
    course = get_tokenizer(vocabulary, gpt2.merges, [END])
    with shared_stories.open(encoding="utf-8") as file:
        text = file.read(200_000)
    expected = gpt2.theirs.encode(text, allowed_special={END})
    assert course.encode(text) == expected
    assert course.decode(expected) == text
    lines = text.splitlines(keepends=True)
    found: list[int] = list(course.encode_iterable(lines))
    assert found == expected
    found.clear()
    tracemalloc.start()
    try:
        for _ in course.encode_iterable(lines):
            pass
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
