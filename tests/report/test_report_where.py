"""The section on where a change helps: figures counted by hand, text escaped, switches in a browser."""

import json
import re
from pathlib import Path
from typing import Any

import browser
import pytest
import synthetic
from test_report_page import Page

from onechange import report
from onechange.report import heat, where
from onechange.report.study import read

EXCERPT = 'Lucy ran.\n\n"Oh," said Tom & <b>he</b>.\n\n'
CHARACTERS = {
    "inside words": 600,
    "first letters": 200,
    "names": 0,
    "spaces": 150,
    "punctuation": 50,
    "digits": 0,
}
NATS = {
    "char-wpe": {"inside words": 900.0, "first letters": 400.0, "spaces": 60.0, "punctuation": 100.0},
    "bpe-wpe": {"inside words": 720.0, "first letters": 380.0, "spaces": 75.0, "punctuation": 100.0},
    "bpe-rope": {"inside words": 714.0, "first letters": 380.0, "spaces": 75.0, "punctuation": 100.0},
}


def readings(name: str, seed: int = 0) -> dict[str, Any]:
    """Of a thousand characters; with each seed every kind costs a nat more, which no difference feels."""
    nats = {kind: NATS[name].get(kind, 0.0) + (seed if CHARACTERS[kind] else 0) for kind in CHARACTERS}
    bins = [
        {"from": 1, "to": 2, "nats": 300.0, "characters": 100, "tokens": 100},
        {"from": 2, "to": 3, "nats": 600.0, "characters": 300, "tokens": 200},
        {"from": 3, "to": 5, "nats": 900.0 + sum(nats.values()) / 10, "characters": 600, "tokens": 500},
    ]
    return {
        "by_position": bins,
        "by_context": [*bins, {"from": 5, "to": 9, "nats": 9.0, "characters": 3, "tokens": 2}],
        "by_kind": {kind: {"nats": nats[kind], "characters": CHARACTERS[kind]} for kind in CHARACTERS},
        "excerpt": [round((len(name) - 7) * 0.5 + (number % 7) / 4, 4) for number in range(len(EXCERPT))],
    }


def with_readings(folder: Path, excerpt: str = EXCERPT) -> Path:
    """Put readings into every run of a synthetic study."""

    def change(results: dict[str, Any]) -> None:
        results["excerpt"] = excerpt
        for arm in results["arms"]:
            for run in arm["runs"]:
                found = readings(arm["name"], run["seed"])
                path = folder / "arms" / arm["name"] / f"seed-{run['seed']}" / "measures.json"
                measures = json.loads(path.read_text())
                measures["best"]["readings"] = found
                path.write_text(json.dumps(measures))
                run["best"]["readings"] = {key: value for key, value in found.items() if key != "excerpt"}

    synthetic.edit(folder, change)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = with_readings(synthetic.make_study(tmp_path_factory.mktemp("study"), seeds=3))
    report.write(folder)
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return Page((folder / "report.html").read_text("utf-8"))


def test_a_kind_explains_its_difference_times_its_share(folder: Path) -> None:
    first, second = where.pairs(read(folder))
    parts = {part.kind: part for part in first.parts}
    assert list(parts) == ["inside words", "first letters", "spaces", "punctuation"], (
        "only kinds that the text has"
    )
    # 1.5 became 1.2 in six tenths of the text; 2.0 became 1.9 in two tenths; 0.4 became 0.5 in 0.15 of it.
    # With the seeds 0, 1 and 2 every kind has one nat more on the average.
    inside = parts["inside words"]
    assert (inside.share, inside.difference, inside.explains, inside.of_all) == (
        "60.0%", "−0.300", "−0.180", "97%",
    )  # fmt: skip
    assert (inside.parent, inside.arm) == (f"{901 / 600:.3f}", f"{721 / 600:.3f}")
    assert [parts[kind].explains for kind in ("first letters", "spaces", "punctuation")] == [
        "−0.020", "+0.015", "0.000",
    ]  # fmt: skip
    assert first.explains == "−0.185"
    assert (inside.bar, round(parts["spaces"].bar, 2)) == (-100, 8.33)
    assert first.words.startswith("Most of the difference lies inside words: −0.180 nats per character")
    assert "all kinds together make −0.185. The other way it goes at spaces: +0.015." in first.words
    assert second.explains == "−0.006" and "The other way" not in second.words


