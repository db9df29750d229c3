"""Linear layers with weights of fewer bits, against torch's own and against weights rounded by hand."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from onechange import row_linear
from onechange.model import Model
from onechange.row_linear import RowLinear, Weights, rounded
from small_models import small_model


def layer(outputs: int = 5, inputs: int = 24, bias: bool = True) -> nn.Linear:
    torch.manual_seed(1)
    made = nn.Linear(inputs, outputs, bias=bias)
    with torch.no_grad():
        made.weight.mul_(torch.logspace(-3, 2, outputs)[:, None])  # each output with a range of its own
    return made


def test_in_float32_it_is_torch_s_linear() -> None:
    torch_s = layer()
    ours = RowLinear(torch_s.weight, torch_s.bias, "float32", alone=False)
    x = torch.randn(2, 3, 24)
    torch.testing.assert_close(ours(x), torch_s(x), rtol=0, atol=0)


def test_8_bits_are_whole_numbers_times_the_largest_weight_over_127() -> None:
    weight = torch.tensor([[0.5, -1.27, 0.004, 1.0], [127.0, 63.4, -63.6, 0.0], [0.0, 0.0, 0.0, 0.0]])
    found = RowLinear(weight, None, "int8", alone=True)
    assert found.whole is not None
    assert found.whole.tolist() == [[50, -127, 0, 100], [127, 63, -64, 0], [0, 0, 0, 0]]
    expected = torch.tensor([[0.5, -1.27, 0.0, 1.0], [127.0, 63.0, -64.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    torch.testing.assert_close(found(torch.eye(4)).T, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("kind", "most"), [("bf16", 2**-8), ("int8", 0.5 / 127)])
def test_what_is_lost_is_what_the_bits_lose(kind: Weights, most: float) -> None:
    """Of a weight, at most that share: of itself in bf16, of its output's largest weight in 8 bits."""
    torch_s = layer(bias=False)
    held = RowLinear(torch_s.weight, None, kind, alone=False)(torch.eye(24)).T
    largest = torch_s.weight.abs() if kind == "bf16" else torch_s.weight.abs().amax(1, keepdim=True)
    lost = (held - torch_s.weight).abs() / largest
    # The product's own rounding to bf16 comes on top.
    assert 0.2 * most < lost.max() <= most + (2**-8 if kind == "bf16" else 2**-8 + 1e-6)


@pytest.mark.parametrize("kind", ["bf16", "int8"])
def test_slow_products_of_bf16_are_made_in_float32_from_the_same_numbers(
    kind: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch_s, made = layer(), {}
    x = torch.randn(64, 24)
    for fast in (True, False):
        monkeypatch.setattr(row_linear, "has_fast_bf16", lambda fast=fast: fast)
        ours = RowLinear(torch_s.weight, torch_s.bias, kind, alone=False)
        assert ours.weight.dtype == (torch.bfloat16 if fast else torch.float32)
        made[fast] = ours(x)
    torch.testing.assert_close(made[True], made[False], rtol=2**-7, atol=1e-3)
    assert not torch.equal(made[False], torch_s(x)), "weights and what they are multiplied by are rounded"


@pytest.mark.parametrize("kind", ["bf16", "int8"])
def test_a_whole_model_is_rounded_in_a_copy(kind: Weights) -> None:
    model = small_model(29, 16)
    kept = copy.deepcopy(model.state_dict())
    made = rounded(model, kind)
    assert not any(type(part) is nn.Linear for part in made.modules())
    assert all(torch.equal(kept[name], value) for name, value in model.state_dict().items())
    assert made.embedding.data_ptr() != model.embedding.data_ptr()
    expected = by_hand(model, kind)
    tokens = torch.arange(12)[None] % 29
    with torch.no_grad():
        theirs, found = expected.logits(expected(tokens)), made.logits(made(tokens))
    # The same weights; what the products round to bf16 is all that differs.
    assert (found - theirs).abs().max() < 0.02 * theirs.abs().max()
    with torch.no_grad():
        far = model.logits(model(tokens))
    if kind == "int8":
        assert (theirs - far).abs().max() > 1e-3


def by_hand(model: Model, kind: Weights) -> Model:
    """The model with weights that were rounded one by one, multiplied in float32."""
    made = copy.deepcopy(model).eval()
    matrices = [part.weight for part in made.modules() if type(part) is nn.Linear] + [made.embedding]
    with torch.no_grad():
        for weight in matrices:
            for row in weight:
                if kind == "bf16":
                    row.copy_(row.bfloat16().float())
                else:
                    step = float(row.abs().max()) / 127
                    row.copy_(torch.tensor([round(float(value) / step) * step for value in row]))
    return made


@pytest.mark.parametrize(
    ("weights", "rows"),
    [
        ("int8", 1),
        pytest.param("float32", 1, marks=pytest.mark.long),
        pytest.param("bf16", 3, marks=pytest.mark.long),
    ],
)
def test_compiled_steps_score_as_plain_ones_do(weights: Weights, rows: int) -> None:
    """In a process of its own, since the compiler cannot see through the checks of shapes."""
    program = Path(__file__).with_name("compiled_steps.py")
    command = [sys.executable, program, weights, str(rows)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    for case in json.loads(ran.stdout):
        assert case["steps"] == 90 and case["distinct"] > 5, "past the end of the window, with some variety"
        assert case["from_plain"] < (1e-5 if weights == "float32" else 0.05), case


def test_no_product_is_made_of_weights_that_were_not_rounded() -> None:
    """A table that is not tied to the embedding is rounded too."""
    model = small_model(29, 16)
    made = rounded(model, "bf16")
    assert torch.equal(made.scoring, model.scoring.bfloat16().float())
    x = torch.randn(3, 16)
    torch.testing.assert_close(made.logits(x), F.linear(x, model.scoring.bfloat16().float()))
