"""The parts of the report: digits, the ladder, tokens, the terminal and Markdown."""

import io
import json
import re
from xml.etree import ElementTree

import pytest
import synthetic
from rich.console import Console

from onechange.report import (
    answer,
    curves,
    digits,
    ladder,
    ladder_text,
    markdown,
    marks,
    still,
    terminal,
    tokens,
)
from onechange.report.study import Figure, read


@pytest.fixture
def study(tmp_path):
    return read(synthetic.make_study(tmp_path / "study", seeds=5, floor=0.46))


@pytest.mark.parametrize(
    ("halves", "decimals"),
    [([0.015], 3), ([0.006], 3), ([0.0012], 4), ([0.03], 2), ([0.2], 2), ([3.0], 2), ([1e-9], 4), ([], 3)],
)
def test_the_interval_decides_the_digits(halves, decimals):
    assert digits.decimals_for(halves) == decimals


def test_the_finest_interval_decides():
    assert digits.decimals_for([0.2, None, 0.006]) == 3


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.0046, 2, "0.005"),
        (0.0046, 3, "0.005"),
        (0.012, 3, "0.012"),
        (0.2, 2, "0.20"),
        (0.00004, 2, "0.00004"),
        (0.0, 2, "0.00"),
    ],
)
def test_a_spread_shows_a_digit_however_coarse_the_page(value, decimals, text):
    assert digits.spread(value, decimals) == text


@pytest.mark.parametrize(("value", "text"), [(-0.2431, "−0.243"), (0.054, "+0.054"), (-0.0004, "0.000")])
def test_signs(value, text):
    assert digits.signed(value, 3) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(12_391_296, "12.4 million"), (638_983, "638,983"), (2.254, "2.25"), (0.03521, "0.0352"), (0, "0")],
)
def test_sizes(value, text):
    assert digits.short(value) == text


def test_the_ladder_stands_where_the_figures_are(study):
    """The dots' places in the picture are the arms' figures, by the positions of two labels of the axis."""
    root = ElementTree.fromstring(still.svg(still.compiled(ladder.chart(study, ladder.LAYOUTS["wide"])), "l"))
    parents = {child: parent for parent in root.iter() for child in parent}

    def place(element) -> float:
        x, at = 0.0, element
        while at is not None:
            found = re.match(r"translate\(([-\d.]+)", at.get("transform") or "")
            x += float(found[1]) if found else 0.0
            at = parents.get(at)
        return x

    texts = {e.text: e for e in root.iter() if e.tag.endswith("text") and e.text}
    one, other = place(texts["0.5"]), place(texts["1.3"])
    dots = [e for e in root.iter() if (e.get("fill") or "").startswith("var(--arm-") and e.get("d")]
    assert len(dots) == 3
    for arm, dot in zip(study.arms, dots, strict=True):
        value = 0.5 + (place(dot) - one) / (other - one) * 0.8
        assert arm.best is not None and value == pytest.approx(arm.best.nats_per_character, abs=0.002)
        assert dot.get("fill") == marks.colour(arm.index)


@pytest.mark.parametrize("name", ladder.LAYOUTS)
def test_no_label_of_the_ladder_leaves_its_picture(study, name):
    layout = ladder.LAYOUTS[name]
    drawing = ladder._Drawing(study, layout)
    drawing.draw(300)
    for word in drawing.words:
        at, length = drawing.pixel(word["x"]), 7.1 * len(word["text"])
        left, right = (at - length, at) if word["align"] == "right" else (at, at + length)
        assert left >= -1 and right <= layout.plot + 1, word


@pytest.mark.parametrize("width", [40, 60, 78, 120])
def test_the_ladder_in_characters_keeps_its_width_and_its_figures(study, width):
    lines = ladder_text.lines(study, width)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    for arm in study.arms:
        assert arm.best is not None and f"{arm.best.nats_per_character:.3f}" in text
    for arm in study.changed():
        found = arm.versus("best")
        assert found is not None and digits.signed(found["nats_per_character_difference"], 3) in text
    places = [
        line.index(marks.symbol(arm.index)) for arm in study.arms for line in lines if arm.name in line[:9]
    ]
    assert places == sorted(places, reverse=True)


@pytest.mark.parametrize("mean", [0.7, 1.2])
@pytest.mark.parametrize("width", [40, 78])
def test_a_bar_over_the_whole_ladder_leaves_its_figure_whole(study, width, mean):
    study.arms[0].figures["validation", "best"] = Figure(mean, 0.1, 1.9, "seeds", 3)
    line = next(line for line in ladder_text.lines(study, width) if line.startswith("char-wpe"))
    assert f"━ {mean:.{answer.decimals(study)}f} ━" in line and line.count("●") == 1 and len(line) <= width


def test_the_terminal_shows_the_ladder_and_the_table(study):
    console = Console(file=io.StringIO(), width=110)
    for part in (terminal.answer(study), terminal.ladder(study), terminal.table(study)):
        console.print(part)
    shown = console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]
    assert "Better, by" in shown and "━■━" in shown and "seeds" in shown


def test_markup_of_the_terminal_is_not_read_from_a_study(tmp_path):
    folder = synthetic.make_study(tmp_path / "study")
    synthetic.edit(folder, lambda results: results["arms"][0].update(name="[red]a[/red]"))
    console = Console(file=io.StringIO(), width=200)
    console.print(terminal.table(read(folder)))
    assert "[red]a[/red]" in console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]


def test_markdown_has_a_whole_table(study):
    rows = markdown.table(study).splitlines()
    assert len(rows) == 2 + 3
    assert {row.count(" | ") for row in rows} == {13}


