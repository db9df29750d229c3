"""The whole model: its parameters counted by hand, its forward pass against one written apart, its operations."""

import math

import jaxtyping
import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from onechange import dropout, family
from onechange import model as model_module
from onechange.first_weights import fill
from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.model import Model, parameter_count, surprise
from onechange.operations import per_token
from onechange.settings import DEFAULTS
from onechange.sizes import Sizes

ARTICLE = Sizes(layers=6, heads=6, width=384, window=512, vocabulary=4096)
SMALL = Sizes(layers=3, heads=4, width=32, window=20, vocabulary=37)


def parts(position: str) -> dict[str, dict[str, object]]:
    chosen = {kind: DEFAULTS[kind] for kind in family.MODEL_FAMILIES} | {"position": position}
    return {kind: family.resolve(kind, name) for kind, name in chosen.items()}


def shapes_only(position: str, vocabulary: int) -> Model:
    sizes = Sizes(layers=6, heads=6, width=384, window=512, vocabulary=vocabulary)
    with torch.device("meta"):
        return Model(sizes, parts(position))


def loud(position: str, sizes: Sizes = SMALL) -> Model:
    """Every weight matters: gains are not one, matrices are large."""
    model, random = Model(sizes, parts(position)), np.random.default_rng(0)
    with torch.no_grad():
        for parameter in model.parameters():
            around = 1.0 if parameter.ndim == 1 else 0.0
            parameter.copy_(torch.from_numpy(random.normal(around, 0.2, parameter.shape)))
    return model


def drawn(rows: int, time: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(1).integers(0, SMALL.vocabulary, (rows, time)))


@pytest.mark.parametrize(
    ("position", "vocabulary", "parameters"),
    [("learned", 74, 10_846_848), ("learned", 4096, 12_391_296), ("rope", 4096, 12_194_688)],
)
def test_the_article_s_three_models_have_exactly_so_many_parameters(
    position: str, vocabulary: int, parameters: int
):
    assert parameter_count(shapes_only(position, vocabulary)) == parameters
    by_hand = (
        vocabulary * 384 + 6 * (4 + 8) * 384**2 + (6 * 2 + 1) * 384 + 512 * 384 * (position == "learned")
    )
    assert by_hand == parameters


def plain_forward(weights: dict[str, np.ndarray], tokens: np.ndarray, sizes: Sizes, rope: bool) -> np.ndarray:
    """GPT-2 without biases, in float64, one row and one head at a time; returns the scores of every token."""

    def normalised(x: np.ndarray, gain: np.ndarray) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * gain

    def turned(x: np.ndarray) -> np.ndarray:
        pairs = x[:, 0::2] + 1j * x[:, 1::2]
        frequencies = 10_000.0 ** (-2 * np.arange(pairs.shape[1]) / x.shape[1])
        pairs = pairs * np.exp(1j * np.outer(np.arange(len(x)), frequencies))
        return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)

    gelu = np.vectorize(lambda number: number * (1 + math.erf(number / math.sqrt(2))) / 2)
    rows = []
    for row in tokens:
        x = weights["embedding"][row]
        if not rope:
            x = x + weights["position.table"][: len(row)]
        for layer in range(sizes.layers):
            w = {
                k.removeprefix(f"blocks.{layer}."): v
                for k, v in weights.items()
                if k.startswith(f"blocks.{layer}.")
            }
            y = normalised(x, w["attention_norm.norm.gain"])
            heads = []
            for head in range(sizes.heads):
                mine = slice(head * sizes.head_width, (head + 1) * sizes.head_width)
                q, k, v = (y @ w[f"attention.{name}.weight"][mine].T for name in ("query", "key", "value"))
                if rope:
                    q, k = turned(q), turned(k)
                scores = np.where(np.tri(len(row), dtype=bool), q @ k.T / np.sqrt(sizes.head_width), -np.inf)
                weight = np.exp(scores - scores.max(-1, keepdims=True))
                heads.append(weight @ v / weight.sum(-1, keepdims=True))
            x = x + np.concatenate(heads, -1) @ w["attention.out.weight"].T
            y = normalised(x, w["mlp_norm.norm.gain"])
            x = x + gelu(y @ w["mlp.hidden.weight"].T) @ w["mlp.out.weight"].T
        rows.append(normalised(x, weights["norm.gain"]) @ weights["embedding"].T)
    return np.stack(rows)


@pytest.mark.parametrize("position", ["learned", "rope"])
def test_a_plain_gpt_2_gives_the_same_scores(position: str):
    model, tokens = loud(position), drawn(2, 20)
    weights = {key: value.detach().double().numpy() for key, value in model.named_parameters()}
    expected = plain_forward(weights, tokens.numpy(), SMALL, position == "rope")
    found = model.logits(model(tokens)).detach().double().numpy()
    assert expected.std() > 0.5, "scores that are all alike would prove nothing"
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
    targets = drawn(2, 21)[:, 1:]
    probabilities = np.exp(expected) / np.exp(expected).sum(-1, keepdims=True)
    nats = -np.log(np.take_along_axis(probabilities, targets.numpy()[:, :, None], -1))[:, :, 0]
    np.testing.assert_allclose(model.nats(tokens, targets).detach(), nats, rtol=1e-5, atol=1e-5)


def test_the_table_that_reads_is_the_table_that_writes():
    model = loud("learned")
    names = [key for key, value in model.named_parameters() if SMALL.vocabulary in value.shape]
    assert names == ["embedding"]
    tokens, before = drawn(1, 4), model.logits(model(drawn(1, 4)))
    unused = next(number for number in range(SMALL.vocabulary) if number not in tokens)
    with torch.no_grad():
        model.embedding[unused] += 1
    after = model.logits(model(tokens))
    changed = (after != before).any(dim=(0, 1)).nonzero().flatten().tolist()
    assert changed == [unused], "a token that is not read changes only where it is written"


