"""A loss or a gradient that is not finite: what is named, what is kept, and what leaving the step out does."""

import json
import math
import os
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from killed_runs import recipe, train
from onechange import finiteness
from onechange.engine import Engine
from onechange.finiteness import MOST_IN_A_ROW, LeftOut, NotFinite, checked
from onechange.recipe import Recipe
from onechange.training import Moment
from small_studies import onechange
from test_laboratory import arguments, tale, text_file
from test_resume import AT_EVERY_STEP, files, pointers

TOKENS = torch.arange(16).view(2, 8)


def weights(engine: Engine) -> dict[str, torch.Tensor]:
    return {name: parameter.detach().clone() for name, parameter in engine.model.named_parameters()}


def optimizer_state(engine: Engine) -> str:
    return json.dumps(engine.optimizer.state_dict()["state"], default=torch.Tensor.tolist)


def test_the_first_gradient_that_is_no_number_is_named_and_the_weights_are_left_alone():
    engine = Engine(recipe(), 20)
    engine.update(1, TOKENS, TOKENS)
    before, moments = weights(engine), optimizer_state(engine)
    named = [name for name, _ in engine.model.named_parameters()]
    assert named.index("blocks.0.mlp.hidden.weight") < named.index("blocks.1.mlp.hidden.weight")
    for name in ("blocks.1.mlp.hidden.weight", "blocks.0.mlp.hidden.weight"):
        engine.model.get_parameter(name).register_hook(lambda gradient: gradient * math.inf)
    told = "all weights are finite, the first gradient that is not is that of blocks.0.mlp.hidden.weight"
    with pytest.raises(NotFinite, match=rf"^the gradient at step 3 has norm (nan|inf); {re.escape(told)}$"):
        engine.update(3, TOKENS, TOKENS)
    assert all(torch.equal(before[name], value) for name, value in weights(engine).items())
    assert optimizer_state(engine) == moments
    assert all(parameter.grad is None for parameter in engine.model.parameters())


def test_the_first_weight_that_is_no_number_is_named():
    engine = Engine(recipe(), 20)
    with torch.no_grad():
        for name in ("norm.gain", "blocks.1.attention_norm.norm.gain"):
            engine.model.get_parameter(name)[3] = math.nan
    told = "the first weight that is not finite is blocks.1.attention_norm.norm.gain"
    with pytest.raises(NotFinite, match=rf"^the training loss at step 3 is nan; {re.escape(told)}$"):
        engine.update(3, TOKENS, TOKENS)


def test_an_absurd_rate_is_told_at_the_step_where_it_shows(tmp_path: Path):
    absurd = recipe(optimizer={**recipe().optimizer, "learning_rate": 1e38})
    with pytest.raises(
        NotFinite, match=r"^the training loss at step 1 is (nan|inf); all weights are finite$"
    ):
        train(tmp_path, absurd)
    assert not list(tmp_path.rglob("*.safetensors"))


class Upset:
    """Makes the gradient of chosen steps infinite, as a bad batch would."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *steps: int) -> None:
        update = Engine.update

        def upsetting(engine: Engine, step: int, *given: Any) -> float:
            if step not in steps:
                return update(engine, step, *given)
            gain = engine.model.get_parameter("norm.gain")
            hook = gain.register_hook(lambda gradient: gradient * math.inf)
            try:
                return update(engine, step, *given)
            finally:
                hook.remove()

        monkeypatch.setattr(Engine, "update", upsetting)


def state(run: Path) -> dict[str, Any]:
    folder = run / "checkpoints" / f"step-{pointers(run)['last']:06d}"
    return json.loads((folder / "state.json").read_text())


def test_by_default_the_run_stops_at_that_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    Upset(monkeypatch, 6)
    with pytest.raises(NotFinite, match=r"^the gradient at step 6 has norm (nan|inf); .* norm\.gain$"):
        train(tmp_path, recipe())
    assert pointers(tmp_path)["last"] == 4


def test_steps_that_are_left_out_change_nothing_but_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Against a loop written out here, which does not make the updates of steps 6, 7 and 8."""
    upset = (6, 7, 8)
    Upset(monkeypatch, *upset)
    said: list[str] = []
    moments: list[Moment] = []
    train(tmp_path, recipe(), on_nonfinite="skip", say=said.append, watch=moments.append)
    assert said == ["3 steps were left out: their loss or gradient was not finite"]
    assert [moment.step for moment in moments] == list(range(1, 13))
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [row["batch_loss"] is None for row in rows] == [False, False, True, False]
    assert (state(tmp_path)["left_out"], state(tmp_path)["left_out_in_a_row"]) == (3, 0)

    monkeypatch.undo()
    engine, windows = plain(recipe())
    for step in range(1, 13):
        if step not in upset:
            tokens, targets, _ = windows.batch(step)
            engine.update(step, torch.from_numpy(tokens), torch.from_numpy(targets))
    from safetensors.torch import load_file

    found = load_file(tmp_path / "checkpoints/step-000012/model.safetensors")
    assert all(torch.equal(found[name], value) for name, value in weights(engine).items())


