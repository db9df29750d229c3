"""Loops over bytes, compiled by numba when they are first called and kept on the disk for the next process.

What is kept is thrown away when the function's own file changes, and only then: so a compiled function calls no
compiled function of another file.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as machine code that lets other threads run beside it. Indices are not checked."""
    function = inspect.unwrap(function)  # tests wrap functions to check the shapes that they are given
    kept: Any = numba.njit(nogil=True, cache=True)
    try:
        return kept(function)
    except RuntimeError:  # there is no folder that may be written to
        passing: Any = numba.njit(nogil=True)
        return passing(function)
