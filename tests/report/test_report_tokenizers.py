"""The page of `tokenizer compare`: its figures, foreign text escaped, nothing loaded, fine at every width."""

from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import browser
import pytest

from onechange import documents, source, tokenizer_compare, tokenizer_word
from onechange.report import tokenizers_page
from onechange.tokenizer_compare import COLUMNS, Comparison

POISON = "<script>alert(1)</script><img src=x onerror=alert(2)> & \"'"


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Everything that a stranger may write is hostile: corpus, text, a file's name."""
    folder = tmp_path_factory.mktemp("text")
    text = folder / "tales.txt"
    text.write_text("\n<|endoftext|>\n".join(f"Zoë saw {n} cats.\n{POISON} 世界 🙂" for n in range(40)))
    corpus = documents.prepare(source.parse(f"file:{text}"), cache=None)
    words = ["character", "bpe:vocabulary=50,60,4096", "bpe:vocabulary=80,learn_from=all"]
    wanted = [one for word in words for one in tokenizer_word.parse(word)]
    wanted.append(tokenizer_word.Wanted(f"{POISON}/{'long' * 30}", resolved=wanted[1].resolved))
    return tokenizer_compare.compare(corpus, wanted, text=f"{POISON}\nZoë 世界")


@pytest.fixture(scope="module")
def html(comparison: Comparison) -> str:
    return tokenizers_page.html(comparison)


class Read(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.loaded: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        named = {name: value for name, value in attrs if name in ("src", "href", "onerror")}
        self.loaded += [f"{tag} {name}" for name, value in named.items() if not (value or "").startswith("#")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_what_others_wrote_is_text_and_nothing_is_loaded(html: str):
    read = Read(html)
    assert {"script", "img"} & read.tags == set()
    assert read.loaded == []
    assert POISON in read.text
    assert "default-src 'none'; script-src 'none'" in unescape(html)


def test_every_figure_of_the_table_is_on_the_page(html: str, comparison: Comparison):
    text = Read(html).text
    for title in COLUMNS:
        assert title in text
    for row in comparison.rows():
        for cell in row[1:]:
            assert cell in text
    for entry in comparison.entries:
        assert f"{len(entry.split.ids)} tokens" in text


def test_what_flatters_or_falls_short_is_said_first(comparison: Comparison):
    told = tokenizers_page.notices(comparison)
    assert any(
        "bpe:vocabulary=80,learn_from=all: merges were learned from all text" in notice for notice in told
    )
    assert any(notice.startswith("bpe:vocabulary=4096: the vocabulary ends at") for notice in told)


def test_one_tokenizer_makes_a_page_too(comparison: Comparison):
    alone = tokenizer_compare.Comparison(comparison.corpus, 8, 1, comparison.entries[:1])
    assert "A token of character holds 1.00 characters" in tokenizers_page.html(alone)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory):
    window = browser.Browser(tmp_path_factory.mktemp("profile"))
    yield window
    window.close()


@pytest.mark.skipif(not browser.available(), reason="chromium and chromedriver are not installed")
@pytest.mark.parametrize("width", [500, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_quietly_offline_and_within_the_window(
    chromium: browser.Browser, html: str, tmp_path: Path, width: int, scheme: str
):
    page = tmp_path / "page.html"
    page.write_text(html, encoding="utf-8")
    chromium.open(page, width, scheme=scheme)
    assert chromium.logs("browser") == []
    # A browser that has just started may still be at its own first page, which the network has no part in.
    asked = [address for address in chromium.requests() if address.startswith(("http", "ws", "file"))]
    assert asked == [page.resolve().as_uri()]
    assert chromium.evaluate("return document.documentElement.scrollWidth") <= width
    wider = "return [...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll') && "
    wider += "getComputedStyle(e).position !== 'absolute' && "
    wider += "e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"
    assert chromium.evaluate(wider) == []
    shown = "return [...document.querySelectorAll('.still')].filter(e => e.offsetParent !== null).length"
    assert chromium.evaluate(shown) == 1
    assert chromium.audit() == []
