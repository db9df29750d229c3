"""What every member of `corpus` must do. Members are found, not listed."""

import json
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from onechange import family
from onechange.corpus import Source
from onechange.documents import fingerprint, prepare

MEMBERS = family.members("corpus")
STORIES = [f"Story {number} of a bear.\nIt ate {number} pears." for number in range(400)]


@pytest.fixture(params=MEMBERS)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Each member resolved: about a thousand characters, from a local file where it takes one."""
    name = request.param
    chosen: dict[str, Any] = {"name": name, "characters": 1_000}
    if "path" in family.defaults("corpus", name):
        file = tmp_path / "stories.txt"
        file.write_text("\n<|endoftext|>\n".join([*STORIES, ""]))
        chosen["path"] = str(file)
    return family.resolve("corpus", chosen)


def test_every_member_has_the_common_settings(table: dict[str, Any]) -> None:
    kind = family.member("corpus", table["name"])
    types = get_type_hints(kind.__init__)
    assert issubclass(kind, Source)
    assert types["characters"] == int | None
    assert types["separator"] is str
    assert family.defaults("corpus", table["name"])["separator"] == "\n\n"
    assert types["test"] is float and family.defaults("corpus", table["name"])["test"] == 0.0


def test_documents_are_the_same_each_time_and_in_order(table: dict[str, Any]) -> None:
    source, another = family.build("corpus", table), family.build("corpus", table)
    first = [document for document, _ in zip(source.documents(), range(40), strict=False)]
    assert len(first) == 40, "a source may not stop at `characters`: prepare does, after cleaning"
    assert [document for document, _ in zip(source.documents(), range(40), strict=False)] == first
    assert [document for document, _ in zip(another.documents(), range(40), strict=False)] == first


def test_more_characters_only_add_stories(table: dict[str, Any]) -> None:
    few, many = (prepare({**table, "characters": characters}, cache=None) for characters in (4_000, 8_000))
    assert many.training[: len(few.training)] == few.training or few.facts["documents"] < 10
    assert few.facts["characters"] >= 4_000
    assert many.facts["characters"] >= 8_000


def test_facts_agree_with_the_text(table: dict[str, Any], tmp_path: Path) -> None:
    corpus = prepare(table, cache=tmp_path / "cache")
    facts = corpus.facts
    stories = [*corpus.training, *corpus.validation]
    assert len(set(stories)) == len(stories) == facts["documents"]
    assert all(story and story == story.strip() for story in stories)
    assert facts["training_documents"] + facts["validation_documents"] == facts["documents"]
    assert facts["training_characters"] == sum(map(len, corpus.training))
    assert facts["validation_characters"] == sum(map(len, corpus.validation))
    assert facts["training_characters"] + facts["validation_characters"] == facts["characters"]
    assert facts["distinct_characters"] == len(set("".join(stories)))
    assert corpus.alphabet == "".join(sorted(set("".join(stories) + corpus.separator)))
    assert corpus.fingerprint == facts["fingerprint"]
    assert corpus.fingerprint == fingerprint(corpus.training, corpus.validation, corpus.separator)
    assert {"name": facts["name"], **facts["settings"]} == table
    assert json.loads(json.dumps(facts)) == facts
    assert prepare(table, cache=tmp_path / "cache") == corpus


def test_log_probability_is_known_for_all_or_none(table: dict[str, Any]) -> None:
    corpus = prepare({**table, "characters": 5_000}, cache=None)
    source = family.build("corpus", table)
    values = [source.log_probability(story) for story in corpus.validation]
    if corpus.validation_log_probability is None:
        assert None in values
    else:
        assert all(value < 0 for value in values)
        assert corpus.validation_log_probability == pytest.approx(sum(values))


@pytest.mark.parametrize(("key", "value"), [("separator", ""), ("characters", 0), ("characters", -1)])
def test_impossible_settings(table: dict[str, Any], key: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"corpus.{key}"):
        prepare({**table, key: value}, cache=None)


def test_wrong_kinds_of_settings(table: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="characters"):
        family.resolve("corpus", {**table, "characters": "many"})
    with pytest.raises(LookupError, match="its settings are"):
        family.resolve("corpus", {**table, "colour": 1})


def test_stories_are_checked_against_a_world_or_there_is_none(table: dict[str, Any]) -> None:
    source = family.build("corpus", table)
    texts = [
        *(document for document, _ in zip(source.documents(), range(2), strict=False)),
        "Nonsense, cut o",
    ]
    found = source.checked(texts, [True, True, False])
    if found is None:
        return
    assert json.loads(json.dumps(found)) == found
    assert (found["stories"], found["characters"]) == (3, sum(map(len, texts)))
    for name, measure in found["measures"].items():
        assert len(measure["counts"]) == len(measure["of"]) == 3, name
        assert measure["counts"][0] in (0, measure["of"][0]), f"{name}: its own stories have the best value"
