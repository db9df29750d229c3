"""What this machine can do, and what a run will therefore use."""

import os
import platform
import shutil
import sys
import sysconfig
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from onechange import __version__
from onechange.recipe import Precision

REPORTED = ("torch", "numpy", "safetensors", "scipy", "altair")
REPORTED_WHERE_INSTALLED = ("huggingface-hub", "tokenizers", "tiktoken")


def has_fast_bf16() -> bool:
    """Whether bf16 products outrun float32's, as they do with AMX, and with AVX512-BF16 on AMD's processors.

    Intel's multiply bf16 by AVX512-BF16 alone, as under a hypervisor that hides AMX, at 0.6 of float32's rate
    (docs/findings/precision.md).
    """
    flags = _cpuinfo_fields("flags") | _cpuinfo_fields("Features")
    by_amd = "AuthenticAMD" in _cpuinfo_fields("vendor_id")
    return "amx_bf16" in flags or ("avx512_bf16" in flags and by_amd)


def why_not_compile() -> str | None:
    """What `torch.compile` lacks here, in words, or ``None`` if it can be used."""
    usual = {"darwin": "clang++", "win32": "cl"}.get(sys.platform, "g++")  # torch tries no other
    compiler = os.environ.get("CXX", usual)
    if shutil.which(compiler) is None:
        return f"no C++ compiler was found ({compiler})"
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").is_file():
        return "Python's C headers (Python.h) were not found"
    return None


def threads(wanted: int) -> int:
    """The number of threads that ``wanted`` stands for: 0 is every processor that this process may use."""
    if wanted:
        return wanted
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else os.cpu_count() or 1


def precision(wanted: str) -> Precision:
    """``auto`` is bf16 where it is fast."""
    if wanted == "auto":
        return "bf16" if has_fast_bf16() else "float32"
    return "float32" if wanted == "float32" else "bf16"


OPERATIONS_WORTH_COMPILING = 2e12
"""Below this much work in a whole run, compiling (10 to 30 seconds) costs more than it saves."""


def compiles(wanted: str, operations: float) -> bool:
    """``auto`` compiles where it can and where a run of so many ``operations`` gains by it.

    ``on`` where it cannot is a `ValueError`.
    """
    reason = why_not_compile()
    if wanted == "on" and reason:
        raise ValueError(f'compile = "on": {reason}; install it, or use compile = "auto" or "off"')
    if wanted == "auto":
        return reason is None and operations >= OPERATIONS_WORTH_COMPILING
    return wanted == "on"


def machine() -> dict[str, Any]:
    """The machine, for a run's record."""
    return {
        "processor": _processor_name(),
        "processors": threads(0),
        "memory_bytes": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """Versions of the packages that decide a run's numbers or its page."""
    found = {"onechange": __version__, **{name: version(name) for name in REPORTED}}
    for name in REPORTED_WHERE_INSTALLED:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _cpuinfo() -> str:
    path = Path("/proc/cpuinfo")
    return path.read_text("utf-8", "replace") if path.is_file() else ""


def _cpuinfo_fields(name: str) -> set[str]:
    """The words of the first processor's line called ``name``."""
    for line in _cpuinfo().splitlines():
        if line.split(":", 1)[0].strip() == name:
            return set(line.split(":", 1)[1].split())
    return set()


def _processor_name() -> str:
    for line in _cpuinfo().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
