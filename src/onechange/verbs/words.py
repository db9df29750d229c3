"""Words of the command line that several verbs read."""

from typing import get_args

from onechange.checkpoint import Which


def checkpoint_word(word: str) -> Which:
    """``best`` or ``last``; a `ValueError` for anything else."""
    if word not in get_args(Which):
        raise ValueError(f"--checkpoint {word!r}: must be one of {', '.join(get_args(Which))}")
    return "best" if word == "best" else "last"
