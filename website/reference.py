"""The reference: one page a family and one a member, found as a study finds them, and those of `TOPICS`.

The pages hold no text of their own but headings: what they say are the docstrings of the code.
"""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from onechange import contract, family

TOPICS = {
    "Python": [
        f"onechange.api.{name}"
        for name in ("study", "results", "trained", "table", "chart", "stories", "read_text", "listing")
    ],
    "Studies": ["onechange.study", "onechange.study_file"],
    "Recipes": ["onechange.recipe", "onechange.sizes"],
    "Results": ["onechange.record", "onechange.measure"],
    "Writing": ["onechange.generate", "onechange.stream_decoding"],
    "Trackers": ["onechange.tracker"],
}
"""Pages of modules: those that people call or build upon."""


WITHOUT_HEADING = "      show_root_heading: false\n      show_root_toc_entry: false"


@dataclass(frozen=True)
class Page:
    path: str
    """From the site's root."""
    title: str
    text: str


def pages() -> Iterator[Page]:
    """All pages of the reference, the first that of the whole."""
    topics = [_topic(title, modules) for title, modules in TOPICS.items()]
    families = [page for one in family.FAMILIES for page in _family(one)]
    yield Page("reference/index.md", "Reference", _index(topics))
    yield from topics
    yield from families


def navigation() -> list[Any]:
    """What stands in the place of the folder `reference` in the navigation."""
    families = []
    for one in family.FAMILIES:
        members = [f"reference/{one}/{name}.md" for name in _built_in(one)]
        families.append({one: [f"reference/{one}/index.md", *members]})
    topics = [f"reference/{title.lower()}.md" for title in TOPICS]
    return ["reference/index.md", *topics, {"Families": families}]


def _built_in(one: str) -> list[str]:
    return [name for name in family.members(one) if family.package(one, name) is None]


def _index(topics: list[Page]) -> str:
    lines = [
        "# Reference",
        "",
        "Made from the docstrings of the code. What a study file may hold stands in [Study files](../study-files.md), "
        "what a study's folder holds in [A study's folder](../results.md).",
        "",
        "| page | about |",
        "|---|---|",
    ]
    lines += [
        f"| [{page.title}]({page.path.removeprefix('reference/')}) | {_about(page.title)} |"
        for page in topics
    ]
    lines += ["", "## Families and their members", "", "| family | members |", "|---|---|"]
    for one in family.FAMILIES:
        members = ", ".join(f"[`{name}`]({one}/{name}.md)" for name in _built_in(one))
        lines.append(f"| [`{one}`]({one}/index.md) | {members} |")
    return "\n".join([*lines, ""])


def _about(title: str) -> str:
    return ", ".join(f"`{module}`" for module in TOPICS[title])


def _topic(title: str, modules: list[str]) -> Page:
    parts = [f"# {title}", *(f"## `{module}`\n\n{_docstrings(module)}" for module in modules)]
    return Page(f"reference/{title.lower()}.md", title, "\n\n".join(parts))


def _family(one: str) -> Iterator[Page]:
    """The family's contract, then its members."""
    names = _built_in(one)
    rows = [f"| [`{name}`]({name}.md) | {family.summary(one, name)} |" for name in names]
    contracts = [f"::: onechange.{one}.{found.__name__}" for found in contract.classes(one)]
    table = "\n".join(["| member | what it is |", "|---|---|", *rows])
    parts = [f"# The family `{one}`", table, "What a member must be:", *contracts]
    yield Page(f"reference/{one}/index.md", one, "\n\n".join([*parts, ""]))
    for name in names:
        yield Page(f"reference/{one}/{name}.md", name, _member(one, name))


def _member(one: str, name: str) -> str:
    found = family.member(one, name)
    settings = family.defaults(one, name)
    parts = [f"# `{name}`", f'A member of [`{one}`](index.md): `{one} = "{name}"` in a study.']
    if settings:
        rows = [f"| `{key}` | {_written(value)} |" for key, value in settings.items()]
        parts.append("\n".join(["| setting | default |", "|---|---|", *rows]))
    parts.append(f"::: {found.__module__}\n    options:\n{WITHOUT_HEADING}")
    return "\n\n".join([*parts, ""])


def _written(value: Any) -> str:
    return "must be given" if value is inspect.Parameter.empty else f"`{value!r}`".replace("|", "\\|")


def _docstrings(module: str) -> str:
    return f"::: {module}\n    options:\n      heading_level: 3\n{WITHOUT_HEADING}"
