"""A word of the world and its forms: who it is, what it is called, what belongs to it."""

import re
from dataclasses import dataclass, field

_PRONOUNS = {
    "he": {"he": "he", "him": "him", "his": "his", "himself": "himself", "boy": "boy", "son": "son"},
    "she": {"he": "she", "him": "her", "his": "her", "himself": "herself", "boy": "girl", "son": "daughter"},
}
_SOUNDS_LIKE_YOU = re.compile(r"(uni|use|usual|uku|one\b|eu)", re.IGNORECASE)
_SILENT_H = re.compile(r"(hour|honest)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Word:
    """One entry of a pool: the word itself, its tags (``he``, ``wet``, …, and itself) and its details by name."""

    text: str
    weight: int = 1
    tags: frozenset[str] = frozenset()
    details: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def form(self, name: str) -> str:
        """The form ``name``: ``""`` the word, a detail with one value, ``plural``, or a pronoun (``he``, ``his``).

        Raises `LookupError` where the word has no such form: a slip in the story files.
        """
        if not name:
            return self.text
        if name in self.details:
            values = self.details[name]
            if len(values) != 1:
                raise LookupError(
                    f"{self.text!r} has {len(values)} values of {name!r}: write {{variable:{name}}}"
                )
            return values[0]
        if name == "plural":
            return plural(self.text)
        for tag, forms in _PRONOUNS.items():
            if tag in self.tags and name in forms:
                return forms[name]
        raise LookupError(f"{self.text!r} has no form {name!r}")


def plural(noun: str) -> str:
    """The regular plural; irregular ones are written out as a detail."""
    if re.search(r"[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    return noun + ("es" if re.search(r"(s|x|z|ch|sh)$", noun) else "s")


def article(following: str) -> str:
    """ "a" or "an", by the sound that ``following`` begins with."""
    vowel = following[0] in "aeiouAEIOU" and not _SOUNDS_LIKE_YOU.match(following)
    return "an" if vowel or _SILENT_H.match(following) else "a"


def entries(line: str, place: str) -> list[Word]:
    """The words of one line, ``red, blue`` or ``Tom, Ben : he`` or ``kite : toy ; part = tail, string``."""
    head, *parts = line.split(";")
    words, _, tags = head.partition(":")
    details: dict[str, tuple[str, ...]] = {}
    for part in parts:
        name, equals, values = part.partition("=")
        if not equals:
            raise ValueError(f"{place}: {part.strip()!r} is no detail: write name = value, value")
        details[name.strip()] = tuple(value.strip() for value in values.split(","))
    return [_weighted(word, frozenset(tags.split()), details) for word in words.split(",")]


def _weighted(word: str, tags: frozenset[str], details: dict[str, tuple[str, ...]]) -> Word:
    weight, star, text = word.strip().rpartition("*")
    return Word(text, int(weight) if star else 1, tags | {text.replace(" ", "-")}, details)
