"""`docs/measures.md` tells of every measure, and its examples come out as it says."""

import re

import pytest

from onechange.stories.measured import measured
from onechange.stories.measures import MEASURES
from onechange.stories.story import Story
from pages import ROOT, tables

PAGE = ROOT / "docs" / "measures.md"
TRAINING = ["Tom had a red kite. The kite was in the big tree.", "Lucy got it down."]
NAMES = frozenset({"Lucy", "Tom", "Max", "Ziggy"})
EXAMPLES = [row for table in tables(PAGE) if table[0][0] == "example of" for row in table[1:]]


def written(cell: str) -> str:
    """What stands between the cell's backticks, so many times as it says."""
    found = re.fullmatch(r"(?:`(.*?)`)?(?: × (\d+))?", cell)
    assert found, cell
    return (found[1] or "").replace("\\n", "\n") * int(found[2] or 1)


@pytest.mark.parametrize(("of", "prompt", "text", "counts", "out_of"), EXAMPLES)
def test_an_example_comes_out_as_the_page_says(of, prompt, text, counts, out_of):
    story = Story(written(prompt), written(text), True)
    found = measured([story], TRAINING, "\n\n", NAMES).measures[of.strip("`")]
    assert (found.counts, found.of) == ((float(counts),), (float(out_of),))


def test_every_measure_has_its_section_and_an_example():
    page = PAGE.read_text("utf-8")
    headings = "\n".join(re.findall("^### .*$", page, re.MULTILINE))
    for name, measure in MEASURES.items():
        way = measure.good if measure.good == "as real" else f"{measure.good} is better"
        assert re.search(f"`{name}`.*, {way}", headings), name
    assert {row[0].strip("`") for row in EXAMPLES} == MEASURES.keys() - {"distinct_words_between"}
    for story in TRAINING:
        assert f"`{story}`" in page
