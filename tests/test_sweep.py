"""A sweep is several arms of one change each; where the parent has the value already, the parent stands for it."""

import pytest

from onechange import family, study_file
from onechange.study import Study

BASE = """\
question = "?"
[base]
name = "base"
tokenizer = "bpe"
[[arm]]
name = "rope"
from = "base"
change.position = "rope"
[[arm]]
name = "theta"
from = "rope"
"""


def swept(vary: str) -> Study:
    return study_file.parse((BASE + vary).encode())


def test_every_value_is_an_arm_that_changes_this_alone():
    study = swept("vary.position.theta = [500, 2.5e5]")
    assert study.names("quick") == ["base", "rope", "theta-500", "theta-250000"]
    parent = study.settings("rope", "quick")
    for name, value in (("theta-500", 500.0), ("theta-250000", 2.5e5)):
        found = study.settings(name, "quick")
        assert found["position"] == family.resolve("position", {"name": "rope", "theta": value})
        assert {key for key in found if found[key] != parent[key]} == {"position"}
        arm = study.arm(name)
        assert arm and arm.parent == "rope" and arm.sweep
        assert (arm.sweep.name, arm.sweep.setting) == ("theta", "position.theta")


def test_the_parent_stands_for_its_own_value():
    study = swept("vary.position.theta = [500, 10000, 500000]")
    assert study.names("quick") == ["base", "rope", "theta-500", "theta-500000"]


def test_which_value_is_the_parents_depends_on_the_scale():
    study = study_file.parse(
        b'question = "?"\n[base]\ntokenizer = "bpe"\n'
        b'[[arm]]\nname = "many"\nfrom = "base"\nvary.tokenizer.vocabulary = [512, 4096]'
    )
    assert study.names("tiny") == ["base", "many-4096"]
    assert study.names("quick") == ["base", "many-512"]


def test_a_member_and_its_setting_are_one_change():
    study = study_file.parse(
        b'question = "?"\n[base]\n'
        b'[[arm]]\nname = "theta"\nfrom = "base"\nchange.position = "rope"\nvary.position.theta = [500, 10000]'
    )
    assert study.names("quick") == ["base", "theta-500", "theta-10000"]
    assert study.settings("theta-10000", "quick")["position"] == family.resolve("position", "rope")


def test_sizes_and_members_can_be_varied_too():
    assert swept("vary.width = [64, 128, 256]").names("quick") == ["base", "rope", "theta-64", "theta-256"]
    assert swept('vary.position = ["learned", "none", "rope"]').names("quick") == [
        "base",
        "rope",
        "theta-learned",
        "theta-none",
    ]


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        ("vary.position.theta = 500", r"arm 'theta': vary\.position\.theta = 500: must be a list"),
        ("vary.position.theta = []", r"vary\.position\.theta = \[\]: must be a list"),
        ("vary.position.theta = [5, 5.0]", r"its values must differ"),
        ("vary.position.theta = [[5]]", r"must hold numbers or words only"),
        ("vary.position.theta = [5]\nvary.width = [64]", r"vary names position, width: it names exactly one"),
        ("vary.position = { theta = [5], base = [6] }", r"vary\.position names theta, base"),
        ("vary.width = [64]\nchange.heads = 2", r"the arm's change must be of width too"),
        ('vary.position = ["none"]\nchange.position = "rope"', r"it takes the place of change\.position"),
        ("vary.position.thet = [5]", r"arm 'theta-5': position 'rope': no setting 'thet'"),
        ("vary.budget = [5]", r"arm 'theta-5': change\.budget is not allowed"),
    ],
)
def test_a_wrong_sweep_is_told_what_is_wrong(vary: str, message: str):
    with pytest.raises((ValueError, LookupError), match=message):
        study = swept(vary)
        for name in study.arm_names:
            study.settings(name, "quick")


def test_a_value_outside_a_sweep_must_still_change_something():
    with pytest.raises(ValueError, match="changes nothing"):
        swept("change.position = { theta = 10000.0 }").settings("theta", "quick")
