"""Where onechange works: its own place, the cache, the current folder, and the variables that change what it does."""

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from onechange import os_lock
from onechange.documents import user_cache

TELLING = (
    "ONECHANGE_", "HF_", "OMP_", "MKL_", "OPENBLAS_", "NUMBA_", "TORCH", "PYTORCH_", "CUDA_", "NCCL_", "GLOO_", "RAY_",
    "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONHASHSEED", "XDG_CACHE_HOME", "CXX", "TMPDIR", "WORLD_SIZE", "MASTER_ADDR",
    "KMP_", "HTTPS_PROXY", "https_proxy",
)  # fmt: skip
"""What the names of variables that matter begin with."""
_SECRET = re.compile(r"TOKEN|KEY|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]+(?=@)")


def found() -> dict[str, Any]:
    """Ready for JSON; sizes in bytes, the person's own folder written as ``~``."""
    cache = user_cache()
    return {
        "installed_in": at_home(str(Path(__file__).parent)),
        "cache": at_home(str(cache)),
        "cache_bytes": _size(cache),
        "cache_writable": _writable(_there(cache)),
        "disk_free_bytes": shutil.disk_usage(_there(cache)).free,
        "folder_writable": _writable(Path.cwd()),
        "locks_work": _locks_work(Path.cwd()),
        "environment": variables(),
    }


def variables() -> dict[str, str]:
    """The variables that matter, but for what is secret in them."""
    return {
        name: "(set)" if _SECRET.search(name) else at_home(_IN_ADDRESS.sub("…", value))
        for name, value in sorted(os.environ.items())
        if name.startswith(TELLING)
    }


def at_home(text: str) -> str:
    """``text`` with ``~`` in place of the person's own folder, whose name may be theirs."""
    home = str(Path.home())
    return re.sub(rf"{re.escape(home)}(?![\w.-])", "~", text) if len(home) > 1 else text


def _there(folder: Path) -> Path:
    """The nearest folder above that there is."""
    return next(place for place in (folder, *folder.parents) if place.is_dir())


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def _writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _locks_work(folder: Path) -> bool | None:
    """Whether a lock that is held in ``folder`` keeps another out; ``None`` where no file can be made."""
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".onechange-doctor-") as place:
            path = Path(place, "lock")
            with path.open("ab") as file:
                held = os_lock.take(file) and os_lock.is_taken(path)
            return held and not os_lock.is_taken(path)
    except OSError:
        return None
