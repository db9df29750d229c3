"""Charts are drawn with their colours in them, show every arm, and need nothing from elsewhere."""

import json
import struct
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from onechange import Chart, Results, load_results, load_study
from onechange.report.marks import LIGHT

SVG = "{http://www.w3.org/2000/svg}"


def words(chart: Chart) -> str:
    """All text of the picture."""
    return "\n".join(node.text or "" for node in ElementTree.fromstring(chart.svg()).iter(f"{SVG}text"))


@pytest.mark.parametrize("name", ["ladder", "curves", "changes", "context"])
def test_a_picture_has_every_arm_and_no_colour_left_to_a_page(results: Results, name: str):
    chart: Chart = getattr(results, name)()
    assert "var(--" not in chart.svg()
    assert sum(colour in chart.svg() for colour in LIGHT[:3]) >= (2 if name == "changes" else 3)
    for arm in results.arms["arm"][name == "changes" :]:  # the base changes nothing
        assert arm in words(chart)
    assert chart._repr_mimebundle_()["image/svg+xml"] == chart.svg()


def test_the_ladder_says_the_figures(results: Results):
    (plain, *_) = results.arms
    assert f"{plain['nats_per_character']:.2f}" in words(results.ladder())


def test_curves_may_go_over_something_else_than_steps(results: Results):
    assert "training steps" in words(results.curves())
    assert "tokens read" in words(results.curves("tokens"))
    with pytest.raises(ValueError, match="across = 'step2': must be one of step, tokens"):
        results.curves("step2")  # type: ignore[arg-type]  # no such axis
    with pytest.raises(ValueError, match="across = 'words': must be one of characters, tokens"):
        results.context("words")  # type: ignore[arg-type]  # no such axis


def test_the_ending_says_how_a_chart_is_saved(results: Results, tmp_path: Path):
    chart = results.ladder()
    assert ElementTree.fromstring(chart.save(tmp_path / "a.svg").read_text("utf-8")).tag == f"{SVG}svg"
    width, height = struct.unpack(">II", chart.save(tmp_path / "a.png").read_bytes()[16:24])
    drawn = ElementTree.fromstring(chart.svg())
    assert width == pytest.approx(2 * float(drawn.attrib["width"]), abs=2)
    assert height == pytest.approx(2 * float(drawn.attrib["height"]), abs=2)
    assert json.loads(chart.save(str(tmp_path / "a.json")).read_text("utf-8")) == chart.vega
    with pytest.raises(
        ValueError, match=r"a\.jpg: the ending '\.jpg' must be one of \.svg, \.png, \.html, \.json"
    ):
        chart.save(tmp_path / "a.jpg")
    assert {path.name for path in tmp_path.iterdir()} == {"a.svg", "a.png", "a.json"}


def test_a_saved_page_loads_nothing(results: Results, tmp_path: Path):
    page = results.curves().save(tmp_path / "curves.html").read_text("utf-8")
    assert len(page) > 500_000  # what draws is in it
    loading: list[tuple[str, str | None]] = []

    class Read(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            loading.extend((tag, value) for name, value in attrs if name in ("src", "href"))

    Read().feed(page)
    assert loading == []


def test_what_cannot_be_drawn_yet_is_said(tmp_path: Path, file: Path):
    study = load_study(file)
    one = study.run(scale="tiny", out=tmp_path / "one", arms=["plain"], quiet=True)
    with pytest.raises(LookupError, match="has no difference yet: two arms must have finished a seed"):
        one.changes()
    assert "not finished" in one._repr_html_() or load_results(tmp_path / "one").finished
