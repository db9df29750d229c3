"""A study file: settings resolve in one order, an arm changes one thing, and what is wrong is named."""

from pathlib import Path
from typing import Any

import pytest

from onechange import family, study_file
from onechange.sampling import Sampling
from onechange.scale import SCALES
from onechange.settings import DEFAULTS
from onechange.study import Study


def written(content: str) -> Study:
    return study_file.parse(f'question = "Which?"\n{content}'.encode())


def with_arm(change: str, base: str = "") -> str:
    return f'[base]\n{base}\n[[arm]]\nname = "changed"\nfrom = "base"\nchange{change}'


def changed(change: str, base: str = "", scale: str = "", name: str = "plain") -> dict[str, Any]:
    return written(f"{with_arm(change, base)}\n[scale.plain]\n{scale}").settings("changed", name)


# The order: defaults, base, scale, change.


def test_defaults_base_scale_change_in_this_order():
    sizes = "layers = {}\nheads = {}\nwidth = 64\nbatch = {}"
    found = written(
        f"{with_arm('.batch = 14', sizes.format(5, 2, 12))}\n[scale.plain]\nheads = 8\nbatch = 13"
    )
    base, arm = found.settings("base", "plain"), found.settings("changed", "plain")
    assert (base["window"], base["layers"], base["heads"], base["batch"]) == (DEFAULTS["window"], 5, 8, 13)
    assert arm == {**base, "batch": 14}


def test_a_built_in_scale_stands_above_the_base_and_below_the_study_s_own():
    found = written("[base]\nlayers = 7\nwindow = 9\n[scale.tiny]\nwindow = 24\nbudget = { steps = 3 }")
    settings = found.settings("base", "tiny")
    assert (settings["layers"], settings["window"]) == (SCALES["tiny"]["layers"], 24)
    assert settings["budget"] == {"steps": 3} and settings["width"] == SCALES["tiny"]["width"]


@pytest.mark.parametrize("scale", SCALES)
def test_the_built_in_scales_apply_to_every_built_in_study(scale: str):
    for path in study_file.builtin().values():
        found = study_file.read(path)
        for name in found.arm_names:
            settings = found.settings(name, scale)
            assert settings.keys() == DEFAULTS.keys()
            for key in ("layers", "heads", "width", "window", "batch", "budget"):
                assert settings[key] == SCALES[scale][key]


def test_a_table_without_name_keeps_the_member_and_its_other_settings():
    base = 'optimizer = { name = "adamw", beta1 = 0.5, beta2 = 0.6 }'
    optimizer = changed(".optimizer = { beta2 = 0.7 }", base)["optimizer"]
    assert (optimizer["beta1"], optimizer["beta2"]) == (0.5, 0.7)


def test_a_table_with_name_starts_from_the_member_s_defaults():
    base = 'optimizer = { name = "adamw", beta1 = 0.5, beta2 = 0.6 }'
    optimizer = changed('.optimizer = { name = "adamw", beta2 = 0.7 }', base)["optimizer"]
    assert (optimizer["beta1"], optimizer["beta2"]) == (0.9, 0.7)
    assert changed('.optimizer = "adamw"', base)["optimizer"]["beta1"] == 0.9


def test_in_the_base_too_a_table_without_name_keeps_the_member():
    found = written("[base]\noptimizer = { beta1 = 0.5 }").settings("base", "full")["optimizer"]
    assert (found["name"], found["beta1"], found["beta2"]) == ("adamw", 0.5, 0.95)


@pytest.mark.parametrize(
    ("change", "theta"),
    [
        ('.position = "rope"', 70.0),
        ('.position = { name = "rope" }', 70.0),
        ('.position = { name = "rope", theta = 80.0 }', 80.0),
    ],
)
def test_a_scale_s_settings_of_a_member_go_to_the_arm_that_uses_it(change: str, theta: float):
    scale = 'position = { name = "rope", theta = 70.0 }'
    assert changed(change, "", scale)["position"] == family.resolve(
        "position", {"name": "rope", "theta": theta}
    )
    found = written(f"{with_arm(change)}\n[scale.plain]\n{scale}")
    assert found.settings("base", "plain")["position"] == {"name": "learned"}, "and to no other"


def test_a_scale_s_settings_of_a_member_stand_above_the_base_s():
    base, scale = 'position = { name = "rope", theta = 60.0 }', 'position = { name = "rope", theta = 70.0 }'
    found = written(f"[base]\n{base}\n[scale.plain]\n{scale}")
    assert found.settings("base", "plain")["position"]["theta"] == 70.0


