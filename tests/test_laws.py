"""The laws that make a comparison fair: one change, same text, same start."""

import itertools
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from killed_runs import CORPUS, recipe
from onechange import dataset, documents, family, seed, source, study_file, windows
from onechange.dataset import Dataset
from onechange.documents import Corpus
from onechange.engine import Engine
from onechange.first_weights import fill
from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.model import Model
from onechange.settings import DEFAULTS
from onechange.sizes import Sizes
from onechange.windows import Windows

LESSON = study_file.read(study_file.locate("tokenizers-and-positions"))

# Law 1. One change: an arm differs from its parent by exactly one thing.


def arm(change: str, base: str = "") -> dict[str, Any]:
    content = f'question = "q"\n[base]\n{base}\n[[arm]]\nname = "a"\nfrom = "base"\n{change}'
    return study_file.parse(content.encode()).settings("a", "full")


@pytest.mark.parametrize(
    ("change", "base", "error", "message"),
    [
        (
            'change.position = "rope"\nchange.batch = 2',
            "",
            ValueError,
            "arm 'a' changes position, batch: .*one thing",
        ),
        (
            "change.width = 768\nchange.heads = 12",
            "",
            ValueError,
            "arm 'a' changes width, heads: .*one thing",
        ),
        ("change = {}", "", ValueError, "arm 'a' changes nothing"),
        (
            'change.position = "learned"',
            "",
            ValueError,
            "change.position changes nothing: 'base' has learned too",
        ),
        ("change.width = 384", "", ValueError, "change.width changes nothing: 'base' has 384 too"),
        (
            "change.position = { theta = 10000 }",
            'position = "rope"',
            ValueError,
            r"change.position changes nothing: 'base' has rope \(theta = 10000.0, share = 1.0, pairs = '\w+'\) too",
        ),
        (
            'change.position = { name = "rope", theta = 1e4 }',
            'position = "rope"',
            ValueError,
            "changes nothing",
        ),
        ("change.optimizer = {}", "", ValueError, "change.optimizer changes nothing"),
        (
            'change.position = "ropee"',
            "",
            LookupError,
            "arm 'a': .*no member 'ropee'; there is alibi, fire, kerple, learned, none, rope",
        ),
        (
            "change.position = { theta = 5.0 }",
            "",
            LookupError,
            "arm 'a': position 'learned': no setting 'theta'",
        ),
        ("change.position = 5", "", ValueError, "arm 'a': position = 5: must be a member's name or a table"),
        ("change.width = '5'", "", ValueError, "arm 'a': width = '5': must be a whole number"),
        ("change.width = 5.0", "", ValueError, "arm 'a': width = 5.0: must be a whole number"),
        ("change.dropout = nan", "", ValueError, "arm 'a': dropout = nan: must be a finite number"),
        ("change.dropout = inf", "", ValueError, "arm 'a': dropout = inf: must be a finite number"),
        ("change.dropout = 1.5", "", ValueError, "arm 'a': dropout = 1.5: must be at least 0 and below 1"),
        ("change.batch = 0", "", ValueError, "arm 'a': batch = 0: must be at least 1"),
        ("change.heads = 5", "", ValueError, "arm 'a': width = 384 cannot be divided among heads = 5"),
        ("change.position = { name = 'rope', theta = nan }", "", ValueError, "arm 'a': position.theta = nan"),
        *(
            (
                f"change.{key} = {value}",
                "",
                ValueError,
                f"arm 'a': change.{key} is not allowed; one of tokenizer, ",
            )
            for key, value in [
                ("corpus", "'file'"),
                ("budget", "{ steps = 9 }"),
                ("clip", "2.0"),
                ("colour", "1"),
            ]
        ),
    ],
)
def test_one_change(change: str, base: str, error: type[Exception], message: str):
    with pytest.raises(error, match=message) as caught:
        arm(change, base)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("scale", ["tiny", "quick", "full"])
def test_the_arms_of_the_built_in_study_differ_by_one_thing(scale: str):
    settings = [LESSON.settings(name, scale) for name in LESSON.arm_names]
    for parent, child, changed in zip(settings, settings[1:], ["tokenizer", "position"], strict=False):
        assert [key for key in parent if parent[key] != child[key]] == [changed]


