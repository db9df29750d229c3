"""Who may ask, and for what: the host, the token, the method and the origin of every request, and the headers of
every answer. What is refused gets one plain line."""

import re
import secrets
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs, quote, unquote_to_bytes

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onechange.ui import replies

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""For whatever brings no policy of its own."""
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
ALLOWED = (("allow", "GET, HEAD"),)
_CHANGES = re.compile(r"/studies/[^/]+/playground(/.*)?", re.DOTALL)
"""Where a request may ask for work: the playground, and nothing else."""


@dataclass(frozen=True)
class Access:
    """Who may ask. With a ``token`` whoever knows it; without one, whoever uses one of ``hosts`` and ``port``.

    A page elsewhere can point a name of its own to this machine (DNS rebinding): then the browser's Host says that
    name, and the request is refused.
    """

    port: int
    hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    token: str | None = None

    @property
    def cookie(self) -> str:
        """Its name; cookies know no ports, so that two servers of a machine need two."""
        return f"onechange-{self.port}"

    def is_ours(self, host: str) -> bool:
        """Whether a browser that shows our page sends this Host."""
        name, _, port = host.lower().rpartition(":")
        given = (name, port) if name and port.isdecimal() else (host.lower(), "80")
        return given[0] in self.hosts and given[1] == str(self.port)


class Safety:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Names of folders may be no UTF-8: Python then has them with surrogates, and so must the path.
        path = unquote_to_bytes(scope["raw_path"]).decode("utf-8", "surrogateescape")
        scope = {**scope, "path": path}
        safe = _sending_headers(send)
        refused = self._refused(scope)
        if refused is not None:
            await replies.line(safe, *refused, *(ALLOWED if refused[0] == 405 else ()))
        elif self._access.token is None or self._known(_cookie(scope, self._access.cookie)):
            await self._app(scope, receive, safe)
        else:
            await self._admit(scope, safe)

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        """Status and line of a refusal; the token comes after."""
        hosts = _header(scope, b"host")
        if len(hosts) != 1:
            return 400, "A request needs one Host."
        if self._access.token is None and not self._access.is_ours(hosts[0]):
            return 403, "This address is not the server's own: open the one that it printed."
        if scope["method"] in ("GET", "HEAD"):
            if "cross-site" in _header(scope, b"sec-fetch-site") and not _navigates(scope):
                return 403, "Other sites get nothing here."
            return None
        if scope["method"] != "POST" or not _CHANGES.fullmatch(scope["path"]):
            return 405, "Nothing can be changed here."
        if _origin(scope, hosts[0]) != "same":
            return 403, "Only the server's own pages may ask for this."
        return None

    def _known(self, token: str) -> bool:
        assert self._access.token is not None
        return secrets.compare_digest(token.encode("utf-8", "replace"), self._access.token.encode())

    async def _admit(self, scope: Scope, send: Send) -> None:
        """Take the token of the address for a cookie. The page then asks anew by itself: of a request that another
        site began, browsers would not send the new cookie after a redirect."""
        tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if scope["method"] != "GET" or len(tokens) != 1 or not self._known(tokens[0]):
            await replies.line(send, 403, "The address needs the token that the server printed: ?token=…")
            return
        # One slash, and none that browsers take for one: more would be the address of another machine.
        target = "/" + quote(unquote_to_bytes(scope["raw_path"])).lstrip("/")
        body = (
            f'<!doctype html><meta http-equiv="refresh" content="0;url={target}"><a href="{target}">Go on</a>'
        )
        cookie = f"{self._access.cookie}={self._access.token}; HttpOnly; SameSite=Strict; Path=/"
        headers = [
            (b"content-type", b"text/html; charset=utf-8"),
            (b"set-cookie", cookie.encode("latin-1")),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body.encode()})


def _sending_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            more = {"content-security-policy": POLICY, **HEADERS}
            encoded = [(name.encode(), value.encode()) for name, value in more.items()]
            message["headers"] = [*message["headers"], *(pair for pair in encoded if pair[0] not in there)]
        await send(message)

    return sending


def _header(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _navigates(scope: Scope) -> bool:
    """Whether a person follows a link, and no page loads something for itself."""
    return "navigate" in _header(scope, b"sec-fetch-mode") and "document" in _header(scope, b"sec-fetch-dest")


def _origin(scope: Scope, host: str) -> Literal["same", "other"]:
    """Whose page sends this: a browser says so in headers that no page can set."""
    sites, origins = _header(scope, b"sec-fetch-site"), _header(scope, b"origin")
    own = f"{scope['scheme']}://{host}".lower()
    told = [site == "same-origin" for site in sites] + [origin.lower() == own for origin in origins]
    return "same" if told and all(told) else "other"


def _cookie(scope: Scope, name: str) -> str:
    pairs = (part.strip().partition("=") for line in _header(scope, b"cookie") for part in line.split(";"))
    return next((value for key, _, value in pairs if key == name), "")
