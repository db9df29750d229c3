"""Loops over bytes, compiled by numba when they are first called and kept on the disk for the next process."""

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as machine code that lets other threads run beside it. Indices are not checked."""
    decorate: Any = numba.njit(nogil=True, cache=True)
    return decorate(function)
