"""Differences beside the noise floor, Holm, equal amounts, overfitting, test text, tuning and sweeps, as reported."""

import io
import json
import math
import re
from xml.etree import ElementTree

import instrument
import pytest
import synthetic
from rich.console import Console
from test_report_page import page_of

from onechange import report
from onechange.report import (
    answer,
    correction,
    differences,
    differences_chart,
    equal,
    ladder,
    ladder_text,
    markdown,
    overfitting,
    still,
    sweeps,
    sweeps_chart,
    table,
    terminal,
    tuning,
    tuning_chart,
    tuning_table,
)
from onechange.report.study import read


@pytest.fixture
def folder(tmp_path):
    """Three seeds, judged on validation text."""
    made = synthetic.make_study(tmp_path / "study", seeds=3, floor=0.46)
    instrument.record_statistics(made)
    return made


@pytest.fixture
def tested(folder):
    """The same with a test text, tuning and a sweep."""
    instrument.record_test(folder)
    instrument.record_tuning(folder)
    instrument.record_sweep(folder)
    return folder


def marks(chart) -> tuple[dict[str, tuple[float, float]], list]:
    """Where a picture's texts stand, by text, and its coloured marks as (x, y, element)."""
    root = ElementTree.fromstring(still.svg(still.compiled(chart), "p"))
    parents = {child: parent for parent in root.iter() for child in parent}

    def place(element) -> tuple[float, float]:
        x = y = 0.0
        at = element
        while at is not None:
            found = re.match(r"translate\(([-\d.]+),([-\d.]+)", at.get("transform") or "")
            x, y = x + float(found[1] if found else 0), y + float(found[2] if found else 0)
            at = parents.get(at)
        return x, y

    texts = {e.text: place(e) for e in root.iter() if e.tag.endswith("text") and e.text}
    coloured = [
        (*place(e), e) for e in root.iter() if (e.get("fill") or "").startswith("var(--arm-") and e.get("d")
    ]
    return texts, coloured


def test_every_seed_and_every_mean_stand_where_the_recorded_differences_are(folder):
    study = read(folder)
    texts, coloured = marks(differences_chart.chart(study, ladder.LAYOUTS["wide"]))
    zero, other = texts["0"][0], texts["−0.2"][0]
    found = sorted(round((x - zero) / (other - zero) * -0.2, 3) for x, _, _ in coloured)
    wanted = []
    for arm in json.loads((folder / "results.json").read_text())["arms"][1:]:
        versus = arm["versus_parent"]
        wanted.append(versus["nats_per_character_difference"])
        runs = [
            [run["best"]["nats_per_character"] for run in other["runs"]]
            for other in (arm, next(a.record for a in study.arms if a.name == arm["from"]))
        ]
        wanted += [mine - theirs for mine, theirs in zip(*runs, strict=True)]
    assert found == pytest.approx(sorted(wanted), abs=0.0015)


def test_the_noise_floor_is_a_band_as_wide_as_two_runs_of_one_model_lie_apart(folder):
    def widen(results):
        for arm in results["arms"][1:]:
            arm["versus_parent"]["noise_floor"] = 0.05

    synthetic.edit(folder, widen)
    study = read(folder)
    root = ElementTree.fromstring(
        still.svg(still.compiled(differences_chart.chart(study, ladder.LAYOUTS["wide"])), "d")
    )
    texts, _ = marks(differences_chart.chart(study, ladder.LAYOUTS["wide"]))
    scale = (texts["0"][0] - texts["−0.2"][0]) / 0.2
    grey = [e for e in root.iter() if e.get("fill") == "var(--muted)" and e.get("opacity") == "0.24"]
    widths = [float(re.findall(r"h([\d.]+)", e.get("d") or "")[0]) for e in grey]
    assert widths == pytest.approx([0.1 * scale] * 2, rel=0.01)
    assert "lie about 0.050 apart" in differences.noise(study)


