"""The world's own stories, true, cut, altered and with nonsense in them, are checked for what they are."""

import json
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from onechange.corpus.storyworld import Storyworld
from onechange.storyworld.checking import Checked, check
from onechange.storyworld.grammar import load
from onechange.storyworld.machine import Fork, advance, beginning, upcoming
from onechange.storyworld.steps import Name
from onechange.storyworld.telling import Story

START = load().start
WORLD = Storyworld()
NUMBERS = st.integers(0, 2000)
few = settings(max_examples=25)


@few
@given(NUMBERS, st.floats(0, 1))
def test_a_true_story_agrees_with_the_world_wherever_it_is_cut(number: int, share: float) -> None:
    text = WORLD.story(number).text
    cut = round(share * len(text))
    assert check(START, text, ended=True) == Checked(len(text), True, len(text), ())
    assert check(START, text[:cut]) == Checked(cut, True, cut, ())


@few
@given(NUMBERS, st.floats(0, 1))
def test_a_true_story_breaks_where_nonsense_begins(number: int, share: float) -> None:
    text = WORLD.story(number).text
    cut = round(share * len(text))
    assert check(START, text[:cut] + "#" + text[cut:]) == Checked(cut, False, cut, ())


@few
@given(NUMBERS, st.data())
def test_one_word_exchanged_is_one_contradiction(number: int, data: st.DataObject) -> None:
    story = WORLD.story(number)
    position, variable, was, others = data.draw(st.sampled_from(list(mentions(story))))
    said = data.draw(st.sampled_from(others))
    altered = story.text[:position] + said + story.text[position + len(was) :]
    found = check(START, altered, ended=True)
    assert [(one.position, one.variable, one.was, one.said) for one in found.contradictions] == [
        (position, variable, was, said)
    ]
    assert found.read == len(altered)


def mentions(story: Story) -> Iterator[tuple[int, str, str, list[str]]]:
    """Where a story says again what was told: position, variable, the word, and the words that it might have said."""
    point, position, choices = beginning(START), 0, iter(story.choices)
    told: set[str] = set()
    while (step := advance(point)) is not None:
        match upcoming(point):
            case (Name(variable, form, domain), _, _):
                if variable in told:
                    was = point.known[variable].form(form)
                    others = [text for text in domain.wordings(form).leads if text != was]
                    if others and story.text.startswith(was, position):
                        yield position, variable, was, others
                if domain.tells(form):
                    told.add(variable)
            case _:
                pass
        shown, point = step.take(next(choices)) if isinstance(step, Fork) else (step.text, step.point)
        position += len(shown)


def test_the_figures_of_true_and_altered_stories() -> None:
    texts = [WORLD.story(number).text for number in range(6)]
    lengths = [len(text) for text in texts]
    true = WORLD.checked(texts, [True] * 6)
    assert (true["stories"], true["characters"], true["contradictions"]) == (6, sum(lengths), [])
    assert true["measures"] == {
        "world_parsed": {"counts": lengths, "of": lengths},
        "world_whole": {"counts": [1] * 6, "of": [1] * 6},
        "world_read": {"counts": lengths, "of": lengths},
        "world_contradictions": {"counts": [0] * 6, "of": [1] * 6},
    }
    position, variable, was, others = list(mentions(WORLD.story(0)))[-1]
    altered = texts[0][:position] + others[0] + texts[0][position + len(was) :]
    found = WORLD.checked([texts[1], altered, texts[2][:100]], [True, True, True])
    measures = found["measures"]
    assert measures["world_whole"]["counts"] == [1, 0, 0]
    assert measures["world_contradictions"]["counts"] == [0, 1, 0]
    assert measures["world_parsed"]["counts"][1] < measures["world_read"]["counts"][1] == len(altered)
    assert found["contradictions"] == [[1, position, variable, was, others[0]]]
    assert json.loads(json.dumps(found)) == found


def test_the_example_of_the_documentation() -> None:
    """The table in docs/storyworld.md."""
    true = WORLD.story(3).text
    altered = true.replace("He gave it back", "She gave it back").replace(
        "at the toy train", "at the toy truck"
    )
    strange = altered.replace("nailed the whistle", "whistled the nail")
    found = WORLD.checked([true, altered, strange], [True] * 3)
    assert found["measures"]["world_parsed"] == {"counts": [1113, 144, 144], "of": [1113, 1114, 1113]}
    assert found["measures"]["world_read"]["counts"] == [1113, 1114, 886]
    assert found["measures"]["world_contradictions"]["counts"] == [0, 2, 2]
    two = [[144, "hero", "he", "she"], [476, "toy", "toy train", "toy truck"]]
    assert found["contradictions"] == [[number, *one] for number in (1, 2) for one in two]
    assert strange[886:].startswith("whistled the nail")