def test_a_study_s_scale_without_name_keeps_what_the_built_in_scale_says():
    found = written("[base]\n[scale.tiny]\noptimizer = { beta1 = 0.5 }").settings("base", "tiny")["optimizer"]
    assert (found["learning_rate"], found["beta1"]) == (SCALES["tiny"]["optimizer"][0]["learning_rate"], 0.5)


def test_a_scale_speaks_of_several_members():
    """Muon's updates are as large as AdamW's; a change of the optimizer is no change of the rate beside it."""
    found = written(with_arm('.optimizer = "muon"')).settings("changed", "quick")["optimizer"]
    assert (found["name"], found["learning_rate"]) == ("muon", 4e-3)
    scale = '\n[[scale.mine.position]]\nname = "rope"\ntheta = 70.0\n[[scale.mine.position]]\nname = "t5"\nbuckets = 8'
    for word, setting, value in (("rope", "theta", 70.0), ("t5", "buckets", 8)):
        study = written(with_arm(f'.position = "{word}"') + scale)
        assert study.settings("changed", "mine")["position"][setting] == value


def test_a_study_s_table_takes_the_place_of_the_built_in_one_of_that_member_alone():
    own = '\n[scale.quick]\noptimizer = { name = "muon", momentum = 0.5 }'
    found = written(with_arm('.optimizer = "muon"') + own)
    assert found.settings("base", "quick")["optimizer"]["learning_rate"] == 4e-3
    muon = found.settings("changed", "quick")["optimizer"]
    assert (muon["momentum"], muon["learning_rate"]) == (0.5, 3e-4)


def test_arms_grow_from_arms():
    found = written(
        with_arm('.position = "rope"')
        + '\n[[arm]]\nname = "third"\nfrom = "changed"\nchange.position = { theta = 500 }'
        + '\n[[arm]]\nname = "fourth"\nfrom = "third"\nchange.dropout = 0.25'
    )
    assert found.arm_names == ["base", "changed", "third", "fourth"]
    fourth = found.settings("fourth", "quick")
    assert fourth["position"] == family.resolve("position", {"name": "rope", "theta": 500.0})
    assert fourth["dropout"] == 0.25
    assert {key for key, value in fourth.items() if value != found.settings("third", "quick")[key]} == {
        "dropout"
    }


def test_what_a_study_says_besides():
    found = written(
        'corpus = "storyworld"\nprompts = ["Once"]\n[sampling]\ntop_k = 5\n[base]\nname = "start"'
    )
    assert (found.question, found.corpus, found.prompts) == ("Which?", "storyworld", ["Once"])
    assert (found.base_name, found.arm_names, found.arm("start")) == ("start", ["start"], None)
    assert found.sampled("tiny") == Sampling(top_k=5, samples=2, characters=80)


def test_what_a_study_says_of_sampling_is_stronger_than_what_is_built_in():
    """A budget takes the place of another, whichever of the two it is in; the study's own scale is the strongest."""
    found = written(
        "[base]\n[sampling]\ntokens = 180\ntemperature = 1\n[scale.quick]\nlayers = 1\n[scale.tiny.sampling]\n"
        "characters = 9\ntop_p = 0.5\n[scale.mine.sampling]\nsamples = 3"
    )
    assert found.sampled("full") == Sampling(samples=64, tokens=180, temperature=1.0)
    assert found.sampled("quick") == Sampling(samples=64, tokens=180, temperature=1.0)
    assert found.sampled("tiny") == Sampling(samples=2, characters=9, temperature=1.0, top_p=0.5)
    assert found.sampled("mine") == Sampling(samples=3, tokens=180, temperature=1.0)
    assert written("[base]\n[scale.mine]\nlayers = 2").sampled("mine") == Sampling(samples=1, characters=800)
    assert "sampling" not in found.settings("base", "tiny")
    with pytest.raises(LookupError, match="no scale 'huge'"):
        found.sampled("huge")


# Wrong files. `tests/test_laws.py` has those that break the one-change rule.

