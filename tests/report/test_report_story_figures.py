"""The measures of stories in the report: every figure and sentence from results written by hand."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from onechange.report import (
    markdown,
    story_figures,
    story_section,
    story_sentences,
    story_table,
    story_tracking,
    terminal,
)
from onechange.report.story_figures import GROUPS, StoryFigures
from onechange.report.study import Study, read
from onechange.stories.measures import ALL

UNJUDGED = "one seed: not judged"


def figure(value: float | None, half: float | None = None, seeds: int = 3) -> dict[str, Any]:
    low, high = (None, None) if value is None or half is None else (value - half, value + half)
    return {"figure": value, "low": low, "high": high, "seeds": seeds}


def apart(value: float, half: float, verdict: str, seeds: int = 3) -> dict[str, Any]:
    p = None if verdict == UNJUDGED else 0.001
    return {
        "difference": value, "low": value - half, "high": value + half, "seeds": seeds, "p": p, "p_holm": p,
        "verdict": verdict,
    }  # fmt: skip


def run(best: int, last: int) -> dict[str, Any]:
    return {
        "seed": 0,
        "status": "finished",
        "best": {"step": best, "nats_per_character": 1.0, "written": {"length": {"stories": 64}}},
        "last": {"step": last, "nats_per_character": 1.1},
    }


def results() -> dict[str, Any]:
    """A base that ends at its best step, and a change that goes on and copies more then."""
    base = {
        "unknown_words": figure(0.05, 0.004),
        "hero_kept": figure(0.6, 0.05),
        "length": figure(500.0, 20.0),
        "copied": figure(0.04, 0.01),
        "longest_copy": figure(40.0, 3.0),
        "sentence_ends": figure(None),
    }
    best = base | {
        "unknown_words": figure(0.02, 0.003),
        "new_names": figure(0.0),
        "world_whole": figure(0.5, 0.1),
    }
    last = best | {
        "copied": figure(0.09, 0.01),
        "unknown_words": figure(0.03, 0.003),
        "longest_copy": figure(44, 5),
    }
    real = {
        "unknown_words": figure(0.009, 0.002), "hero_kept": figure(0.9, 0.05), "length": figure(657.0, 18.0),
        "copied": figure(0.045, 0.009), "longest_copy": figure(38.1, 1.3), "world_whole": figure(1.0),
    }  # fmt: skip
    return {
        "arms": [
            {"name": "base", "from": None, "change": None, "runs": [run(800, 800)], "stories": {
                "best": base, "last": base, "versus_parent": None, "versus_parent_last": None,
                "last_versus_best": None,
            }},
            {"name": "rope", "from": "base", "change": {"position": "rope"}, "runs": [run(800, 2000)], "stories": {
                "best": best, "last": last,
                "versus_parent": {
                    "unknown_words": apart(-0.03, 0.004, "better"),
                    "hero_kept": apart(0.0, 0.07, "no difference seen"),
                    "length": apart(0.0, 28.0, "no difference seen"),
                },
                "versus_parent_last": {"unknown_words": apart(-0.02, 0.004, "better")},
                "last_versus_best": {
                    "copied": apart(0.05, 0.012, "higher"),
                    "longest_copy": apart(4.0, 6.0, "no difference seen"),
                    "unknown_words": apart(0.01, 0.004, "worse"),
                    "hero_kept": apart(0.0, 0.07, "no difference seen"),
                },
            }},
        ],
        "stories": {
            "prompt_words": 12, "characters": 800,
            "real": {name: {**found, "stories": 198} for name, found in real.items()},
        },
        "stories_tracking": {
            "unknown_words": tracking(0.9, (0.8, 0.0004)),
            "length": tracking(-0.95, (-1.0, 0.0001)),
            "hero_kept": tracking(0.05, (0.1, 0.9)),
            "copied": tracking(-0.2, (-0.2, 0.4)),
            "longest_copy": tracking(None, None),
        },
    }  # fmt: skip


def tracking(rho: float | None, within_runs: tuple[float, float] | None) -> dict[str, Any]:
    level = within_runs and {"rho": within_runs[0], "p": within_runs[1]}
    return {"points": 9, "all": rho, "between_arms": None, "within_arms": None, "within_runs": level}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return studied(tmp_path, results())


def studied(folder: Path, record: dict[str, Any]) -> Study:
    (folder / "results.json").write_text(json.dumps(record))
    return read(folder)


def figures(study: Study) -> StoryFigures:
    found = story_figures.read(study)
    assert found is not None
    return found


def test_every_measure_stands_in_one_group() -> None:
    names = [name for group in GROUPS.values() for name in group]
    assert sorted(names) == sorted(ALL) and len(set(names)) == len(names)


def test_the_table_has_real_stories_first_and_no_second_column_where_the_last_step_is_the_best(
    study: Study,
) -> None:
    columns = story_table.columns(figures(study))
    assert [(column.arm.name, column.title) for column in columns] == [
        ("base", "best and last step"), ("rope", "best step"), ("rope", "last step"),
    ]  # fmt: skip
    rows = {row.label: row for _, group in story_table.rows(figures(study)) for row in group}
    words = rows["words that are no words"]
    assert (words.real.text, words.real.interval) == ("0.9%", "0.7 to 1.1")
    assert [cell.text for cell in words.figures] == ["5.0%", "2.0%", "3.0%"]
    assert [cell.interval for cell in words.figures] == ["4.6 to 5.4", "1.7 to 2.3", "2.7 to 3.3"]
    assert (rows["length"].figures[0].text, rows["length"].figures[0].interval) == ("500", "480 to 520")
    assert rows["length"].real.text == "657" and rows["hero kept"].real.text == "90%"
    assert [cell.text for cell in rows["ends with a sentence"].figures] == ["–"] * 3, "it applies to no story"
    assert [cell.text for cell in rows["new characters late"].figures] == ["–", "0.00", "0.00"]


def test_arrows_stand_where_the_intervals_are_apart(study: Study) -> None:
    rows = {row.label: row for _, group in story_table.rows(figures(study)) for row in group}
    sides = {label: [cell.side for cell in row.figures] for label, row in rows.items()}
    assert sides["words that are no words"] == ["above"] * 3
    assert sides["length"] == ["below"] * 3
    assert sides["in copies of 40 characters or more"] == ["", "", "above"]
    assert sides["longest copy"] == [""] * 3, "37 to 43 and 36.8 to 39.4 overlap"
    assert sides["agrees to its end"] == ["", "below", "below"], "all real stories share the figure"
    assert sides["new characters late"] == [""] * 3, "there is nothing to stand beside"


def test_intervals_end_where_a_measure_does(tmp_path: Path) -> None:
    record = results()
    record["arms"][0]["stories"]["best"].update(hero_kept=figure(0.97, 0.05), copied=figure(0.004, 0.01))
    rows = {
        row.label: row for _, group in story_table.rows(figures(studied(tmp_path, record))) for row in group
    }
    assert rows["hero kept"].figures[0].interval == "92 to 100"
    assert rows["in copies of 40 characters or more"].figures[0].interval == "0.0 to 1.4"


def test_one_very_fine_interval_does_not_give_all_others_its_digits(tmp_path: Path) -> None:
    record = results()
    record["stories"]["real"]["length"].update(low=656.99, high=657.01)
    assert figures(studied(tmp_path, record)).decimals("length") == 1


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
    assert told.sentences[0].count("no difference seen") == (len(set(verdicts)) > 1) * (
        verdicts.count("no difference seen")
    )


def test_an_interval_apart_from_0_without_a_verdict_is_explained(tmp_path: Path) -> None:
    record = results()
    record["arms"][1]["stories"]["last_versus_best"]["longest_copy"].update(low=1.0)
    [told] = story_sentences.last_against_best(figures(studied(tmp_path, record)))
    assert "no difference seen after Holm’s correction" in told.sentences[0]


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
        "Intervals apart from 0: words that are no words, 5.0% → 2.0% (−3.4 to −2.6 points).",
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


def test_every_difference_is_in_the_tables(study: Study) -> None:
    section = story_section.section(study)
    assert section is not None
    tables = {title: dict(lines) for _, title, lines in section["differences"]}
    assert list(tables) == ["last step minus best", "minus its parent, at best", "minus its parent, at last"]
    assert tables["last step minus best"]["words that are no words"] == [
        "+1.0", "+0.6 to +1.4", "0.0010", "0.0010", "worse",
    ]  # fmt: skip
    assert section["stories"] == 64 and section["over"] == "seeds and samples" and section["missing"] == []


def test_the_last_step_is_not_compared_where_it_is_the_best_of_both(tmp_path: Path) -> None:
    record = results()
    record["arms"][1]["stories"]["last_versus_best"] = None
    section = story_section.section(studied(tmp_path, record))
    assert section is not None
    assert [title for _, title, _ in section["differences"]] == ["minus its parent, at best"]


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


def _without(key: str):
    return lambda record: record.pop(key)


@pytest.mark.parametrize(
    "change",
    [
        _without("stories"),
        _without("stories_tracking"),
        lambda record: record.update(stories=None, stories_tracking=None),
        lambda record: record["arms"].pop(),
        lambda record: record["arms"][0].update(stories=None),
        lambda record: record["arms"][0].pop("stories"),
        lambda record: record["arms"][1]["stories"].update(last_versus_best=None, versus_parent=None),
        lambda record: record["arms"][1]["stories"]["best"].pop("copied"),
        lambda record: record["arms"][1]["stories"]["last_versus_best"].pop("copied"),
        lambda record: record["arms"][1]["stories"]["best"].update(a_later_measure=figure(1.0)),
    ],
)
def test_what_is_missing_is_left_out(tmp_path: Path, change) -> None:
    record = results()
    change(record)
    study = studied(tmp_path, record)
    text = f"{story_section.section(study)} {markdown.text(study)}"
    assert "words that are no words" in text and "None " not in markdown.text(study)


def test_an_arm_without_stories_is_named(tmp_path: Path) -> None:
    record = results()
    record["arms"][0]["stories"] = None
    section = story_section.section(studied(tmp_path, record))
    assert section is not None and section["missing"] == ["base"]


def test_a_study_without_stories_has_no_such_section(tmp_path: Path) -> None:
    record = results()
    for arm in record["arms"]:
        del arm["stories"]
    study = studied(tmp_path, record)
    assert story_section.section(study) is None
    assert "The stories, measured" not in markdown.text(study)
    assert "Stories of" not in printed(study)


DAMAGE = {
    "figure": lambda record: record["arms"][1]["stories"]["best"]["copied"].update(figure="much"),
    "difference": lambda record: record["arms"][1]["stories"]["last_versus_best"]["copied"].pop("verdict"),
    "real": lambda record: record["stories"].update(characters=0),
    "tracking": lambda record: record["stories_tracking"]["copied"].update(points=-1),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_results_are_told(tmp_path: Path, damage: str) -> None:
    record = results()
    DAMAGE[damage](record)
    with pytest.raises(ValueError, match=r"results\.json: stories.* damaged"):
        figures(studied(tmp_path, record))


def test_markdown_and_terminal_have_it_in_short(study: Study) -> None:
    text = markdown.text(study).replace("\u00a0", " ")
    assert "| measure | real stories | base, best and last step | rope, best step | rope, last step |" in text
    row = "| 4.5% (3.6 to 5.4) | 4.0% (3.0 to 5.0) | 4.0% (3.0 to 5.0) | 9.0% (8.0 to 10.0) ↑ |"
    assert f"| in copies of 40 characters or more {row}" in text
    assert "- **rope**, at step 2,000 instead of 800. It copies more: " in text
    assert "Stories of rope at step 2,000 instead of 800. It copies more: " in printed(study)


def printed(study: Study) -> str:
    console = Console(file=io.StringIO(), width=400)
    console.print(terminal.answer(study))
    return console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]
