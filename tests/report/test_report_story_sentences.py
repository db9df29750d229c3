"""What the report says of differences between stories and of the loss: every sentence from results written by hand."""

from pathlib import Path

import pytest
from story_results import UNJUDGED, figures, results, studied

from onechange.report import story_section, story_sentences, story_tracking
from onechange.report.study import Study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return studied(tmp_path, results())


def test_the_later_checkpoint_is_told_in_sentences(study: Study) -> None:
    [told] = story_sentences.last_against_best(figures(study))
    assert (told.arm.name, told.compared, told.caution) == ("rope", "at step 2,000 instead of 800", None)
    assert [sentence.replace("\u00a0", " ") for sentence in told.sentences] == [
        "It copies more: in copies of 40 characters or more, 4.0% → 9.0% (+3.8 to +6.2 points; higher; real stories "
        "4.5%); longest copy, 40.0 → 44.0 (−2.0 to +10.0; no difference seen; real stories 38.1).",
        "Worse: words that are no words, 2.0% → 3.0% (+0.6 to +1.4 points).",
        "No difference seen in the other measure.",
    ]
    assert story_sentences.ended_at_best(figures(study)) == "The last step of base is its best."


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (("lower", "lower"), "It copies less: "),
        (("lower", "no difference seen"), "It copies less: "),
        (("higher", "higher"), "It copies more: "),
        (("higher", "lower"), "It copies otherwise: "),
        (("no difference seen", "no difference seen"), "No difference seen in what it copies: "),
        ((UNJUDGED, UNJUDGED), "What it copies: "),
    ],
)
def test_whether_it_copies_more_follows_the_verdicts(tmp_path: Path, verdicts, said: str) -> None:
    record = results()
    found = record["arms"][1]["stories"]["last_versus_best"]
    for name, verdict in zip(("copied", "longest_copy"), verdicts, strict=True):
        found[name]["verdict"] = verdict
    [told] = story_sentences.last_against_best(figures(studied(tmp_path, record)))
    assert told.sentences[0].startswith(said)
    if len(set(verdicts)) > 1:
        assert all(f"; {verdict}" in told.sentences[0] for verdict in verdicts)


def test_an_interval_apart_from_0_without_a_verdict_is_explained(tmp_path: Path) -> None:
    record = results()
    record["arms"][1]["stories"]["last_versus_best"]["longest_copy"].update(low=1.0)
    [told] = story_sentences.last_against_best(figures(studied(tmp_path, record)))
    assert told.sentences[0].count("no difference seen after Holm’s correction") == 1
    assert "higher;" in told.sentences[0]


def test_what_holms_correction_left_nothing_of_is_named_apart(tmp_path: Path) -> None:
    record = results()
    record["arms"][1]["stories"]["versus_parent"]["length"].update(difference=40.0, low=10.0, high=70.0)
    study = studied(tmp_path, record)
    [told] = story_sentences.against_parents(study, figures(study))
    assert told.sentences[1:] == (
        "Apart from 0, but not after Holm’s correction: length, 500\u00a0→\u00a0500 (+10 to +70).",
        "No difference seen in the other measure.",
    )


def test_an_interval_apart_from_0_has_digits_enough_to_show_it(tmp_path: Path) -> None:
    record = results()
    found = record["arms"][1]["stories"]["last_versus_best"]
    found["copied"].update(low=0.0002, high=0.05)
    found["unknown_words"].update(low=-0.00001, high=0.05)
    text = " ".join(story_sentences.last_against_best(figures(studied(tmp_path, record)))[0].sentences)
    assert "(+0.02 to +5.00 points" in text and "(0.0 to +5.0 points" in text


def test_what_a_change_moved_is_told_beside_its_parent(study: Study) -> None:
    [told] = story_sentences.against_parents(study, figures(study))
    assert told.compared == "position: rope"
    assert [sentence.replace("\u00a0", " ") for sentence in told.sentences] == [
        "Better: words that are no words, 5.0% → 2.0% (−3.4 to −2.6 points).",
        "No difference seen in the other 2 measures.",
    ]


@pytest.mark.parametrize(("seeds", "said"), [(1, "One seed: not judged."), (2, "Two seeds: not judged.")])
def test_with_one_or_two_seeds_there_are_intervals_and_no_words(
    tmp_path: Path, seeds: int, said: str
) -> None:
    record = results()
    for key in ("versus_parent", "versus_parent_last", "last_versus_best"):
        for found in record["arms"][1]["stories"][key].values():
            found.update(verdict=UNJUDGED, p=None, p_holm=None, seeds=seeds)
    study = studied(tmp_path, record)
    [told] = story_sentences.against_parents(study, figures(study))
    assert told.caution == f"{said} Intervals are over the samples alone."
    assert [sentence.replace("\u00a0", " ") for sentence in told.sentences] == [
        "Intervals apart from 0: words that are no words, 5.0% → 2.0%.",
        "No interval apart from 0 in the other 2 measures.",
    ]
    text = " ".join(story_sentences.last_against_best(figures(study))[0].sentences)
    assert not [word for word in ("better", "worse", "Better", "Worse", "more:") if word in text]
    section = story_section.section(study)
    assert section is not None and section["caution"] == told.caution
    assert section["heads"] == ("difference", "95% interval"), "there is no p and no verdict to show"
    assert story_sentences.copying(figures(study)) == []


def test_a_budget_in_seconds_is_the_reason_that_is_given(tmp_path: Path) -> None:
    record = results()
    for found in record["arms"][1]["stories"]["versus_parent"].values():
        found.update(verdict="budget in seconds: not judged", p=None, p_holm=None)
    study = studied(tmp_path, record)
    last, parents = (
        story_sentences.last_against_best(figures(study)),
        story_sentences.against_parents(study, figures(study)),
    )
    assert parents[0].caution == "Budget in seconds: not judged. Intervals are over the samples alone."
    common = story_sentences.common_caution([*last, *parents])
    assert common is None and story_sentences.cautioned(parents[0], common).startswith("Budget in seconds")


def test_what_follows_the_loss_is_ordered_and_told(study: Study) -> None:
    rows = story_tracking.rows(figures(study))
    assert [row.label for row in rows][:2] == ["length", "words that are no words"] and rows[-1].text == "–"
    assert [cell.text for cell in rows[0].cells] == ["–", "–", "−1.00"] and rows[0].cells[
        2
    ].small == "p < 0.001"
    assert [sentence.replace("\u00a0", " ") for sentence in story_tracking.words(figures(study))] == [
        "Over all 9 checkpoints, what follows the loss most, up or down: length (ρ −0.95), words that are no words "
        "(ρ +0.90) and in copies of 40 characters or more (ρ −0.20).",
        "What follows it least: hero kept (ρ +0.05).",
        "Best to last, more than chance: length (ρ −1.00) and words that are no words (ρ +0.80).",
        "2 arms have 2 orders: between them p is always 1.",
    ]


def test_chance_is_corrected_for_the_number_of_measures(tmp_path: Path) -> None:
    """0.02 for one of four measures is 0.08 for all of them."""
    record = results()
    for found in record["stories_tracking"].values():
        if found["within_runs"]:
            found["within_runs"]["p"] = 0.02
    assert "At none of the three levels can any of them be told from chance." in story_tracking.words(
        figures(studied(tmp_path, record))
    )


def test_two_checkpoints_have_no_order_worth_a_table(tmp_path: Path) -> None:
    record = results()
    for found in record["stories_tracking"].values():
        found["points"] = 2
    found = figures(studied(tmp_path, record))
    assert story_tracking.rows(found) == [] and story_tracking.words(found) == []
