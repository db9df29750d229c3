"""Where verbs write: figures on standard output, everything else on standard error."""

import json
import sys
from typing import Any

from rich.console import Console

out = Console(highlight=False, soft_wrap=False)
"""For what was asked for."""
notes = Console(stderr=True, highlight=False)
"""For progress and remarks, so that standard output can be piped."""


def document(content: Any) -> None:
    """Print one JSON document."""
    sys.stdout.write(json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def text(written: str) -> None:
    """Print text as it is, at once where a person looks on."""
    sys.stdout.write(written)
    if out.is_terminal:
        sys.stdout.flush()


def say(note: str) -> None:
    """A remark."""
    notes.print(note, style="yellow", markup=False, soft_wrap=True)


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
