"""The live pages as a person meets them: in a browser, while a real study runs and after it was killed."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import browser
import pytest

from onechange import run_lock
from onechange.ui import live, pages
from onechange.ui.reading import version
from onechange.ui.server import Server
from small_servers import serving
from small_studies import STUDY, study_file
from test_laboratory import tale, text_file

pytestmark = pytest.mark.skipif(not browser.available(), reason="chromium and chromedriver are not installed")
GATED = """
import os, sys, time
from pathlib import Path
import onechange.laboratory
from onechange import heartbeat, orders
onechange.laboratory.report.write = lambda folder: None
os.fsync = lambda file: None
heartbeat.SECONDS = 0.0
gates, original = Path(sys.argv.pop(1)), orders.execute
def gated(recipe, data, sampling, prompts, run, watch, *rest, **named):
    arm = Path(run).parent.name
    def watching(moment):
        watch(moment)
        while moment.step == 5 and not (gates / arm).exists():
            time.sleep(0.02)
    return original(recipe, data, sampling, prompts, run, watching, *rest, **named)
orders.execute = gated
from onechange.cli import main
main()
"""
"""A study whose every run waits in its step 5, which is not noted yet, until there is a file of its arm's name."""


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    found = browser.Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture
def chromium(window: browser.Browser) -> browser.Browser:
    """The window without the page of the test before, which would ask for its server."""
    window.open("about:blank")
    return window


