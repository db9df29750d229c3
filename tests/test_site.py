"""The documentation site: built without a warning, every link leads somewhere, nothing comes from elsewhere."""

import functools
import http.server
import inspect
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser
import pytest
from website import configuration, links

from built_site import Page, broken, is_elsewhere
from onechange import contract, family
from pages import PAGES, ROOT


def leaves(part: Any) -> Iterator[str]:
    """The pages that a part of the navigation names."""
    if isinstance(part, str):
        yield part
    else:
        for inner in part.values() if isinstance(part, dict) else part:
            yield from leaves(inner)


def test_every_page_is_in_the_navigation_once():
    named = list(leaves(configuration.read()["nav"]))
    wanted = {links.on_the_site(page.relative_to(ROOT).as_posix()) for page in PAGES}
    assert sorted(named) == sorted(wanted | {"licence.md", "reference"})


def test_links_are_made_right_where_the_site_differs():
    seen: list[str] = []
    text = "[a](../CONTRIBUTING.md#style) `[b](../README.md)` [c](how-to/playground.md) [d](https://x.org) [e](#f)"
    assert links.rewritten(text, "docs/index.md", seen.append) == text.replace(
        "../CONTRIBUTING", "contributing"
    )
    assert seen == ["CONTRIBUTING.md", "docs/how-to/playground.md"]
    assert (
        links.rewritten("[a](../../src/x.py)", "docs/how-to/y.md", seen.append)
        == "[a](../source/src/x.py.md)"
    )
    assert links.rewritten("![a](docs/images/b.png)", "README.md", seen.append) == "![a](images/b.png)"
    assert links.rewritten("```\n[a](../b.md)\n```\n", "docs/c.md", seen.append) == "```\n[a](../b.md)\n```\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "website", "--out", str(folder)]
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    said = built.stdout + built.stderr
    assert built.returncode == 0 and not re.search("warning|error", said, re.IGNORECASE), said
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


def test_every_link_of_the_site_leads_somewhere(pages: dict[Path, Page]):
    wrong = {
        str(path): found
        for path, page in pages.items()
        if page.path.name != "404.html" and (found := broken(page, pages))
    }
    assert wrong == {}


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Page]):
    assert [load for page in pages.values() for load in page.loads if is_elsewhere(load)] == []
    for style in site.rglob("*.css"):
        addresses = re.findall(r"url\(['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", style.read_text("utf-8"))
        assert [address for pair in addresses for address in pair if is_elsewhere(address)] == [], style


def test_a_page_of_the_repository_is_a_page_of_the_site(site: Path, pages: dict[Path, Page]):
    for page in PAGES:
        path = site / links.on_the_site(page.relative_to(ROOT).as_posix()).replace(".md", ".html")
        heading = re.sub(r"[`*]|\[|\]", "", page.read_text("utf-8").splitlines()[0].removeprefix("# "))
        assert heading in pages[path].text, path


@pytest.mark.parametrize("one", family.FAMILIES)
def test_the_reference_says_what_a_member_must_be(one: str, site: Path, pages: dict[Path, Page]):
    text = pages[site / "reference" / one / "index.html"].text
    for found in contract.classes(one):
        for name, method in vars(found).items():
            if inspect.isfunction(method) and not name.startswith("_") and method.__doc__:
                says(text, method)


def says(text: str, method: Any) -> None:
    """The page's ``text`` has the docstring of ``method`` and the names of its arguments, in order."""
    assert plain(inspect.getdoc(method) or "") in plain(text), method
    names = [name for name in inspect.signature(method).parameters if name != "self"]
    signature = rf"\b{method.__name__}\(" + "".join(rf".*?\b{name}\b" for name in names)
    assert re.search(signature, text), f"{method}: {signature}"


def plain(text: str) -> str:
    """Without what Markdown makes something of, and without white space."""
    return re.sub(r"[`*_\s]", "", text)


def test_the_reference_has_a_page_for_every_member_with_its_settings(site: Path, pages: dict[Path, Page]):
    for one in family.FAMILIES:
        for name in family.members(one):
            if family.package(one, name):
                continue
            text = pages[site / "reference" / one / f"{name}.html"].text
            assert family.member(one, name).__name__ in text
            assert plain(family.summary(one, name)) in plain(text), name
            for setting, value in family.defaults(one, name).items():
                written = "must be given" if value is inspect.Parameter.empty else repr(value)
                assert re.search(rf"\b{setting}\b {re.escape(written)}", text), (name, setting)


@pytest.fixture
def window(tmp_path: Path) -> Iterator[browser.Browser]:
    if not browser.available():
        pytest.skip("needs chromium and chromedriver")
    opened = browser.Browser(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """The site, served from this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


NARROW_AND_WIDE = (400, 1280)
TOO_WIDE = """
const room = document.documentElement.clientWidth
return [...document.querySelectorAll(".md-content *")]
  .filter(e => !e.closest("pre, .highlight, .md-typeset__scrollwrap") && e.getBoundingClientRect().right > room + 1)
  .map(e => e.outerHTML.slice(0, 100))
"""


@pytest.mark.long
def test_pages_fit_and_fetch_nothing_from_elsewhere(
    address: str, pages: dict[Path, Page], site: Path, window: browser.Browser
):
    for page in pages:
        name = page.relative_to(site).as_posix()
        if name.startswith("source/"):
            continue
        for width in NARROW_AND_WIDE:
            window.open(address + name, width=width)
            assert window.evaluate(TOO_WIDE) == [], (name, width)
        asked = [one for one in window.requests() if one.startswith("http") and not one.startswith(address)]
        assert asked == [], name


def test_the_search_finds_a_member_and_the_dark_scheme_is_dark(address: str, window: browser.Browser):
    window.open(f"{address}index.html", scheme="dark")
    brightness = (
        "getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).slice(0, 3).every(c => +c < 60)"
    )
    assert window.evaluate(f"return {brightness}")
    window.open(f"{address}index.html?q=kerple", scheme="light")
    assert not window.evaluate(f"return {brightness}")
    window.wait_for(
        "return document.querySelector('.md-search-result__link[href*=\"reference/position/kerple\"]') !== null"
    )