# Law 2. Same text: a window starts at the same character for every tokenizer, at its first token boundary there.


@cache
def arms_data() -> dict[str, Dataset]:
    found = {}
    for name in LESSON.arm_names:
        settings = LESSON.settings(name, "tiny")["tokenizer"]
        if settings["name"] == "bpe":
            settings = {**settings, "vocabulary": 60}
        found[name] = dataset.dataset(CORPUS, dataset.learn(CORPUS, settings))
    return found


def text_of(corpus: Corpus) -> str:
    return "".join(story + corpus.separator for story in corpus.training)


def first_boundary(tokens: list[str], place: int) -> int:
    """Counted one token after another: the first that starts at or after ``place``, or the text's first."""
    start = 0
    for number, token in enumerate(tokens):
        if start >= place:
            return number
        start += len(token)
    return 0


def test_the_arms_cut_the_text_differently():
    character, bpe, rope = (data.training for data in arms_data().values())
    assert len(character.ids) == character.characters == bpe.characters == len(text_of(CORPUS))
    assert len(bpe.ids) < 0.7 * len(character.ids)
    assert np.array_equal(bpe.ids, rope.ids)


@pytest.mark.parametrize("run", range(4))
def test_every_arm_s_rows_start_at_the_same_place_of_the_text(run: int):
    text = text_of(CORPUS)
    ring = text * 3
    wrapped = 0
    for step in range(1, 41):
        places = windows.places(run, step, 6, len(text))
        for name, data in arms_data().items():
            tokens = [data.tokenizer.tokens()[number] for number in data.training.ids]
            inputs, targets, held = Windows(data.training, run, 6, 16).batch(step)
            expected_held = 0
            for row, place in enumerate(places):
                first = first_boundary(tokens, place)
                start = sum(map(len, tokens[:first])) if first else (0 if place == 0 else len(text))
                longest = max(map(len, tokens))
                assert 0 <= start - place < longest, f"{name}: not its first token boundary there"
                read = data.tokenizer.decode(inputs[row])
                assert ring[start : start + len(read)] == read
                after = data.tokenizer.decode([*inputs[row], targets[row][-1]])
                assert ring[start : start + len(after)] == after
                assert inputs[row][1:].tolist() == targets[row][:-1].tolist()
                expected_held += len(after) - len(data.tokenizer.decode(inputs[row][:1]))
                wrapped += start + len(after) > len(text)
            assert held == expected_held
    assert wrapped > 10, "some windows must run over the end of the text for this to be a test"


def test_on_real_stories_too(shared_stories: Path):
    corpus = documents.prepare(source.parse(f"tinystories:{shared_stories}"), cache=None)
    text = text_of(corpus)
    for tokenizer in ("character", "bpe"):
        settings = family.resolve("tokenizer", tokenizer)
        data = dataset.dataset(corpus, dataset.learn(corpus, settings))
        tokens = data.tokenizer.tokens()
        boundaries = np.cumsum([0, *(len(tokens[number]) for number in data.training.ids)])[:-1]
        for run, step in itertools.product((0, 1, 2), (1, 2, 1999)):
            places = windows.places(run, step, 32, len(text))
            first = Windows(data.training, run, 32, 512).first_tokens(step)
            assert (boundaries[first] >= places).all() and (boundaries[first - 1] < places).all()


@pytest.mark.parametrize("place", ["the first character", "within the last token", "within the first token"])
def test_the_text_is_a_ring(monkeypatch: pytest.MonkeyPatch, place: str):
    data = arms_data()["bpe-wpe"]
    text, tokens = text_of(CORPUS), [data.tokenizer.tokens()[number] for number in data.training.ids]
    assert len(tokens[0]) > 1 and len(tokens[-1]) > 1
    at, first = {
        "the first character": (0, 0),
        "within the last token": (len(text) - 1, 0),
        "within the first token": (1, 1),
    }[place]
    monkeypatch.setattr(windows, "places", lambda *_: np.array([at]))
    assert Windows(data.training, 0, 1, 4).batch(1)[0].tolist() == [
        data.training.ids[first : first + 4].tolist()
    ]


