"""The page of components says what the code says: every member, its settings with defaults, and its parameters."""

import re

import pytest

from onechange import family
from pages import ROOT

PAGE = (ROOT / "docs" / "components.md").read_text("utf-8")
SECTIONS = ("norm", "placement", "mlp", "embedding", "initialization", "optimizer", "schedule")
SAID_IN_A_SENTENCE = {"warmup", "hidden", "approximation"}


def section(kind: str) -> str:
    found = re.search(rf"^## {kind}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL | re.IGNORECASE)
    assert found, kind
    return found[1]


@pytest.mark.parametrize("kind", SECTIONS)
def test_every_member_has_a_row_and_every_row_a_member(kind: str):
    assert sorted(re.findall(r"^\| `(\w+)` \|", section(kind), re.MULTILINE)) == family.members(kind)


MEMBERS = [(kind, name) for kind in SECTIONS for name in family.members(kind)]


@pytest.mark.parametrize(("kind", "name"), MEMBERS, ids=[f"{kind}-{name}" for kind, name in MEMBERS])
def test_every_setting_stands_there_with_its_default(kind: str, name: str):
    (row,) = re.findall(rf"^\| `{name}` \|.*$", section(kind), re.MULTILINE)
    listed = dict(re.findall(r"`(\w+)` \(`?\"?([^)\"`]+)\"?`?", row))
    for setting, default in family.defaults(kind, name).items():
        if setting in SAID_IN_A_SENTENCE:
            assert f"`{setting}`" in section(kind)
            continue
        told = listed.pop(setting)
        assert told == str(default).lower() if isinstance(default, bool) else same(told, default), setting
    assert not listed, "no setting of this member"


def same(told: str, default: object) -> bool:
    return float(told) == default if isinstance(default, int | float) else told == default


@pytest.mark.parametrize(("kind", "name"), MEMBERS, ids=[f"{kind}-{name}" for kind, name in MEMBERS])
def test_the_paper_of_a_member_is_the_one_that_the_page_links(kind: str, name: str):
    """Every link of a member's file stands in its family's section, but those to what it is compared with."""
    file = ROOT / "src" / "onechange" / kind / f"{name}.py"
    papers = re.findall(r"https://arxiv\.org/abs/[\d.]+\d", file.read_text("utf-8"))
    assert not papers or any(paper in section(kind) for paper in papers), papers
