"""The server as an ASGI application: its routes, made of the studies it shows and what it may take on."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from onechange.report import sheet
from onechange.ui import sheets
from onechange.ui.bounds import Bounds
from onechange.ui.index import Index
from onechange.ui.limits import Limits
from onechange.ui.live import Live
from onechange.ui.pages import Made, Pages
from onechange.ui.playground import STATIC, Playground
from onechange.ui.reading import Reader, where_it_stands
from onechange.ui.safety import Access, Safety
from onechange.ui.studies import Studies

PATIENCE = 2.0
"""Seconds to wait for a page that is not made yet; then the reader sees how far it is instead."""
PIECE = 64 * 1024
"""Bytes of a page that are sent at a time: a hundred slow readers hold no more than a hundred pieces."""


class Site:
    """What the routes answer with."""

    def __init__(self, studies: Studies, limits: Limits) -> None:
        self.studies = studies
        self.reader = Reader()
        self.pages = Pages(self.reader, {"index": not studies.alone})
        self.live = Live(self.pages, self.reader, limits)
        self.index = Index(studies, self.reader)

    async def root(self, request: Request) -> Response:
        """The index, or the way to the one study that there is."""
        if self.studies.alone:
            return RedirectResponse(sheets.address(self.studies.folder.name), 307)
        page, _, _ = await self.index.page()
        return Response(sheets.encoded(page), media_type="text/html")

    async def index_events(self, request: Request) -> Response:
        """When the index says something else."""
        return _events(request, self.live.index(self.index.look))

    async def study(self, request: Request) -> Response:
        """The report of a study, with what is running above it."""
        name, path = self._found(request)
        made = await self.pages.get(path, name, PATIENCE)
        if made is None or made.error is not None:
            return await self._without_report(name, path, made)
        return _page(request, made)

    async def study_events(self, request: Request) -> Response:
        """Where every run stands, and when the page has a new version."""
        name, path = self._found(request)
        return _events(request, self.live.study(path, name))

    async def towards_study(self, request: Request) -> Response:
        """The same address with the slash that others are relative to."""
        name, _ = self._found(request)
        return RedirectResponse(sheets.address(name), 307)

    async def towards_playground(self, request: Request) -> Response:
        """The same address without a slash."""
        name, _ = self._found(request)
        return RedirectResponse(sheets.address(name, "playground"), 307)

    async def lost(self, request: Request, error: Exception) -> Response:
        """What is not here: a page with the way back for a person, a line for a program."""
        assert isinstance(error, HTTPException)
        told = "There is nothing at this address." if error.detail == "Not Found" else error.detail
        if "text/html" not in request.headers.get("accept", ""):
            return PlainTextResponse(f"{told}\n", error.status_code, error.headers)
        page = sheets.render("lost.html.jinja", told=told, alone=self.studies.alone)
        return HTMLResponse(page, error.status_code, error.headers)

    def _found(self, request: Request) -> tuple[str, Path]:
        name = request.path_params["name"]
        try:
            return name, self.studies.path(name)
        except (LookupError, OSError):
            raise HTTPException(404, "There is no such study here.") from None

    async def _without_report(self, name: str, path: Path, made: Made | None) -> Response:
        """A page for when there is no report, or none yet: it says which, and changes into it when there is one."""
        stands, _ = await self.reader.read(path, lambda: where_it_stands(path))
        page = sheets.render(
            "waiting.html.jinja", name=name, question=stands.get("question") or name, scale=stands.get("scale"),
            damage=stands.get("error"), error=made.error if made else None,
            prepared=(path / "corpus.json").is_file(), version=made.version if made else "", links=self.pages.links,
        )  # fmt: skip
        return HTMLResponse(sheets.encoded(page))


def application(studies: Studies, access: Access, limits: Limits | None = None) -> Starlette:
    """Everything that `onechange ui` serves.

    Its ``state.close()`` ends at once whatever would go on for long; a handler of signals may call it.
    """
    limits = limits or Limits()
    playground = Playground(studies)
    site = Site(studies, limits)

    def close() -> None:
        site.live.close()
        playground.close()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        close()
        await site.pages.close()
        site.reader.close()

    routes = [
        Route("/", site.root),
        Route("/events", site.index_events),
        Route("/static/{file}", _static()),
        *playground.routes(),
        Route("/studies/{name}/playground/", site.towards_playground),
        Route("/studies/{name}", site.towards_study),
        Route("/studies/{name}/", site.study),
        Route("/studies/{name}/events", site.study_events),
    ]
    middleware = [Middleware(Safety, access=access), Middleware(Bounds, limits=limits)]
    app = Starlette(
        routes=routes, middleware=middleware, lifespan=lifespan, exception_handlers={HTTPException: site.lost}
    )
    app.router.redirect_slashes = False
    app.state.close = close
    return app


def _static() -> Callable[[Request], Awaitable[Response]]:
    """The fixed list of files, all in memory: no path is ever made of what was asked for."""
    here = resources.files("onechange.ui")
    files = {name: (here / name).read_bytes() for name in sheets.STATIC}
    files["page.css"] = sheet.style().encode()
    files |= {name: path.read_bytes() for name, path in STATIC.items()}

    async def static(request: Request) -> Response:
        name = request.path_params["file"]
        if name not in files:
            raise HTTPException(404, "There is no such file here.")
        return Response(files[name], media_type=sheets.KINDS[name.rpartition(".")[2]])

    return static


def _page(request: Request, made: Made) -> Response:
    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(made.content), PIECE):
            yield made.content[start : start + PIECE]

    headers = {"content-security-policy": made.policy, "content-length": str(len(made.content))}
    return StreamingResponse(pieces(), media_type="text/html", headers=headers)


def _events(request: Request, events: AsyncIterator[bytes]) -> Response:
    if request.method == "HEAD":
        return Response(media_type="text/event-stream")
    return StreamingResponse(events, media_type="text/event-stream", headers={"x-accel-buffering": "no"})
