"""What every page is written on: the templates, the style, the colours, and a policy that lets nothing be loaded."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from onechange.report import marks

FILES = Path(__file__).parent


def environment() -> Environment:
    """The folder's templates, which escape whatever they are given."""
    found = Environment(
        loader=PackageLoader("onechange.report", "."), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    found.filters["colour"] = marks.colour
    found.filters["swatch"] = lambda index: Markup(marks.swatch(index))
    return found


def style(*more: str) -> Markup:
    """The colours in light and dark, `page.css`, and the files ``more`` after it."""

    def listed(colours: tuple[str, ...]) -> str:
        return "".join(f"--arm-{index}:{colour};" for index, colour in enumerate(colours))

    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{listed(marks.DARK)}}}}}"
    files = [(FILES / name).read_text("utf-8") for name in ("page.css", *more)]
    return Markup(f":root{{{listed(marks.LIGHT)}}}{dark}{''.join(files)}")


def policy(scripts: Sequence[str] = (), *, served: bool = False) -> str:
    """A content-security policy under which only the page's own ``scripts`` run and nothing can be loaded.

    Where the page is ``served`` it may ask its own server for more.
    """
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes) or "'none'"
    rules = ["default-src 'none'", f"script-src {allowed}", "style-src 'unsafe-inline'"]
    if served:
        rules = [rules[0], f"script-src 'self' {allowed}".removesuffix(" 'none'"), f"{rules[2]} 'self'"]
        rules += ["img-src 'self'", "connect-src 'self'"]
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])
