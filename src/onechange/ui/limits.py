"""How much the server takes on: of one client, of all together, and for how long."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bytes, seconds and counts. What goes beyond is refused with a line that says so; nothing is left hanging."""

    head: int = 16 * 1024
    """Bytes of a request's line and headers."""
    body: int = 64 * 1024
    """Bytes of a request's body, however it is sent."""
    seconds: float = 10.0
    """For a client to send its request, and to take what is sent to it."""
    answers: int = 200
    """Requests that are answered at a time, besides streams."""
    streams: int = 256
    """Event streams at a time: pages that are open."""
    connections: int = 512
    """Open connections, whatever they do; more are closed at once."""
    stream_seconds: float = 3600.0
    """The life of an event stream; the page then opens another."""