def test_with_one_seed_there_is_no_band_and_the_page_says_why(tmp_path):
    made = synthetic.make_study(tmp_path / "study")
    instrument.record_statistics(made)
    shown = page_of(made).shown()
    assert "There is no band for the noise floor" in shown and "two seeds or more" in shown
    assert "its 95% interval over the text alone" in shown and "±" not in markdown.table(read(made))


@pytest.mark.parametrize("name", ladder.LAYOUTS)
def test_no_word_above_a_difference_leaves_the_picture_or_runs_into_the_next(folder, name):
    synthetic.edit(folder, lambda results: results["arms"][2].update(name="rope-with-a-rather-long-name"))
    study, layout = read(folder), ladder.LAYOUTS[name]
    words = differences_chart._words(study, differences.rows(study), layout, 0.0, 1.0)
    for label, told in zip(words[::2], words[1::2], strict=True):
        assert label["x"] + 7.4 * len(label["text"]) <= told["x"] + 1
        assert told["x"] + 7.1 * len(told["text"]) <= layout.plot
        assert "0." in told["text"]


def test_holms_correction_is_told_in_one_sentence(folder):
    def judge(verdict, after):
        def change(results):
            results["judged_changes"] = 2
            results["arms"][2]["versus_parent"].update(
                verdict=verdict, holm={"p": 0.07, "verdict": after, "changes": 2}
            )

        synthetic.edit(folder, change)
        return correction.sentence(read(folder))

    corrected = "2 changes were judged; after Holm’s correction for that,"
    assert judge("better", "better") == f"{corrected} all verdicts stay."
    turned = f"{corrected} the verdict on bpe-rope becomes “no difference seen”."
    assert judge("better", "no difference seen") == turned
    assert turned in page_of(folder).shown()
    assert turned in (folder / "report.md").read_text("utf-8")
    details = {row.arm.name: texts for row, texts in differences.details(read(folder))}
    assert details["bpe-rope"][5:] == ["0.070", "better", "no difference seen"]


def test_one_judged_change_is_not_corrected(folder):
    synthetic.edit(folder, lambda results: results["arms"].pop())
    synthetic.edit(folder, lambda results: results.update(judged_changes=1))
    assert correction.sentence(read(folder)) is None


def test_p_is_written_with_two_digits_however_small():
    assert [differences._probability(p) for p in (None, 3e-7, 0.0123, 0.4)] == [
        "–",
        "< 0.0001",
        "0.012",
        "0.40",
    ]


def test_the_spread_over_seeds_stands_with_the_figure(folder):
    rows = {arm.name: cells for arm, cells in table.rows(read(folder))}
    for arm in json.loads((folder / "results.json").read_text())["arms"]:
        values = [run["best"]["nats_per_character"] for run in arm["runs"]]
        mean = sum(values) / 3
        spread = math.sqrt(sum((value - mean) ** 2 for value in values) / 2)
        cell = rows[arm["name"]][1]
        assert cell.text == f"{mean:.3f}" and cell.small.startswith(f"±\u00a0{spread:.3f}, step")


def test_what_is_read_at_equal_amounts_says_whether_it_is_fair(folder):
    study = read(folder)
    found = {arm.name: {reading.axis: reading for reading in told} for arm, told in equal.readings(study)}
    assert list(found["bpe-wpe"]) == ["steps", "text", "operations", "time"]
    text = found["bpe-wpe"]["text"]
    assert text.at == "4.1 million characters" and text.shares == "44% and 100%" and not text.fair
    assert found["bpe-wpe"]["steps"].at == "step 2,000" and found["bpe-wpe"]["steps"].fair
    shown = page_of(folder).shown()
    assert "not fair : bpe-wpe is read at step 887 of 2,000" in shown
    assert "budget = { characters = 4096000 } runs both" in shown
    assert "seconds are those of A made-up processor" in shown
    assert "not fair : seconds" not in shown


