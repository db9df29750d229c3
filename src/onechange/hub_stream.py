"""The beginning of a large file on the hub: read as a stream, kept on disk, taken up again where it stopped.

The hub client's own downloads fetch whole files. This asks for ranges and stops when the reader does, through
the client's session, so that its endpoint (``HF_ENDPOINT``), token and offline mode hold here too.
"""

import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from onechange import __version__
from onechange.plain_text import blocks

RANGE = 1 << 21
"""Bytes asked for in one request: what a reader that stops early leaves unread is less than that."""
ATTEMPTS = 3
"""Requests in a row that bring no byte before giving up."""
WAIT = 0.5
"""Seconds before a further attempt; doubled by each that brings nothing."""
_PASSING = {408, 429, 500, 502, 503, 504}


class HubError(OSError):
    """The hub could not be read; the message says why, in one line."""


@dataclass(frozen=True)
class HubFile:
    """A file of a data set on the hub at a fixed revision, so that its bytes never change."""

    dataset: str
    revision: str
    name: str

    @property
    def url(self) -> str:
        """Its address at the endpoint that the hub client uses now."""
        client = _client()
        # the client reads the variable once, when it is imported; a later change is meant too
        endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or None
        return client.hf_hub_url(
            self.dataset, self.name, repo_type="dataset", revision=self.revision, endpoint=endpoint
        )

    def kept(self, cache: Path) -> tuple[Path, Path]:
        """Where ``cache`` holds all of it, and where a beginning of it."""
        whole = cache / "hub" / self.dataset.replace("/", "--") / self.revision / self.name
        return whole, whole.with_name(whole.name + ".partial")


def read(file: HubFile, cache: Path | None, expected: int | None = None) -> Iterator[bytes]:
    """The bytes of ``file`` from its beginning, first those that ``cache`` holds, then from the network.

    What arrives is kept at once. ``expected``: about how many bytes will be wanted, for the progress bar.
    Raises `HubError`.
    """
    if cache is None:
        yield from _download(file.url, 0, expected)
        return
    whole, beginning = file.kept(cache)
    if whole.is_file():
        yield from blocks(whole)
        return
    try:
        whole.parent.mkdir(parents=True, exist_ok=True)
        beginning.touch()
        kept = beginning.open("r+b")
    except OSError as error:
        raise HubError(
            f"cannot write the cache folder {cache} ({error}); XDG_CACHE_HOME names another"
        ) from error
    # Two processes may do this at once: the bytes at an offset are the same whoever writes them, and each
    # starts within what is there, so that the file is a beginning of the whole at every instant.
    with kept:
        while block := kept.read(RANGE):
            yield block
        with closing(_download(file.url, kept.tell(), expected)) as chunks:
            for chunk in chunks:
                kept.write(chunk)
                kept.flush()
                yield chunk
    with suppress(FileNotFoundError):  # another process was first
        beginning.replace(whole)


def _client() -> ModuleType:
    """The hub's own client, which comes with an extra; a `HubError` says which."""
    try:
        import huggingface_hub
    except ImportError:
        raise HubError(
            "the hub is read with huggingface-hub, which is not installed: pip install 'onechange[hub]'"
        ) from None
    return huggingface_hub


def _download(url: str, offset: int, expected: int | None):
    transfer = _Transfer(url, offset)
    fruitless = 0
    with _progress(offset, expected) as advance:
        while not transfer.ended:
            before = transfer.offset
            try:
                for chunk in transfer.request():
                    advance(len(chunk))
                    yield chunk
                if transfer.offset == before and not transfer.ended:
                    raise _Answer(503, "it answered with nothing")
            except _network_errors() as error:
                fruitless = 0 if transfer.offset > before else fruitless + 1
                if fruitless == ATTEMPTS or not _may_pass(error):
                    raise HubError(_reason(url, transfer.offset, error)) from error
                time.sleep(WAIT * 2**fruitless)


class _Transfer:
    """Successive requests for the rest of the bytes at ``url``."""

    def __init__(self, url: str, offset: int) -> None:
        self.url = url
        self.offset = offset
        self.ended = False

    def request(self) -> Iterator[bytes]:
        """One request's bytes from `offset` on; sets `ended` where they reach the end of the file."""
        from huggingface_hub import constants, get_session
        from huggingface_hub.utils import build_hf_headers

        headers = {
            **build_hf_headers(library_name="onechange", library_version=__version__),
            "range": f"bytes={self.offset}-{self.offset + RANGE - 1}",
            "accept-encoding": "identity",  # ranges of a compressed body would be other bytes
        }
        timeout = constants.HF_HUB_DOWNLOAD_TIMEOUT
        with get_session().stream("GET", self.url, headers=headers, timeout=timeout) as response:
            where, _, total = response.headers.get("content-range", "").removeprefix("bytes ").partition("/")
            size = int(total) if total.isdigit() else None
            if response.status_code == 416 and size == self.offset:
                self.ended = True
                return
            _check(response, self.offset, where)
            # a server that does not know ranges sends the whole file
            skip = self.offset if response.status_code == 200 else 0
            before = self.offset
            for chunk in response.iter_bytes():
                wanted = chunk[skip:]
                skip -= len(chunk) - len(wanted)
                self.offset += len(wanted)
                if wanted:
                    yield wanted
            if skip:
                raise _Answer(
                    response.status_code, f"it answered with fewer than the {before:,} bytes read before"
                )
            if size is not None:
                self.ended = self.offset >= size
            else:
                self.ended = response.status_code == 200 or self.offset - before < RANGE


def _check(response: Any, offset: int, where: str) -> None:
    status = response.status_code
    if status not in (200, 206):
        message = response.headers.get("x-error-message") or response.reason_phrase
        raise _Answer(status, f"it answered {status} ({message})")
    if response.headers.get("content-type", "").startswith("text/html"):
        raise _Answer(status, "it answered with a web page instead of the file")
    if status == 206 and where.partition("-")[0] != str(offset):
        raise _Answer(status, f"asked for bytes from {offset} on, it answered with bytes {where or '?'}")


class _Answer(OSError):
    """An answer that is not the bytes asked for."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _network_errors() -> tuple[type[Exception], ...]:
    # Which http library raises depends on the client's version; the client's own error is one of both kinds.
    from huggingface_hub.errors import HfHubHTTPError

    return cast(tuple[type[Exception], ...], HfHubHTTPError.__bases__)


def _may_pass(error: Exception) -> bool:
    from huggingface_hub.errors import OfflineModeIsEnabled

    if isinstance(error, _Answer):
        return error.status in _PASSING
    return not isinstance(error, OfflineModeIsEnabled)


def _reason(url: str, offset: int, error: Exception) -> str:
    from huggingface_hub.errors import OfflineModeIsEnabled

    why = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, OfflineModeIsEnabled):
        why = "the hub client is in offline mode (HF_HUB_OFFLINE)"
    kept = f" after {offset:,} bytes" if offset else ""
    return f"{url} could not be read{kept}: {why}"


@contextmanager
def _progress(offset: int, expected: int | None):
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("from the hub", total=expected, completed=offset)
        yield lambda count: progress.advance(task, count)