WRONG = [
    ("extra = 1\n[base]", r"unknown key 'extra'; allowed: question, base, prompts, corpus, sampling, "),
    ("[base]\nlayer = 3", r"base: unknown key 'layer'; allowed: tokenizer, position, .*layers"),
    ("[base]\n[scale.quick]\nname = 'x'", r"scale\.quick: unknown key 'name'; allowed: tokenizer"),
    (
        "[base]\n[sampling]\nheat = 1",
        r"sampling: unknown key 'heat'; allowed: seed, samples, tokens, characters, temperature, top_k, top_p, ",
    ),
    ("[base]\n[sampling]\ntop_k = 0", r"top_k = 0: must be at least 1"),
    ("[base]\n[sampling]\ntemperature = nan", r"sampling: temperature = nan: must be a finite number"),
    ("[base]\n[sampling]\ntemperature = -1", r"temperature = -1\.0: must be a finite number, at least 0"),
    ("[base]\n[sampling]\ntop_k = '5'", r"sampling: top_k = '5': must be a whole number"),
    ("[base]\n[sampling]\ntop_p = 0", r"top_p = 0\.0: must be above 0 and at most 1"),
    ("[base]\n[sampling]\nmin_p = 1.1", r"min_p = 1\.1: must be from 0 to 1"),
    (
        "[base]\n[sampling]\nrepetition_penalty = 0",
        r"repetition_penalty = 0\.0: must be a finite number above 0",
    ),
    ("[base]\n[sampling]\nsamples = 0", r"samples = 0: must be at least 1"),
    ("[base]\n[sampling]\nseed = -1", r"seed = -1: must be at least 0"),
    ("[base]\n[sampling]\nstop = 'x'", r"stop = 'x': must be a list of texts in quotes"),
    ("[base]\n[sampling]\nstop = ['x', '']", r'stop: "" is empty'),
    (
        "[base]\n[sampling]\ntokens = 5\ncharacters = 9",
        r"sampling: tokens = 5 and characters = 9: a budget is one of the two",
    ),
    ("sampling = 5\n[base]", r"sampling = 5: must be a table"),
    ("[base]\nsampling = 5", r"base: unknown key 'sampling'"),
    (
        "[base]\n[scale.quick.sampling]\nheat = 1",
        r"scale\.quick\.sampling: unknown key 'heat'; allowed: seed",
    ),
    ("[base]\n[scale.quick]\nsampling = 5", r"scale\.quick\.sampling = 5: must be a table"),
    ("[base]\nlayers = '3'", r"layers = '3': must be a whole number"),
    ("[base]\nlayers = 3.0", r"layers = 3\.0: must be a whole number"),
    ("[base]\nlayers = true", r"layers = True: must be a whole number"),
    ("[base]\nlayers = 0", r"layers = 0: must be at least 1"),
    ("[base]\nheads = 3", r"width = 128 cannot be divided among heads = 3"),
    ("[base]\ndropout = nan", r"dropout = nan: must be a finite number"),
    ("[base]\nclip = inf", r"clip = inf: must be a finite number"),
    ("[base]\nclip = 0.0", r"clip = 0\.0: must be a finite number above 0"),
    ("[base]\nprecision = 'bf17'", r"precision = 'bf17': must be one of 'auto', 'bf16', 'float32'"),
    ("[base]\ncompile = 'yes'", r"compile = 'yes': must be one of 'auto', 'on', 'off'"),
    ("[base]\nbudget = { steps = 0 }", r"budget = .*must be \{ steps = N \}.* above 0"),
    ("[base]\nbudget = { steps = 1.5 }", r"budget = \{'steps': 1\.5\}: must be"),
    ("[base]\nbudget = { steps = 1, tokens = 1 }", r"budget = .*: must be \{ steps = N \}"),
    ("[base]\nbudget = { seconds = nan }", r"budget = \{'seconds': nan\}: must be"),
    (
        "[base]\nbudget = { epochs = 1 }",
        r"budget = \{'epochs': 1\}: .*tokens, characters, operations, seconds",
    ),
    ("[base]\nbudget = 5", r"budget = 5: must be"),
    ("[base]\nwindow = { characters = 0 }", r"window = \{'characters': 0\}: must be a number of tokens, or"),
    ("[base]\nwindow = { words = 9 }", r"window = \{'words': 9\}: must be a number of tokens, or"),
    ("[base]\nwindow = true", r"window = True: must be a number of tokens, or"),
    ("[base]\npatience = -1", r"patience = -1: must be at least 0"),
    ("test = 0.6\n[base]", r"test = 0\.6: must be from 0 to 0\.5"),
    ("test = 0\ntune.width = [8, 16]\n[base]", r"test = 0: tuning chooses on validation text"),
    ("tune.width = 8\n[base]", r"tune\.width = 8: must be a list"),
    ("tune.width = [8]\n[base]", r"tune\.width = \[8\]: must be a list of at least two"),
    ("tune.width = [8, 8]\n[base]", r"tune\.width = \[8, 8\]: its values must differ"),
    ("tune.width = [8, 16]\ntune.batch = [1, 2]\n[base]", r"tune names width, batch: it names exactly one"),
    ("tune.corpus.world = [0, 1]\n[base]", r"tune\.corpus\.world is not allowed; one of tokenizer\.SETTING"),
    ("tune.budget = [1, 2]\n[base]", r"tune\.budget is not allowed"),
    (
        "[base]\nposition = 'ropee'",
        r"position: no member 'ropee'; there is alibi, fire, kerple, learned, none, rope",
    ),
    ("[base]\nposition = 5", r"position = 5: must be a member's name or a table"),
    (
        "[base]\n[scale.quick]\nposition = 'ropee'",
        r"scale\.quick: position: no member 'ropee'; there is alibi, fire, kerple, learned",
    ),
    (
        "[base]\n[scale.quick]\nposition = 5",
        r"scale\.quick: position = 5: must be a member's name or a table, or a list of tables each with a name",
    ),
    (
        "[base]\n[scale.quick]\nposition = { name = 'rope', thet = 5 }",
        r"scale\.quick: position 'rope': no setting 'thet'; its settings are: theta, share, pairs",
    ),
    ("[base]\nname = 5", r"arm 5: a name has 1 to 64 letters"),
    ("[base]\nname = '../up'", r"arm '\.\./up': a name has 1 to 64 letters"),
    (f"[base]\nname = '{'x' * 65}'", r"arm 'x+': a name has 1 to 64 letters"),
    (with_arm(".batch = 2").replace("changed", "base"), r"arm 'base' stands twice: names must differ"),
    (
        with_arm(".batch = 2").replace('from = "base"', 'from = "later"'),
        r"arm 'changed': from = 'later' is no arm",
    ),
    (with_arm(".batch = 2") + "\nseed = 1", r"arm 1: unknown key 'seed'; allowed: name, from, change, vary"),
    ("[[arm]]", r"question is missing|base is missing|required field `name`"),
    ("[base", r"not TOML: "),
]


