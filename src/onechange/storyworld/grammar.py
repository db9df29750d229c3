"""The story files, read and linked: pools of words, rules of sentences, one plot per file.

A file is made of blocks: a header at the left edge that ends in a colon, and indented lines below it; a line that is
indented by six blanks or more continues the one above; ``#`` begins a comment line. In ``words/`` a block is a pool
of words. In ``sentences/`` and ``plots/`` a block is a rule, one alternative per line, and the block ``cast`` says
from which pools a variable takes its word (``hero = person ~ kind``: in gender with ``kind``). A variable without an
entry takes it from the pool of its own name. A story is the rule ``opening`` and then the rule ``story`` of a plot.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

from onechange.storyworld.domain import Domain
from onechange.storyworld.menu import Menu
from onechange.storyworld.notation import Alternative, Call, Guard, Literal, Mark, Pick, Slot, alternative
from onechange.storyworld.words import Word, entries

_INDEX = re.compile(r"[0-9]+$")


class Choice:
    """A place where the story may go on in several ways."""

    def __init__(self, options: tuple["Option", ...] = ()) -> None:
        self.options = options

    @cached_property
    def guarded(self) -> bool:
        """Whether some options are not always allowed."""
        return any(option.guard for option in self.options)

    @cached_property
    def menu(self) -> Menu:
        """The options by the text that they begin with."""
        firsts = [option.steps[0] if option.steps else None for option in self.options]
        leads = [first.text if isinstance(first, Literal) else "" for first in firsts]
        return Menu([option.weight for option in self.options], leads)


@dataclass(frozen=True, slots=True)
class Option:
    """One way on: its weight, when it is allowed, and what follows."""

    weight: int
    guard: Guard | None
    steps: tuple["Step", ...]


@dataclass(frozen=True, slots=True)
class Name:
    """A variable's word in one of its forms, chosen by ``domain`` where it is not yet known."""

    variable: str
    form: str
    domain: "Domain"
    place: str


Step = Literal | Name | Choice | Mark
Block = tuple[str, list[tuple[str, str]]]


class Grammar:
    """Everything that may be told: ``start`` is the opening, which all plots share, and then one of the plots."""

    def __init__(self, words: Mapping[str, str], sentences: Mapping[str, str], plots: Mapping[str, str]) -> None:
        """Texts of the story files by name; a `ValueError` or `LookupError` names the place of a slip."""
        self._pools = {
            header: tuple(word for place, line in lines for word in entries(line, place))
            for name, text in sorted(words.items())
            for header, lines in blocks(name, text)
        }
        shared = [block for name, text in sorted(sentences.items()) for block in blocks(name, text)]
        self.plots = tuple(sorted(plots))
        opening = _Linker(self._pools, shared).rule("opening", ())
        stories = [_Linker(self._pools, [*shared, *blocks(name, plots[name])]).rule("story", ()) for name in self.plots]
        plot = Choice(tuple(Option(1, None, (story,)) for story in stories))
        self.start = Choice((Option(1, None, (opening, plot)),))


def blocks(name: str, text: str) -> list[Block]:
    """(header, [(place, line), …]) of a story file, in order."""
    found: list[Block] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        place = f"{name}:{number}"
        if not line.startswith(" "):
            if not line.endswith(":"):
                raise ValueError(f"{place}: a line at the left edge must be a header and end in a colon")
            found.append((line[:-1], []))
        elif not found:
            raise ValueError(f"{place}: a line before the first header")
        elif line.startswith(" " * 6):
            first, before = found[-1][1][-1]
            found[-1][1][-1] = (first, f"{before} {line.strip()}")
        else:
            found[-1][1].append((place, line.strip()))
    return found