def test_shapes_are_checked_while_tests_run():
    with pytest.raises(jaxtyping.TypeCheckError, match="tokens"):
        loud("rope")(drawn(1, 5)[0])


def test_there_are_no_biases():
    assert not [key for key, _ in shapes_only("learned", 74).named_parameters() if "bias" in key]
    model = loud("rope")
    with torch.no_grad():
        model.embedding.zero_()
    assert not model(drawn(1, 5)).any(), "nothing comes of nothing"


def test_scores_and_surprise_are_float32_whatever_the_precision():
    model, tokens = loud("rope"), drawn(2, 20)
    exact = model.nats(tokens, tokens)
    with torch.autocast("cpu", torch.bfloat16):
        features = model(tokens)
        assert features.dtype == torch.float32, "the residual stream stays float32"
        assert model.logits(features).dtype == torch.float32
        rounded = surprise(features, model.embedding, tokens)
    assert rounded.dtype == torch.float32
    assert 0 < (rounded - exact).abs().max() < 0.3


@torch.no_grad()
@pytest.mark.parametrize("cast", [False, True])
def test_in_bf16_a_text_far_on_is_what_it_is_at_the_start(cast: bool):
    """Angles are float32: rounded to bf16, those at position 4,000 would be off by turns."""
    model, tokens = loud("rope"), drawn(2, 20)
    model = model.to(torch.bfloat16) if cast else model
    with torch.autocast("cpu", torch.bfloat16, enabled=not cast):
        here, far = (model(tokens, torch.arange(20) + start).float() for start in (0, 4000))
        sparse = model(tokens, torch.arange(0, 60, 3)).float()
    assert (far - here).norm() < 0.02 * here.norm()
    assert (sparse - here).norm() > 0.1 * here.norm(), "distances count"


def test_dropout_acts_in_training_only():
    sizes = Sizes(layers=3, heads=4, width=32, window=20, vocabulary=37, dropout=0.5)
    model, plain, tokens = loud("rope", sizes), loud("rope"), drawn(2, 20)
    assert torch.equal(model.eval()(tokens), plain(tokens))
    torch.manual_seed(0)
    one, two = model.train()(tokens), model(tokens)
    assert not torch.equal(one, two)
    torch.manual_seed(0)
    assert torch.equal(model(tokens), one)


def test_dropout_acts_on_the_embedding_and_on_what_every_block_adds(monkeypatch: pytest.MonkeyPatch):
    sizes = Sizes(layers=3, heads=4, width=32, window=20, vocabulary=37, dropout=0.25)
    asked: list[tuple[float, tuple[int, ...]]] = []
    given: set[tuple[int, ...]] = set()

    def noted(x: Tensor, share: float, key: Tensor) -> Tensor:
        asked.append((share, tuple(x.shape)))
        given.add(tuple(key.tolist()))
        return x

    monkeypatch.setattr(dropout, "drop", noted)
    monkeypatch.setattr(model_module, "drop", noted)
    loud("learned", sizes)(drawn(2, 20))
    assert asked == [(0.25, (2, 20, 32))] * (1 + 2 * 3)
    assert len(given) == 1 + 2 * 3, "no two places drop the same numbers"


def test_first_weights_are_gpt_2_s():
    model = Model(ARTICLE, parts("learned"))
    fill(model, 0, ARTICLE.layers, Gpt2Initialization())
    for key, value in model.named_parameters():
        values = value.detach()
        if values.ndim == 1:
            assert torch.equal(values, torch.ones(384)), key
        else:
            expected = 0.02 / math.sqrt(12) if key.endswith("out.weight") else 0.02
            assert float(values.std()) == pytest.approx(expected, rel=0.01), key
            assert abs(float(values.mean())) < 0.05 * expected, key


@pytest.mark.parametrize("position", ["learned", "rope", "none"])
def test_operations_are_those_that_torch_counts(position: str):
    """torch counts the whole square of causal attention, and only where it is done in plain products."""
    model = loud(position)
    tokens = drawn(2, SMALL.window)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        model.nats(tokens, tokens).mean().backward()
    counts = counter.get_flop_counts()["Global"]
    square = 2 * SMALL.layers * tokens.numel() * SMALL.window * SMALL.width
    assert counts[torch.ops.aten.bmm] == 3 * 2 * square, "two products, forward once and backward twice"
    assert (
        per_token(model, SMALL) * tokens.numel()
        == counter.get_total_flops() - counts[torch.ops.aten.bmm] // 2
    )


def test_a_full_step_of_the_article_s_bpe_model_is_1314_gflop():
    model = shapes_only("learned", 4096)
    assert round(per_token(model, ARTICLE) * 32 * 512 / 1e9) == 1314
    assert per_token(model, ARTICLE) == 6 * (4096 * 384 + 6 * 12 * 384**2) + 3 * 6 * 2 * 512 * 384


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"layers": 0}, "layers = 0: must be at least 1"),
        ({"vocabulary": 0}, "vocabulary = 0: must be at least 1"),
        ({"window": -1}, "window = -1: must be at least 1"),
        ({"heads": 5}, "width = 384 cannot be divided among heads = 5"),
        ({"dropout": 1.0}, "dropout = 1.0: must be at least 0 and below 1"),
        ({"dropout": float("nan")}, "dropout = nan: must be"),
    ],
)
def test_sizes_that_are_none(wrong: dict[str, float], message: str):
    usual = {"layers": 6, "heads": 6, "width": 384, "window": 512, "vocabulary": 74}
    with pytest.raises(ValueError, match=f"^{message}"):
        Sizes(**{**usual, **wrong})
