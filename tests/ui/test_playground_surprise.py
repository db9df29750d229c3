"""In a browser: models read a text, and are stepped through it together."""

from pathlib import Path
from urllib.parse import quote

import browser
import pytest

from playground_window import READ, STORIES, TEXT, WRITTEN, focus, opened, quiet, units

pytestmark = pytest.mark.skipif(not browser.available(), reason="chromium and chromedriver are not installed")


def test_surprise_is_stepped_through_at_the_same_place_in_all_models(
    chromium: browser.Browser, address: str, study: Path
) -> None:
    opened(
        chromium, address, f"#mode=surprise&run=1&text={quote(TEXT)}&model=merged:0:best&model=plain:0:best"
    )
    chromium.wait_for(READ)
    cut = [units(chromium, column, "readings") for column in (0, 1)]
    assert "".join(cut[0]) == "".join(cut[1]) == TEXT and len(cut[0]) < len(cut[1])
    focus(chromium, 0, "readings")
    active = "return [...document.querySelectorAll('#readings .story')].map(s => [...s.children].findIndex("
    active += "t => t.matches('.active')))"
    at, merged, plain = 0, -1, -1
    for number in range(6):
        chromium.press("ArrowRight")
        merged, plain = chromium.evaluate(active)
        assert merged == number
        assert len("".join(cut[1][:plain])) == at, "the character at which the other's token begins"
        at += len(cut[0][merged])
    heads = "return [...document.querySelectorAll('#readings .here .head .name')].map(n => n.textContent)"
    shown = [one.replace(" ", "␣").replace("\n", "⏎") for one in (cut[0][merged], cut[1][plain])]
    assert chromium.evaluate(heads) == shown
    # The list of differences leads to its place.
    chromium.evaluate("document.querySelector('#differences button').click()")
    word = chromium.evaluate("return document.querySelector('#differences mark').textContent")
    places = [len("".join(cut[1][: chromium.evaluate(active)[1]]))]
    assert TEXT[places[0] :].startswith(word)
    assert quiet(chromium)


def test_a_story_is_read_in_the_other_mode(chromium: browser.Browser, address: str) -> None:
    opened(chromium, address, "#characters=40&run=1")
    chromium.wait_for(WRITTEN)
    prompt, story = (
        chromium.evaluate("return document.getElementById('prompt').value"),
        chromium.evaluate(STORIES)[1],
    )
    chromium.evaluate("document.querySelectorAll('#stories .use')[1].click()")
    chromium.wait_for(READ)
    assert "".join(units(chromium, 0, "readings")) == prompt + story
    assert chromium.evaluate("return document.getElementById('panel-write').hidden")
    figures = chromium.evaluate(
        "return [...document.querySelectorAll('#readings .figure b')].map(b => b.textContent)"
    )
    assert all(0 < float(figure) < 10 for figure in figures)
