"""Stories on the page: marks lie where they should, whatever overlaps, and a reader learns what is missing."""

import json
import re
from pathlib import Path
from typing import Any

import measured_stories
import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st
from test_report_page import Page

from onechange import kinds, report
from onechange.report import marked_text, stories, story_section, story_table
from onechange.report.marked_text import Part, Passage, marked
from onechange.report.study import read


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = synthetic.make_study(tmp_path_factory.mktemp("study"))
    measured_stories.record(folder, each=2, world=True)
    report.write(folder)
    return folder


@st.composite
def texts_with_passages(draw: st.DrawFn) -> tuple[str, dict[str, list[tuple[int, int]]]]:
    text = draw(st.text(max_size=12))

    def passages() -> list[tuple[int, int]]:
        edges = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
        return list(zip(edges[::2], edges[1::2], strict=False))

    return text, {kind: passages() for kind in ("copied", "repeated", "unknown")}


@given(texts_with_passages())
def test_every_character_lies_in_the_kinds_that_it_is_of(drawn) -> None:
    """Against one set of kinds for each character."""
    text, passages = drawn
    wanted = [
        {kind for kind, spans in passages.items() if any(low <= at < high for low, high in spans)}
        for at in range(len(text))
    ]
    assert list(_characters(marked(text, passages), ())) == list(zip(text, wanted, strict=True))
    assert marked_text.plain(marked(text, passages)) == text


@given(texts_with_passages())
def test_kinds_nest_in_their_order_and_nothing_is_empty(drawn) -> None:
    text, passages = drawn

    def look(parts: tuple[Part, ...], outside: list[str]) -> None:
        for part in parts:
            if isinstance(part, Passage):
                assert list(passages).index(part.kind) >= len(outside) and part.kind not in outside
                assert marked_text.plain(part.parts)
                look(part.parts, [*outside, part.kind])
            else:
                assert part

    look(marked(text, passages), [])


def test_an_outer_passage_is_never_cut() -> None:
    found = marked("one two three", {"copied": [(0, 7)], "repeated": [(4, 13)]})
    assert found == (
        Passage("copied", ("one ", Passage("repeated", ("two",)))),
        Passage("repeated", (" three",)),
    )


def _characters(parts: tuple[Part, ...], outside: tuple[str, ...]):
    for part in parts:
        if isinstance(part, Passage):
            yield from _characters(part.parts, (*outside, part.kind))
        else:
            yield from ((character, set(outside)) for character in part)


def test_what_the_page_marks_is_what_it_says(folder: Path) -> None:
    """Against the training text itself: copies stand in it, words that are no words do not."""
    training = "".join(f"{story}\n\n" for story in measured_stories.TRAINING)
    known = {training[start:end].casefold() for start, end in kinds.words(training)}
    counts = dict.fromkeys(stories.KINDS, 0)
    for prompt in stories.prompts(read(folder), 0):
        for sample in (sample for samples in prompt.samples.values() for sample in samples):
            found: dict[str, list[str]] = {kind: [] for kind in stories.KINDS}
            _collect(sample.parts, found)
            assert all(len(text) >= 40 for text in found["copied"])
            assert sample.longest_copy == _longest_copy(sample.text, training)
            assert not {text.casefold() for text in found["unknown"]} & known
            assert sample.counts is not None
            assert len(found["copied"]) == sample.counts["copied"]
            for kind, number in sample.counts.items():
                counts[kind] += number
    assert min(counts.values()) > 5


def _longest_copy(text: str, training: str) -> int:
    longest = 0
    for end in range(len(text) + 1):
        while end - longest > 0 and text[end - longest - 1 : end] in training:
            longest += 1
    return longest


def _collect(parts: tuple[Part, ...], found: dict[str, list[str]]) -> None:
    for part in parts:
        if isinstance(part, Passage):
            found[part.kind].append(marked_text.plain(part.parts))
            _collect(part.parts, found)


