"""Words of the command line that several verbs read."""

import re
import sys
from typing import cast, get_args

from onechange.checkpoint import Which
from onechange.row_linear import WEIGHTS, Weights


def checkpoint_word(word: str) -> Which:
    """``best`` or ``last``; a `ValueError` for anything else."""
    if word not in get_args(Which):
        raise ValueError(f"--checkpoint {word!r}: must be one of {', '.join(get_args(Which))}")
    return "best" if word == "best" else "last"


def any_checkpoint(word: str) -> Which | int:
    """The same, or the N of ``step-N``."""
    if found := re.fullmatch(r"step-0*([1-9][0-9]{0,15})", word, re.ASCII):
        return int(found[1])
    if word not in get_args(Which):
        raise ValueError(f"--checkpoint {word!r}: must be one of {', '.join(get_args(Which))}, step-N")
    return checkpoint_word(word)


def given(text: str) -> str:
    """The text that a person named: ``-`` stands for standard input."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"standard input is not UTF-8: byte {error.start} is {error.object[error.start]:#04x}"
        ) from None


def weights_word(word: str) -> Weights:
    """A `ValueError` names a word that is no way to hold weights."""
    if word not in WEIGHTS:
        raise ValueError(f"--weights {word!r}: must be one of {', '.join(WEIGHTS)}")
    return cast(Weights, word)
