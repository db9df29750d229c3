"""What the page asks for: bodies of JSON, read strictly. A `ValueError` of one line says what is wrong with one."""

from typing import Annotated, TypeVar, get_args

import msgspec
from msgspec import Meta

from onechange.checkpoint import Which
from onechange.sampling import CHARACTERS, Sampling
from onechange.ui.playground.limits import Limits

Whole = Annotated[int, Meta(ge=0, lt=2**53)]
"""What JavaScript can count to."""
Positive = Annotated[int, Meta(ge=1, lt=2**53)]


class Chosen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model: one run at a checkpoint."""

    arm: str
    seed: Whole
    checkpoint: str = "best"

    def __post_init__(self) -> None:
        if self.checkpoint not in get_args(Which):
            raise ValueError(f"checkpoint = {self.checkpoint!r}: must be {' or '.join(get_args(Which))}")

    @property
    def which(self) -> Which:
        """The checkpoint, found to be one."""
        return "last" if self.checkpoint == "last" else "best"


class Draw(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a prompt is continued: the settings of `onechange.sampling.Sampling` that a page may turn."""

    seed: Whole = 42
    characters: Positive = CHARACTERS
    temperature: float = 0.7
    top_k: Positive = 30
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0

    def __post_init__(self) -> None:
        self.sampling()

    def sampling(self) -> Sampling:
        """The settings; a `ValueError` names one that makes no sense."""
        return Sampling(**msgspec.structs.asdict(self))


class Write(Chosen, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A prompt to be continued."""

    prompt: str
    sampling: Draw = Draw()
    go_on: bool = False
    """Whether the story goes on where the model ends it."""

    def check(self, limits: Limits) -> None:
        """A `ValueError` if it is more than the ``limits`` allow."""
        _at_most("prompt", len(self.prompt), limits.prompt)
        if self.sampling.characters > limits.characters:
            raise ValueError(
                f"sampling.characters = {self.sampling.characters:,}: must be at most {limits.characters:,}"
            )


class Read(Chosen, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A text whose surprise is read."""

    text: str

    def check(self, limits: Limits) -> None:
        """A `ValueError` if there is nothing to read, or more than the ``limits`` allow."""
        if not self.text:
            raise ValueError("the text is empty: there is nothing to measure")
        _at_most("text", len(self.text), limits.text)


Kind = TypeVar("Kind", Chosen, Write, Read)


def decoded(body: bytes, kind: type[Kind]) -> Kind:
    """The ``body`` as what it must be; unknown keys are refused."""
    try:
        return msgspec.json.decode(body, type=kind)
    except RecursionError:
        raise ValueError("the request is nested too deeply") from None
    except msgspec.ValidationError as error:
        told, _, where = str(error).partition(" - at `$")
        place = where.removeprefix(".").removesuffix("`")
        told = told.replace("`", "")
        raise ValueError(f"{place}: {told}" if place and not told.startswith(place) else told) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"the request is no JSON: {str(error).replace('`', '')}") from None


def _at_most(what: str, length: int, most: int) -> None:
    if length > most:
        raise ValueError(f"the {what} has {length:,} characters: it may have at most {most:,}")
