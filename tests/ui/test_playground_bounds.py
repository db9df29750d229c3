"""What many people, and people who go away, may cost: places, time and memory."""

import asyncio
import contextlib
import http.client
import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from starlette.testclient import TestClient

import small_playground
from onechange.ui.playground import writing
from onechange.ui.playground.limits import Limits
from onechange.ui.playground.workers import Busy, Workers
from small_playground import PLACE, playground, serving, wait_until

BODY: dict[str, Any] = {"arm": "merged", "seed": 0, "prompt": "The sun", "sampling": {"characters": 60}}


class Endless:
    """Stands for a model that never ends, and knows whether anybody still makes it go on."""

    def __init__(self) -> None:
        self.tokens = 0
        self.text = "a"

    def lines(self, held: Any, asked: Any) -> Iterator[dict[str, Any]]:
        while True:
            self.tokens += 1
            yield {"text": self.text, "number": self.tokens}


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> Endless:
    found = Endless()
    monkeypatch.setattr(writing, "lines", found.lines)
    return found


@contextlib.contextmanager
def post(address: str, body: dict[str, Any]) -> Iterator[http.client.HTTPResponse]:
    """The answer as it comes; afterwards nobody is there any more."""
    with contextlib.closing(
        http.client.HTTPConnection(address.removeprefix("http://"), timeout=30)
    ) as connection:
        connection.request("POST", f"{PLACE}/write", json.dumps(body), {"Content-Type": "application/json"})
        with connection.getresponse() as answer:
            yield answer


# Many at once


def test_of_fifty_at_once_each_is_answered_whole_or_told_to_come_again(study: Path) -> None:
    application = small_playground.application(study, Limits(at_once=4))
    with serving(application) as address, ThreadPoolExecutor(50) as people:
        together = threading.Barrier(50)

        def ask(seed: int) -> tuple[int, str | None, str]:
            together.wait(30)
            sampling = {"characters": 60, "seed": seed % 3}
            with post(address, {**BODY, "sampling": sampling}) as answer:
                return answer.status, answer.headers["Retry-After"], answer.read().decode()

        answers = [*people.map(ask, range(50))]
        found: dict[int, set[str]] = {}
        for seed, (status, after, text) in enumerate(answers):
            if status == 503:
                assert (after, json.loads(text)["error"].startswith("busy")) == ("1", True)
                continue
            lines = [json.loads(line) for line in text.splitlines()]
            assert status == 200 and lines[-1]["ended"] == "length"
            found.setdefault(seed % 3, set()).add("".join(line.get("text", "") for line in lines))
        assert found and all(len(texts) == 1 for texts in found.values()), (
            "beside others the text is the same"
        )
        assert any(status == 503 for status, _, _ in answers), "fifty are more than four"
        wait_until(lambda: playground(application).workers.at_work == 0)
        with post(address, BODY) as answer:
            assert answer.status == 200


def test_there_are_never_more_at_work_than_may_be() -> None:
    workers = Workers(Limits(at_once=2))
    with workers.place(), workers.place():
        with pytest.raises(Busy), workers.place():
            pass
        assert workers.at_work == 2
    with workers.place():
        assert workers.at_work == 1


def test_works_take_turns() -> None:
    """None waits for another to end: with one endless work, a second one is done all the same."""

    async def both() -> list[int]:
        workers = Workers(Limits())
        endless = Endless()
        others = [asyncio.ensure_future(drain(workers.steps(endless.lines(None, None)))) for _ in range(6)]
        found = [step async for step in workers.steps(iter(range(50)))]
        for other in others:
            other.cancel()
        return found

    async def drain(steps: Any) -> None:
        async for _ in steps:
            pass

    assert asyncio.run(both()) == [*range(50)]