def test_more_rows_begin_with_the_same_rows():
    for step in (1, 2, 1000):
        many = windows.places(7, step, 64, 1_600_743)
        assert np.array_equal(many[:32], windows.places(7, step, 32, 1_600_743))
        assert np.array_equal(many[:1], windows.places(7, step, 1, 1_600_743))
    data = arms_data()["bpe-rope"].training
    for one, two in zip(
        Windows(data, 1, 8, 16).batch(3)[:2], Windows(data, 1, 3, 16).batch(3)[:2], strict=True
    ):
        assert np.array_equal(one[:3], two)


def test_a_longer_window_starts_with_the_shorter_one():
    data = arms_data()["char-wpe"].training
    assert np.array_equal(Windows(data, 1, 8, 64).batch(5)[0][:, :16], Windows(data, 1, 8, 16).batch(5)[0])


def test_every_place_is_equally_likely():
    counts = np.zeros(50)
    for step in range(1, 2001):
        counts += np.bincount(windows.places(0, step, 32, 50), minlength=50)
    assert counts.sum() == 64_000
    assert stats.chisquare(counts).pvalue > 0.001
    assert windows.places(0, 1, 10_000, 3).max() == 2


def test_batches_follow_from_seed_step_and_row_alone():
    drawn = [tuple(windows.places(run, step, 8, 10**9)) for run in range(5) for step in range(1, 6)]
    assert len(set(drawn)) == 25
    np.random.seed(1)
    torch.manual_seed(1)
    again = [tuple(windows.places(run, step, 8, 10**9)) for run in range(5) for step in range(1, 6)]
    assert drawn == again


def test_nothing_else_draws_from_the_stream_of_the_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A whole run asks for every stream by name; only batches ask for the text's, each once."""
    asked: list[tuple[int, str, str]] = []
    digest = seed.digest

    def noted(run: int, purpose: seed.Purpose, name: str) -> bytes:
        asked.append((run, purpose, name))
        return digest(run, purpose, name)

    monkeypatch.setattr(seed, "digest", noted)
    from killed_runs import train

    train(tmp_path, recipe(dropout=0.1))
    assert [name for _, purpose, name in asked if purpose == "data"] == [f"step-{n}" for n in range(1, 13)]
    assert len(asked) == len(set(asked)), "a stream drawn from twice"
    names = {purpose: [name for _, p, name in asked if p == purpose] for purpose in ("weights", "dropout")}
    assert len(names["dropout"]) == 12
    assert len(names["weights"]) == 2 + 2 * 6, "embedding, positions, and six matrices a block"


# Law 3. Same start: parts of the same name and shape start bit for bit equal.

PARTS = {kind: family.resolve(kind, DEFAULTS[kind]) for kind in family.MODEL_FAMILIES}


def first_weights(
    vocabulary: int = 79, window: int = 128, run: int = 0, parts: Mapping[str, Any] | None = None
) -> dict[str, nn.Parameter]:
    sizes = Sizes(layers=2, heads=2, width=100, window=window, vocabulary=vocabulary)
    model = Model(sizes, parts or PARTS)
    fill(model, run, sizes.layers, Gpt2Initialization())
    return dict(model.named_parameters())


def same(one: dict[str, nn.Parameter], two: dict[str, nn.Parameter]) -> list[str]:
    """The names that both have in the same shape; each must hold the same bits."""
    shared = [key for key in one if key in two and one[key].shape == two[key].shape]
    assert all(torch.equal(one[key], two[key]) for key in shared)
    return shared


def test_the_arms_of_the_built_in_study_start_equal():
    models = {}
    for name in LESSON.arm_names:
        settings = LESSON.settings(name, "tiny")
        engine = Engine(
            recipe(**{key: settings[key] for key in ("position", "layers", "heads", "width", "window")}),
            arms_data()[name].tokenizer.vocabulary_size,
        )
        models[name] = dict(engine.model.named_parameters())
    character, bpe, rope = models.values()
    assert set(character) == set(bpe) == {*rope, "position.table"}
    assert same(character, bpe) == [key for key in character if key != "embedding"]
    assert same(bpe, rope) == list(rope)
    rows = len(character["embedding"])
    assert rows < len(bpe["embedding"])
    assert torch.equal(character["embedding"], bpe["embedding"][:rows])


