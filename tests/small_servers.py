"""The live server in a thread of the test, and clients that say exactly the bytes they want to say."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from onechange.ui.limits import Limits
from onechange.ui.server import Server, configuration
from onechange.ui.studies import Studies

HOST = "127.0.0.1"


@contextlib.contextmanager
def serving(folder: Path, limits: Limits | None = None, host: str = HOST, port: int = 0) -> Iterator[Server]:
    """The server of the studies in ``folder``, on a free port unless one is named."""
    server = Server(Studies(folder), host, port, limits)
    with _running(server, server.listen, server.stop):
        yield server


@contextlib.contextmanager
def serving_app(app: ASGIApp, limits: Limits) -> Iterator[int]:
    """``app`` alone, served as the server serves its own; yields the port."""
    listening = socket.create_server((HOST, 0))
    server = uvicorn.Server(configuration(app, limits))
    with _running(server, lambda: server.run([listening]), lambda: setattr(server, "should_exit", True)):
        yield listening.getsockname()[1]


@contextlib.contextmanager
def _running(server: uvicorn.Server, run: Any, stop: Any) -> Iterator[None]:
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        thread.join(0.01)
    try:
        yield
    finally:
        stop()
        thread.join(20)
        assert not thread.is_alive(), "the server does not end"


def port(server: Server) -> int:
    """Where it listens."""
    return int(server.address.partition("/?")[0].rstrip("/").rpartition(":")[2])


def say(where: int, content: bytes, seconds: float = 20.0) -> bytes:
    """Send ``content`` as it is and return all that comes back until the server closes."""
    with socket.create_connection((HOST, where), timeout=seconds) as client:
        client.sendall(content)
        return everything(client)


def everything(client: socket.socket) -> bytes:
    """All that comes until the other side closes, or breaks off."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while part := client.recv(65536):
            found += part
    return found


def ask(where: int, path: str, *headers: str, method: str = "GET", body: bytes = b"") -> "Answer":
    """A request that asks for the end of the connection; its own Host unless ``headers`` have one."""
    told = [*headers, "Connection: close"]
    if not any(line.lower().startswith("host:") for line in headers):
        told.append(f"Host: {HOST}:{where}")
    head = "\r\n".join([f"{method} {path} HTTP/1.1", *told])
    return Answer(say(where, f"{head}\r\n\r\n".encode() + body))


class Answer:
    """An answer taken apart."""

    def __init__(self, content: bytes) -> None:
        head, _, self.body = content.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(first.split()[1]) if first else 0
        self.headers = {line.partition(": ")[0].lower(): line.partition(": ")[2] for line in lines}
        if self.headers.get("transfer-encoding") == "chunked":
            self.body = _unchunked(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def events(self) -> list[tuple[str, Any]]:
        """The server-sent events in it."""
        return events(self.body)


def events(content: bytes) -> list[tuple[str, Any]]:
    """Server-sent events: their names and what they hold."""
    found = []
    for block in content.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def _unchunked(content: bytes) -> bytes:
    found = b""
    while content:
        size, _, content = content.partition(b"\r\n")
        length = int(size, 16)
        found, content = found + content[:length], content[length + 2 :]
    return found