@pytest.fixture(autouse=True)
def _in_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look often, and draw as often as files change: the tests of `pages` are about how often that may be."""
    monkeypatch.setattr(live, "SECONDS", 0.1)
    monkeypatch.setattr(pages, "SHARE", 1e9)


@contextlib.contextmanager
def running(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[str], None]]]:
    """A study that runs in ``folder``/study, and what lets the run of an arm go on."""
    gates = folder / "gates"
    gates.mkdir()
    text = text_file(folder / "tales.txt", [tale(number) for number in range(30)])
    words = ["run", str(study_file(folder, STUDY)), "--scale", "tiny", "--data", f"file:{text}"]
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            GATED,
            str(gates),
            *words,
            "--out",
            str(folder / "studies/study"),
            "--jobs",
            "1",
        ],
        env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process, lambda arm: (gates / arm).touch()
    finally:
        process.kill()
        process.wait()


def told(window: browser.Browser) -> str:
    """The line of the whole study."""
    return window.evaluate("return document.querySelector('#standing .told')?.innerText") or ""


def wait_until(window: browser.Browser, *words: str) -> None:
    """Until the line of the whole study has these words."""
    _until(lambda: told(window), lambda line: all(word in line for word in words))


def wait_for_rows(window: browser.Browser, **wanted: list[Any]) -> None:
    """Until the rows of these arms say this; the page may be loading itself again."""
    _until(lambda: window.evaluate(ROWS), lambda rows: rows.items() >= wanted.items())


def _until(look: Callable[[], Any], enough: Callable[[Any], bool]) -> None:
    seen = look()
    for _ in range(1200):
        if enough(seen):
            return
        time.sleep(0.05)
        seen = look()
    raise AssertionError(f"it stayed at {seen!r}")


ROWS = """
return Object.fromEntries([...document.querySelectorAll('.runs tbody tr')].map(row => [
  row.querySelector('th').textContent.slice(1),
  [row.cells[2].textContent, row.querySelector('progress').value, row.querySelector('.v').textContent],
]))
"""
REPORT = "return document.querySelector('#arms') !== null"


def test_a_study_is_watched_from_its_start_until_it_is_killed(chromium: browser.Browser, tmp_path: Path):
    (tmp_path / "studies").mkdir()
    with serving(tmp_path / "studies") as server, running(tmp_path) as (process, go_on):
        chromium.open(server.address)
        assert "There is no study here yet." in chromium.evaluate("return document.body.innerText")
        chromium.wait_for("return document.querySelector('li.running a') !== null")  # it came by itself
        chromium.evaluate("document.querySelector('li.running a').click()")
        wait_until(chromium, "Running", "0 of 3 runs finished", "left, until")
        waiting = ["waiting", 0, "0 of 6"]
        wait_for_rows(chromium, plain=["training", 4, "4 of 6"], merged=waiting, turned=waiting)
        chromium.wait_for(REPORT)  # without being loaded again by the person
        chromium.wait_for("return document.title.startsWith('22% · What do merges')")

        go_on("plain")
        wait_until(chromium, "1 of 3 runs finished")
        wait_for_rows(chromium, plain=["finished", 6, "6 of 6"])
        chromium.wait_for("return document.querySelector('#chart-curves.moves svg') !== null")
        now = version(
            tmp_path / "studies/study"
        )  # all that plain left is on the page, and its scripts are the last
        chromium.wait_for(f"return document.querySelector('[name=onechange-version]').content === '{now}'")
        _change_and_see_it_kept(chromium, go_on)

        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(chromium, "Stopped", "2 of 3 runs finished", "--resume")
        wait_for_rows(chromium, turned=["stopped", 3, "3 of 6"])
        assert "turned, seed 0: stopped." in chromium.evaluate(
            "return document.querySelector('#standing [role=status]').textContent"
        )
        assert chromium.logs("browser") == []
        assert {asked.startswith(server.address) for asked in chromium.requests()} == {True}


def _change_and_see_it_kept(chromium: browser.Browser, go_on: Callable[[str], None]) -> None:
    """Switch, open, scroll, focus; then a new page comes without being loaded, and all that is as it was."""
    opened = "document.querySelector('section[aria-labelledby=arms] details')"
    chromium.evaluate(
        "window.stays = true;"
        "document.querySelector('input[name=point][value=last]').click();"
        "document.querySelector('input[name=axis][value=tokens]').click();"
        f"{opened}.open = true;"
        "document.querySelector('#believe').scrollIntoView();"
        f"{opened}.firstElementChild.focus({{preventScroll: true}});"
    )
    place = "return document.querySelector('#believe').getBoundingClientRect().top"
    before = chromium.evaluate(place)
    go_on("merged")
    chromium.wait_for(
        "return [...document.querySelectorAll('.stories h4')].some(e => e.innerText.startsWith('merged'))"
    )
    assert chromium.evaluate("return window.stays") is True
    chromium.wait_for("return document.querySelector('#chart-curves.moves svg') !== null")
    state = "return [...document.querySelectorAll('input:checked')].map(e => e.value)"
    assert {"last", "tokens"} <= set(chromium.evaluate(state))
    assert chromium.evaluate(
        "return [...document.querySelectorAll('.point')].every(e => e.hidden || e.dataset.point === 'last')"
    )
    assert chromium.evaluate(
        f"return document.querySelectorAll('details[open]').length === 1 && {opened}.open"
    )
    assert chromium.evaluate(f"return document.activeElement === {opened}.firstElementChild")
    assert abs(chromium.evaluate(place) - before) < 40
    assert "tokens read" in chromium.evaluate(
        "return document.querySelector('#chart-curves .moving svg').textContent"
    )
    status = chromium.evaluate("return document.querySelector('#standing [role=status]').textContent")
    assert "merged, seed 0: finished." in status or status == "The report has been brought up to date."


HOSTILE = "<img src=x onerror='window.poisoned=1'>"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, finished: Path) -> Iterator[Server]:
    """Studies that are finished, running, not prepared, and failed with a reason and a name that are markup."""
    folder = tmp_path_factory.mktemp("served") / "studies"
    for name in ("finished", "running", "unprepared", HOSTILE):
        shutil.copytree(finished, folder / name)
    (folder / "unprepared/corpus.json").unlink()
    (folder / HOSTILE / "arms/turned/seed-0/failure.json").write_text(f'{{"error": "{HOSTILE}</script>"}}')
    path = folder / "running/arms/turned/seed-0"
    (path / "measures.json").unlink()
    with serving(folder) as found, run_lock.locked(path):
        yield found


def test_a_finished_study_is_one_line_and_asks_no_more(chromium: browser.Browser, server: Server):
    chromium.open(f"{server.address}studies/finished/")
    chromium.wait_for(REPORT)
    wait_until(chromium, "Finished", "3 runs")
    assert chromium.evaluate("return document.querySelector('.now').offsetHeight") < 60
    assert not chromium.evaluate("return document.querySelector('.runs').checkVisibility()")
    for _ in range(200):
        if not server.server_state.tasks:
            break
        time.sleep(0.05)
    assert not server.server_state.tasks, "its stream has ended"
    assert chromium.logs("browser") == []


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (1280, "dark")])
def test_nothing_shuts_anybody_out(chromium: browser.Browser, server: Server, width: int, scheme: str):
    """Axe finds nothing on the index, a live page and one that waits; and nothing is wider than the window."""
    for where, there in (
        ("", "return document.querySelector('li.running time') !== null"),
        ("studies/running/", REPORT),
        ("studies/unprepared/", "return document.querySelector('.drawing') !== null"),
    ):
        chromium.open(server.address + where, width, scheme=scheme)
        chromium.wait_for(there)
        if where:
            chromium.wait_for("return document.querySelector('.runs tbody tr') !== null")
        assert chromium.audit() == [], where
        assert chromium.evaluate("return document.documentElement.scrollWidth") <= width, where


def test_names_and_reasons_run_nothing(chromium: browser.Browser, server: Server):
    chromium.open(server.address)
    chromium.wait_for("return document.querySelector('li.failed a') !== null")
    assert HOSTILE in chromium.evaluate("return document.body.innerText")
    chromium.evaluate("document.querySelector('li.failed a').click()")
    chromium.wait_for(REPORT)
    wait_until(chromium, "Failed")
    assert f"{HOSTILE}</script>" in chromium.evaluate("return document.querySelector('.reasons').innerText")
    assert chromium.evaluate("return window.poisoned === undefined && !document.querySelector('img')")
    assert chromium.logs("browser") == []


def test_a_server_that_goes_is_missed_and_found_again(chromium: browser.Browser, studies: Path):
    (studies / "first/arms/turned/seed-0/measures.json").unlink()
    away = "return document.querySelector('.away').checkVisibility()"
    with serving(studies) as server:
        number = int(server.address.rstrip("/").rpartition(":")[2])
        chromium.open(f"{server.address}studies/first/")
        wait_until(chromium, "Stopped")
        assert not chromium.evaluate(away)
    chromium.wait_for(away)
    (studies / "first/arms/turned/seed-0/failure.json").write_text('{"error": "it came to nothing"}')
    with serving(studies, port=number):
        wait_until(chromium, "Failed")
        chromium.wait_for(away.replace("return ", "return !"))
        assert "it came to nothing" in chromium.evaluate(
            "return document.querySelector('.reasons').innerText"
        )