def test_overfitting_is_told_per_arm_as_a_mean_over_its_runs(folder):
    def differ(results):
        for run, step, rise in zip(
            results["arms"][2]["runs"], (1200, 1400, 1600), (0.05, 0.06, 0.1), strict=True
        ):
            run["overfitting"].update(step=step, rise=rise, gap_at_best=2 * rise, gap_at_last=3 * rise)

    synthetic.edit(folder, differ)
    rows = {row.arm.name: row.cells for row in overfitting.rows(read(folder))}
    assert rows["bpe-rope"] == ("1,200–1,600", "0.070", "0.140", "0.210")
    assert rows["char-wpe"][:2] == ("2,000", "none")

    def begin(results):
        results["arms"][2]["runs"][2].update(status="running", steps=1)
        results["arms"][2]["runs"][2]["overfitting"].update(step=1, rise=0.0)

    synthetic.edit(folder, begin)
    rows = {row.arm.name: row.cells for row in overfitting.rows(read(folder))}
    assert rows["bpe-rope"][:2] == ("1,200–1,400", "0.055"), (
        "a run that has just begun says nothing of its end"
    )


def test_a_run_that_stopped_early_does_not_read_as_unfinished(folder):
    synthetic.edit(folder, instrument.stop_early)
    shown = page_of(folder).shown()
    assert "bpe-rope: 3 of 3 runs stopped early, at step 1,200 of 2,000." in shown
    assert "1,200 of 2,000 stopped early" in shown and "has not finished" not in shown
    synthetic.edit(
        folder, lambda results: results["arms"][2]["runs"][0].update(stopped_early=False, steps=2000)
    )
    cells = table.rows(read(folder))[2][1]
    assert [cell.small for cell in cells if cell.text == "1,200 of 2,000"] == ["2 stopped early"]


def test_with_a_test_text_all_that_is_judged_is_of_it(folder):
    before = ladder_text.lines(read(folder))
    instrument.record_test(folder)
    study = read(folder)
    assert study.judged_on == "test"
    results = json.loads((folder / "results.json").read_text())
    arm = results["arms"][1]
    on_test = sum(run["best"]["test"]["nats_per_character"] for run in arm["runs"]) / 3
    on_validation = sum(run["best"]["nats_per_character"] for run in arm["runs"]) / 3
    lines = "\n".join(ladder_text.lines(study))
    assert f"{on_test:.3f}" in lines and f"{on_validation:.3f}" not in lines
    assert "floor" in "\n".join(before) and "floor" not in lines
    size = -arm["versus_parent_test"]["nats_per_character_difference"]
    assert f"by {size:.3f} nats" in answer.answers(study)[0].headline
    titles = [(column.group, column.title) for column in table.columns(study)]
    cells = table.rows(study)[1][1]
    assert cells[titles.index(("nats per character", "best"))].text == f"{on_test:.3f}"
    assert cells[titles.index(("on validation text", "best"))].text == f"{on_validation:.3f}"
    shown = page_of(folder).shown()
    assert "Judged on test text, 190 stories with 151,204 characters" in shown
    assert "No choice has looked at the test text." in shown
    assert "sums over the whole test text" in shown and "190 test stories" in shown


def test_a_base_alone_with_a_test_text_is_read_on_it(folder):
    instrument.record_test(folder)
    synthetic.edit(folder, synthetic.alone)
    study = read(folder)
    assert study.judged_on == "test" and "Judged on test text" in page_of(folder).shown()


def test_without_the_means_over_seeds_figures_on_test_text_come_from_the_runs(folder):
    instrument.record_test(folder)
    synthetic.edit(folder, lambda results: [arm.pop("over_seeds") for arm in results["arms"]])
    study = read(folder)
    runs = study.arms[0].runs
    mean = sum(run["best"]["test"]["nats_per_character"] for run in runs) / 3
    assert study.arms[0].best is not None
    assert study.arms[0].best.nats_per_character == pytest.approx(mean) and study.arms[0].best.low is None