def test_a_difference_that_is_not_sure_is_not_explained_as_if_it_were(tmp_path: Path) -> None:
    folder = with_readings(synthetic.make_study(tmp_path))
    assert where.pairs(read(folder))[0].words.startswith("The difference as a whole was not judged")


def test_bars_are_as_long_as_their_figures(folder: Path) -> None:
    found = where.bars(read(folder))
    assert [bars.kind for bars in found] == ["inside words", "first letters", "spaces", "punctuation"]
    assert sum(bars.share for bars in found) == pytest.approx(1)
    longest = 401 / 200
    for bars in found:
        for arm, nats, length in bars.arms:
            expected = (NATS[arm.name][bars.kind] + 1) / CHARACTERS[bars.kind]
            assert nats == pytest.approx(expected)
            assert length == pytest.approx(100 * expected / max(longest, 101 / 50))
    assert "surprised most at punctuation (2.020" in where.hardest(read(folder), found)


def test_lines_are_ratios_of_sums_and_thin_bins_are_not_drawn(folder: Path) -> None:
    rows = [row for row in where.lines(read(folder), "by_context") if row["name"] == "char-wpe"]
    assert [(row["from"], row["at"]) for row in rows] == [(1, 1), (2, 2), (3, 4), (5, 8)]
    assert [row["nats"] for row in rows[:2]] == [3.0, 2.0]
    assert rows[2]["nats"] == pytest.approx((900 + 146.4) / 600)
    assert [row["drawn"] for row in rows] == [False, True, True, False]
    assert sum(row["share"] for row in rows) == pytest.approx(1)


def test_the_text_stands_there_in_full_and_every_character_tells_its_figure(folder: Path, page: Page) -> None:
    text = (folder / "report.html").read_text("utf-8")
    for name in ("surprised", "apart"):
        (block,) = re.findall(rf'id="heat-{name}"[^>]*>(.*?)</p>', text, re.S)
        held = Page(f"<p>{block}</p>")
        assert "".join(piece for _, piece in held.texts).replace("↵", "") == EXCERPT
        titles = [attributes["title"] for tag, attributes in held.elements if tag == "i"]
        assert len(titles) == len(EXCERPT)
        expected = readings("char-wpe")["excerpt"]
        if name == "surprised":
            assert titles == [f"{nats:.2f}" for nats in expected]
        else:  # bpe-rope minus bpe-wpe: half a nat for each letter of the name
            assert set(titles) == {"+0.50"}
    shown = page.shown()
    assert "char-wpe bpe-wpe bpe-rope Lucy" in shown, "the table of words"
    words = sum(readings("char-wpe")["excerpt"][:5])
    assert f"Lucy {words:.2f}" in shown


def test_the_page_has_the_section_between_stories_and_tokens(page: Page) -> None:
    headings = [attributes.get("id") for tag, attributes in page.elements if tag == "h2"]
    assert headings.index("where") == headings.index("stories") + 1 == headings.index("tokens") - 1
    assert page.open == []


def test_the_data_of_the_page_are_those_of_the_folder(folder: Path) -> None:
    text = (folder / "report.html").read_text("utf-8")
    (held,) = re.findall(r'<script type="application/json" id="charts">(.*?)</script>', text, re.S)
    data = json.loads(held)["where"]
    assert data["parents"] == {"1": "0", "2": "1"}
    for index, name in enumerate(NATS):
        assert data["arms"][str(index)] == [round(nats, 3) for nats in readings(name)["excerpt"]]
    assert data["most"] >= 2 and data["apart"]["2"] == 0.5


def test_a_study_without_readings_has_no_such_section(tmp_path: Path) -> None:
    folder = synthetic.make_study(tmp_path / "old")
    assert 'id="where"' not in report.write(folder).read_text("utf-8")
    with_readings(folder)
    synthetic.edit(folder, lambda results: results.pop("excerpt"))
    shown = Page(report.write(folder).read_text("utf-8")).shown()
    assert "What each kind explains" in shown and "Character by character" not in shown


