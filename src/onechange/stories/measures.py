"""The measures of stories: what each is called, which way is good, and what it is in a sentence.

How each is computed, an example and what it does not see: `docs/measures.md`; of the world, `docs/storyworld.md`.
"""

from dataclasses import dataclass
from typing import Literal

Unit = Literal["share of stories", "share", "words", "names", "characters", "contradictions"]
"""A share of stories is a yes or no for every story."""
Good = Literal["less", "more", "as real"]
"""Which way is good; ``as real``: neither end is, the value of real stories is what to come near to."""

COPY = 40
"""Characters from which on a copied passage counts as one: some eight words."""


@dataclass(frozen=True)
class Measure:
    """One figure of a checkpoint's stories: Σ counts / Σ of, over the stories that it applies to."""

    label: str
    unit: Unit
    good: Good
    definition: str

    def written(self, value: float) -> str:
        """``value`` as reports show it, such as ``3.1%`` or ``0.25``."""
        if self.unit in ("share", "share of stories"):
            return f"{value:.1%}"
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


MEASURES: dict[str, Measure] = {
    "unknown_words": Measure(
        "words that are no words",
        "share",
        "less",
        "The share of words that stand neither in the training text nor in the prompt.",
    ),
    "repeated_phrases": Measure(
        "repeated 4-grams",
        "share",
        "as real",
        "The share of runs of four words that stood in the same story, or its prompt, before.",
    ),
    "longest_loop": Measure(
        "longest loop",
        "words",
        "less",
        "The words of the longest stretch in which one phrase is said twice or more in a row, 0 without; the mean over "
        "stories.",
    ),
    "hero_kept": Measure(
        "hero kept",
        "share of stories",
        "more",
        "Of the stories whose prompt names somebody, the share whose last third still says that name.",
    ),
    "new_names": Measure(
        "new characters late",
        "names",
        "less",
        "Names in a story's last third that neither the prompt nor the text before has said; the mean over stories.",
    ),
    "quotes_left_open": Measure(
        "quotes left open",
        "share of stories",
        "less",
        "Of the stories with a quotation, the share in which one is not closed before its paragraph ends.",
    ),
    "sentence_ends": Measure(
        "ends with a sentence",
        "share of stories",
        "more",
        "Of the stories that ended by themselves, the share whose last sign ends a sentence.",
    ),
    "ended": Measure(
        "ended by itself",
        "share of stories",
        "as real",
        "The share of stories that came to their own end within the budget of characters.",
    ),
    "length": Measure(
        "length",
        "characters",
        "as real",
        "Characters of a story after its prompt, within the budget; the mean over stories.",
    ),
    "longest_copy": Measure(
        "longest copy",
        "characters",
        "as real",
        "The characters of the longest passage that stands in the training text word for word; the mean over stories.",
    ),
    "copied": Measure(
        f"in copies of {COPY} characters or more",
        "share",
        "as real",
        f"The share of characters that lie in passages of {COPY} characters or more which stand in the training text "
        "word for word.",
    ),
    "distinct_words": Measure(
        "distinct words among 50",
        "words",
        "as real",
        "Distinct words among 50 consecutive words, averaged over all such stretches of a story and then over stories.",
    ),
    "distinct_words_between": Measure(
        "distinct words among 500 of 10 stories",
        "words",
        "as real",
        "Distinct words among 500, the first 50 of each of 10 stories, averaged over all choices of 10 stories.",
    ),
}

WORLD: dict[str, Measure] = {
    "world_parsed": Measure(
        "agrees with its world",
        "share",
        "more",
        "The share of characters up to where a story stops being the beginning of any story of the corpus's world.",
    ),
    "world_whole": Measure(
        "agrees to its end",
        "share of stories",
        "more",
        "The share of stories that agree with the world to their end, or to where they were cut.",
    ),
    "world_read": Measure(
        "can be read",
        "share",
        "more",
        "The share of characters up to where a story cannot be read any more, even with contradictions.",
    ),
    "world_contradictions": Measure(
        "contradictions",
        "contradictions",
        "less",
        "How often a story contradicts what it told itself, as far as it can be read; the mean over stories.",
    ),
}
"""Of stories without a prompt, where the corpus's world is known."""
ALL = MEASURES | WORLD
