"""What is computed where: the choice of a device, and an engine that assumes nothing about it.

Machines with a GPU are stood in for; the tests that need a real one run where there is one.
"""

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch

from killed_runs import recipe, train
from onechange import device, processor
from onechange.engine import Engine
from onechange.plan import Means
from small_studies import STUDY, onechange, study_file
from test_spread import history

on_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device, which is not here")


def machine(monkeypatch: pytest.MonkeyPatch, *, cuda: int = 0, mps: bool = False, bf16: bool = True) -> None:
    """A machine with so many CUDA devices."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: bf16)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)


@pytest.mark.parametrize(
    ("cuda", "mps", "first"), [(0, False, "cpu"), (0, True, "mps"), (2, False, "cuda"), (1, True, "cuda")]
)
def test_auto_is_the_fastest_there_is(monkeypatch: pytest.MonkeyPatch, cuda: int, mps: bool, first: str):
    machine(monkeypatch, cuda=cuda, mps=mps)
    assert device.chosen("auto") == first
    assert device.chosen(first) == first
    assert device.chosen("cpu") == "cpu"


def test_a_device_that_is_not_here_is_told(monkeypatch: pytest.MonkeyPatch):
    machine(monkeypatch)
    with pytest.raises(ValueError, match=r"^device = 'cuda': this machine has none; it has 'cpu'$"):
        device.chosen("cuda")
    machine(monkeypatch, cuda=2)
    with pytest.raises(ValueError, match=r"^device = 'mps': this machine has none; it has 'cuda', 'cpu'$"):
        device.place("mps")


def test_every_process_of_a_machine_has_a_cuda_device_of_its_own(monkeypatch: pytest.MonkeyPatch):
    machine(monkeypatch, cuda=2)
    assert [device.place("cuda", rank) for rank in (0, 1)] == [torch.device("cuda:0"), torch.device("cuda:1")]
    with pytest.raises(ValueError, match=r"^process 3 of this machine has no cuda device .*: there are 2$"):
        device.place("cuda", 2)
    assert device.place("cpu", 7) == torch.device("cpu")
    machine(monkeypatch, mps=True)
    with pytest.raises(ValueError, match=r"^process 2 of this machine has no mps device .*: there are 1$"):
        device.place("mps", 1)


def test_precision_and_compilation_are_what_pays_on_the_device(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(processor, "has_fast_bf16", lambda: False)
    monkeypatch.setattr(processor, "why_not_compile", lambda: None)
    machine(monkeypatch, cuda=1, mps=True)
    assert [device.precision("auto", where) for where in ("cpu", "cuda", "mps")] == [
        "float32",
        "bf16",
        "float32",
    ]
    assert [device.precision("bf16", where) for where in ("cpu", "cuda", "mps")] == ["bf16"] * 3
    machine(monkeypatch, cuda=1, bf16=False)
    assert device.precision("auto", "cuda") == "float32"
    assert [device.compiles("auto", 1e13, where) for where in ("cpu", "cuda", "mps")] == [True, False, False]
    assert [device.compiles("auto", 1e16, where) for where in ("cpu", "cuda", "mps")] == [True, True, False]
    assert [device.compiles("on", 1.0, where) for where in ("cpu", "cuda", "mps")] == [True, True, True]


def test_small_figures_travel_on_the_processor_on_every_device():
    assert [device.backend(where) for where in ("cpu", "mps", "cuda")] == [
        "gloo",
        "gloo",
        "cpu:gloo,cuda:nccl",
    ]


def test_autocast_is_of_the_device_and_only_for_bf16():
    one = torch.ones(2, 2)
    with device.autocast(torch.device("cpu"), "bf16"):
        assert (one @ one).dtype == torch.bfloat16
    with device.autocast(torch.device("cpu"), "float32"):
        assert (one @ one).dtype == torch.float32


def test_peak_memory_holds_what_was_held():
    before = device.peak_memory(torch.device("cpu"))
    held = torch.ones(64 * 2**20)
    after = device.peak_memory(torch.device("cpu"))
    assert before is not None and after is not None
    assert after >= before and after > held.numel() * 4


def test_peak_memory_is_not_that_of_who_started_the_process():
    program = 'import torch\nfrom onechange import device\nprint(device.peak_memory(torch.device("cpu")))'
    held = torch.ones(2**30 // 4)  # 1 GiB, more than importing takes
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert held.numel() * 4 > int(done.stdout) > 2**26


@pytest.mark.parametrize("position", [{"name": "learned"}, {"name": "rope", "theta": 500.0}])
@pytest.mark.parametrize("changed", [{}, {"activations": "recompute", "dropout": 0.1}])
def test_an_engine_is_wholly_on_its_device(monkeypatch: pytest.MonkeyPatch, position: dict, changed: dict):
    """torch's `meta` device computes shapes only, and refuses whatever meets a tensor of the processor."""
    monkeypatch.setattr(device, "place", lambda device, rank: torch.device("meta"))
    monkeypatch.setattr(device, "autocast", lambda device, precision: nullcontext())
    engine = Engine(recipe(position=position, **changed), 20)
    tokens = torch.zeros(4, 16, dtype=torch.int64)
    nats = engine.nats(tokens, tokens)
    assert nats.device.type == "meta" and nats.shape == (4, 16)
    nats.mean().backward()
    assert {p.grad.device.type for p in engine.model.parameters() if p.grad is not None} == {"meta"}
    assert engine.evaluated(tokens, tokens).device.type == "meta"


def test_a_study_on_a_device_that_is_not_here_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    machine(monkeypatch)
    file = study_file(tmp_path, STUDY.replace("layers = 1", 'layers = 1\ndevice = "cuda"'))
    outcome = onechange("run", file, "--scale", "tiny", "--out", tmp_path / "out")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == "onechange: arm 'plain': device = 'cuda': this machine has none; it has 'cpu'\n"
    assert not (tmp_path / "out").exists()


def test_a_study_keeps_its_device():
    assert Means(1, "float32", False).device == "cpu", "a study of before there was a choice"


@on_cuda
@pytest.mark.parametrize("changed", [{}, {"dropout": 0.1}, {"micro_batch": 1, "activations": "recompute"}])
def test_a_run_on_cuda_is_the_run_on_a_processor(tmp_path: Path, changed: dict):
    train(tmp_path / "cpu", recipe(**{**changed, "dropout": 0.0}))
    train(tmp_path / "cuda", recipe(**changed, device="cuda"))
    if changed.get("dropout"):  # its random numbers are the device's own
        assert (
            history(tmp_path / "cuda")[-1]["validation_loss"]
            < history(tmp_path / "cuda")[0]["validation_loss"]
        )
        return
    for mine, theirs in zip(history(tmp_path / "cuda"), history(tmp_path / "cpu"), strict=True):
        assert mine == pytest.approx(theirs, abs=1e-3)


@on_cuda
@pytest.mark.usefixtures("unchecked")
def test_bf16_compiled_on_cuda_learns(tmp_path: Path):
    train(tmp_path, recipe(device="cuda", precision="bf16", compile=True))
    assert history(tmp_path)[-1]["validation_loss"] < history(tmp_path)[0]["validation_loss"]