@pytest.mark.parametrize("kind", family.MODEL_FAMILIES)
def test_swapping_a_member_leaves_every_other_part_as_it_was(kind: str, strangers: str):
    usual = first_weights()
    for name in family.members(kind):
        other = first_weights(parts={**PARTS, kind: family.resolve(kind, name)})
        own = "norm" if kind == "placement" else kind  # a placement decides where norms stand
        assert {key for key in usual if own not in key} <= set(same(usual, other))
        for key, value in other.items():
            if key.endswith(".out.weight"):
                assert float(value.detach().std()) == pytest.approx(0.01, rel=0.05), (
                    "divided by sqrt(2 · layers)"
                )
            elif value.ndim > 1:
                chance = (
                    4 / (2 * value.numel()) ** 0.5
                )  # four standard errors of a deviation, for a small table
                assert float(value.detach().std()) == pytest.approx(0.02, rel=max(0.05, chance))


@pytest.mark.parametrize("run", [0, 3])
def test_tables_agree_in_their_first_rows_whatever_the_number_of_rows(run: int):
    """At width 100, since generators fill in chunks."""
    tables = [
        first_weights(vocabulary, window, run)
        for vocabulary, window in itertools.product((74, 79, 4096), (128, 512))
    ]
    for one, two in itertools.combinations(tables, 2):
        for key in ("embedding", "position.table"):
            rows = min(len(one[key]), len(two[key]))
            assert torch.equal(one[key][:rows], two[key][:rows])
        assert len(same(one, two)) >= len(one) - 2


def test_every_part_has_a_stream_of_its_own():
    matrices = {
        key: value.detach().flatten()[:64] for key, value in first_weights().items() if value.ndim > 1
    }
    assert len(matrices) == 2 + 2 * 6
    normalised = {key: value / value.std() for key, value in matrices.items()}
    for one, two in itertools.combinations(normalised.values(), 2):
        assert float(torch.dot(one, two).abs() / 64) < 0.6, "two parts drawn from the same numbers"


def test_seeds_differ_in_every_matrix():
    one, two = first_weights(run=0), first_weights(run=1)
    for key in one:
        assert torch.equal(one[key], two[key]) == (one[key].ndim < 2)


def test_streams_are_keyed_by_seed_purpose_and_name():
    keys = itertools.product((0, 1, 12), ("data", "weights", "dropout"), ("1/x", "x", "step-1"))
    assert len({seed.digest(*key) for key in keys}) == 27
    assert [seed.integer(0, "dropout", name) < 2**63 for name in ("a", "b")] == [True, True]


def test_streams_give_the_same_numbers_on_every_machine():
    """SHA-256 of ``0/data/step-1``; the first 16 bytes, little-endian, are the key of Philox, which is defined."""
    import hashlib

    key = hashlib.sha256(b"0/data/step-1").digest()
    expected = np.random.Philox(key=int.from_bytes(key[:16], "little")).random_raw(4) >> np.uint64(11)
    assert seed.stream(0, "data", "step-1").random(4).tolist() == (expected * 2.0**-53).tolist()


def test_dropout_follows_from_seed_and_step_alone():
    tokens = torch.arange(16).view(2, 8)

    def first_loss(run: int, step: int) -> float:
        torch.manual_seed(step)
        return Engine(recipe(seed=run, dropout=0.5), 20).update(step, tokens, tokens)

    losses = {run: [first_loss(run, step) for step in (1, 2, 3)] for run in (0, 1)}
    assert len({loss for found in losses.values() for loss in found}) == 6
    assert [first_loss(0, step) for step in (3, 1)] == [losses[0][2], losses[0][0]]
    engine = Engine(recipe(dropout=0.5), 20)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    engine.update(1, tokens, tokens)
    assert torch.equal(torch.rand(3), expected), "torch's own generator is left alone"


def test_first_weights_owe_nothing_to_torch_s_generator():
    torch.manual_seed(1)
    one = first_weights()
    torch.manual_seed(2)
    assert same(one, first_weights()) == list(one)
