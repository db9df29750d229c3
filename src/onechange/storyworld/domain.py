"""A domain: the words that a variable may take, given what a story has said so far."""

from collections.abc import Mapping
from functools import cached_property

from onechange.storyworld.menu import Menu
from onechange.storyworld.words import Word

GENDERS = frozenset(("he", "she"))


class Domain:
    """Words of pools, or the detail ``detail`` of the word that the variable ``owner`` holds, one of ``words``.

    A word that another variable holds already is not allowed (no two people of one name, no second thing of the same
    kind), nor, where the variable ``agrees`` is known, one of another gender.
    """

    def __init__(
        self, words: tuple[Word, ...] = (), owner: str = "", detail: str = "", agrees: str = ""
    ) -> None:
        self.owner, self.detail, self.agrees = owner, detail, agrees
        self.words = {word.text: word for word in words}
        if len(self.words) != len(words):
            twice = sorted({word.text for word in words if words.count(word) > 1})
            raise ValueError(f"a word stands twice in the pools of one variable: {', '.join(twice)}")
        self._menus: dict[tuple[str, str], tuple[tuple[Word, ...], Menu]] = {}
        self._any: dict[str, tuple[tuple[Word, ...], Menu]] = {}
        self._wordings: dict[str, Menu] = {}
        self._totals: dict[frozenset[str], int] = {}

    def menu(self, form: str, known: Mapping[str, Word]) -> tuple[tuple[Word, ...], Menu]:
        """All words, allowed or not, and the menu of their forms ``form``."""
        owner = known[self.owner] if self.owner else None
        key = (form, owner.text if owner else "")
        if key not in self._menus:
            words = (
                tuple(Word(text) for text in owner.details[self.detail])
                if owner
                else tuple(self.words.values())
            )
            self._menus[key] = (
                words,
                Menu([word.weight for word in words], [word.form(form) for word in words]),
            )
        return self._menus[key]

    @cached_property
    def every(self) -> tuple[Word, ...]:
        """Every word that the variable holds in some story."""
        if not self.owner:
            return tuple(self.words.values())
        details = (text for word in self.words.values() for text in word.details.get(self.detail, ()))
        return tuple(map(Word, dict.fromkeys(details)))

    def any(self, form: str) -> tuple[tuple[Word, ...], Menu]:
        """`every` word, and the menu of their forms ``form``."""
        if form not in self._any:
            words = self.every
            self._any[form] = (
                words,
                Menu([word.weight for word in words], [word.form(form) for word in words]),
            )
        return self._any[form]

    def wordings(self, form: str) -> Menu:
        """The forms ``form`` of `every` word, each text once: ``he`` and ``she``, however many people there are."""
        if form not in self._wordings:
            texts = list(dict.fromkeys(self.any(form)[1].leads))
            self._wordings[form] = Menu([1] * len(texts), texts)
        return self._wordings[form]

    def tells(self, form: str) -> bool:
        """Whether the form ``form`` tells which word a variable holds: a name does, ``he`` does not."""
        return len(self.wordings(form).leads) == len(self.every)

    def genders(self, known: Mapping[str, Word]) -> frozenset[str]:
        """The genders of which a word must have one; none where any will do."""
        return known[self.agrees].tags & GENDERS if self.agrees in known else frozenset()

    def total(self, menu: Menu, genders: frozenset[str], used: set[str]) -> int:
        """The sum of the weights of the allowed words, ``used`` being the words that other variables hold."""
        if self.owner:
            return sum(
                weight for weight, text in zip(menu.weights, menu.leads, strict=True) if text not in used
            )
        if genders not in self._totals:
            fitting = (word for word in self.words.values() if not genders or word.tags & genders)
            self._totals[genders] = sum(word.weight for word in fitting)
        taken = (self.words[text] for text in used if text in self.words)
        return self._totals[genders] - sum(
            word.weight for word in taken if not genders or word.tags & genders
        )
