"""The playground as a person meets it: in a browser, side by side, by mouse and keys, at several widths."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import browser
import pytest

from onechange.ui.playground import writing
from onechange.ui.playground.limits import Limits
from playground_window import COUNTS, READ, STORIES, TEXT, WRITTEN, focus, opened, quiet, units

pytestmark = pytest.mark.skipif(not browser.available(), reason="chromium and chromedriver are not installed")


def test_two_models_write_side_by_side_and_the_same_seed_writes_the_same(
    chromium: browser.Browser, address: str
) -> None:
    opened(chromium, address, "#characters=60")
    arms = "return [...document.querySelectorAll('#stories select.arm')].map(s => s.value)"
    assert chromium.evaluate(arms) == ["plain", "turned"], "the first arm and the last"
    chromium.evaluate("document.getElementById('start').click()")
    chromium.wait_for(WRITTEN)
    first = chromium.evaluate(STORIES)
    assert [len(story) for story in first] == [60, 60] and first[0] != first[1]
    assert all("60 characters · " in count for count in chromium.evaluate(COUNTS))
    chromium.evaluate("document.querySelector('#prompt').focus()")
    chromium.press("Enter", control=True)
    chromium.wait_for(WRITTEN)
    assert chromium.evaluate(STORIES) == first
    seed = "const s = document.getElementById('seed'); s.value = '7'; s.dispatchEvent(new Event('input'))"
    chromium.evaluate(f"{seed}; document.getElementById('start').click()")
    chromium.wait_for(WRITTEN)
    assert chromium.evaluate(STORIES) != first
    assert quiet(chromium)


def test_pointing_at_a_token_shows_what_it_beat(chromium: browser.Browser, address: str) -> None:
    """Probabilities of the rows, that of all the others among them, make a whole; those ruled out are said to be."""
    opened(chromium, address, "#characters=40&top_k=3&run=1")
    chromium.wait_for(WRITTEN)
    box = "const r = document.querySelectorAll('#stories .story')[1].querySelectorAll('.t')[4]"
    box += ".getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]"
    chromium.evaluate("document.querySelectorAll('#stories .story')[1].scrollIntoView({block: 'center'})")
    chromium.point_at(*chromium.evaluate(box))
    chromium.wait_for("return !document.getElementById('card').hidden")
    rows = chromium.evaluate(
        "return [...document.querySelectorAll('#card li')].map(r => ['.name', '.p', '.why'].map("
        "kind => r.querySelector(kind).textContent))"
    )
    assert 9 <= len(rows) <= 10 and rows[-1][0].endswith(" others")
    shares = [float(p.replace("< 0.01", "0").strip("%> ")) for _, p, _ in rows]
    assert sum(shares) == pytest.approx(100, abs=2)
    assert sum(why == "taken" for _, _, why in rows) == 1
    assert sum(why == "ruled out" for _, _, why in rows) == 5
    name = chromium.evaluate("return document.querySelector('#card .head .name').textContent")
    taken = next(row for row in rows if row[2] == "taken")
    token = units(chromium, 1)[4].replace(" ", "␣").replace("\n", "⏎")
    assert name == taken[0] == token
    assert "chosen with " in chromium.evaluate("return document.getElementById('card').textContent")
    chromium.point_at(2, 2)
    chromium.wait_for("return document.getElementById('card').hidden")


def test_keys_step_through_a_story_and_say_each_token(chromium: browser.Browser, address: str) -> None:
    opened(chromium, address, "#characters=40&run=1")
    chromium.wait_for(WRITTEN)
    tokens = units(chromium, 0)
    focus(chromium, 0)
    active = "return [...document.querySelectorAll('#stories .t')].findIndex(t => t.matches('.active'))"
    for key, at in (
        ("ArrowRight", 0),
        ("ArrowRight", 1),
        ("End", len(tokens) - 1),
        ("ArrowLeft", len(tokens) - 2),
    ):
        chromium.press(key)
        assert chromium.evaluate(active) == at
        told = chromium.evaluate("return document.getElementById('told').textContent")
        shown = tokens[at].replace(" ", "␣").replace("\n", "⏎")
        assert told.startswith(f"“{shown}” ") and "rank" in told
    chromium.press("Escape")
    assert chromium.evaluate("return document.getElementById('card').hidden")


def test_what_waits_is_given_to_the_token_that_brought_it(
    chromium: browser.Browser, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line end waits for what follows, half a berry for its other half, the end of the story for ever."""
    about = {"id": 1, "p": 0.5, "nats": 0.7, "rank": 1, "alternatives": [], "share": 1.0, "allowed": 1}
    pieces = [("a", "a"), ("\n", ""), ("b", "\nb"), ("", ""), ("🍓", "🍓"), (".\n", "."), ("\n", "")]

    def told(held: Any, asked: Any) -> Iterator[dict[str, Any]]:
        yield {"step": 1, "window": 8, "vocabulary": 9, "prompt": []}
        for number, (own, text) in enumerate(pieces):
            yield {**about, "own": own, "text": text, "token": own or "\\xF0", "id": number}
        yield {"ended": "story", "tokens": 7, "characters": 5}

    monkeypatch.setattr(writing, "lines", told)
    opened(chromium, address, "#run=1&model=plain:0:best")
    chromium.wait_for(WRITTEN)
    assert units(chromium, 0) == ["a", "\n", "b", "🍓", ".", "⏎"]
    focus(chromium, 0)
    heads = "return [...document.querySelectorAll('#card .head .name')].map(n => n.textContent)"
    chromium.press("End")
    assert chromium.evaluate(heads) == ["⏎"]
    for shown in ([".⏎"], ["\\xF0", "🍓"], ["b"], ["⏎"], ["a"]):
        chromium.press("ArrowLeft")
        assert chromium.evaluate(heads) == shown
    assert chromium.evaluate(COUNTS)[0].startswith("7 tokens · 5 characters")


