"""A playground with models of a few weights, as an application and on a port of its own."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onechange.report import sheet
from onechange.ui.playground import STATIC, Limits, Playground
from onechange.ui.studies import Studies
from small_studies import STUDY, in_haste, onechange, study_file

NAME = "out"
"""The study's name: that of its folder."""
PLACE = f"/studies/{NAME}/playground"


_trained: list[Path] = []


def trained_once(factory: pytest.TempPathFactory) -> Path:
    """The folder of a study whose three models have been trained for a moment: one for all tests, to be read only."""
    if not _trained:
        _trained.append(_train(factory.mktemp("study")))
    return _trained[0]


def _train(folder: Path) -> Path:
    with in_haste(folder / "cache"):
        words = ["run", study_file(folder, STUDY), "--scale", "tiny", "--seeds", 1, "--out", folder / NAME]
        outcome = onechange(*words)
    assert outcome.status == 0, outcome.err
    return folder / NAME


def application(folder: Path, limits: Limits | None = None) -> Starlette:
    """The playground's routes and files, the report's look, and nothing else."""
    files = {name: path.read_bytes() for name, path in STATIC.items()} | {"page.css": sheet.style().encode()}

    async def static(request: Request) -> Response:
        name = request.path_params["file"]
        kind = "text/javascript" if name.endswith(".js") else "text/css"
        return Response(files[name], headers={"X-Content-Type-Options": "nosniff"}, media_type=kind)

    return Starlette(routes=[*Playground(Studies(folder), limits).routes(), Route("/static/{file}", static)])


def playground(application: Starlette) -> Any:
    """What is behind the routes."""
    (page,) = [route for route in application.routes if getattr(route, "path", "").endswith("/playground")]
    return page.endpoint.__self__  # type: ignore[attr-defined]  # of a bound method


@contextlib.contextmanager
def serving(application: Starlette) -> Iterator[str]:
    """The address at which the application answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(
        uvicorn.Config(application, port=port, log_level="error", timeout_graceful_shutdown=2)
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


def wait_until(true: Any) -> None:
    """Until ``true()``, half a minute at most."""
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)
