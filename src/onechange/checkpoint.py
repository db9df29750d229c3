"""Checkpoints: weights, optimizer and state of one step in a folder; `best.json` and `last.json` point to two of them.

The order of writing is what makes a kill at any instant harmless: first the folder, whole; then the pointers; then,
and only then, folders that no pointer names are deleted.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from onechange import atomic

Which = Literal["best", "last"]


class _Pointer(msgspec.Struct, forbid_unknown_fields=True):
    step: int


class Checkpoints:
    """The folder `checkpoints` of one run."""

    def __init__(self, run: Path) -> None:
        self.folder = run / "checkpoints"

    def at(self, step: int) -> Path:
        """The folder of one step."""
        return self.folder / f"step-{step:06d}"

    def save(
        self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer, state: Mapping[str, Any]
    ) -> None:
        """Write the checkpoint of ``step``; no pointer moves yet."""

        def fill(folder: Path) -> None:
            _save(_weights(model), folder / "model.safetensors")
            _save(_optimizer_state(model, optimizer), folder / "optimizer.safetensors")
            (folder / "state.json").write_text(json.dumps({"step": step, **state}, sort_keys=True) + "\n")

        atomic.folder(self.at(step), fill)

    def point(self, which: Which, step: int) -> None:
        """Let ``best`` or ``last`` name the checkpoint of ``step``."""
        assert self.at(step).is_dir(), f"{self.at(step)} must be in place before a pointer names it"
        atomic.write(self.folder / f"{which}.json", json.dumps({"step": step}) + "\n")

    def step(self, which: Which) -> int | None:
        """The step that a pointer names, ``None`` if nothing was saved yet."""
        path = self.folder / f"{which}.json"
        if not path.is_file():
            return None
        try:
            return msgspec.json.decode(path.read_bytes(), type=_Pointer).step
        except msgspec.MsgspecError as error:
            raise ValueError(f"{path} cannot be read: {error}") from None

    def tidy(self, keep: Iterable[int]) -> None:
        """Delete every checkpoint but those of the steps in ``keep``."""
        kept = {self.at(step).name for step in keep}
        for folder in sorted(self.folder.glob("step-*")):
            if folder.name not in kept:
                atomic.remove(folder)

    def load(self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
        """Put a checkpoint's weights and optimizer state in place; returns its state."""
        self.load_weights(step, model)
        with _readable(self.at(step) / "optimizer.safetensors") as path:
            saved = load_file(path)
        for name, parameter in model.named_parameters():
            prefix = f"{name}/"
            state = {key.removeprefix(prefix): saved[key] for key in saved if key.startswith(prefix)}
            optimizer.state[parameter] = state
        return json.loads((self.at(step) / "state.json").read_text())

    def load_weights(self, step: int, model: nn.Module) -> None:
        """Put a checkpoint's weights in place; a `ValueError` names what does not fit."""
        parameters = dict(model.named_parameters())
        with (
            _readable(self.at(step) / "model.safetensors") as path,
            safe_open(path, framework="pt") as file,
            torch.no_grad(),
        ):
            names = set(file.keys())
            if names != parameters.keys():
                odd = sorted(names ^ parameters.keys())
                raise ValueError(f"{path}: its weights are not this recipe's: {', '.join(odd[:5])}")
            for name, parameter in parameters.items():
                values = file.get_tensor(name)
                if values.shape != parameter.shape:
                    raise ValueError(
                        f"{path}: {name} has shape {list(values.shape)}, the recipe's is {list(parameter.shape)}"
                    )
                parameter.copy_(values)


def _save(tensors: dict[str, Tensor], path: Path) -> None:
    """`save_file`, whose error for a full disk is no `OSError`."""
    try:
        save_file(tensors, path)
    except SafetensorError as error:
        raise OSError(f"{path} cannot be written: {error}") from None


@contextmanager
def _readable(path: Path) -> Iterator[Path]:
    """An `OSError` or `ValueError` that names ``path`` if it is missing or broken."""
    try:
        yield path
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} is missing") from None
    except SafetensorError as error:
        raise ValueError(f"{path} is broken: {error}") from None


def _weights(model: nn.Module) -> dict[str, Tensor]:
    return {name: parameter.detach().contiguous() for name, parameter in model.named_parameters()}


def _optimizer_state(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    return {
        f"{name}/{key}": value.contiguous()
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state[parameter].items()
    }
