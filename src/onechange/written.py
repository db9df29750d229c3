"""What a checkpoint writes after every prompt, with the measures of it; and what real stories come to by the same."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import islice
from typing import Any

import msgspec

from onechange import cached, family
from onechange.checkpoint_reader import Trained
from onechange.corpus import Source
from onechange.documents import Corpus
from onechange.generate import generate
from onechange.sampling import Sampling
from onechange.stories.measured import Measured, measured
from onechange.stories.story import Story, real

REAL_STORIES = 500
"""Validation stories at most that samples are set beside."""


def written(
    trained: Trained, sampling: Sampling, prompts: Sequence[str], corpus: Corpus
) -> tuple[str, dict[str, Any] | None]:
    """What a checkpoint writes, as JSON lines, and the measures of that; None where there are no prompts.

    A story lies between separators, as in training. The first one after a prompt, which reports show, has its marks.
    """
    sampling = sampling.ending_at(corpus.separator)
    decoder = partial(
        cached.decoder, compiled=trained.recipe.compile
    )  # many stories, many steps: worth compiling
    texts = generate(
        trained.model, trained.tokenizer, prompts, sampling, before=corpus.separator, decoder=decoder
    )
    if not texts:
        return "", None
    stories = [Story(text.prompt, text.text, text.ended) for text in texts]
    found = _measured(stories, corpus)
    more = {"step": trained.step, "settings": msgspec.structs.asdict(sampling)}
    lines = [
        {**asdict(text), **more, **({} if text.number else {"marks": marks.to_json()})}
        for text, marks in zip(texts, found.marks, strict=True)
    ]
    samples = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return samples, _figures(found, stories, trained.recipe.corpus)


def of_real_stories(
    corpus: Corpus, source: Mapping[str, Any], prompt_words: int, characters: int
) -> dict[str, Any] | None:
    """The same of the first validation stories, cut as samples are; None where there is none to cut.

    ``source`` is the resolved corpus. Its world, where that is known, is asked about the stories from their beginning.
    """
    some = list(islice(corpus.validation, REAL_STORIES))
    stories = real(some, prompt_words, characters)
    if not stories:
        return None
    return _figures(_measured(stories, corpus), real(some, 0, characters), source)


def knows_its_world(source: Mapping[str, Any]) -> bool:
    """Whether the resolved corpus can tell how well a text agrees with the world behind it."""
    return _source(source).checked([], []) is not None


def _measured(stories: Sequence[Story], corpus: Corpus) -> Measured:
    return measured(stories, corpus.training, corpus.separator, corpus.names)


def _figures(found: Measured, stories: Sequence[Story], source: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON. The world is asked about those of ``stories`` that have no prompt: nothing in them was given."""
    whole = [story for story in stories if not story.prompt]
    world = _source(source).checked([story.text for story in whole], [story.ended for story in whole])
    if not whole or world is None:
        return found.to_json()
    return {**found.to_json(), "world": {**world, "prompts": [0] * len(whole)}}


def _source(resolved: Mapping[str, Any]) -> Source:
    return family.build("corpus", resolved)