@pytest.mark.parametrize("text", ["a|b", "<b>", "*x*", "# x", "[a](http://b)", "a\n\n- b", "`c`", "&lt;"])
def test_markdown_shows_text_as_it_is(text):
    """Against another parser: rendered, the escaped text is the text, without any element."""
    markdown_it = pytest.importorskip("markdown_it")
    html = markdown_it.MarkdownIt().render("x " + markdown.escaped(text))
    shown = re.sub(r"</?p>", "", html).strip()
    for code, letter in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        shown = shown.replace(code, letter)
    assert shown == "x " + " ".join(text.split())


def test_of_many_samples_the_first_is_shown(tmp_path):
    folder = synthetic.make_study(tmp_path)
    path = folder / "arms/bpe-wpe/seed-0/samples/best.jsonl"
    first = [json.loads(line) for line in path.read_text().splitlines()]
    numbered = [{**line, "number": number, "text": f"{number}"} for line in first for number in (1, 0, 2)]
    path.write_text("".join(json.dumps(line) + "\n" for line in numbered))
    study = read(folder)
    found = study.samples(study.arm("bpe-wpe"), 0, "best")
    assert [(line["prompt"], line["text"]) for line in found] == [(line["prompt"], "0") for line in first]


def test_tokenizers_that_cut_alike_are_shown_once(study):
    found = tokens.cuts(study)
    assert [[arm.name for arm in cut.arms] for cut in found] == [["char-wpe"], ["bpe-wpe", "bpe-rope"]]
    assert ["".join(token.text for token in cut.tokens) for cut in found] == [synthetic.DEMONSTRATION] * 2
    assert found[1].tokens[1].shown == "·"


@pytest.mark.parametrize(("text", "shown"), [(" a", "·a"), ("\n", "↵"), ("\u202e", "U+202E"), ("é", "é")])
def test_characters_without_ink_are_seen(text, shown):
    assert tokens.visible(text) == shown


def test_curves_are_means_over_seeds_and_know_their_lowest(study):
    rows = [row for row in curves.rows(study) if row["arm"] == 2]
    runs = study.arms[2].runs
    assert len(rows) == len(runs[0]["history"])
    for at, row in enumerate(rows):
        values = [run["history"][at]["validation_nats_per_character"] for run in runs]
        assert row["validation"] == pytest.approx(sum(values) / 5)
        assert (row["low"], row["high"]) == (min(values), max(values))
    assert [row["step"] for row in rows if row["best"]] == [
        min(rows, key=lambda row: row["validation"])["step"]
    ]
    [(arm, step, rise)] = curves.overfitting(study)
    assert arm.name == "bpe-rope" and rise == pytest.approx(
        rows[-1]["validation"] - min(r["validation"] for r in rows)
    )
    assert step == next(row["step"] for row in rows if row["best"])


@pytest.mark.parametrize(
    ("change", "label"),
    [
        ({"position": "rope"}, "position: learned → rope"),
        ({"position": {"name": "rope", "theta": 500.0}}, "position: learned → rope, theta 500.0"),
        ({"width": 1256}, "width: 128 → 1,256"),
        ({"mlp": "swiglu"}, "mlp: swiglu"),
    ],
)
def test_a_change_is_named_with_what_it_replaced_where_that_is_known(tmp_path, change, label):
    folder = synthetic.make_study(tmp_path / "study")
    synthetic.edit(folder, lambda results: results["arms"][2].update(change=change))
    study = read(folder)
    assert answer.change(study, study.arms[2]) == label


def test_another_setting_of_the_same_member_is_named_alone_with_what_it_was(study):
    arm = study.arms[1]
    (key,) = arm.record["change"]
    assert key == "tokenizer" and study.arms[0].name == arm.parent
    study.arms[0].record["tokenizer"] = {"name": "bpe", "vocabulary": 4096, "split": "classes"}
    arm.record["change"] = {"tokenizer": {"name": "bpe", "vocabulary": 256}}
    assert answer.change(study, arm) == "tokenizer: vocabulary 4,096 → 256"
    assert answer.change(study, arm, brief=True) == "tokenizer: vocabulary 4,096 → 256"
    study.arms[0].record["tokenizer"] = {"name": "byte_bpe", "vocabulary": 4096}
    assert answer.change(study, arm) == "tokenizer: byte_bpe → bpe, vocabulary 256"


@pytest.mark.parametrize(
    ("verdict", "difference", "low", "high", "said"),
    [
        ("worse", 0.05, 0.04, 0.06, "Worse, by 0.050 nats per character."),
        ("no difference seen", -0.004, -0.012, 0.004, "No difference seen."),
        ("better", -0.05, -0.06, -0.04, "Better, by 0.050 nats per character."),
    ],
)
def test_headlines_follow_the_verdict(tmp_path, verdict, difference, low, high, said):
    folder = synthetic.make_study(tmp_path / "study", seeds=3)

    def set_verdict(results):
        results["arms"][1]["versus_parent"].update(
            verdict=verdict, nats_per_character_difference=difference, low=low, high=high
        )

    synthetic.edit(folder, set_verdict)
    found = answer.answers(read(folder))[0]
    assert found.headline == said
    if low < 0 < high:
        assert "0.012 lower to 0.004 higher" in found.detail


@pytest.mark.parametrize("scheme", ["LIGHT", "DARK"])
def test_marks_stand_out_from_the_page(scheme):
    """Contrast as WCAG 2 defines it: 3 : 1 at least for what is not text."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    paper = luminance("#fffefb" if scheme == "LIGHT" else "#15171a")
    for colour in getattr(marks, scheme):
        high, low = sorted([luminance(colour), paper], reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 3
