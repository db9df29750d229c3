"""A run's text from its recipe alone: what the study that wrote the recipe trained on, and nothing else."""

import numpy as np
import pytest

from onechange import family
from onechange.documents import prepare
from onechange.plan import Means, Plan
from onechange.study_file import parse
from onechange.texts import Texts
from small_studies import STUDY


def plan() -> Plan:
    study = parse(STUDY.encode())
    return Plan(
        study,
        "tiny",
        family.resolve("corpus", study.corpus),
        [0],
        study.arm_names,
        Means(1, "float32", False),
    )


def test_it_is_the_study_s_own_text():
    texts, whole = Texts(), plan()
    for arm in whole.arms:
        mine, theirs = texts.of(whole.recipe(arm, 0)), whole.dataset(arm)
        assert np.array_equal(mine.training.ids, theirs.training.ids)
        assert np.array_equal(mine.validation.ids, theirs.validation.ids)
        assert mine.tokenizer.tokens() == theirs.tokenizer.tokens()
    assert texts.of(whole.recipe("merged", 0)) is texts.of(whole.recipe("turned", 1)), "made once"


def test_other_text_is_refused():
    recipe = plan().recipe("plain", 0)
    recipe.corpus["characters"] -= 5_000
    assert prepare(recipe.corpus).fingerprint != recipe.corpus_fingerprint
    with pytest.raises(ValueError, match="the text has changed: its fingerprint is"):
        Texts().of(recipe)