def test_a_link_restores_everything_and_writes_only_where_it_says_so(
    chromium: browser.Browser, address: str
) -> None:
    prompt = 'The cat & the "dog"\n+ 3%'
    wanted = "#model=merged:0:last&model=plain:0:best&model=turned:0:best&temperature=1.3&top_k=9&top_p=0.9"
    wanted += f"&seed=11&characters=50&repetition_penalty=1.2&go_on=1&tint=1&prompt={quote('The cat')}"
    opened(chromium, address, wanted + "&run=1")
    chromium.wait_for(WRITTEN)
    stories = chromium.evaluate(STORIES)
    # Without https there may be no clipboard: then the address line has the link.
    chromium.evaluate("navigator.clipboard.writeText = async () => { throw new Error('none') }")
    chromium.evaluate("document.getElementById('copy').click()")
    chromium.wait_for("return location.hash.includes('run=1')")
    link = chromium.evaluate("return location.href")
    opened(chromium, link)
    chromium.wait_for(WRITTEN)
    assert chromium.evaluate(STORIES) == stories and len(stories) == 3
    # Without `run` nothing is written, whatever a prompt holds.
    opened(chromium, address, f"{wanted}&prompt=never".replace(quote("The cat"), quote(prompt)))
    values = "return ['prompt', 'temperature', 'top_k', 'top_p', 'seed', 'characters', 'repetition_penalty']"
    expected = [prompt, "1.3", "9", "0.9", "11", "50", "1.2"]
    assert chromium.evaluate(f"{values}.map(id => document.getElementById(id).value)") == expected
    assert chromium.evaluate("return document.getElementById('go_on').checked")
    assert chromium.evaluate("return document.getElementById('stories').matches('.tinted')")
    assert chromium.evaluate(STORIES) == ["", "", ""]
    assert not any("/write" in one for one in chromium.requests())
    assert quiet(chromium)