def test_what_choosing_on_validation_text_cost(folder):
    assert overfitting.flattered(read(folder)) is None
    instrument.record_test(folder)

    def cost(*costs):
        def change(results):
            for arm in results["arms"]:
                for run, value in zip(arm["runs"], costs, strict=True):
                    run["choosing"]["cost"] = value

        synthetic.edit(folder, change)
        return overfitting.flattered(read(folder)) or ""

    assert "flatters its figure on validation text by 0.004 nats" in cost(0.003, 0.004, 0.005)
    assert "gained more on test text, by 0.004 nats" in cost(-0.003, -0.004, -0.005)
    assert "by nothing that the digits of this page show" in cost(-0.0001, 0.0001, 0.0)


def test_tuning_marks_what_was_chosen_and_what_is_the_studys_own(tested):
    study = read(tested)
    rows = tuning_table.table(study)
    assert [row[:2] for row in rows if "best on validation text" in row[5]] == [
        ["char-wpe", "0.002"],
        ["bpe-wpe", "0.002"],
        ["bpe-rope", "0.004"],
    ]
    assert {row[1] for row in rows if "the study’s own" in row[5]} == {"0.002"}
    assert tuning.edges(study) == [
        "bpe-rope is best at 0.004, the highest that was tried: a better learning rate may lie beyond it."
    ]


@pytest.mark.parametrize("turns", [True, False])
def test_whether_tuning_changes_a_verdict_is_said_in_the_page_and_where_it_does_in_the_answer(folder, turns):
    def both(results):
        entry = results["tuning"]["arms"][2]
        entry["equal"]["verdict"] = "better"
        entry["tuned"]["verdict"] = "no difference seen" if turns else "better"

    instrument.record_test(folder)
    instrument.record_tuning(folder)
    synthetic.edit(folder, both)
    said = (
        "Tuning changes the verdict on bpe-rope from “better” to “no difference seen”."
        if turns
        else "Tuning changes no verdict."
    )
    shown, found = page_of(folder).shown(), answer.answers(read(folder))
    assert said in shown and said in (folder / "report.md").read_text("utf-8")
    told = "But with each model at its own best learning rate: no difference seen."
    assert (told in found[1].detail) is turns and told not in found[0].detail
    console = Console(file=io.StringIO(), width=400)
    console.print(terminal.answer(read(folder)))
    assert said in console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]


def test_the_chart_of_tuning_is_spaced_by_ratio_and_rings_the_chosen(tested):
    texts, coloured = marks(tuning_chart.chart(read(tested), ladder.LAYOUTS["wide"]))
    places = [texts[name][0] for name in ("0.001", "0.002", "0.004")]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=1)
    assert len(coloured) == 9
    for x, _, _ in coloured:
        assert min(abs(x - place) for place in places) < 1.5


def test_a_sweep_has_its_parents_own_value_and_reads_from_low_to_high(tested):
    [sweep] = sweeps.sweeps(read(tested))
    assert [(point.value, point.arm.name) for point in sweep.points] == [
        (500.0, "theta-500"),
        (10_000.0, "bpe-rope"),
        (500_000.0, "theta-500000"),
    ]
    assert sweep.logarithmic and sweep.words == "position theta"
    texts, coloured = marks(sweeps_chart.chart(sweep, ladder.LAYOUTS["wide"]))
    assert [x for x, _, _ in sorted(coloured, key=lambda mark: mark[0])] == pytest.approx(
        [texts[name][0] for name in ("500", "10,000", "500,000")], abs=1
    )
    heights = [
        (y, point)
        for (_, y, _), point in zip(sorted(coloured, key=lambda m: m[0]), sweep.points, strict=True)
    ]
    by_height = [point.arm.name for _, point in sorted(heights, key=lambda pair: pair[0], reverse=True)]
    by_figure = sorted(
        sweep.points, key=lambda point: point.arm.best.nats_per_character if point.arm.best else 0
    )
    assert by_height == [point.arm.name for point in by_figure]
    assert "Lowest at 500,000" in page_of(tested).shown()


