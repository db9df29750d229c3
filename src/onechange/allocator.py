"""How this process holds memory: what a step has freed is kept for the next step.

A step asks for the same large tensors again and again. By default the C library maps each of them from the operating
system anew, which clears it page by page at the first touch; seen at the scale `full`: an eighth of a step's time.
"""

import ctypes
import platform

M_TRIM_THRESHOLD, M_MMAP_MAX, M_ARENA_MAX = -1, -4, -8  # names and numbers of glibc's malloc.h


def keep_freed_memory() -> bool:
    """Let freed memory stay with the process; returns whether this system's C library can be told so (glibc's can).

    The process then holds as much as its highest need until it ends. Numbers do not depend on it.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    never = -1
    # One arena: the backward pass runs on a thread of its own and would keep a second copy of everything.
    return all(
        mallopt(*setting) for setting in ((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, never), (M_ARENA_MAX, 1))
    )
