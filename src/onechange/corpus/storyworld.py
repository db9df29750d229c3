"""Short children's stories from a generator of our own: endless, offline, and of exactly known probability.

Every random choice behind a story is counted: log p(story) = Σ log p(choice), in nats. The mean of -log p
over validation stories, divided by their characters, is the entropy floor that no model beats in expectation.
What the world is made of and how the floor is computed: ``docs/storyworld.md``.
"""

from collections.abc import Iterator, Sequence
from typing import Any, final

from onechange.corpus import Source
from onechange.seed import stream
from onechange.storyworld import checking, figures, files, grammar, reading, telling


@final
class Storyworld(Source):
    """Stories number 0, 1, 2, … of world ``world``; each has a random stream of its own.

    ``characters`` must be a number: the world has no end. Another ``world`` tells other stories of the same
    kind; it has nothing to do with the seed of a run.
    """

    def __init__(
        self,
        *,
        world: int = 0,
        characters: int | None = 1_600_000,
        separator: str = "\n\n",
        test: float = 0.0,
    ) -> None:
        if characters is None:
            raise ValueError(
                "corpus.characters = None: storyworld has no end; say how many are wanted, e.g. 1600000"
            )
        if characters < 1:
            raise ValueError(f"corpus.characters = {characters}: must be a positive number, e.g. 1600000")
        if not separator:
            raise ValueError(
                "corpus.separator = '': the text between stories must not be empty, e.g. '\\n\\n'"
            )
        self.world, self.characters, self.separator, self.test = world, characters, separator, test
        self._grammar = grammar.load()

    def documents(self) -> Iterator[str]:
        """Stories without end, told one at a time; the n-th is the same however many are asked for."""
        number = 0
        while True:
            yield self.story(number).text
            number += 1

    def story(self, number: int) -> telling.Story:
        """Story ``number`` (from 0) with the choices that made it."""
        return telling.tell(self._grammar.start, stream(self.world, "corpus", f"story-{number}").random)

    def identity(self) -> dict[str, object]:
        """The hash of the story files: any changed word in them is another corpus."""
        return {"story_files": files.fingerprint()}

    def stamp(self) -> dict[str, Any]:
        return {}  # settings and story files decide it all

    def log_probability(self, document: str) -> float | None:
        """log p of ``document`` in nats, exact; ``None`` where no choices of this world tell it.

        The separator that follows is certain, so it adds 0.
        """
        return reading.log_probability(reading.read(self._grammar.start, document))

    def checked(self, texts: Sequence[str], ended: Sequence[bool]) -> dict[str, Any]:
        """Each text read back by the world, as far as it goes: see `onechange.storyworld.figures.figures`."""
        start = self._grammar.start
        found = [checking.check(start, text, end) for text, end in zip(texts, ended, strict=True)]
        return figures.figures(texts, found)