@pytest.mark.parametrize(("content", "message"), WRONG)
def test_a_wrong_file_is_told_what_is_wrong(content: str, message: str):
    with pytest.raises((ValueError, LookupError), match=message) as caught:
        written(content).settings("base", "bare")
    assert "\n" not in str(caught.value)


@pytest.fixture(autouse=True)
def bare_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scale that says nothing, so that the base is seen."""
    monkeypatch.setitem(SCALES, "bare", {})


@pytest.mark.parametrize("scale", SCALES)
def test_what_a_scale_overrides_is_checked_nevertheless(scale: str):
    with pytest.raises(ValueError, match="layers = '3'"):
        written("[base]\nlayers = '3'").settings("base", scale)


def test_an_unknown_scale_or_arm_lists_what_there_is():
    found = written(with_arm(".batch = 2") + "\n[scale.mine]\nlayers = 2")
    with pytest.raises(LookupError, match=r"no scale 'big'; there is tiny, quick, full, .*mine"):
        found.settings("base", "big")
    with pytest.raises(LookupError, match=r"no arm 'thrid' in this study; there is base, changed"):
        found.settings("thrid", "tiny")


def test_a_file_s_errors_name_the_file(tmp_path: Path):
    path = tmp_path / "mine.toml"
    for content in (b'question = "\xff"', b"question = 3", b"[base]\nlayer = 1"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"^{path}: "):
            study_file.read(path)
    path.write_bytes(b'question = "\xff"')
    with pytest.raises(ValueError, match="not UTF-8: bad byte at offset 12"):
        study_file.read(path)


def test_a_study_is_found_by_name_or_path(tmp_path: Path):
    assert study_file.read(study_file.locate("tokenizers-and-positions")).arm_names == [
        "char-wpe",
        "bpe-wpe",
        "bpe-rope",
    ]
    (tmp_path / "mine.toml").write_text('question = "q"\n[base]\n')
    assert study_file.locate(str(tmp_path / "mine.toml")) == tmp_path / "mine.toml"
    with pytest.raises(LookupError, match=r"no study 'yours': .*built in: .*tokenizers-and-positions, "):
        study_file.locate("yours")
