"""What a grammar is made of once the story files are linked: steps that say something, and choices between them."""

from dataclasses import dataclass
from functools import cached_property

from onechange.storyworld.domain import Domain
from onechange.storyworld.menu import Menu
from onechange.storyworld.notation import Guard, Literal, Mark


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
    domain: Domain
    place: str


Step = Literal | Name | Choice | Mark