def test_what_a_study_has_not_is_told(chromium: browser.Browser, address: str) -> None:
    opened(chromium, address, "#model=other:0:best&model=merged:0:best")
    notice = chromium.evaluate("return document.getElementById('notice').textContent")
    assert notice == "This study has no other:0:best: left out."
    assert chromium.evaluate("return document.querySelectorAll('#stories .column').length") == 1


def test_a_mistake_is_told_in_the_column_that_makes_it(chromium: browser.Browser, address: str) -> None:
    opened(chromium, address, f"#run=1&prompt={quote('Zoë 🍓')}")
    chromium.wait_for("return document.querySelectorAll('#stories .wrong').length === 2")
    told = chromium.evaluate(COUNTS)
    assert all("2 characters outside the tokenizer's alphabet" in one for one in told)


def test_models_come_and_go(chromium: browser.Browser, address: str) -> None:
    opened(chromium, address)
    arms = "return [...document.querySelectorAll('#stories select.arm')].map(s => s.value)"
    add = "document.querySelector('#panel-write .add').click()"
    chromium.evaluate(add)
    assert chromium.evaluate(arms) == ["plain", "turned", "merged"], "the one that is not shown yet"
    for _ in range(9):
        chromium.evaluate(add)
    assert len(chromium.evaluate(arms)) == Limits().columns
    chromium.evaluate("document.querySelectorAll('#stories .remove')[0].click()")
    assert chromium.evaluate(arms)[:2] == ["turned", "merged"]
    change = "const s = document.querySelectorAll('#stories select.arm')[0]; s.value = 'plain';"
    chromium.evaluate(change + "s.dispatchEvent(new Event('change'))")
    both = "return ['stories', 'readings'].map(id => document.querySelector(`#${id} select.arm`).value)"
    assert chromium.evaluate(both) == ["plain", "plain"]
    chromium.wait_for("return location.hash.includes('model=plain')")


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (1280, "dark")])
def test_everybody_can_use_it_at_every_width(
    chromium: browser.Browser, address: str, width: int, scheme: str
) -> None:
    long = "#characters=120&tint=1&run=1&model=merged:0:best&model=plain:0:best&model=turned:0:last"
    wider = "return [...document.querySelectorAll('main *')].filter(e => e.offsetParent !== null && "
    wider += "!e.closest('.suggestions, .unseen') && e.getBoundingClientRect().right > innerWidth + 1)"
    wider += ".map(e => e.outerHTML.slice(0, 80))"
    for fragment, ready, place in (
        (long, WRITTEN, "stories"),
        (f"{long}&mode=surprise&text={quote(TEXT)}", READ, "readings"),
    ):
        opened(chromium, address, fragment, width=width, scheme=scheme)
        chromium.evaluate("document.querySelector('details').open = true")
        chromium.wait_for(ready)
        focus(chromium, 1, place)
        chromium.press("End")
        named = "for (const option of document.querySelectorAll('option')) option.textContent = 'long-name'.repeat(7)"
        chromium.evaluate(named)
        assert chromium.evaluate("return document.documentElement.scrollWidth") <= width
        assert chromium.evaluate(wider) == []
        assert chromium.audit() == []
        assert quiet(chromium)
        assert all(one.startswith((address.partition("/studies")[0], "data:")) for one in chromium.requests())


def test_tabs_are_changed_by_keys(chromium: browser.Browser, address: str) -> None:
    opened(chromium, address)
    chromium.evaluate("document.getElementById('tab-write').focus()")
    chromium.press("ArrowRight")
    focused = "return [document.activeElement.id, document.getElementById('panel-surprise').hidden]"
    assert chromium.evaluate(focused) == ["tab-surprise", False]


def test_without_scripts_it_says_which_commands_do_the_same(chromium: browser.Browser, address: str) -> None:
    chromium.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        chromium.open(address)
        shown = chromium.evaluate("return document.querySelector('main').innerText")
    finally:
        chromium.command("Emulation.setScriptExecutionDisabled", value=False)
    assert "needs scripts" in shown and "onechange sample " in shown and "onechange measure " in shown
