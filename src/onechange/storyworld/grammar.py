"""The grammar: the story files linked into choices, variables filled in for the parameters of rules.

A story is the rule ``opening`` and then the rule ``story`` of one plot. A plot's file may overrule any shared
rule or entry of the cast. A variable without an entry takes its word from the pool of its own name.
"""

import re
from collections.abc import Mapping
from functools import cache

from onechange.storyworld import files
from onechange.storyworld.domain import Domain
from onechange.storyworld.notation import Alternative, Call, Guard, Literal, Pick, Slot, Symbol, alternative
from onechange.storyworld.steps import Choice, Name, Option, Step
from onechange.storyworld.words import entries

_INDEX = re.compile(r"[0-9]+$")


class Grammar:
    """Everything that may be told: ``start`` is the opening, which all plots share, and then one of the plots."""

    def __init__(
        self, words: Mapping[str, str], sentences: Mapping[str, str], plots: Mapping[str, str]
    ) -> None:
        """Texts of the story files by name; a `ValueError` or `LookupError` names the place of a slip."""
        pools = _Pools(words)
        shared = _Rules(pools, sentences)
        self.plots = tuple(sorted(plots))
        own = [_Rules(pools, {name: plots[name]}, shared) for name in self.plots]
        stories = [_Linker(pools, rules).choice("story", ()) for rules in own]
        plot = Choice(tuple(Option(1, None, (story,)) for story in stories))
        self.start = Choice((Option(1, None, (_Linker(pools, shared).choice("opening", ()), plot)),))


@cache
def load() -> Grammar:
    """The world's own grammar, linked once; nothing changes it."""
    return Grammar(**files.texts())


class _Pools:
    """Words by pool, and the domains and choices made of them, each made once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.words = {
            header: tuple(word for place, line in lines for word in entries(line, place))
            for name, text in sorted(texts.items())
            for header, lines in files.blocks(name, text)
        }
        self._domains: dict[str, Domain] = {}
        self._choices: dict[str, Choice] = {}

    def domain(self, entry: str, variable: str, place: str) -> Domain:
        """The domain that an entry of the cast, such as ``place room ~ kind``, describes."""
        if entry not in self._domains:
            names, _, agrees = entry.partition("~")
            missing = [name for name in names.split() if name not in self.words]
            if missing:
                raise LookupError(
                    f"{place}: the variable {variable!r} needs the pool {missing[0]!r}; there is none"
                )
            words = tuple(word for name in names.split() for word in self.words[name])
            self._domains[entry] = Domain(words, agrees=agrees.strip())
        return self._domains[entry]

    def choice(self, call: str) -> Choice:
        """Any word of the pool that ``call`` names, in the form that may follow after a full stop."""
        if call not in self._choices:
            name, _, form = call.partition(".")
            if name not in self.words:
                raise LookupError(f"no rule and no pool {name!r}")
            literals = [(word.weight, Literal(word.form(form), name)) for word in self.words[name]]
            self._choices[call] = Choice(
                tuple(Option(weight, None, (literal,)) for weight, literal in literals)
            )
        return self._choices[call]


class _Rules:
    """The rules and the cast of some story files, on top of those that they share with others."""

    def __init__(self, pools: _Pools, texts: Mapping[str, str], shared: "_Rules | None" = None) -> None:
        self.cast: dict[str, str] = dict(shared.cast) if shared else {}
        self.rules: dict[str, tuple[list[str], list[Alternative]]] = dict(shared.rules) if shared else {}
        for file, text in sorted(texts.items()):
            for header, lines in files.blocks(file, text):
                name, _, parameters = header.rstrip(")").partition("(")
                if header == "cast":
                    entries = (line.partition("=") for _, line in lines)
                    self.cast |= {variable.strip(): domain.strip() for variable, _, domain in entries}
                elif name in pools.words:
                    raise ValueError(f"{file}: the rule {name!r} has the name of a pool")
                else:
                    written = [alternative(line, place) for place, line in lines]
                    self.rules[name] = (parameters.replace(",", " ").split(), written)


class _Linker:
    """Turns the rules that one plot can reach into choices."""

    def __init__(self, pools: _Pools, rules: _Rules) -> None:
        self.pools, self.rules = pools, rules
        self.linked: dict[tuple[str, tuple[str, ...]], Choice] = {}

    def choice(self, name: str, arguments: tuple[str, ...]) -> Choice:
        """The choice between the alternatives of a rule, or between the words of a pool."""
        if name not in self.rules.rules:
            return self.pools.choice(name)
        if (name, arguments) not in self.linked:
            parameters, alternatives = self.rules.rules[name]
            if len(parameters) != len(arguments):
                raise ValueError(f"rule {name!r} takes {parameters}, it was given {list(arguments)}")
            choice = self.linked[name, arguments] = Choice()
            renamed = dict(zip(parameters, arguments, strict=True))
            choice.options = tuple(self._option(one, renamed) for one in alternatives)
        return self.linked[name, arguments]

    def _option(self, written: Alternative, renamed: dict[str, str]) -> Option:
        guard = written.guard
        if guard:
            guard = Guard(_rename(guard.variable, renamed), guard.tag, guard.wanted)
        return Option(written.weight, guard, tuple(self._step(symbol, renamed) for symbol in written.symbols))

    def _step(self, symbol: Symbol, renamed: dict[str, str]) -> Step:
        match symbol:
            case Slot(variable, form, place):
                variable = _rename(variable, renamed)
                return Name(variable, form, self._domain(variable, place), place)
            case Call(rule, arguments):
                return self.choice(rule, tuple(_rename(argument, renamed) for argument in arguments))
            case Pick(alternatives):
                return Choice(tuple(self._option(one, renamed) for one in alternatives))
            case _:
                return symbol

    def _domain(self, variable: str, place: str) -> Domain:
        owner, _, detail = variable.partition(":")
        kind = _INDEX.sub("", detail or owner)
        if detail:
            return Domain(self._domain(owner, place).every, owner=owner, detail=kind)
        cast = self.rules.cast
        return self.pools.domain(cast.get(variable) or cast.get(kind) or kind, variable, place)


def _rename(variable: str, renamed: dict[str, str]) -> str:
    owner, colon, detail = variable.partition(":")
    return renamed.get(owner, owner) + colon + detail
