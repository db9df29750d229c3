"""Checkpoints: weights, optimizer and state of one step in a folder; `best.json` and `last.json` point to two of them.

The order of writing is what makes a kill at any instant harmless: first the folder, whole; then the pointers; then,
and only then, folders that no pointer names are deleted. What makes damage known is a chain of marks: a pointer holds
the SHA-256 of the checkpoint's state, the state those of the checkpoint's files.
"""

import json
import math
import re
from collections.abc import Mapping, Set
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor, nn

from onechange import atomic, digest, json_file, tensor_file, untrusted
from onechange.digest import Damaged
from onechange.state import optimizer_state, put_optimizer_state, weights

Which = Literal["best", "last"]
MODEL, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"


class Checkpoints:
    """The folder `checkpoints` of one run."""

    def __init__(self, run: Path) -> None:
        self.folder = run / "checkpoints"

    def at(self, step: int) -> Path:
        """The folder of one step."""
        return self.folder / f"step-{step:06d}"

    def steps(self) -> list[int]:
        """The steps that have a folder, the latest first, whatever its condition."""
        names = [folder.name for folder in self.folder.glob("step-*") if folder.is_dir()]
        return sorted(
            (
                int(name[5:])
                for name in names
                if re.fullmatch(r"step-(?!0+$)(\d{6}|[1-9]\d{6,15})", name, re.ASCII)
            ),
            reverse=True,
        )

    def save(
        self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer, state: Mapping[str, Any]
    ) -> None:
        """Write the checkpoint of ``step``; no pointer moves yet."""

        def fill(folder: Path) -> None:
            _save(weights(model), folder / MODEL)
            _save(optimizer_state(model, optimizer), folder / OPTIMIZER)
            marks = {name: digest.of_file(folder / name) for name in (MODEL, OPTIMIZER)}
            with atomic.naming(folder / STATE):
                (folder / STATE).write_bytes(_sealed({"step": step, "files": marks, **state}).encode())

        atomic.folder(self.at(step), fill)

    def state(self, step: int) -> dict[str, Any]:
        """A checkpoint's state, ``sha256`` the mark of the rest; `Damaged` names a file that is not as written."""
        path = self.at(step) / STATE
        if not path.is_file():
            raise Damaged(path, "it is missing")
        state = _unsealed(path)
        if state.get("step") != step:
            raise Damaged(path, f"it is of step {state.get('step')!r}")
        return state

    def verify(self, step: int) -> dict[str, Any]:
        """The state, after every file of the checkpoint was found to be as it was written."""
        state = self.state(step)
        for name in (MODEL, OPTIMIZER):
            self._check(step, name, state)
        return state

    def point(self, which: Which, step: int) -> None:
        """Let ``best`` or ``last`` name the checkpoint of ``step``."""
        assert self.at(step).is_dir(), f"{self.at(step)} must be in place before a pointer names it"
        content = {"step": step, "checkpoint": self.state(step)["sha256"]}
        atomic.write(self.pointer(which), _sealed(content))

    def pointer(self, which: Which) -> Path:
        """The file that names a checkpoint."""
        return self.folder / f"{which}.json"

    def step(self, which: Which) -> int | None:
        """The step that a pointer names, ``None`` if nothing was saved yet.

        `Damaged` names a file that is not as written: the pointer, or the state of the checkpoint that it names.
        """
        path = self.pointer(which)
        if not path.is_file():
            return None
        named = _unsealed(path)
        step = named.get("step")
        if type(step) is not int or not 0 < step < 10**16:
            raise Damaged(path, f"it names step {step!r}")
        if self.state(step)["sha256"] != named.get("checkpoint"):
            raise Damaged(path, f"it names another checkpoint of step {step} than there is")
        return step

    def tidy(self, *, finished: bool) -> None:
        """Delete every checkpoint that no pointer names, unfinished ones too.

        While a run is in training the one before the last stays as well, for the case that the last is damaged.
        """
        named = [self.step(which) for which in get_args(Which)]
        kept = [step for step in named if step is not None]
        if not finished and named[-1] is not None:
            kept += [step for step in self.steps() if step < named[-1]][:1]
        names = [self.at(step).name for step in kept]
        for folder in sorted(self.folder.glob("step-*")):
            if folder.name not in names:
                with suppress(
                    PermissionError
                ):  # Windows deletes no file that is being read; the next time it will
                    atomic.remove(folder)

    def load(self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
        """Put a checkpoint's weights and optimizer state in place; returns its state.

        A `ValueError` names what does not fit or is damaged.
        """
        state = self.load_weights(step, model)
        self._check(step, OPTIMIZER, state)
        path = self.at(step) / OPTIMIZER
        parameters = dict(model.named_parameters())
        described = tensor_file.describe(path)
        _refuse(path, {key.rpartition("/")[0] for key in described} - parameters.keys())
        for key, (_, shape) in described.items():
            if math.prod(shape) > max(1, parameters[key.rpartition("/")[0]].numel()):
                raise ValueError(f"{path}: {key} has shape {shape}, which is more than its weight has")
        put_optimizer_state(model, optimizer, tensor_file.load(path))
        return state

    @torch.no_grad()
    def load_weights(self, step: int, model: nn.Module) -> dict[str, Any]:
        """Put a checkpoint's weights in place; returns its state. A `ValueError` names what is damaged or unfit."""
        state = self.fits(step, model)
        saved = tensor_file.load(self.at(step) / MODEL)
        for name, parameter in model.named_parameters():
            parameter.copy_(saved[name])
        return state

    def fits(self, step: int, model: nn.Module) -> dict[str, Any]:
        """A checkpoint's state, once its weights were found to be ``model``'s, which may lie on the device ``meta``.

        Nothing large is read into memory. A `ValueError` names what is damaged or does not fit.
        """
        state = self.state(step)
        self._check(step, MODEL, state)
        path = self.at(step) / MODEL
        described, parameters = tensor_file.describe(path), dict(model.named_parameters())
        _refuse(path, described.keys() ^ parameters.keys())
        for name, parameter in parameters.items():
            kind, shape = described[name]
            if shape != list(parameter.shape):
                raise ValueError(f"{path}: {name} has shape {shape}, the recipe's is {list(parameter.shape)}")
            if kind != "F32":
                raise ValueError(f"{path}: {name} has numbers of type {kind}, weights are F32")
        return state

    def weights(self, step: int) -> int:
        """How many tensors the weights of a checkpoint are, read from the head of their file."""
        return len(tensor_file.describe(self.at(step) / MODEL))

    def _check(self, step: int, name: str, state: Mapping[str, Any]) -> None:
        marks = state.get("files")
        digest.check(self.at(step) / name, marks.get(name) if isinstance(marks, dict) else None)


def _sealed(content: Mapping[str, Any]) -> str:
    """``content`` as JSON, with the SHA-256 of the rest as its key ``sha256``."""
    mark = digest.of_bytes(_canonical(content).encode())["sha256"]
    return _canonical({**content, "sha256": mark}) + "\n"


def _unsealed(path: Path) -> dict[str, Any]:
    """What `_sealed` wrote to ``path``, to the byte."""
    try:
        content = json_file.read(path, "sha256", most=untrusted.SMALL)
    except ValueError as error:
        told = str(error.args[0])
        raise Damaged(path, told.partition("damaged: ")[2] or told.removeprefix(f"{path} ")) from None
    rest = {key: value for key, value in content.items() if key != "sha256"}
    if path.read_bytes() != _sealed(rest).encode():
        raise Damaged(path, "its SHA-256 is not that of what was written")
    return content


def _canonical(content: Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True)


def _refuse(path: Path, odd: Set[str]) -> None:
    if odd:
        raise ValueError(f"{path}: its weights are not this recipe's: {', '.join(sorted(odd)[:5])}")


def _save(tensors: dict[str, Tensor], path: Path) -> None:
    """`save_file`, whose error for a full disk is no `OSError`."""
    try:
        save_file(tensors, path)
    except SafetensorError as error:
        raise OSError(f"{path} cannot be written: {error}") from None
