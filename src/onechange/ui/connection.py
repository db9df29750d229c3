"""One connection of uvicorn's with an end to its patience: for a request that never becomes whole, for a reader that
never reads, and for more connections than are worth keeping."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from onechange.ui.limits import Limits


class Connection(H11Protocol):
    """uvicorn itself waits for a request's headers and for its reader without end."""

    limits = Limits()

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._heard: asyncio.TimerHandle | None = None
        self._read: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.abort()
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._heard, self._read):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait_for_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._read = self.loop.call_later(self.limits.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._read is not None:
            self._read.cancel()
            self._read = None

    def send_400_response(self, msg: str) -> None:
        """What cannot be answered any more, since an answer is on its way, ends with the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.abort()
        if self.cycle is not None:  # a body that breaks off: whoever waits for its rest is told
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _wait_for_request(self) -> None:
        """Count the time while a request has begun and its headers are not whole, or none has come yet."""
        waits = self.conn.their_state is h11.IDLE and not self.transport.is_closing()
        if not waits and self._heard is not None:
            self._heard.cancel()
            self._heard = None
        elif waits and self._heard is None:
            self._heard = self.loop.call_later(self.limits.seconds, self.transport.abort)
