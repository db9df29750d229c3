"""Ways on that the machine does not allow because they contradict what was told.

Three liberties may be taken with the world:

- a variable that is known is said with another word of its domain: another name, another color, a pronoun of the other
  gender. What was told first stays true;
- a variable is told for the first time with a word that is not free: another variable holds it, its gender does not
  fit, or it is a detail of something else;
- an alternative is taken that its guard closes: the trait is another one, or what is spoken of was never told. Where
  the guard wants something not to be known yet, it is told anew.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from onechange.storyworld.domain import GENDERS, Domain
from onechange.storyworld.machine import NONE, Point, Way, fits, marked, unmarked, upcoming
from onechange.storyworld.notation import Guard
from onechange.storyworld.steps import Choice, Name
from onechange.storyworld.words import Word

_Known = Mapping[str, Word]
_Other = tuple[str, Word, str]
"""A text that the world forbids, the word that the variable holds from then on, and what the world asks for."""


class Liberty(NamedTuple):
    """A way on, and what it contradicts: the world has ``was`` for ``variable``, the text has ``said``.

    Both are words of the variable, or say in words what the world asks for or the text does.
    """

    way: Way
    variable: str
    was: str
    said: str


def lost(point: Point) -> bool:
    """Whether the next step rests on a word that was never told, as it may after a liberty: there is no way on."""
    known = point.known
    match upcoming(point):
        case (Name(variable, domain=domain), _, _):
            return variable not in known and bool(domain.owner) and domain.owner not in known
        case (Choice() as step, _, _):
            guards = (option.guard for option in step.options if option.guard)
            return any(guard.tag != "known" and guard.variable not in known for guard in guards)
        case _:
            return False


def liberties(point: Point, vague: frozenset[str], ahead: str | None) -> Iterator[Liberty]:
    """The liberties that may be taken next, but for those that contradict what was told only vaguely.

    ``ahead`` is that of `onechange.storyworld.machine.advance`.
    """
    known = point.known
    match upcoming(point):
        case (Choice() as step, rest, marks) if step.guarded:
            for option in step.options:
                if option.guard and not fits(option, known):
                    way = Way("", Point((option.steps, 0, rest), _without(known, option.guard), marks))
                    yield Liberty(way, option.guard.variable, *_closed(option.guard, known))
        case (Name() as step, rest, marks):
            ahead = unmarked(ahead, marks)
            if step.variable not in known:
                ways = _other_first_words(step, known, ahead)
            elif step.variable in vague and step.domain.tells(step.form):
                ways = _other_gender(step, known, ahead)
            else:
                ways = _other_words(step, known, ahead)
            for text, word, was in ways:
                way = Way(marked(text, marks), Point(rest, {**known, step.variable: word}, NONE))
                yield Liberty(way, step.variable, was, text)
        case _:
            pass


def _closed(guard: Guard, known: _Known) -> tuple[str, str]:
    """What a guard that closes its alternative finds, and what the alternative says."""
    if guard.tag != "known":
        return known[guard.variable].text, guard.tag if guard.wanted else f"not {guard.tag}"
    if guard.wanted:
        return "never told", "as if told"
    return known[guard.variable].text, "told anew"


def _without(known: _Known, guard: Guard) -> _Known:
    """The words known to an alternative that its guard closes: what is told anew is forgotten."""
    if guard.tag == "known" and not guard.wanted:
        return {variable: word for variable, word in known.items() if variable != guard.variable}
    return known


def _other_words(step: Name, known: _Known, ahead: str | None) -> Iterator[_Other]:
    """Another word than the one that was told, which stays true."""
    held = known[step.variable]
    menu = step.domain.wordings(step.form)
    for text in (menu.leads[number] for number in menu.numbers(ahead)):
        if text != held.form(step.form):
            yield text, held, held.form(step.form)


def _other_gender(step: Name, known: _Known, ahead: str | None) -> Iterator[_Other]:
    """A word of another gender than that of a pronoun that was all the story told so far: *Her name was Ben*."""
    held = known[step.variable]
    words, menu = step.domain.any(step.form)
    for number in menu.numbers(ahead):
        if (words[number].tags ^ held.tags) & GENDERS:
            yield menu.leads[number], words[number], held.form("he")
            yield menu.leads[number], _of_gender(words[number], held.tags & GENDERS), held.form("he")


def _other_first_words(step: Name, known: _Known, ahead: str | None) -> Iterator[_Other]:
    """A word that is not free; or a form that does not tell the word and that no free word has, of a free word."""
    words, menu = step.domain.any(step.form)
    genders = step.domain.genders(known)
    for number in menu.numbers(ahead):
        if was := _not_free(words[number], step.domain, known):
            yield menu.leads[number], words[number], was
            if genders and not words[number].tags & genders:
                yield menu.leads[number], _of_gender(words[number], genders), was
    if not step.domain.tells(step.form):
        free = [(word, word.form(step.form)) for word in words if not _not_free(word, step.domain, known)]
        for text in sorted({*step.domain.wordings(step.form).leads} - {own for _, own in free}):
            yield from ((text, word, own) for word, own in free)


def _of_gender(word: Word, genders: frozenset[str]) -> Word:
    """``word``, but of the gender that the world asks for: a girl named Ben may be *she* from then on, or *he*."""
    return replace(word, tags=word.tags - GENDERS | genders)


def _not_free(word: Word, domain: Domain, known: _Known) -> str:
    """What the world asks for where it forbids ``word`` as a variable's first word; nothing where it allows it."""
    for variable, other in known.items():
        if other.text == word.text:
            return f"not that of {variable}"
    if domain.owner and word.text not in known[domain.owner].details.get(domain.detail, ()):
        return f"a {domain.detail} of {known[domain.owner].text}"
    genders = domain.genders(known)
    return f"one of {domain.agrees}'s gender" if genders and not word.tags & genders else ""