def test_marks_are_told_in_words_too(folder: Path) -> None:
    text = (folder / "report.html").read_text("utf-8")
    marks = re.findall(r'<mark class="(\w+)" title="([^"]+)">', text)
    assert {kind for kind, _ in marks} == set(stories.KINDS)
    assert all(title.startswith(stories.KINDS[kind].word) for kind, title in marks)
    shown = Page(text).shown()
    for kind in stories.KINDS.values():
        assert f"{kind.word} {kind.note}" in shown
    first = stories.prompts(read(folder), 0)[0].samples["best"][0]
    said = " · ".join(f"{number} {noun}" for _, number, noun in first.counted)
    assert said.replace(" · ", " ") in shown and f"longest copy {first.longest_copy} characters" in shown


def test_only_the_first_story_of_a_prompt_is_shown(folder: Path) -> None:
    study = read(folder)
    for prompt in stories.prompts(study, 0):
        for point, samples in prompt.samples.items():
            assert [sample.arm.name for sample in samples] == [arm.name for arm in study.arms]
            for sample in samples:
                line = next(s for s in study.samples(sample.arm, 0, point) if s["prompt"] == prompt.text)
                assert line["number"] == 0 and sample.text == line["text"] == marked_text.plain(sample.parts)
                assert sample.cut == (not line["ended"]) == ("cut where its budget ended" in sample.remarks)


def test_the_page_has_every_figure_and_every_sentence_about_them(folder: Path) -> None:
    section = story_section.section(read(folder))
    assert section is not None
    wanted = [sentences for _, sentences in (*section["last"], *section["parents"])]
    wanted += [section["ended"], section["caution"], *section["tracking_words"]]
    for title, rows in section["groups"]:
        wanted.append(title)
        for row in rows:
            wanted += [row.definition, row.label + row.good + "".join(map(_told, (row.real, *row.figures)))]
    for arm, title, lines in section["differences"]:
        wanted += [f"{arm.name}, {title}", *(label + "".join(cells) for label, cells in lines)]
    for row in section["tracking"]:
        wanted.append(row.label + row.text + "".join(cell.text + cell.small for cell in row.cells))
    shown = _unspaced(Page((folder / "report.html").read_text("utf-8")).shown())
    assert [text for text in wanted if _unspaced(text) not in shown] == []
    assert shown.count(_unspaced(section["caution"])) == 1


def _told(cell: story_table.Figure) -> str:
    return cell.text + (f"{cell.arrow} {cell.side} real stories" if cell.side else "") + cell.interval


def _unspaced(text: str) -> str:
    return "".join(text.split())


def test_a_story_without_a_given_beginning_has_a_name(folder: Path) -> None:
    page = Page((folder / "report.html").read_text("utf-8"))
    assert [text for tag, text in page.texts if tag == "h3"].count(stories.NOTHING) == 1
    assert f"### {stories.NOTHING}\n" in (folder / "report.md").read_text("utf-8")


@pytest.mark.parametrize(
    "marks",
    [
        {"copies": [[0, 10_000]]},
        {"unknown": [[5, 9], [8, 12]]},
        {"repeated": [[9, 5]]},
        {"longest_copy": [0, 10_000]},
        {"copies": [[-1, 4]]},
        {"copies": "all"},
    ],
)
def test_damaged_marks_are_told_with_their_file(tmp_path: Path, marks: dict[str, Any]) -> None:
    folder = synthetic.make_study(tmp_path)
    whole = {"copies": [], "longest_copy": [0, 0], "repeated": [], "loop": [0, 0], "unknown": []}
    _change_lines(folder, lambda lines: lines[0].update(marks=whole | marks))
    with pytest.raises(ValueError, match=r"best\.jsonl.* is damaged"):
        stories.prompts(read(folder), 0)


def _change_lines(folder: Path, change) -> None:
    for path in folder.glob("arms/*/seed-0/samples/*.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        change(lines)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
