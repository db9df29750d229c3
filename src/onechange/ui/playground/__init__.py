"""The playground: a study's models write side by side, token by token, and read a text that one gives them.

GET   /studies/{name}/playground           the page
GET   /studies/{name}/playground/models    which models there are, with the study's own settings, and the limits
POST  /studies/{name}/playground/load      have a model ready
POST  /studies/{name}/playground/write     one model goes on from a prompt: a line of JSON per token, as it comes
POST  /studies/{name}/playground/surprise  one model's surprise at every token of a text
"""

from pathlib import Path

from onechange.ui.playground.limits import Limits
from onechange.ui.playground.serving import Playground

__all__ = ["STATIC", "Limits", "Playground"]

STATIC: dict[str, Path] = {path.name: path for path in sorted(Path(__file__).parent.glob("playground*.*s"))}
"""The files that the page loads from `/static/`, by name; besides, it loads the report's look as `page.css`."""
