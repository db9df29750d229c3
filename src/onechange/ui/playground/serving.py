"""What is done when the playground's page, or one of its requests, is asked for."""

from contextlib import ExitStack, aclosing
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from onechange.ui.playground import answers, offer, page, reading, writing
from onechange.ui.playground.answers import Lines, answered, said
from onechange.ui.playground.asked import Chosen, Kind, Read, Write, decoded
from onechange.ui.playground.limits import Limits
from onechange.ui.playground.models import Held, Models
from onechange.ui.playground.workers import Workers
from onechange.ui.studies import Studies

GONE = 499
"""The status, which nobody sees, of an answer to whoever has gone away."""


class Playground:
    """The pages of all studies share the models in memory and the threads."""

    def __init__(self, studies: Studies, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.workers = Workers(self.limits)
        self.held = Models(self.limits)
        self._studies = studies

    def routes(self) -> list[BaseRoute]:
        """Everything below `/studies/{name}/playground`."""
        place = "/studies/{name}/playground"
        posts = {"load": self.load, "write": self.write, "surprise": self.surprise}
        return [
            Route(place, self.page),
            Route(f"{place}/models", self.models),
            *(Route(f"{place}/{what}", answer, methods=["POST"]) for what, answer in posts.items()),
        ]

    def close(self) -> None:
        """End whatever is being written, at once, so that nobody has to wait for it when the server ends."""
        self.workers.close()

    async def page(self, request: Request) -> Response:
        """The page, which asks for all else itself."""

        async def answer() -> Response:
            text = await self.workers.once(
                lambda: page.html(request.path_params["name"], self._folder(request))
            )
            headers = {**answers.HEADERS, "Content-Security-Policy": page.POLICY}
            return HTMLResponse(text.encode("utf-8", "replace"), headers=headers)

        return await answered(answer)

    async def models(self, request: Request) -> Response:
        """See `onechange.ui.playground.offer`."""

        async def answer() -> Response:
            return said(await self.workers.read(lambda: offer.offer(self._folder(request), self.limits)))

        return await answered(answer)

    async def load(self, request: Request) -> Response:
        """Read a model into memory, so that it writes at once when it is asked to."""

        async def answer() -> Response:
            asked = await self._asked(request, Chosen)
            with self.workers.place():
                held = await self._model(request, asked)
            return said({"step": held.trained.step, "vocabulary": len(held.tokens)})

        return await answered(answer)

    async def write(self, request: Request) -> Response:
        """See `onechange.ui.playground.writing`."""

        async def answer() -> Response:
            asked = await self._asked(request, Write)
            asked.check(self.limits)
            with ExitStack() as stack:
                stack.enter_context(self.workers.place())
                held = await self._model(request, asked)
                work = await self.workers.once(writing.lines, held, asked)
                place = stack.pop_all()
            return Lines(self.workers.steps(work), place)

        return await answered(answer)

    async def surprise(self, request: Request) -> Response:
        """See `onechange.ui.playground.reading`."""

        async def answer() -> Response:
            asked = await self._asked(request, Read)
            asked.check(self.limits)
            with self.workers.place():
                held = await self._model(request, asked)
                work = await self.workers.once(reading.surprise, held, asked)
                async with aclosing(self.workers.steps(work)) as steps:
                    async for found in steps:
                        if found is not None:
                            return said(found)
                        if await request.is_disconnected():
                            break
            return Response(status_code=GONE)

        return await answered(answer)

    def _folder(self, request: Request) -> Path:
        return self._studies.path(request.path_params["name"])

    async def _asked(self, request: Request, kind: type[Kind]) -> Kind:
        return decoded(await answers.body(request, self.limits.body), kind)

    async def _model(self, request: Request, asked: Chosen) -> Held:
        return await self.workers.read(
            lambda: self.held.get(offer.run(self._folder(request), asked), asked.which)
        )
