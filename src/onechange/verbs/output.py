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
