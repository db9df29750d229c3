"""Requests that are too large, too slow, malformed or too many: each gets its answer, and the server goes on."""

import asyncio
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from onechange.ui import live
from onechange.ui.bounds import Bounds
from onechange.ui.limits import Limits
from onechange.ui.server import Server
from small_servers import HOST, Answer, ask, everything, port, say, serving, serving_app

SMALL = Limits(head=4096, body=1000, seconds=0.4, answers=3, streams=2, connections=20)


class Told:
    """An application that answers with what it was sent, and waits first where the path says so."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        while scope["path"].startswith("/wait") and not self.go.is_set():
            await asyncio.sleep(0.01)
        message = await receive()
        self.bodies.append(message["body"])
        body = bytes(50_000_000) if scope["path"] == "/large" else message["body"]
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for start in range(0, len(body), 65536):
            await send({"type": "http.response.body", "body": body[start : start + 65536], "more_body": True})
        await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def where(told: Told) -> Iterator[int]:
    with serving_app(Bounds(told, SMALL), SMALL) as found:
        yield found
        told.go.set()


def chunked(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in [*parts, b""])


POST = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"


def test_a_body_comes_whole_however_it_is_sent(where: int, told: Told):
    assert Answer(say(where, POST + b"Content-Length: 1000\r\n\r\n" + b"a" * 1000)).body == b"a" * 1000
    sent = chunked(b"a" * 300, b"b" * 400, b"c" * 300)
    found = Answer(say(where, POST + b"Transfer-Encoding: chunked\r\n\r\n" + sent))
    assert found.body == b"a" * 300 + b"b" * 400 + b"c" * 300
    assert Answer(say(where, POST + b"\r\n")).status == 200


def test_a_body_that_is_too_large_is_refused_before_it_is_read(where: int, told: Told):
    found = Answer(say(where, POST + b"Content-Length: 1001\r\n\r\n"))
    assert (found.status, found.text) == (413, "At most 1,000 bytes may be sent here.\n")
    assert (
        Answer(say(where, POST + b"Content-Length: 99999999999999\r\nExpect: 100-continue\r\n\r\n")).status
        == 413
    )
    parts = chunked(*[b"a" * 100] * 11)
    assert Answer(say(where, POST + b"Transfer-Encoding: chunked\r\n\r\n" + parts)).status == 413
    endless = POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"a000000\r\n" + b"a" * 2000
    assert Answer(say(where, endless)).status == 413
    assert Answer(say(where, b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na")).status == 413
    assert told.bodies == []


def test_a_body_that_never_comes_whole_is_not_waited_for(where: int, told: Told):
    found = Answer(say(where, POST + b"Content-Length: 1000\r\n\r\n" + b"a" * 999))
    assert (found.status, found.text) == (408, "All must be sent within 0.4 seconds.\n")
    with socket.create_connection((HOST, where)) as client:  # and one that breaks off is no request
        client.sendall(POST + b"Content-Length: 1000\r\n\r\n" + b"a" * 999)
    assert ask(where, "/").status == 200
    assert told.bodies == [b""]


GET = b"GET / HTTP/1.1\r\nHost: x\r\n"
MALFORMED = [
    b"\r\n\r\n\r\n", b"\0" * 100, b"GET\r\n\r\n", b"GET / HTTP/1\r\n\r\n", b"get it\r\n\r\n",
    b"\xff\xfe / HTTP/1.1\r\n\r\n", b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00", GET + b"bad header\r\n\r\n", GET + b": y\r\n\r\n", GET + b"A: \0\r\n\r\n",
    POST + b"Content-Length: -1\r\n\r\n", POST + b"Content-Length: x\r\n\r\n",
    POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n", POST + b"Content-Length: " + b"9" * 3000 + b"\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", POST + b"Transfer-Encoding: gzip\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n", GET + b"A: " + b"b" * 600_000 + b"\r\n\r\n",
    b"GET /" + b"a" * 600_000 + b" HTTP/1.1\r\n", GET + b"A: b\r\n" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("content", MALFORMED, ids=[repr(content)[:40] for content in MALFORMED])
def test_what_is_no_request_is_said_so(
    where: int, told: Told, content: bytes, capfd: pytest.CaptureFixture[str]
):
    found = say(where, content)
    assert found == b"" or Answer(found).status in (400, 413, 501), found
    assert told.bodies == []
    assert ask(where, "/").status == 200
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "beginning", [b"", b"GET", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nA: "]
)
def test_a_request_that_never_becomes_one_is_not_waited_for(where: int, beginning: bytes):
    started = time.monotonic()
    with socket.create_connection((HOST, where), timeout=20) as client:
        client.sendall(beginning)
        ended = threading.Event()
        trickling = threading.Thread(target=_trickle, args=(client, ended))
        trickling.start()  # a byte now and then is no reason to wait longer
        assert everything(client) == b""
        ended.set()
        trickling.join()
    assert time.monotonic() - started >= SMALL.seconds * 0.9


def _trickle(client: socket.socket, ended: threading.Event) -> None:
    try:
        while not ended.wait(0.1):
            client.sendall(b"a")
    except OSError:
        pass


def test_after_an_answer_too_no_request_is_waited_for_without_end(where: int):
    with socket.create_connection((HOST, where), timeout=20) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        client.sendall(b"GET / HT")
        assert everything(client) == b""


def test_who_never_reads_is_left(where: int, told: Told):
    with socket.create_connection((HOST, where), timeout=20) as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        _until(lambda: told.bodies == [b""])
        threading.Event().wait(SMALL.seconds * 2)  # here waiting is what is tested
        assert len(everything(client)) < 50_000_000


def test_too_many_are_told_to_come_again(where: int, told: Told):
    answers: list[Answer] = []
    waiting = [
        threading.Thread(target=lambda: answers.append(ask(where, "/wait"))) for _ in range(SMALL.answers)
    ]
    for thread in waiting:
        thread.start()
    found = ask(where, "/")
    while found.status == 200:  # until all of them have come
        found = ask(where, "/")
    assert found.status == 503 and int(found.headers["retry-after"]) > 0
    assert ask(where, "/events").status == 200, "streams are counted apart"
    told.go.set()
    for thread in waiting:
        thread.join(20)
    assert [one.status for one in answers] == [200] * SMALL.answers
    assert ask(where, "/").status == 200


def test_more_connections_than_are_kept_are_closed_at_once(where: int):
    clients = [socket.create_connection((HOST, where), timeout=20) for _ in range(SMALL.connections)]
    assert say(where, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") == b""
    for client in clients:
        client.close()
    _until(lambda: say(where, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") != b"")


def _until(true: object) -> None:
    assert callable(true)
    for _ in range(2000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("it never was so")


@pytest.fixture
def server(studies: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(live, "SECONDS", 0.2)
    with serving(studies) as found:
        yield found


def test_a_hundred_clients_at_once(server: Server, studies: Path):
    """A mix of pages and open event streams: none fails, and no thread comes with a client."""
    where, threads, held = port(server), threading.active_count(), _memory()
    streams = [socket.create_connection((HOST, where), timeout=60) for _ in range(50)]
    for number, client in enumerate(streams):
        path = ("/events", "/studies/first/events")[number % 2]
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost:{where}\r\n\r\n".encode())
    answers: list[Answer] = []
    paths = ["/", "/studies/first/", "/studies/second/", "/static/live.js", "/nothing"]
    asking = [
        threading.Thread(target=lambda path=paths[n % 5]: answers.append(ask(where, path))) for n in range(50)
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(120)
    assert sorted(answer.status for answer in answers) == [200] * 40 + [404] * 10
    for client in streams:  # every stream has told something
        found = b""
        while b"event: " not in found:
            found += client.recv(65536)
    assert threading.active_count() <= threads + 2
    assert _memory() - held < 100_000_000
    for client in streams:
        client.close()
    _until(lambda: not server.server_state.tasks)
    assert ask(where, "/").status == 200


def _memory() -> int:
    """Bytes that this process holds now."""
    pages = Path("/proc/self/statm")
    return (
        int(pages.read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")
        if pages.is_file()
        else 0
    )


def test_a_stream_is_told_news_and_ends_with_the_server(server: Server, studies: Path):
    (studies / "first/arms/turned/seed-0/measures.json").unlink()
    with socket.create_connection((HOST, port(server)), timeout=60) as client:
        client.sendall(
            f"GET /studies/first/events HTTP/1.1\r\nHost: localhost:{port(server)}\r\n\r\n".encode()
        )
        found = b""
        while b"event: standing" not in found or not found.endswith(b"\n\n\r\n"):
            found += client.recv(65536)
        (studies / "first/arms/turned/seed-0/failure.json").write_text(json.dumps({"error": "news"}))
        while b"news" not in found:
            found += client.recv(65536)
        server.stop()
        assert b"event: end" not in everything(client)