def test_who_writes_computes_in_one_thread_whatever_a_recipe_says() -> None:
    """Reading a run sets as many threads as it was trained with, and does so in a thread of its own."""

    async def counted() -> list[int]:
        workers = Workers(Limits())
        await workers.read(torch.set_num_threads, 2)
        return [await workers.once(torch.get_num_threads) for _ in range(8)]

    assert asyncio.run(counted()) == [1] * 8


# Going away


def test_who_goes_away_stops_the_writing(study: Path, endless: Endless) -> None:
    application = small_playground.application(study)
    workers = playground(application).workers
    with serving(application) as address:
        with post(address, BODY) as one, post(address, BODY) as other:
            for answer in (one, other):
                assert json.loads(answer.readline())["number"] >= 1
            assert workers.at_work == 2
        wait_until(lambda: workers.at_work == 0)
        told = endless.tokens
        for _ in range(20):  # whatever still went on would have its turn meanwhile
            with urllib.request.urlopen(f"{address}{PLACE}/models") as answer:
                assert answer.status == 200
        assert endless.tokens <= told + 2, "nobody computes for those who went"


def test_who_takes_nothing_any_more_does_not_fill_the_memory(study: Path, endless: Endless) -> None:
    """What is not taken is not computed: the socket fills, and the writing waits."""
    application = small_playground.application(study)
    endless.text = "a" * 100_000
    with serving(application) as address:
        host, port = address.removeprefix("http://").split(":")
        connection = socket.create_connection((host, int(port)))
        body = json.dumps(BODY).encode()
        head = f"POST {PLACE}/write HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        before = -1

        def stands() -> bool:
            nonlocal before
            before, last = endless.tokens, before
            threading.Event().wait(0.2)
            return endless.tokens == last and last > 0

        wait_until(stands)
        connection.close()
        wait_until(lambda: playground(application).workers.at_work == 0)


def test_a_writing_that_takes_too_long_is_ended_and_says_so(study: Path, endless: Endless) -> None:
    client = TestClient(small_playground.application(study, Limits(seconds=0.2)))
    lines = client.post(f"{PLACE}/write", json=BODY).text.splitlines()
    assert json.loads(lines[-1]) == {"ended": "time"}
    assert len(lines) == endless.tokens + 1


def test_a_reading_that_takes_too_long_is_given_up(study: Path) -> None:
    client = TestClient(small_playground.application(study, Limits(seconds=0)))
    asked = {"arm": "plain", "seed": 0, "text": "The sun was warm. " * 20}
    answer = client.post(f"{PLACE}/surprise", json=asked)
    assert answer.status_code == 413 and "took too long" in answer.json()["error"]


def test_where_the_server_ends_nothing_is_waited_for(study: Path, endless: Endless) -> None:
    application = small_playground.application(study)
    with serving(application) as address:
        with post(address, BODY) as answer:
            answer.readline()
            playground(application).close()
            *_, last = answer.read().splitlines()
            assert json.loads(last) == {"ended": "server"}
        with post(address, BODY) as answer:
            assert (answer.status, json.loads(answer.read())) == (503, {"error": "the server is ending"})


def test_what_breaks_on_the_way_is_the_last_line(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(held: Any, asked: Any) -> Iterator[dict[str, Any]]:
        yield {"text": "a"}
        raise RuntimeError("no memory for this")

    monkeypatch.setattr(writing, "lines", broken)
    application = small_playground.application(study)
    lines = TestClient(application).post(f"{PLACE}/write", json=BODY).text.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"text": "a"},
        {"ended": "error", "error": "no memory for this"},
    ]
    assert playground(application).workers.at_work == 0


def test_a_body_without_an_end_is_refused_on_the_way(study: Path) -> None:
    with serving(small_playground.application(study)) as address:
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            head = f"POST {PLACE}/write HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
            connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
            sent = 0
            connection.setblocking(True)
            try:
                while sent < 100:  # ten megabytes, were they all taken
                    connection.sendall(b"186a0\r\n" + b" " * 100_000 + b"\r\n")
                    sent += 1
            except OSError:
                pass
            assert b" 413 " in connection.recv(4096)
