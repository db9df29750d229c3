"""Report pages that follow their studies: made by another process, and anew as often as costs little."""

import asyncio
import html
import json
import re
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onechange import apart
from onechange.ui.reading import SHARE, Reader, version

PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from onechange.ui.page_maker import main; main()"
KEPT = 8
"""Pages, of 1.5 MB or so each."""
SECONDS = 600.0
"""For one page, beside runs that use every processor."""
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


@dataclass(frozen=True)
class Made:
    """A page of the ``version`` that its files had; with an ``error`` in place of content where there is none."""

    version: str
    content: bytes = b""
    error: str | None = None

    @property
    def policy(self) -> str:
        """What the page says of itself in its head, before anything that comes from the study."""
        found = _POLICY.search(self.content)
        assert found, "every page of a report has a policy"
        return html.unescape(found[1].decode()) + "; frame-ancestors 'none'"


class Pages:
    """The pages of all studies. A page is looked after while somebody asks for it."""

    def __init__(self, reader: Reader, links: dict[str, Any]) -> None:
        """``links``: what the top of every page leads to."""
        self._reader, self.links = reader, links
        self._made: dict[Path, Made] = {}
        self._making: dict[Path, asyncio.Task[Made]] = {}
        self._turn = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._not_before = 0.0

    async def get(self, path: Path, name: str, patience: float) -> Made | None:
        """The newest page of the study in ``path``. If there is none yet it is waited for, ``patience`` seconds."""
        making = await self.follow(path, name, spare=False)
        if making is not None and path not in self._made:
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(making), patience)
        return self._made.get(path)

    async def follow(self, path: Path, name: str, *, spare: bool) -> asyncio.Task[Made] | None:
        """See to it that the page is made if its files have changed, and return what makes it, if anything does.

        ``spare``: whether something trains that shall not be slowed. Then pages take `SHARE` of a processor's time,
        but that a page is made at once where there is none yet.
        """
        if path in self._making:
            return self._making[path]
        now, _ = await self._reader.read(("version", path), lambda: version(path))
        known = self._made.get(path)
        if path in self._making or (known is not None and known.version == now):
            return self._making.get(path)
        if known is not None and spare and time.monotonic() < self._not_before:
            return None
        task = self._making[path] = asyncio.create_task(self._make(path, name, now))
        return task

    def version(self, path: Path) -> str | None:
        """The version of the page that `get` would return now."""
        found = self._made.get(path)
        return found.version if found else None

    async def close(self) -> None:
        """End the process."""
        for task in self._making.values():
            task.cancel()
        if self._process is not None:
            await _end(self._process)

    async def _make(self, path: Path, name: str, now: str) -> Made:
        asked = {"folder": str(path), "name": name, "version": now, "links": {"name": name, **self.links}}
        try:
            async with self._turn:
                made = await self._asked(asked, now)
            self._made.pop(path, None)
            self._made[path] = made
            for old in list(self._made)[:-KEPT]:
                del self._made[old]
            return made
        finally:
            del self._making[path]

    async def _asked(self, asked: dict[str, Any], now: str) -> Made:
        """One page from the process, from a new one where there is none or it has just ended."""
        line = json.dumps(asked).encode() + b"\n"
        for _ in range(2):
            if self._process is None or self._process.returncode is not None:
                self._process = await _start()
            try:
                async with asyncio.timeout(SECONDS):
                    told, content = await _answer(self._process, line)
            except (OSError, EOFError, ValueError, TimeoutError):
                await _end(self._process)
                continue
            self._not_before = time.monotonic() + told["seconds"] / SHARE
            return Made(now, content, told["error"])
        return Made(now, error="the page cannot be drawn: the process that draws it died twice")


async def _start() -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, *sys.path,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        creationflags=apart.GROUP, start_new_session=True,  # Ctrl-C is for the server, which ends it
    )  # fmt: skip


async def _answer(process: asyncio.subprocess.Process, line: bytes) -> tuple[dict[str, Any], bytes]:
    assert process.stdin and process.stdout
    process.stdin.write(line)
    await process.stdin.drain()
    told = json.loads(await process.stdout.readline())
    return told, await process.stdout.readexactly(told["bytes"])


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()
