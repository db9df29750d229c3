"""In a browser: what ends a writing, what happens where all places are taken."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser
import pytest

import small_playground
from onechange.ui.playground import writing
from onechange.ui.playground.limits import Limits
from playground_window import COUNTS, STORIES, WRITTEN, opened, units
from small_playground import PLACE, playground, serving, wait_until

pytestmark = pytest.mark.skipif(not browser.available(), reason="chromium and chromedriver are not installed")


def endless(lines: Any, end: threading.Event) -> Any:
    """What stands for `writing.lines`: the first token again and again, until the ``end``."""

    def written(held: Any, asked: Any) -> Iterator[dict[str, Any]]:
        begun = lines(held, asked)
        yield next(begun)
        one = next(begun)
        while not end.is_set():
            end.wait(0.002)
            yield one

    return written


@pytest.mark.parametrize("way", ["button", "Escape", "leaving", "starting anew"])
def test_a_writing_is_stopped(
    chromium: browser.Browser, address: str, application: Any, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A model that would never end: whoever asked stops it, by the button, a key, going away or a new start."""
    lines, again = writing.lines, threading.Event()
    monkeypatch.setattr(writing, "lines", endless(lines, again))
    workers = playground(application).workers
    opened(chromium, address, "#characters=30")
    chromium.evaluate("document.getElementById('start').click()")
    try:
        chromium.wait_for("return document.querySelectorAll('#stories .t').length > 20")
        assert workers.at_work == 2
        if way == "button":
            chromium.evaluate("document.getElementById('stop').click()")
        elif way == "Escape":
            chromium.press("Escape")
        elif way == "leaving":
            chromium.open("about:blank")
        else:
            monkeypatch.setattr(writing, "lines", lines)
            chromium.evaluate("document.getElementById('start').click()")
            chromium.wait_for(WRITTEN)
        wait_until(lambda: workers.at_work == 0)
        if way in ("button", "Escape"):
            chromium.wait_for(f"{COUNTS}.every(text => text.endsWith('stopped'))")
            assert chromium.evaluate("return document.getElementById('stop').disabled")
    finally:
        again.set()


def test_another_model_in_a_column_ends_what_the_first_one_writes(
    chromium: browser.Browser, address: str, application: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, again = writing.lines, threading.Event()
    monkeypatch.setattr(writing, "lines", endless(lines, again))
    workers = playground(application).workers
    opened(chromium, address)
    chromium.evaluate("document.getElementById('start').click()")
    try:
        chromium.wait_for("return document.querySelectorAll('#stories .t').length > 20")
        change = "const s = document.querySelector('#stories select.arm'); s.value = 'merged';"
        chromium.evaluate(change + "s.dispatchEvent(new Event('change'))")
        wait_until(lambda: workers.at_work == 1)
        count = len(units(chromium, 1))
        chromium.wait_for(f"return document.querySelectorAll('#stories .t').length > {count + 5}")
        assert (units(chromium, 0), chromium.evaluate(COUNTS)[0]) == ([], "")
        chromium.evaluate("document.querySelectorAll('#stories .remove')[1].click()")
        wait_until(lambda: workers.at_work == 0)
    finally:
        again.set()


def test_a_busy_server_is_asked_again(chromium: browser.Browser, study: Path) -> None:
    """With one place for two columns both are written, one after the other."""
    with serving(small_playground.application(study, Limits(at_once=1))) as address:
        opened(chromium, address + PLACE, "#characters=30&run=1")
        chromium.wait_for(WRITTEN)
        assert [len(story) for story in chromium.evaluate(STORIES)] == [30, 30]
