"""The playground's page: what stands still of it. All else its script puts there, from what the server answers."""

import shlex
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from onechange.report import marks
from onechange.study_folder import StudyFolder

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""Nothing runs and nothing is loaded but what the server itself has."""


def html(name: str, folder: Path) -> str:
    """The page of the study in ``folder``, which is called ``name``."""
    study = StudyFolder(folder)
    start, found = study.start(), study.study()
    return _environment().get_template("playground.html.jinja").render(
        name=name,
        question=found.question,
        scale=start.scale,
        corpus=start.source.get("name", ""),
        marks=[Markup(marks.swatch(index)) for index in range(len(found.run_names(start.scale)))],
        commands=_commands(folder),
    )  # fmt: skip


def _commands(folder: Path) -> list[str]:
    """What does the same without a page."""
    place = shlex.quote(str(folder))
    return [
        f"onechange sample {place} --prompt 'Once upon a time'",
        f"onechange measure {place}/arms/ARM/seed-N --data file:TEXT.txt",
    ]


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("onechange.ui.playground", "."), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
