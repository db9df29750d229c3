"""Which prompts a study's samples continue on a given corpus."""

import re
from collections.abc import Sequence

from onechange.documents import Corpus

WORDS = 8
MOST = 4
BEGINNING = ""
"""The prompt of a story that the model begins itself."""


def usable(prompts: Sequence[str], corpus: Corpus) -> tuple[list[str], list[str]]:
    """The prompts that ``corpus``'s alphabet can write, and a note for each that it cannot.

    If a study asks for samples and none is left, the beginnings of the first validation stories take their place.
    """
    known = set(corpus.alphabet)
    kept, notes = [], []
    for prompt in prompts:
        unknown = sorted(set(prompt) - known)
        if unknown:
            notes.append(f"prompt {prompt!r} is left out: the corpus has no {' '.join(map(repr, unknown))}")
        else:
            kept.append(prompt)
    if prompts and not kept:
        kept = [_beginning(story) for story in corpus.validation[:MOST]]
        notes.append("the beginnings of the first validation stories are continued instead")
    return kept, notes


def _beginning(story: str) -> str:
    """The first words as they stand there: a space put between them might not be in the alphabet."""
    words = re.match(rf"(?:\S+\s*){{1,{WORDS}}}", story[:400])
    assert words, "stories are stripped and never empty"
    return words.group().rstrip()


def demonstration(sentence: str, corpus: Corpus) -> str:
    """``sentence``, or the beginning of the validation text where the alphabet cannot write it."""
    if set(sentence) <= set(corpus.alphabet):
        return sentence
    return next(iter(corpus.validation), corpus.separator)[:60]
