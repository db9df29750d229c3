"""Reading safetensors: what a file says it holds is looked at before anything of it is put into memory."""

from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor

from onechange.digest import Damaged

MOST_HEAD = 1 << 22
"""Bytes of the head, which names the tensors: some 40,000 of them."""

Described = dict[str, tuple[str, list[int]]]
"""By name: the numbers' type in safetensors' words, and the shape."""


def describe(path: Path) -> Described:
    """The tensors that a file holds. Its length is that of its head and of all of them; `Damaged` if it is not."""
    with path.open("rb") as file:
        head = int.from_bytes(file.read(8), "little")
    if head > MOST_HEAD:
        raise Damaged(path, f"its head has {head:,} bytes, it may have at most {MOST_HEAD:,}")
    try:
        with safe_open(path, "pt") as file:
            parts = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
            return {name: (str(part.get_dtype()), list(part.get_shape())) for name, part in parts.items()}
    except (SafetensorError, OSError) as error:
        raise Damaged(path, f"it is no file of tensors ({error})") from None


def load(path: Path) -> dict[str, Tensor]:
    """All tensors of a file that `describe` found acceptable."""
    try:
        return load_file(path)
    except SafetensorError as error:
        raise Damaged(path, f"it is no file of tensors ({error})") from None
