"""How much is taken on at a time: the size and time of a request's body, and how many are answered at once."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onechange.ui import replies
from onechange.ui.limits import Limits

AGAIN = ("retry-after", "2")


class Bounds:
    """ASGI middleware. A body is read whole before the application is asked, so that none is ever waited for there."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits
        self._open = {"answers": 0, "streams": 0}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        kind = "streams" if scope["method"] == "GET" and scope["path"].endswith("/events") else "answers"
        most = self._limits.streams if kind == "streams" else self._limits.answers
        if self._open[kind] >= most:
            await replies.line(send, 503, f"Too busy: {most} {kind} are open. Try again soon.", AGAIN)
            return
        with self._counted(kind):
            await self._with_body(scope, receive, send)

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = self._limits.body if scope["method"] == "POST" else 0
        headers = dict(scope["headers"])
        if int(headers.get(b"content-length", b"0")) > most or (not most and b"transfer-encoding" in headers):
            await replies.line(send, 413, f"At most {most:,} bytes may be sent here.")
            return
        try:
            async with asyncio.timeout(self._limits.seconds):
                body = await _whole(receive, most)
        except TimeoutError:
            await replies.line(send, 408, f"All must be sent within {self._limits.seconds:g} seconds.")
            return
        except OverflowError:
            await replies.line(send, 413, f"At most {most:,} bytes may be sent here.")
            return
        except ConnectionError:
            return
        waiting = iter([body])

        async def given() -> Message:
            for content in waiting:
                return {"type": "http.request", "body": content, "more_body": False}
            return await receive()

        await self._app(scope, given, send)

    @contextmanager
    def _counted(self, kind: str) -> Iterator[None]:
        self._open[kind] += 1
        try:
            yield
        finally:
            self._open[kind] -= 1


async def _whole(receive: Receive, most: int) -> bytes:
    """The body. An `OverflowError` says that it has more than ``most`` bytes, a `ConnectionError` that it broke off."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ConnectionError("the client left")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise OverflowError("too large")
        if not message.get("more_body"):
            return b"".join(parts)
