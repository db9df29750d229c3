"""The server's own pages and parts of pages, in the report's look."""

import os
from functools import cache
from typing import Any
from urllib.parse import quote_from_bytes

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

STATIC = ("live.css", "exchange.js", "live.js", "index.js", "words.js", "icon.svg")
"""The files of this folder that are served as they are."""
KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
"""What a served file is, by the end of its name."""


def address(name: str, *rest: str) -> str:
    """Where the study called ``name`` is served; any character of it is written so that it is one part of the path."""
    return f"/studies/{quote_from_bytes(os.fsencode(name), safe='')}/{'/'.join(rest)}"


def render(template: str, **values: Any) -> Markup:
    """A template of this folder, which escapes what it is given."""
    return Markup(_environment().get_template(template).render(**values))


def encoded(page: str) -> bytes:
    """A page as it is sent; what of a folder's name is no text is a question mark."""
    return page.encode("utf-8", "replace")


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("onechange.ui", "."), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    found.globals["address"] = address
    return found
