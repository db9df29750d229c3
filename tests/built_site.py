"""A built site as tests read it: what each page links to, loads, names and says."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""Elements that make a browser fetch something, and the attribute that says what."""


@dataclass
class Page(HTMLParser):
    path: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    folded: int = 0
    """How many elements that the reader must open stand around what is read."""

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.folded += tag == "details"
        given = {key: value or "" for key, value in attrs}
        self.anchors |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADING and LOADING[tag] in given and given.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(given[LOADING[tag]])

    def handle_endtag(self, tag: str) -> None:
        self.folded -= tag == "details"

    def handle_data(self, data: str) -> None:
        if not self.folded:
            self.texts.append(data)

    @property
    def text(self) -> str:
        """What the page says without being opened further, white space made single."""
        return " ".join("".join(self.texts).split())


def is_elsewhere(address: str) -> bool:
    """Whether following ``address`` leaves the site."""
    return re.match(r"[a-z]+:(?!//127\.)|//", address) is not None and not address.startswith("data:")


def broken(page: Page, pages: dict[Path, Page]) -> list[str]:
    """The links and loads of ``page`` that lead to no file of the site, or to no anchor in it."""
    wrong = []
    for address in [*page.links, *page.loads]:
        if is_elsewhere(address) or address.startswith("data:"):
            continue
        path, anchor = urldefrag(address)
        target = (page.path.parent / unquote(path)).resolve() if path else page.path
        if not target.is_file() or (
            anchor and target in pages and unquote(anchor) not in pages[target].anchors
        ):
            wrong.append(address)
    return wrong