class _Linker:
    """Turns the rules that one plot can reach into choices, variables filled in for parameters."""

    def __init__(self, pools: Mapping[str, tuple[Word, ...]], found: list[Block]) -> None:
        self.pools = pools
        self.cast: dict[str, str] = {}
        self.rules: dict[str, tuple[list[str], list[Alternative]]] = {}
        self.linked: dict[tuple[str, tuple[str, ...]], Choice] = {}
        for header, lines in found:
            if header == "cast":
                for _, line in lines:
                    variable, _, domain = line.partition("=")
                    self.cast[variable.strip()] = domain.strip()
            else:
                name, _, parameters = header.rstrip(")").partition("(")
                if name in pools:
                    raise ValueError(f"{lines[0][0]}: the rule {name!r} has the name of a pool")
                names = parameters.replace(",", " ").split()
                self.rules[name] = (names, [alternative(line, place) for place, line in lines])

    def rule(self, name: str, arguments: tuple[str, ...]) -> Choice:
        if name not in self.rules:
            return self._pool(name)
        if (name, arguments) not in self.linked:
            parameters, alternatives = self.rules[name]
            if len(parameters) != len(arguments):
                raise ValueError(f"rule {name!r} takes {parameters}, it was given {list(arguments)}")
            choice = self.linked[name, arguments] = Choice()
            renamed = dict(zip(parameters, arguments, strict=True))
            choice.options = tuple(self._option(one, renamed) for one in alternatives)
        return self.linked[name, arguments]

    def _pool(self, name: str) -> Choice:
        pool, _, form = name.partition(".")
        if pool not in self.pools:
            raise LookupError(f"no rule and no pool {pool!r}")
        words = self.pools[pool]
        return Choice(tuple(Option(word.weight, None, (Literal(word.form(form), name),)) for word in words))

    def _option(self, written: Alternative, renamed: dict[str, str]) -> Option:
        guard = written.guard
        if guard:
            guard = Guard(_rename(guard.variable, renamed), guard.tag, guard.wanted)
        return Option(written.weight, guard, tuple(self._step(symbol, renamed) for symbol in written.symbols))

    def _step(self, symbol: Literal | Slot | Call | Pick | Mark, renamed: dict[str, str]) -> Step:
        match symbol:
            case Slot(variable, form, place):
                variable = _rename(variable, renamed)
                return Name(variable, form, self._domain(variable, place), place)
            case Call(rule, arguments):
                return self.rule(rule, tuple(_rename(argument, renamed) for argument in arguments))
            case Pick(alternatives):
                return Choice(tuple(self._option(one, renamed) for one in alternatives))
            case _:
                return symbol

    def _domain(self, variable: str, place: str) -> Domain:
        owner, _, detail = variable.partition(":")
        if detail:
            return Domain(owner=owner, detail=_INDEX.sub("", detail))
        entry = self.cast.get(variable) or self.cast.get(_INDEX.sub("", variable)) or _INDEX.sub("", variable)
        names, _, agrees = entry.partition("~")
        missing = [name for name in names.split() if name not in self.pools]
        if missing:
            raise LookupError(f"{place}: the variable {variable!r} needs the pool {missing[0]!r}; there is none")
        return Domain(tuple(word for name in names.split() for word in self.pools[name]), agrees=agrees.strip())


def _rename(variable: str, renamed: dict[str, str]) -> str:
    owner, colon, detail = variable.partition(":")
    return renamed.get(owner, owner) + colon + detail


def files() -> dict[str, dict[str, str]]:
    """The texts of the world's own story files, by folder and name."""
    folders = ("words", "sentences", "plots")
    root = resources.files("onechange.storyworld")
    return {
        folder: {
            f"{folder}/{file.name}": file.read_text(encoding="utf-8")
            for file in (root / folder).iterdir()
            if file.name.endswith(".txt")
        }
        for folder in folders
    }


def load() -> Grammar:
    """The world's own grammar."""
    return Grammar(**files())


def fingerprint() -> str:
    """SHA-256 over the story files: any changed word of them shows."""
    digest = hashlib.sha256()
    for folder in files().values():
        for name, text in sorted(folder.items()):
            digest.update(f"{name}\0{text}\0".encode())
    return digest.hexdigest()
