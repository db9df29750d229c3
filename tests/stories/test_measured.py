"""What the measures hand over: figures for the record, places for the reader."""

import json

import pytest

from onechange import kinds
from onechange.stories.measured import measured
from onechange.stories.measures import MEASURES
from onechange.stories.story import Story, real

TRAINING = ["Once upon a time there was a little dog named Spot. Spot ran and ran to the big tree."]
NAMES = frozenset({"Spot"})


def test_places_are_those_of_the_text():
    text = "ce there was a little dog named Spot. A blick sat. there was a little DOG, no no no."
    (marks,) = measured([Story("On", text, True)], TRAINING, "\n\n", NAMES).marks
    assert [text[start:end] for start, end in marks.unknown] == ["blick", "sat", "no", "no", "no"]
    assert [text[start:end] for start, end in marks.repeated] == ["there was a little DOG"]
    assert text[slice(*marks.loop)] == "no no no"
    assert text[slice(*marks.longest_copy)] == "e there was a little dog named Spot. "
    assert marks.copies == ()
    longer = text.replace(" A blick", " Spot ran blick")
    (marks,) = measured([Story("On", longer, True)], TRAINING, "\n\n", NAMES).marks
    assert [longer[start:end] for start, end in marks.copies] == [
        "e there was a little dog named Spot. Spot ran "
    ]
    assert json.loads(json.dumps(marks.to_json())) == {
        "copies": [[1, 47]],
        "longest_copy": [1, 47],
        "repeated": [[58, 80]],
        "loop": [82, 90],
        "unknown": [[47, 52], [53, 56], [82, 84], [85, 87], [88, 90]],
    }


def test_what_lies_in_the_prompt_is_not_marked():
    (marks,) = measured([Story("a b c d a b", " c d c d", True)], TRAINING, "\n\n", NAMES).marks
    assert marks.repeated == ((1, 4),) and marks.loop == (1, 8)


def test_a_record_has_every_measure_story_by_story():
    stories = [Story("Spot", " ran.", True), Story("A dog", "", True), Story("Spot", " 🙂猫", False)]
    found = json.loads(json.dumps(measured(stories, TRAINING, "\n\n", NAMES).to_json()))
    assert (found["stories"], found["characters"], found["prompts"]) == (3, 8, [0, 1, 0])
    assert list(found["measures"]) == list(MEASURES)
    for counted in found["measures"].values():
        assert len(counted["counts"]) == len(counted["of"]) == 3
        assert all(of > 0 or count == 0 for count, of in zip(counted["counts"], counted["of"], strict=True))
    assert found["measures"]["unknown_words"] == {"counts": [0, 0, 0], "of": [1, 0, 0]}
    assert found["measures"]["ended"] == {"counts": [1, 1, 0], "of": [1, 1, 1]}


@pytest.mark.parametrize("training", [[], [""], TRAINING])
@pytest.mark.parametrize(
    "text", ["", "从前有一只猫。它跑了。", "🙂👩\u200d👧", "\0\n\n", "\u0301", "'", '"', "İẞŉ"]
)
@pytest.mark.parametrize("ended", [True, False])
def test_no_text_is_too_strange(text, training, ended):
    found = measured([Story("", text, ended), Story("猫“", text, ended)], training, "🙂", NAMES)
    assert found.characters == 2 * len(text)


def test_no_stories_are_a_mistake():
    with pytest.raises(ValueError, match="no stories"):
        measured([], TRAINING, "\n\n", NAMES)


def test_real_stories_are_as_good_as_stories_get(shared_stories):
    """On the first 150 real stories, others being the training text: what people wrote has words, ends and heroes."""
    stories = [story.strip() for story in shared_stories.read_text().split("<|endoftext|>")[:1200]]
    training = stories[150:]
    found = measured(real(stories[:150], 12, 800), training, "\n\n", kinds.names(stories)).measures
    figures = {name: counted.figure or 0.0 for name, counted in found.items()}
    assert figures["unknown_words"] < 0.03 and figures["quotes_left_open"] < 0.02
    assert figures["sentence_ends"] > 0.97 and figures["hero_kept"] > 0.8 and figures["new_names"] < 0.1
    assert figures["repeated_phrases"] < 0.03 and 20 < figures["longest_copy"] < 80
