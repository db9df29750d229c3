"""The story files hold nothing that no story can reach, and name nothing that is not there."""

import re

from onechange.storyworld import files

SENTENCES_AND_PLOTS = {
    name: text for folder in ("sentences", "plots") for name, text in files.texts()[folder].items()
}
EVERYTHING = "\n".join(SENTENCES_AND_PLOTS.values())
CALLED = {call.split()[0].split(".")[0] for call in re.findall(r"<([^<>]+)>", EVERYTHING)}


def test_every_pool_is_drawn_from():
    pools = {
        header for name, text in files.texts()["words"].items() for header, _ in files.blocks(name, text)
    }
    named = re.findall(r"\{(\w+)", EVERYTHING)
    variables = {re.sub(r"\d+$", "", name[0].lower() + name[1:]) for name in named}
    cast = {pool for line in re.findall(r"^  \w+ = (.*)$", EVERYTHING, re.MULTILINE) for pool in line.split()}
    assert pools - CALLED - variables - cast == set()


def test_every_rule_is_called():
    for name, text in SENTENCES_AND_PLOTS.items():
        rules = {header.split("(")[0] for header, _ in files.blocks(name, text)}
        assert rules - CALLED - {"cast", "opening", "story"} == set(), name


def test_there_are_a_dozen_plots_and_more():
    assert len(files.texts()["plots"]) >= 12


def test_the_fingerprint_is_that_of_the_texts(monkeypatch):
    before = files.fingerprint()
    texts = files.texts()
    texts["plots"]["plots/race.txt"] += " "
    monkeypatch.setattr(files, "texts", lambda: texts)
    assert files.fingerprint() != before