def plain(chosen: Recipe) -> tuple[Engine, Any]:
    from killed_runs import CORPUS
    from onechange.dataset import dataset, learn
    from onechange.windows import Windows

    data = dataset(CORPUS, learn(CORPUS, chosen.tokenizer))
    windows = Windows(data.training, chosen.seed, chosen.batch, chosen.window)
    return Engine(chosen, data.tokenizer.vocabulary_size), windows


def test_a_run_that_leaves_steps_out_resumes_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    Upset(monkeypatch, 3, 6, 7, 11)

    class Stop(Exception):
        pass

    def at_7(moment: Moment) -> None:
        if moment.step == 7:
            raise Stop

    train(tmp_path / "whole", recipe(), on_nonfinite="skip")
    with pytest.raises(Stop):
        train(
            tmp_path / "run",
            recipe(),
            watch=at_7,
            on_nonfinite="skip",
            seconds_between_checkpoints=AT_EVERY_STEP,
        )
    assert (state(tmp_path / "run")["left_out"], state(tmp_path / "run")["left_out_in_a_row"]) == (3, 2)
    train(tmp_path / "run", recipe(), on_nonfinite="skip")
    assert files(tmp_path / "run") == files(tmp_path / "whole")
    assert state(tmp_path / "run")["left_out"] == 4


def test_a_run_that_stopped_may_go_on_leaving_the_step_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    Upset(monkeypatch, 6)
    with pytest.raises(NotFinite):
        train(tmp_path / "run", recipe())
    train(tmp_path / "run", recipe(), on_nonfinite="skip")
    train(tmp_path / "whole", recipe(), on_nonfinite="skip")
    assert files(tmp_path / "run") == files(tmp_path / "whole")


def test_too_many_in_a_row_stop_the_run_anyway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(finiteness, "MOST_IN_A_ROW", 4)
    Upset(monkeypatch, *range(5, 13))
    with pytest.raises(NotFinite, match=r"^the gradient at step 9 .*; 4 steps before it were left out"):
        train(tmp_path, recipe(), on_nonfinite="skip")
    assert pointers(tmp_path)["last"] == 8


def test_steps_that_are_made_end_a_row():
    engine = Engine(recipe(), 20)
    left_out = LeftOut("skip", {"left_out": 7, "left_out_in_a_row": MOST_IN_A_ROW - 1})
    left_out.leave_out(NotFinite("one"), engine.model)
    left_out.made()
    left_out.leave_out(NotFinite("another"), engine.model)
    assert left_out.state == {"left_out": 9, "left_out_in_a_row": 1}


def test_weights_that_are_no_numbers_cannot_be_left_out():
    engine = Engine(recipe(), 20)
    with torch.no_grad():
        engine.model.embedding[0, 0] = math.nan
    with pytest.raises(NotFinite, match="one"):
        LeftOut("skip", {}).leave_out(NotFinite("one"), engine.model)


def test_a_study_tells_how_many_steps_were_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "fsync", lambda file: None)
    text = text_file(tmp_path / "tales.txt", [tale(number) for number in range(30)])
    Upset(monkeypatch, 2, 5)
    words = arguments(tmp_path, text, "--arm", "plain", "--on-nonfinite", "skip")
    outcome = onechange(*words)
    assert outcome.status == 0, outcome.err
    assert "plain, seed 0: 2 steps were left out" in outcome.err
    told = "plain, seed 0, left out 2 of its steps: their loss or gradient was not finite."
    shown = " ".join(outcome.out.split())
    assert told in shown
    assert told in (tmp_path / "out/report.html").read_text()
    assert told in (tmp_path / "out/report.md").read_text()
    results = json.loads((tmp_path / "out/results.json").read_text())
    assert results["arms"][0]["runs"][0]["steps_left_out"] == 2
    assert "--on-nonfinite skip" in results["command"]


def test_another_word_is_refused():
    assert (checked("stop"), checked("skip")) == ("stop", "skip")
    outcome = onechange("run", "--on-nonfinite", "ignore")
    assert outcome.status == 2
    assert outcome.err == "onechange: --on-nonfinite 'ignore': must be one of stop, skip\n"
