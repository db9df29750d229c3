"""Loops over bytes, compiled by numba when they are first called and kept on the disk for the next process."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """``function`` as machine code that lets other threads run beside it. Indices are not checked."""
    decorate: Any = numba.njit(nogil=True, cache=True)
    return cast(Callable[Parameters, Result], decorate(function))
