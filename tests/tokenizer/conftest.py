"""The shared stories, cleaned and split in a few plain lines that owe nothing to the package."""

from pathlib import Path
from typing import NamedTuple

import pytest

SEPARATOR = "\n\n"


class Stories(NamedTuple):
    everything: list[str]
    training: list[str]
    validation: list[str]
    alphabet: str


@pytest.fixture(scope="session")
def cut_stories(shared_stories: Path) -> Stories:
    stories: list[str] = []
    characters = 0
    for raw in shared_stories.read_text(encoding="utf-8").split("<|endoftext|>"):
        story = raw.strip()
        if story and story not in stories and characters < 1_600_000:
            stories.append(story)
            characters += len(story)
    assert (len(stories), characters) == (1980, 1_600_743)
    return Stories(
        everything=stories,
        training=[story for number, story in enumerate(stories, start=1) if number % 10],
        validation=stories[9::10],
        alphabet="".join(sorted(set("".join([*stories, SEPARATOR])))),
    )
