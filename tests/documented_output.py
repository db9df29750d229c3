"""Whether a command printed what a page shows."""

import re


def agrees(written: str, output: str) -> bool:
    """Whether ``output`` is what is ``written``. `…` stands for anything, on a line of its own for any lines or none.

    Spaces at the ends of lines are free.
    """
    pattern = ""
    for line in written.strip().splitlines():
        shown = ".*".join(re.escape(part) for part in line.rstrip().split("…"))
        pattern += r"(?:.*\n)*?" if line == "…" else rf"{shown} *\n"
    return re.fullmatch(pattern, output.strip() + "\n") is not None
