"""Dropout whose random numbers are a function of a key and of each number's place, and of nothing else.

torch draws them one after another, which on a processor took a third of a whole training step. Here each is a hash of
its place, so that the compiler fuses it with its neighbours, forward and backward pass find the same ones without
keeping them, and equal keys give equal masks on every device. Srivastava et al. 2014,
https://jmlr.org/papers/v15/srivastava14a.html; the hash: Wellons 2018, https://github.com/skeeto/hash-prospector
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


def keys(sites: int) -> Int[Tensor, "sites 2"]:
    """Two whole numbers for each place of a model where something is dropped, from torch's generator."""
    return torch.randint(2**31, (sites, 2), dtype=torch.int32)


def drop(x: Float[Tensor, "..."], share: float, key: Int[Tensor, " 2"]) -> Float[Tensor, "..."]:
    """``x`` with about ``share`` of its numbers set to zero and the others scaled, so that the mean stays."""
    place = torch.arange(x.numel(), dtype=torch.int32, device=x.device)
    kept = _hashed(place, key).view(x.shape) >= round(share * 2**32) - 2**31
    return torch.where(kept, x * (1 / (1 - share)), 0.0)


def _hashed(place: Int[Tensor, " numbers"], key: Int[Tensor, " 2"]) -> Int[Tensor, " numbers"]:
    """32 random bits for each place, as an int32. Products keep their lowest 32 bits, as tensors' do everywhere."""
    bits = place * (key[0] | 1) + key[1]
    bits = (bits ^ (bits >> 16 & 0xFFFF)) * 0x21F0AAAD  # a shift copies the sign, which is masked away
    bits = (bits ^ (bits >> 15 & 0x1FFFF)) * 0x735A2D97
    return bits ^ (bits >> 15 & 0x1FFFF)


class Dropout(nn.Module):
    """`drop` as a part of a model, so that it can be compiled by itself."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, x: Float[Tensor, "..."], key: Int[Tensor, " 2"]) -> Float[Tensor, "..."]:
        """``x`` with some of it dropped."""
        return drop(x, self.share, key)
