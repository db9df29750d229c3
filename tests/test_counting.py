"""Pieces are counted as `collections.Counter` counts them, however the work is shared out."""

import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edge_texts
import plain_merges
from onechange import counting, pair_encoding
from onechange.counting import Counts, count
from onechange.pieces import Pieces
from onechange.symbols import Bytes

SPLITS = ["classes", "gpt2", "gpt4", r"\w+"]


def found(counts: Counts) -> dict[str, int]:
    assert len(counts) == len(counts.times) == len(counts.table)
    pieces = [counts.table.piece(number).tobytes().decode() for number in range(len(counts))]
    assert len(set(pieces)) == len(pieces)
    return dict(zip(pieces, counts.times.tolist(), strict=True))


def plainly(documents: list[str], pieces: Pieces) -> Counter[str]:
    return Counter(piece for document in documents for piece in pieces.cut(document))


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "AT_ONCE", 300)


@pytest.mark.parametrize("threads", [1, 2, 3, None])
@pytest.mark.parametrize("split", SPLITS)
@given(documents=st.lists(edge_texts.texts, max_size=8), at_once=st.sampled_from([1, 20, 1 << 21]))
def test_counts_are_those_of_counting_one_by_one(
    split: str, threads: int | None, documents: list[str], at_once: int
):
    pieces = Pieces(split)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "AT_ONCE", at_once)
        counts = count([document.encode() for document in documents], pieces, threads)
    assert found(counts) == plainly(documents, pieces)


def some_documents(number: int) -> list[bytes]:
    draw = random.Random(number)
    words = ["".join(draw.choices("abcdeé ", k=draw.randint(1, 6))) for _ in range(300)]
    return [" ".join(draw.choices(words, k=20)).encode() for _ in range(200)]


@pytest.mark.parametrize("seed", range(3))
def test_merges_depend_on_no_order_and_no_threads(
    seed: int, small_batches: None, monkeypatch: pytest.MonkeyPatch
):
    documents, pieces = some_documents(seed), Pieces("gpt2")
    texts = [document.decode() for document in documents]
    expected = plain_merges.merges(
        {piece.encode(): times for piece, times in plainly(texts, pieces).items()}, 60
    )
    assert len(expected) == 60
    for threads in (1, 2, 3):
        monkeypatch.setattr("onechange.processor.threads", lambda wanted, threads=threads: threads)
        for order in (documents, documents[::-1], random.Random(seed + threads).sample(documents, 200)):
            assert pair_encoding.learn(order, Bytes(), pieces, 60) == expected


def test_documents_are_read_once_and_only_as_fast_as_they_are_counted(small_batches: None):
    """No more is taken from the source than the threads have in hand and a batch beside it."""
    counts, read = Counts(), 0
    taken: list[int] = []

    def source() -> Iterator[bytes]:
        nonlocal read
        for number in range(400):
            read += 1
            yield f"word{number % 7} ".encode() * 50

    class Watched(Pieces):
        def cuts(self, documents):
            taken.append(read)
            return super().cuts(documents)

    counts = count(source(), Watched("gpt2"), 2)
    assert read == 400
    assert int(counts.times.sum()) == sum(len(Pieces("gpt2").cut(f"word{n % 7} " * 50)) for n in range(400))
    assert all(now <= 3 * (done + 1) for done, now in enumerate(taken))


def test_what_cannot_be_read_is_an_error_of_the_caller_s(small_batches: None):
    def source() -> Iterator[bytes]:
        yield b"a b c" * 1000
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        count(source(), Pieces("gpt2"), 2)


def test_counts_go_beyond_32_bits():
    one, other = Counts().add([b"ab ab cd"], Pieces("gpt2")), Counts().add([b"cd xy"], Pieces("gpt2"))
    for _ in range(40):
        copy = Counts()
        copy.merge(one)
        one.merge(copy)
    one.merge(other)
    assert found(one) == {"ab": 2**40, " ab": 2**40, " cd": 2**40, "cd": 1, " xy": 1}
    assert one.times.dtype == np.int64
