"""The notation of the story files: how one line of text becomes symbols.

=================  ====================================================================================
``[a|b|]``         one of these (the last is nothing); ``[3*a|b]`` makes the first three times as likely
``{hero}``         the word that the variable holds; chosen here, and remembered, where it is first named
``{hero.his}``     a form of that word; a capital first letter (``{Hero}``, ``{hero.His}``) is kept
``{place:spot}``   a detail of the word that ``place`` holds, chosen and remembered in the same way
``{food2}``        a second, different word of the same kind as ``food``
``<glad hero>``    one alternative of the rule ``glad``, told of ``hero``
``<color>``        one word of the pool ``color``, not remembered (``<tree.plural>``: a form of it)
``a~ ``            "a" or "an", whichever fits what follows
``^``              what follows begins with a capital
``//``             a new paragraph
``?place.wet …``   at the head of an alternative: only where the word of ``place`` has the tag ``wet`` (``!``: has not);
                   the tag ``known``: only where ``place`` has a word already
=================  ====================================================================================
"""

import re
from dataclasses import dataclass
from enum import Enum


class Mark(Enum):
    """What is done to the next piece of text, whatever it will be."""

    ARTICLE = "a~"
    CAPITAL = "^"


@dataclass(frozen=True, slots=True)
class Literal:
    """Text as it stands. ``place`` is where in the story files its outermost symbol was written."""

    text: str
    place: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A variable's word, in one of its forms (``""``: as it is)."""

    variable: str
    form: str
    place: str


@dataclass(frozen=True, slots=True)
class Call:
    """One alternative of a rule, with variables for its parameters."""

    rule: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """Whether the word of ``variable`` must have ``tag``, or must not."""

    variable: str
    tag: str
    wanted: bool


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to go on: its weight among its siblings, when it is allowed, and what it says."""

    weight: int
    guard: Guard | None
    symbols: tuple["Symbol", ...]


@dataclass(frozen=True, slots=True)
class Pick:
    """An inline choice."""

    alternatives: tuple[Alternative, ...]


Symbol = Literal | Slot | Call | Pick | Mark

_TOKEN = re.compile(
    r"(?P<open>\[)|(?P<bar>\|)|(?P<close>\])"
    r"|\{(?P<slot>[^{}]*)\}|<(?P<call>[^<>]*)>"
    r"|(?P<article>\b[aA]~ )|(?P<capital>\^)|(?P<newline>\s*//\s*)"
    r"|(?P<text>[^\[\]|{}<>^/~]+?(?=\b[aA]~|\s*//|[\[\]|{}<>^/~]|$))"
)
_WEIGHT = re.compile(r"(\d+)\*")
_GUARD = re.compile(r"\?(!?)([a-z_:0-9]+)\.([a-z-]+) ")
_SLOT = re.compile(r"([A-Za-z][A-Za-z_]*[0-9]*(?::[a-z]+[0-9]*)?)(?:\.([A-Za-z]+))?")


def alternative(line: str, place: str) -> Alternative:
    """The symbols of one written alternative; a `ValueError` names the place of a slip in the notation."""
    weight, guard, rest = _head(line)
    return Alternative(weight, guard, _Line(rest, place).sequence())


def _head(text: str) -> tuple[int, Guard | None, str]:
    weight, guard = 1, None
    if found := _WEIGHT.match(text):
        weight, text = int(found[1]), text[found.end() :]
    if found := _GUARD.match(text):
        guard, text = Guard(found[2], found[3], not found[1]), text[found.end() :]
    return weight, guard, text


class _Line:
    """Reads one line by descent: sequences of symbols, and picks that hold sequences."""

    def __init__(self, text: str, place: str) -> None:
        self.text, self.place, self.position = text, place, 0
        self.outer: str | None = None

    def sequence(self) -> tuple[Symbol, ...]:
        symbols = self._symbols(inside=False)
        if self.position != len(self.text):
            raise ValueError(f"{self.place}: unexpected {self.text[self.position]!r} in {self.text!r}")
        return tuple(symbols)

    def _symbols(self, inside: bool) -> list[Symbol]:
        symbols: list[Symbol] = []
        while self.position < len(self.text):
            found = _TOKEN.match(self.text, self.position)
            if found is None:
                raise ValueError(f"{self.place}: cannot read {self.text[self.position :]!r}")
            if inside and found.lastgroup in ("bar", "close"):
                break
            where = self.outer or f"{self.place}:{self.position + 1}"
            self.position = found.end()
            match found.lastgroup:
                case "open":
                    symbols.append(self._pick(where))
                case "slot":
                    symbols += _slot(found["slot"], where)
                case "call":
                    rule, *arguments = found["call"].split()
                    symbols.append(Call(rule, tuple(arguments)))
                case "article":
                    symbols += [Mark.CAPITAL] * (found["article"][0] == "A") + [Mark.ARTICLE]
                case "capital":
                    symbols.append(Mark.CAPITAL)
                case "newline":
                    symbols.append(Literal("\n", where))
                case "text":
                    symbols.append(Literal(found["text"], where))
                case _:
                    raise ValueError(f"{self.place}: unexpected {found[0]!r} in {self.text!r}")
        return symbols

    def _pick(self, where: str) -> Pick:
        outer, self.outer = self.outer, where
        alternatives: list[Alternative] = []
        while True:
            weight, guard, rest = _head(self.text[self.position :])
            self.position = len(self.text) - len(rest)
            alternatives.append(Alternative(weight, guard, tuple(self._symbols(inside=True))))
            if self.position == len(self.text):
                raise ValueError(f"{self.place}: a [ without its ] in {self.text!r}")
            self.position += 1
            if self.text[self.position - 1] == "]":
                self.outer = outer
                return Pick(tuple(alternatives))


def _slot(text: str, where: str) -> list[Symbol]:
    found = _SLOT.fullmatch(text)
    if found is None:
        raise ValueError(f"{where}: {{{text}}} is no variable, variable:detail or variable.form")
    variable, form = found[1], found[2] or ""
    lower = Slot(variable[0].lower() + variable[1:], form[:1].lower() + form[1:], where)
    return [Mark.CAPITAL, lower] if lower.variable != variable or lower.form != form else [lower]