@pytest.mark.parametrize(
    ("setting", "settings", "own"),
    [
        ("position.theta", {"position": {"name": "rope", "theta": 7}}, 7.0),
        ("position.theta", {"position": "rope"}, None),
        ("width", {"width": 384}, 384.0),
        ("tokenizer.vocabulary", {}, 4096.0),
    ],
)
def test_where_the_parents_own_value_is_found(tested, setting, settings, own):
    def change(results):
        results["arms"][2]["settings"] = settings
        for arm in results["arms"][3:]:
            arm["sweep"]["setting"] = setting

    synthetic.edit(tested, change)
    [sweep] = sweeps.sweeps(read(tested))
    assert [p.value for p in sweep.points if p.arm.name == "bpe-rope"] == ([] if own is None else [own])


def test_a_budget_in_seconds_is_shown_with_the_reason_that_nothing_is_judged(tested):
    synthetic.edit(tested, instrument.budget_in_seconds)
    shown = page_of(tested).shown()
    assert "nats per character lower, but not judged: the budget is in seconds." in shown
    assert "A budget in steps, tokens, characters or operations can be judged." in shown
    assert "The budget is in seconds, and nothing was judged." in shown
    assert "one seed alone" not in shown and "Holm’s correction" not in shown


def test_keys_that_are_null_read_like_keys_that_are_not_there(tmp_path):
    old = synthetic.make_study(tmp_path / "old", seeds=3)
    before = report.write(old).read_bytes(), (old / "report.md").read_bytes()
    synthetic.edit(old, instrument.forget)
    assert (report.write(old).read_bytes(), (old / "report.md").read_bytes()) == before


@pytest.mark.parametrize(
    "change",
    [synthetic.unfinish, synthetic.fail, synthetic.no_validation, synthetic.alone, synthetic.lose],
)
def test_what_went_otherwise_leaves_no_hole(tested, change):
    def otherwise(results):
        change(results)
        for arm in results["arms"]:
            if any(run["best"] is None for run in arm["runs"]):
                arm["over_seeds"] = arm["at_equal"] = None
            if not arm.get("versus_parent"):
                arm["versus_parent_test"] = arm["versus_parent_test_last"] = None
        for entry in results["tuning"]["arms"]:
            entry["candidates"][0].update(validation=None, spread=None, test=None, seeds=0)
            entry.update(chosen=None, tuned=None)

    synthetic.edit(tested, otherwise)
    texts = page_of(tested).shown(), (tested / "report.md").read_text("utf-8")
    for text in texts:
        assert "None" not in text and "nan " not in text and "Undefined" not in text


def test_hostile_names_and_reasons_stay_text(tested):
    synthetic.poison(tested)

    def change(results):
        results["tuning"]["setting"] = synthetic.POISON
        for arm, entry in zip(results["arms"], results["tuning"]["arms"], strict=False):
            entry["name"] = arm["name"]
        for arm in results["arms"][1:]:
            arm["at_equal"]["steps"].update(fair=False, why=synthetic.POISON)
            for found in (arm["versus_parent_test"], arm["versus_parent"]):
                found["holm"]["verdict"] = synthetic.POISON
            if arm["sweep"]:
                arm["sweep"].update(setting=synthetic.POISON, name=synthetic.POISON)

    synthetic.edit(tested, change)
    page = page_of(tested)
    assert not [tag for tag, _ in page.elements if tag == "img"]
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert len([tag for tag, _ in page.elements if tag == "script"]) == 3
    assert page.shown().count("window.poisoned = 1") > 20
    for line in (tested / "report.md").read_text("utf-8").splitlines():
        if not line.startswith("    "):
            assert "<" not in re.sub(r"\\<", "", line), line


def test_the_markdown_tables_are_whole(tested):
    report.write(tested)
    lines = (tested / "report.md").read_text("utf-8").splitlines()
    widths: dict[int, set[int]] = {}
    for number, line in enumerate(lines):
        if line.startswith("| "):
            start = number
            while lines[start - 1].startswith("| "):
                start -= 1
            widths.setdefault(start, set()).add(len(re.findall(r"(?<!\\)\|", line)))
    assert len(widths) == 4 and all(len(found) == 1 for found in widths.values())
