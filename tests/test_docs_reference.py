"""The reference says what the code says: keys, defaults, scales, members, mistakes, and the worked example."""

import re
import tomllib
from typing import Any

import msgspec
import pytest

from onechange import family, settings, study_file
from onechange.sampling import Sampling
from onechange.scale import SCALES
from onechange.study import Arm, Study
from pages import PAGES, ROOT, blocks, tables


def table(*heading: str) -> list[list[str]]:
    """The rows of the one table of `study-files.md` with this heading."""
    (found,) = [rows for rows in tables(ROOT / "docs" / "study-files.md") if rows[0] == list(heading)]
    return found[1:]


def value(cell: str) -> Any:
    return tomllib.loads(f"value = {cell.strip('`')}")["value"] if cell else None


def test_every_key_of_the_base_is_listed_with_its_default():
    listed = {row[0].strip("`"): value(row[1]) for row in table("key", "default", "what it is")}
    assert listed == settings.DEFAULTS


def test_the_built_in_scales_are_those_listed():
    rows = table("key", *(f"`{name}`" for name in SCALES))
    listed: dict[str, dict[str, Any]] = {}
    for place, name in enumerate(SCALES, start=1):
        listed[name] = {row[0].strip("`"): value(row[place]) for row in rows if row[place]}
    assert listed == SCALES


def test_every_setting_of_sampling_is_listed_with_its_default():
    listed = {row[0].strip("`"): value(row[1]) for row in table("setting", "default", "what it does")}
    assert listed == msgspec.structs.asdict(Sampling())


def test_every_key_of_a_study_and_an_arm_is_listed():
    top = {row[0].strip("`") for row in table("key", "what it is", "if it is left out")}
    assert top == set(Study.__struct_encode_fields__)
    written = {"vary" if key == "sweep" else key for key in Arm.__struct_encode_fields__}  # read as sweeps
    assert {row[0].strip("`") for row in table("key", "what it is")} == written


MISTAKES = [
    'change.position = "rope"\nchange.norm = "layer"',
    'change.position = "learned"',
    'change.position = "ropey"',
    'change.position = { name = "rope", thetta = 500.0 }',
    'change.position = { name = "rope", theta = nan }',
]


@pytest.mark.parametrize("change", MISTAKES)
def test_the_answer_to_a_mistake_is_the_one_that_is_listed(change: str):
    rows = {row[0]: row[1] for row in table("written", "answer")}
    (answer,) = [said for written, said in rows.items() if written.startswith(f"`{change.splitlines()[0]}`")]
    content = f'question = "?"\n[base]\nname = "a"\n[[arm]]\nname = "b"\nfrom = "a"\n{change}'
    with pytest.raises((ValueError, LookupError)) as caught:
        study_file.parse(content.encode()).settings("b", "tiny")
    assert caught.value.args[0].startswith(answer.removesuffix("…"))
    assert answer.endswith("…") or caught.value.args[0] == answer


# Names


def test_every_example_study_resolves():
    found = 0
    for page in PAGES:
        for content in blocks(page, "toml"):
            table = tomllib.loads(content)
            if "question" in table:
                found += 1
                read = study_file.parse(content.encode())
                for arm in read.arm_names:
                    for scale in (*SCALES, *read.scales):
                        read.settings(arm, scale)
            for key, given in table.items():
                if key in family.FAMILIES:
                    family.resolve(key, given)
    assert found >= 2


def test_every_member_that_a_page_names_exists():
    named = set()
    for page in PAGES:
        for kind, word in re.findall(r"\b(\w+) = (?:\{ name = )?\"([\w-]+)\"", page.read_text("utf-8")):
            if kind in family.FAMILIES:
                named.add((kind, word))
    mistakes = {("position", "ropey"), ("tokenizr", "bpe")}
    assert ("position", "rope") in named
    for kind, word in named - mistakes - {("norm", "scale_norm")}:
        assert word in family.members(kind), f"{kind} = {word!r}"
