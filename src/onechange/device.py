"""The device that a run computes on: the one place that knows what a processor, CUDA and MPS can do.

First weights, batches and losses begin and end on the processor whatever the device: weights are drawn there and moved,
sums are float64 there.
"""

import sys
from pathlib import Path
from typing import Literal

import torch

from onechange import processor
from onechange.recipe import Device, Precision

OPERATIONS_WORTH_COMPILING = 1e15
"""On CUDA, below this much work in a whole run, compiling costs more than it saves. Estimated from half a minute of
compiling and 100 TFLOP/s, not measured."""


def chosen(wanted: str) -> Device:
    """``auto`` is CUDA where there is one, else MPS, else the processor. A `ValueError` for one that is not there."""
    there: dict[Device, bool] = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    for device, found in there.items():
        if found and wanted in ("auto", device):
            return device
    has = ", ".join(repr(device) for device, found in there.items() if found)
    raise ValueError(f"device = {wanted!r}: this machine has none; it has {has}")


def names() -> list[str]:
    """Every device that torch can compute on here, the processor last."""
    cuda = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return [*cuda, *(["mps"] if torch.backends.mps.is_available() else []), "cpu"]


def build() -> str:
    """What torch was built for."""
    if torch.version.cuda:
        return f"for CUDA {torch.version.cuda}"
    return f"for ROCm {torch.version.hip}" if torch.version.hip else "without CUDA"


def place(device: Device, local_rank: int = 0) -> torch.device:
    """Where process number ``local_rank`` of this machine computes; a `ValueError` if there are too few devices."""
    chosen(device)
    if device == "cpu":
        return torch.device(device)
    there = torch.cuda.device_count() if device == "cuda" else 1
    if local_rank >= there:
        raise ValueError(
            f"process {local_rank + 1} of this machine has no {device} device of its own: there are {there}"
        )
    return torch.device(device, local_rank) if device == "cuda" else torch.device(device)


def precision(wanted: str, device: Device) -> Precision:
    """``auto`` is bf16 where the device multiplies it in hardware."""
    if device == "cpu" or wanted != "auto":
        return processor.precision(wanted)
    return (
        "bf16" if device == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    )


def compiles(wanted: str, operations: float, device: Device) -> bool:
    """``auto`` compiles where a run of so many ``operations`` gains by it; on MPS only ``on`` does.

    ``on`` where it cannot is a `ValueError`.
    """
    if device == "cuda" and wanted == "auto":
        return processor.why_not_compile() is None and operations >= OPERATIONS_WORTH_COMPILING
    if device == "mps" and wanted == "auto":
        return False
    return processor.compiles(wanted, operations)


def autocast(device: torch.device, precision: Precision) -> torch.autocast:
    """The context in which matrix products are done in ``precision``."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16")


def backend(device: Device) -> Literal["gloo", "cpu:gloo,cuda:nccl"]:
    """What carries tensors between processes. Small figures travel on the processor whatever the device."""
    return "cpu:gloo,cuda:nccl" if device == "cuda" else "gloo"


def synchronize(device: torch.device) -> None:
    """Wait until ``device`` has done what it was given, so that a clock can be read."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def peak_memory(device: torch.device) -> int | None:
    """The most bytes that this process has held: of the device's memory on CUDA, else of the machine's.

    ``None`` where that is not known: on Windows.
    """
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    if (
        status := Path("/proc/self/status")
    ).is_file():  # what the system counts below includes who started this process
        held = next(
            line for line in status.read_text("ascii", "replace").splitlines() if line.startswith("VmHWM:")
        )
        return int(held.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024  # Linux counts kilobytes, macOS bytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
