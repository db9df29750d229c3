"""Several things named in one sentence."""

from collections.abc import Sequence


def listed(parts: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; at least one."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