def test_one_arm_without_readings_is_left_out(tmp_path: Path) -> None:
    folder = with_readings(synthetic.make_study(tmp_path))

    def change(results: dict[str, Any]) -> None:
        for run in results["arms"][1]["runs"]:
            del run["best"]["readings"]

    synthetic.edit(folder, change)
    (folder / "arms/bpe-rope/seed-0/measures.json").unlink()
    study = read(folder)
    assert where.pairs(study) == [], "neither has a parent to be set beside"
    assert [arm.name for arm, *_ in where.bars(study)[0].arms] == ["char-wpe", "bpe-rope"]
    found = heat.heat(study)
    assert found is not None and [arm.name for arm, _ in found.arms] == ["char-wpe", "bpe-wpe"]
    assert "None" not in Page(report.write(folder).read_text("utf-8")).shown()


def test_damaged_readings_are_told_by_name(tmp_path: Path) -> None:
    folder = with_readings(synthetic.make_study(tmp_path))

    def change(results: dict[str, Any]) -> None:
        results["arms"][1]["runs"][0]["best"]["readings"]["by_kind"]["names"] = {"nats": "many"}

    synthetic.edit(folder, change)
    with pytest.raises(ValueError, match=r"readings of bpe-wpe, seed 0 is damaged: .*nats"):
        report.write(folder)


def test_hostile_text_is_shown_as_text(tmp_path: Path) -> None:
    hostile = ("<script>window.poisoned=1</script>\u202e\x00" + EXCERPT)[: len(EXCERPT)]
    folder = with_readings(synthetic.make_study(tmp_path / "study"), hostile)
    text = report.write(folder).read_text("utf-8")
    page = Page(text)
    assert len([tag for tag, _ in page.elements if tag == "script"]) == 3
    (block,) = re.findall(r'id="heat-surprised"[^>]*>(.*?)</p>', text, re.S)
    shown = "".join(piece for _, piece in Page(f"<p>{block}</p>").texts)
    assert shown.startswith("<script>window.poisoned=1</script>\ufffd\ufffd")


def test_colours_are_strongest_where_few_figures_are_above(folder: Path) -> None:
    found = heat.heat(read(folder))
    assert found is not None
    assert found.most == 2.0, "the highest of all is 2.0"
    top = [float(character.strength) for character in found.first()]
    assert top == [
        pytest.approx(min(1, nats / found.most), abs=0.006) for nats in readings("char-wpe")["excerpt"]
    ]


@pytest.mark.skipif(not browser.available(), reason="chromium and chromedriver are not installed")
def test_in_a_browser_text_and_tables_follow_their_switches(folder: Path, tmp_path: Path) -> None:
    chromium = browser.Browser(tmp_path / "profile")
    try:
        for width in (400, 1280):
            chromium.open(folder / "report.html", width)
            assert chromium.evaluate("return document.documentElement.scrollWidth") <= width
            assert chromium.logs("browser") == []
        title = "return document.querySelector('#heat-surprised i:nth-child(2)').title"
        assert chromium.evaluate(title) == f"{readings('char-wpe')['excerpt'][1]:.2f}"
        chromium.evaluate("document.querySelectorAll('input[name=surprised]')[2].click()")
        assert chromium.evaluate(title) == f"{readings('bpe-rope')['excerpt'][1]:.2f}"
        apart = "const e = document.querySelector('#heat-apart i'); return [e.className, e.title]"
        assert chromium.evaluate(apart) == ["more", "+0.50"]
        chromium.evaluate("document.querySelectorAll('input[name=apart]')[0].click()")
        assert chromium.evaluate(apart) == ["less", "−0.50"]
        for name in ("pair", "view", "apart", "surprised"):
            shown = (
                f"return [...document.querySelectorAll('[data-{name}]')].filter(e => e.offsetParent !== null)"
            )
            assert chromium.evaluate(f"{shown}.length") == 1
            chromium.evaluate(f"document.querySelector('input[name={name}]:not(:checked)').click()")
            assert chromium.evaluate(f"{shown}[0].dataset['{name}']") == chromium.evaluate(
                f"return document.querySelector('input[name={name}]:checked').value"
            )
    finally:
        chromium.close()
