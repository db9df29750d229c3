"""Answers of the playground: JSON, lines of JSON as they come, and what went wrong in one clear line."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, aclosing, suppress
from typing import Any, final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from onechange.mistake import sentence
from onechange.ui.playground.workers import Busy, Closed

RETRY_AFTER = 1
"""Seconds."""
UNREAD = 20
"""Seconds after which whoever takes nothing any more is left alone."""
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class Refused(Exception):
    """A request that is not answered; ``status`` and one line say why."""

    def __init__(self, status: int, line: str) -> None:
        super().__init__(line)
        self.status = status


def said(content: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """``content`` as JSON; what is no number becomes null."""
    given = {**HEADERS, **(headers or {})}
    return Response(msgspec.json.encode(content), status, given, "application/json")


def wrong(line: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """What a person did that cannot be, or what is in the way; of a path in it that is no text, question marks."""
    return said({"error": line.encode("utf-8", "replace").decode()}, status, headers)


async def answered(answer: Callable[[], Awaitable[Response]]) -> Response:
    """The ``answer``, or in its place what went wrong, in one line."""
    try:
        return await answer()
    except Refused as error:
        return wrong(str(error), error.status)
    except Busy:
        later = {"Retry-After": str(RETRY_AFTER)}
        return wrong("busy: as many are writing as may at the same time; try again in a moment", 503, later)
    except Closed:
        return wrong("the server is ending", 503)
    except TimeoutError:
        return wrong("this took too long and was given up: a shorter text takes less", 413)
    except LookupError as error:
        return wrong(sentence(error), 404)
    except (ValueError, OSError, RuntimeError) as error:
        return wrong(sentence(error), 400)


async def body(request: Request, most: int) -> bytes:
    """All of the request's body, which must be said to be JSON; refused as soon as it has more than ``most`` bytes.

    Another site's form cannot say so, and its script may not.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, f"Content-Type {kind!r}: must be application/json")
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > most:
            raise Refused(413, f"the request has more than {most:,} bytes")
    return bytes(found)


async def left(receive: Receive) -> None:
    """Returns when the person has gone away; the request's body has been read before."""
    while (await receive())["type"] != "http.disconnect":
        pass


@final
class Lines(Response):
    """One JSON object per line, each sent when it comes. Stops with the person: nobody computes for nobody."""

    def __init__(
        self, lines: AsyncGenerator[Mapping[str, Any], None], place: AbstractContextManager[Any]
    ) -> None:
        """``place`` is left when all is over."""
        super().__init__(None, 200, HEADERS, "application/x-ndjson")
        self._lines, self._place = lines, place
        self.raw_headers = [(key, value) for key, value in self.raw_headers if key != b"content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See starlette's `Response`."""
        gone = asyncio.ensure_future(left(receive))
        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        with self._place:
            try:
                with suppress(OSError, TimeoutError):  # nobody is there to be told
                    await send(start)
                    await self._send(send, gone)
            finally:
                gone.cancel()

    async def _send(self, send: Send, gone: "asyncio.Future[None]") -> None:
        async with aclosing(self._told()) as told:
            async for line in told:
                if gone.done():
                    return
                part = {
                    "type": "http.response.body",
                    "body": msgspec.json.encode(line) + b"\n",
                    "more_body": True,
                }
                await asyncio.wait_for(send(part), UNREAD)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _told(self) -> AsyncGenerator[Mapping[str, Any], None]:
        """The lines; an end that they come to too early is a line too."""
        try:
            async with aclosing(self._lines) as lines:
                async for line in lines:
                    yield line
        except TimeoutError:
            yield {"ended": "time"}
        except Closed:
            yield {"ended": "server"}
        except (ValueError, LookupError, OSError, RuntimeError) as error:
            yield {"ended": "error", "error": sentence(error)}
