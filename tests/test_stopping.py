"""Ctrl-C and SIGTERM: the step is finished and saved, the run stops, and goes on later as if it had not."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from killed_runs import recipe, train
from onechange import stopping
from onechange.stopping import SIGNALS, Request, Stopped
from onechange.training import Moment
from test_resume import UNSTEADY, files, pointers


@pytest.fixture(autouse=True)
def _obeyed() -> Iterator[None]:
    """Python's own handlers: the tests may have been started where Ctrl-C is ignored."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def send(number: int) -> None:
    os.kill(os.getpid(), number)


def handlers() -> list[object]:
    return [signal.getsignal(number) for number in SIGNALS]


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_is_noted_the_second_obeyed(number: int):
    before = handlers()
    with pytest.raises(KeyboardInterrupt), stopping.deferred() as request:
        assert request.signal is None
        send(number)
        assert request.signal == number
        send(signal.SIGINT)
    assert handlers() == before


def test_a_request_that_comes_by_two_ways_is_one(monkeypatch: pytest.MonkeyPatch):
    """As `timeout` sends it: to the process, and to the group that it is in."""
    got: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: got.append(number))
    with stopping.deferred() as request:
        send(signal.SIGTERM)
        send(signal.SIGTERM)
        assert request.signal == signal.SIGTERM and not got
        monkeypatch.setattr(stopping, "ECHO", 0.0)
        send(signal.SIGTERM)
        assert got == [signal.SIGTERM], "a later one is a second request"


def test_without_a_signal_everything_is_put_back():
    before = handlers()
    with stopping.deferred():
        assert handlers() != before
    assert handlers() == before


def test_what_was_told_to_be_ignored_stays_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with stopping.deferred() as request:
        send(signal.SIGINT)
        assert request.signal is None
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_another_thread_installs_nothing():
    found: list[bool] = []

    def other() -> None:
        before = handlers()
        with stopping.deferred() as request:
            found.append(handlers() == before and request.signal is None)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [True]


@pytest.mark.parametrize("step", [1, 6, 8, 12])
def test_a_run_that_is_asked_to_stop_saves_its_step_and_ends_the_same_later(tmp_path: Path, step: int):
    train(tmp_path / "whole", recipe(**UNSTEADY))
    stop, seen = Request(), []

    def watch(moment: Moment) -> None:
        seen.append(moment.step)
        if moment.step == step - 1:
            stop.signal = signal.SIGTERM

    if step == 1:
        stop.signal = signal.SIGTERM
    with pytest.raises(Stopped, match=rf"^stopped; step {step} of 12 is saved$") as caught:
        train(tmp_path / "run", recipe(**UNSTEADY), watch=watch, stop=stop)
    assert caught.value.signal == signal.SIGTERM
    assert seen == list(range(1, step + 1))
    assert pointers(tmp_path / "run")["last"] == step
    steps: list[int] = []
    train(tmp_path / "run", recipe(**UNSTEADY), watch=lambda moment: steps.append(moment.step))
    assert steps == list(range(step + 1, 13)), "nothing is done twice"
    assert files(tmp_path / "run") == files(tmp_path / "whole")
