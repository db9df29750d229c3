"""What open pages are told while studies run, as server-sent events.

One look is taken for all who watch the same thing, as long as somebody does. Who listens slowly misses news, never
makes them wait: only the latest of each kind is kept.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Hashable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

from onechange.ui.limits import Limits
from onechange.ui.pages import Pages
from onechange.ui.reading import SHARE, Reader, where_it_stands

SECONDS = 2.0
"""Between two looks, or longer where a look costs much: a running study tells of itself every five."""
SIGN_OF_LIFE = 15.0
"""Seconds of silence after which something is sent, so that a connection that is gone is noticed."""
RETRY = 2000
"""Milliseconds after which a browser asks again when the connection was lost."""


Look = Callable[["Watch"], Awaitable[float]]
"""Takes a look, tells the watch, and returns the seconds of a processor that it took."""


class Watch:
    """News of one thing: the latest of each kind, and a task that looks while anybody listens."""

    def __init__(self, look: Look) -> None:
        self.listeners = 0
        self._look = look
        self._looking: asyncio.Task[None] | None = None
        self._soon = asyncio.Event()
        self._news: dict[str, tuple[int, str]] = {}
        self._number = 0
        self._changed = asyncio.Event()
        self._over = False

    def tell(self, kind: str, content: dict[str, Any]) -> None:
        """Put news in place of those of the same ``kind``, unless they are the same."""
        data = json.dumps(content)
        if self._news.get(kind, (0, ""))[1] != data:
            self._number += 1
            self._news[kind] = self._number, data
            self._wake()

    def look_soon(self) -> None:
        """Look now: something has changed."""
        self._soon.set()

    def end(self) -> None:
        """Let all who listen go."""
        self._over = True
        self._wake()

    async def follow(self, seconds: float) -> AsyncGenerator[bytes, None]:
        """All news and then every change, as server-sent events, for so many ``seconds``; ``end`` is the last."""
        seen, until = 0, time.monotonic() + seconds
        self.listeners += 1
        if self._looking is None:
            self._looking = asyncio.create_task(self._keep_looking())
        try:
            yield f"retry: {RETRY}\n\n".encode()
            while not self._over and time.monotonic() < until:
                changed = self._changed
                for number, kind, data in sorted((n, kind, data) for kind, (n, data) in self._news.items()):
                    if number > seen:
                        seen = number
                        yield f"event: {kind}\ndata: {data}\n\n".encode()
                if "end" in self._news:
                    return
                try:
                    async with asyncio.timeout(SIGN_OF_LIFE):
                        await changed.wait()
                except TimeoutError:
                    yield b": still here\n\n"
                if self._looking.done() and "end" not in self._news:
                    await self._looking  # it failed, and says how
        finally:
            self.listeners -= 1
            if not self.listeners:
                self._looking.cancel()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _keep_looking(self) -> None:
        try:
            while "end" not in self._news:
                cost = await self._look(self)
                with suppress(TimeoutError):
                    async with asyncio.timeout(max(SECONDS, cost / SHARE)):
                        await self._soon.wait()
                self._soon.clear()
        finally:
            self._wake()


class Live:
    """The watches of all studies, and that of the index."""

    def __init__(self, pages: Pages, reader: Reader, limits: Limits) -> None:
        self._pages, self._reader, self._limits = pages, reader, limits
        self._watches: dict[Hashable, Watch] = {}
        self._closed = False

    def study(self, path: Path, name: str) -> AsyncIterator[bytes]:
        """Events of a study: ``standing`` (`reading.where_it_stands`), ``page`` (its version), and ``end`` when it is
        finished and its last page is made."""

        async def look(watch: Watch) -> float:
            found, seconds = await self._reader.read(path, lambda: where_it_stands(path))
            state = found.get("state")
            watch.tell("standing", found)
            making = await self._pages.follow(path, name, spare=state == "running")
            if (version := self._pages.version(path)) is not None:
                watch.tell("page", {"version": version})
            if state == "finished" and making is None:
                watch.tell("end", {})
            elif making is not None:
                making.add_done_callback(lambda _: watch.look_soon())
            return seconds

        return self._follow(path, look)

    def index(self, look: Look) -> AsyncIterator[bytes]:
        """Events of the index; ``look`` is its own."""
        return self._follow("index", look)

    def close(self) -> None:
        """End all streams at once."""
        self._closed = True
        for watch in self._watches.values():
            watch.end()

    async def _follow(self, key: Hashable, look: Look) -> AsyncIterator[bytes]:
        """Join the watch of ``key``, which whoever comes first begins and whoever leaves last ends."""
        if self._closed:
            return
        watch = self._watches.get(key)
        if watch is None:
            watch = self._watches[key] = Watch(look)
        try:
            async with aclosing(watch.follow(self._limits.stream_seconds)) as events:
                async for event in events:
                    yield event
        finally:
            if not watch.listeners and self._watches.get(key) is watch:
                del self._watches[key]
