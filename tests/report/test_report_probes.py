"""The sections on longer texts, the shift test, where heads look, and cost: figures counted by hand, shown or not."""

import re
from pathlib import Path
from typing import Any

import pytest
import synthetic
from test_report_page import Page

from onechange import report
from onechange.report import costs, longer, looking, probes, shifted
from onechange.report.study import read

NO_MORE = "the model has 128 positions and no more"


def length(times: int, nats: float | None) -> dict[str, Any]:
    """A thousand characters at one length, most of them far into the window."""
    found = {"times": times, "window": 128 * times, "nats": nats, "by_position": [], "why_not": None}
    if nats is None:
        return {**found, "why_not": NO_MORE}
    found["by_position"] = [
        {"from": 1, "to": 2, "nats": 9.0, "characters": 3, "tokens": 3},
        {"from": 2, "to": 65, "nats": 300.0, "characters": 200, "tokens": 100},
        {"from": 65, "to": 1 + 128 * times, "nats": nats - 309.0, "characters": 797, "tokens": 400},
    ]
    return found


def probed(name: str, seed: int) -> dict[str, Any]:
    """With each seed all costs ten nats more; the rotary arm alone has more positions and knows distances only."""
    rope = name == "bpe-rope"
    longest = [1250.0 + 10 * seed, 1400.0 + 10 * seed] if rope else [None, None]
    moved = 0.0 if rope else 1.0
    return {
        "longer": {
            "characters": 1000,
            "tokens": 503,
            "lengths": [length(1, 1200.0 + 10 * seed), length(2, longest[0]), length(4, longest[1])],
        },
        "shift": {
            "positions": [2, 75],
            "passages": 64,
            "tokens": 1500,
            "characters": 3000,
            "surprise": [2.0, 2.0 + moved],
            "surprise_change": moved * (0.25 + 0.1 * seed) + 3e-8,
            "layers": [
                {"change": moved * 0.9, "kl": moved * 0.4},
                {"change": moved * 0.5, "kl": moved * (0.5 + 0.1 * seed) - 2e-9},
            ],
        },
        "attention": {
            "windows": 4,
            "queries": 256,
            "bins": [{"from": 0, "to": 1}, {"from": 1, "to": 2}, {"from": 2, "to": 128}],
            "shares": [[[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]],
            "distances": [[10.0, 30.0 + 2 * seed]],
        },
    }


def with_probes(folder: Path) -> Path:
    def change(results: dict[str, Any]) -> None:
        for arm in results["arms"]:
            for run in arm["runs"]:
                run["best"]["probes"] = probed(arm["name"], run["seed"])

    synthetic.edit(folder, change)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = with_probes(synthetic.make_study(tmp_path_factory.mktemp("study"), seeds=3))
    report.write(folder)
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return Page((folder / "report.html").read_text("utf-8"))


def test_longer_texts_are_means_over_seeds_or_say_why_not(folder: Path) -> None:
    rows = {arm.name: cells for arm, cells in longer.rows(read(folder))}
    window, trained, twice, four = rows["bpe-rope"]
    assert (window.text, trained.text, twice.text, four.text) == ("128", "1.210", "1.260", "1.410")
    assert trained.small == "±\u00a00.010"
    assert (twice.small, four.small) == ("+0.050", "+0.200")
    assert [cell.text for cell in rows["bpe-wpe"][2:]] == ["–", "–"]
    assert longer.words(read(folder)) == [
        "Beside the trained length, in nats per character: bpe-rope +0.200 at 512 tokens.",
        f"char-wpe and bpe-wpe cannot be read at twice or four times the trained length: {NO_MORE}.",
    ]


def test_lines_are_of_the_longest_window_and_ratios_of_sums(folder: Path) -> None:
    rows = [row for row in longer.lines(read(folder)) if row["name"] == "bpe-rope"]
    assert [(row["from"], row["at"], row["drawn"]) for row in rows] == [
        (1, 1, False), (2, 64, True), (65, 512, True),
    ]  # fmt: skip
    assert [row["nats"] for row in rows] == [3.0, 1.5, pytest.approx((1410 - 309) / 797)]
    (last,) = [row for row in longer.lines(read(folder)) if row["name"] == "bpe-wpe"][2:]
    assert last["at"] == 128


def test_what_rounding_makes_is_no_change(folder: Path) -> None:
    rows = {arm.name: [cell.text for cell in cells] for arm, cells in shifted.rows(read(folder))}
    assert rows["bpe-rope"] == ["2", "75", "0", "0", "0"]
    assert rows["char-wpe"] == ["2", "75", "0.600", "0.350", "0.500"]
    moved, same = shifted.words(read(folder))
    assert moved.startswith(
        "Moving a passage changes the prediction of char-wpe by 0.600 nats per token "
        "(and the surprise at the true token by 0.350, up or down)"
    )
    assert same == "To bpe-rope it is the same passage in either place, up to rounding."
    lines = [row for row in shifted.lines(read(folder)) if row["name"] == "bpe-wpe"]
    assert [(row["at"], row["change"], row["kl"]) for row in lines] == [
        (0, pytest.approx(0.9), pytest.approx(0.4)), (1, pytest.approx(0.5), pytest.approx(0.6)),
    ]  # fmt: skip


def test_bars_are_as_high_as_their_shares(folder: Path) -> None:
    first = looking.looks(read(folder))[0]
    one, other = first.layers[0]
    assert first.bins == ["0", "1", "2–127"]
    assert one.path == "M0,28v-14h5V28zM6,28v-7h5V28zM12,28v-7h5V28z"
    assert other.path == "M12,28v-28h5V28z"
    assert (one.shares, other.distance) == (["50", "25", "25"], "30.0")
    assert "char-wpe 21.0 (10.0 to 34.0)" in looking.words(read(folder))[0]
    assert looking.layers(read(folder))[0][1] == ["21.0"]


def test_the_page_shows_them_with_words_tables_and_text_alternatives(folder: Path, page: Page) -> None:
    shown, markdown = page.shown(), (folder / "report.md").read_text("utf-8")
    for heading in ("Texts longer than trained", "The same passage elsewhere", "Where the heads look"):
        assert heading in shown and f"## {heading}" in markdown
    assert f"cannot be read at twice or four times the trained length: {NO_MORE}." in shown
    row = "| bpe-rope | 128 | 1.210 (± 0.010) | 1.260 (+0.050) | 1.410 (+0.200) |"
    assert row in markdown.replace("\u00a0", " ")
    assert "| bpe-rope | 2 | 75 | 0 | 0 | 0 |" in markdown
    labels = [attributes.get("aria-label") or "" for _, attributes in page.elements]
    assert sum("The table below holds every" in label for label in labels) >= 6
    text = (folder / "report.html").read_text("utf-8")
    assert len(re.findall(r'<svg viewBox="0 0 18 28"', text)) == 3 * 2
    assert text.count('class="still wide"') == 3 + 3, (
        "the ladder, differences, curves; longer, two of the shift"
    )


def test_they_are_shown_only_where_the_model_itself_changed(tmp_path: Path) -> None:
    folder = with_probes(synthetic.make_study(tmp_path))
    assert probes.asked(read(folder))
    synthetic.edit(folder, lambda results: results["arms"].pop())
    assert not probes.asked(read(folder)), "what is left changes the tokenizer"
    assert "The same passage elsewhere" not in Page(report.write(folder).read_text("utf-8")).shown()


def test_a_study_that_was_not_probed_has_no_such_section(tmp_path: Path) -> None:
    folder = synthetic.make_study(tmp_path)
    shown = Page(report.write(folder).read_text("utf-8")).shown()
    assert "More than one number" not in shown and "What it costs" not in shown
    assert "Texts longer" not in (folder / "report.md").read_text("utf-8")


def test_a_window_too_short_for_a_probe_leaves_its_part_out(tmp_path: Path) -> None:
    folder = with_probes(synthetic.make_study(tmp_path))

    def change(results: dict[str, Any]) -> None:
        for arm in results["arms"]:
            arm["runs"][0]["best"]["probes"].update(shift=None, attention=None)

    synthetic.edit(folder, change)
    shown = Page(report.write(folder).read_text("utf-8")).shown()
    assert "Texts longer than trained" in shown
    assert "The same passage elsewhere" not in shown and "Where the heads look" not in shown


DAMAGE = {
    "head": lambda found: found["attention"]["shares"][0].pop(),
    "bin": lambda found: found["attention"]["bins"].pop(),
    "layer": lambda found: found["attention"]["distances"].append([1.0]),
    "none": lambda found: found["attention"].update(shares=[], distances=[]),
    "nats": lambda found: found["longer"]["lengths"][0].update(nats="few"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_probes_are_told_with_arm_and_seed(tmp_path: Path, damage: str) -> None:
    folder = with_probes(synthetic.make_study(tmp_path))
    synthetic.edit(folder, lambda results: DAMAGE[damage](results["arms"][1]["runs"][0]["best"]["probes"]))
    with pytest.raises(ValueError, match=r"probes of bpe-wpe, seed 0.* damaged"):
        probes.asked(read(folder))
        report.write(folder)


def test_costs_stand_beside_the_parents(tmp_path: Path) -> None:
    folder = synthetic.make_study(tmp_path)

    def change(results: dict[str, Any]) -> None:
        for arm, speed in zip(results["arms"], (100_000.0, 225_000.0, 180_000.0), strict=True):
            arm["costs"] = {
                "parameters": {"value": arm["parameters"], "ratio": 1.25 if arm["from"] else None},
                "operations_per_character": {"value": 2.5e7, "ratio": 0.5 if arm["from"] else None},
                "tokens_per_second": {"value": 1e5, "ratio": 1.0 if arm["from"] else None},
                "characters_per_second": {
                    "value": speed,
                    "low": speed - 5000,
                    "high": speed,
                    "ratio": 0.8 if arm["from"] else None,
                },
                "peak_memory_bytes": {"value": 812_000_000, "ratio": None},
            }

    synthetic.edit(folder, change)
    study = read(folder)
    rows = [[(cell.text, cell.small) for cell in cells] for _, cells in costs.rows(study)]
    assert rows[0] == [
        ("10.8 million", ""), ("25 million", ""), ("100,000", ""), ("100,000", "95,000 to 100,000"), ("812", ""),
    ]  # fmt: skip
    assert rows[1][3] == ("225,000", "×\u00a00.80; 220,000 to 225,000")
    assert costs.words(study)[0] == (
        "bpe-wpe has 25% more parameters and 50% fewer operations per character than char-wpe."
    )
    shown = Page(report.write(folder).read_text("utf-8")).shown()
    assert "What it costs" in shown and "× 0.80; 220,000 to 225,000" in shown.replace("\u00a0", " ")
    assert "## What it costs" in (folder / "report.md").read_text("utf-8")
