"""The measures of stories in the report: every figure from results written by hand; what is missing or damaged."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from story_results import figure, figures, results, studied

from onechange.report import markdown, story_section, story_table, terminal
from onechange.report.story_figures import GROUPS
from onechange.report.study import Study
from onechange.stories.measures import ALL


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return studied(tmp_path, results())


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
