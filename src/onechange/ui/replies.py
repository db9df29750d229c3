"""Short answers in one plain line, sent before any route is asked."""

from starlette.types import Send


async def line(send: Send, status: int, text: str, *headers: tuple[str, str]) -> None:
    """Answer with ``text`` and a line feed. Whatever else the client sends is not waited for."""
    body = f"{text}\n".encode("utf-8", "replace")
    told = [
        ("content-type", "text/plain; charset=utf-8"),
        ("content-length", str(len(body))),
        ("connection", "close"),
        *headers,
    ]
    encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in told]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
