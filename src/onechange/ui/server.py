"""The server as a process: an address to listen on, and an end at once with Ctrl-C or SIGTERM."""

import errno
import ipaddress
import os
import secrets
import socket
from contextlib import ExitStack, suppress
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from onechange.ui.app import application
from onechange.ui.connection import Connection
from onechange.ui.limits import Limits
from onechange.ui.safety import Access
from onechange.ui.studies import Studies

QUEUE = 512
"""Connections that may wait to be taken."""
WAITING = 2
"""Seconds that answers on their way have at the end."""


class Server(uvicorn.Server):
    """Serves ``studies`` on a socket of its own; `address` is what a person opens."""

    def __init__(self, studies: Studies, host: str, port: int, limits: Limits | None = None) -> None:
        """Raises an `OSError` that names the address where nothing can listen on it."""
        limits = limits or Limits()
        self._socket = _listening(host, port)
        place = self._socket.getsockname()
        loopback = ipaddress.ip_address(place[0].partition("%")[0]).is_loopback
        self._access = Access(place[1], token=None if loopback else secrets.token_urlsafe(24))
        self._host = host
        self._application = application(studies, self._access, limits)

        super().__init__(configuration(self._application, limits))

    @property
    def address(self) -> str:
        """With the token that it needs, if it needs one."""
        host = self._host
        with suppress(ValueError):
            if ipaddress.ip_address(host).is_unspecified:
                host = socket.gethostname()
        where = f"http://{f'[{host}]' if ':' in host else host}:{self._access.port}/"
        return where + (f"?token={self._access.token}" if self._access.token else "")

    def listen(self) -> None:
        """Serve until a signal comes."""
        with suppress(KeyboardInterrupt):
            self.run(sockets=[self._socket])

    def stop(self) -> None:
        """End `listen`, and what would go on: event streams last as long as their pages are open."""
        self._application.state.close()
        self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """What uvicorn calls when a signal comes."""
        super().handle_exit(sig, frame)
        self.stop()


def configuration(app: ASGIApp, limits: Limits) -> uvicorn.Config:
    """How ``app`` is served: by connections that keep to ``limits``, and with nothing that nobody asked for."""

    class Bounded(Connection):
        """One of this server's."""

    Bounded.limits = limits
    return uvicorn.Config(
        app, http=Bounded, ws="none", loop="asyncio", lifespan="on", log_config=None, log_level="error",
        access_log=False, proxy_headers=False, server_header=False,
        h11_max_incomplete_event_size=limits.head, timeout_graceful_shutdown=WAITING,
    )  # fmt: skip


def _listening(host: str, port: int) -> socket.socket:
    """A socket that takes connections from now on, so that its address can be told."""
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with ExitStack() as unless_it_works:
            found = unless_it_works.enter_context(socket.socket(family, socket.SOCK_STREAM))
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(place)
            found.listen(QUEUE)
            unless_it_works.pop_all()
            return found
    except (OSError, UnicodeError) as error:
        number = getattr(error, "errno", None) or errno.EADDRNOTAVAIL
        why = getattr(error, "strerror", None) or os.strerror(errno.EADDRNOTAVAIL)
        if number == errno.EADDRINUSE:
            why = "another program listens there; choose another --port, or 0 for any that is free"
        raise OSError(number, why, f"--host {host} --port {port}") from None
