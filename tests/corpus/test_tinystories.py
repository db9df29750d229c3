"""TinyStories: the same stories from a local file and from the hub, whatever the connection does."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub import constants

from onechange import hub_stream
from onechange.corpus.tinystories import HUB_FILE
from onechange.documents import Corpus, prepare
from onechange.family import resolve

PLACE = (
    "/datasets/roneneldan/TinyStories/resolve/f54c09fd23315a6f9c86f9dc80f725de7d8f9c64/"
    "TinyStoriesV2-GPT4-train.txt"
)
STORIES = [
    f"Once upon a time, “Zoë” saw {number} 🐟.  \nShe said “{'é' * (number % 97)}” and swam home."
    for number in range(2000)
]
BODY = ("\n" + "\n<|endoftext|>\n".join(STORIES) + "\n<|endoftext|>\n").encode()


class Hub(ThreadingHTTPServer):
    """A hub that knows one file; what it does wrong is said before each test's requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.body = BODY
        self.kind = "binary/octet-stream"
        self.ranges = True
        self.shift = 0
        self.plan: list[int | str] = []
        """What to do with the next requests: break off after so many bytes, or answer with this status."""
        self.asked: list[str] = []
        self.sent = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address) -> None:
        """A reader that has enough closes the connection; that is no news."""


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        hub = self.server
        assert isinstance(hub, Hub)
        if self.path == PLACE:
            self.answer(302, b"", location="/moved" + PLACE)
        elif self.path != "/moved" + PLACE:
            self.answer(404, b"")
        else:
            hub.asked.append(self.headers["range"])
            step = hub.plan.pop(0) if hub.plan else None
            if isinstance(step, str):
                self.answer(int(step), b"")
            elif hub.ranges:
                self.answer_range(hub.body, step)
            else:
                self.answer(200, hub.body, step)

    def answer_range(self, body: bytes, stop: int | None) -> None:
        first, last = map(int, self.headers["range"].removeprefix("bytes=").split("-"))
        first += self.server.shift if isinstance(self.server, Hub) else 0
        if first >= len(body):
            self.answer(416, b"", content_range=f"bytes */{len(body)}")
        else:
            last = min(last, len(body) - 1)
            self.answer(206, body[first : last + 1], stop, content_range=f"bytes {first}-{last}/{len(body)}")

    def answer(self, status: int, body: bytes, stop: int | None = None, **headers: str) -> None:
        self.send_response(status)
        kind = self.server.kind if isinstance(self.server, Hub) else ""
        for name, value in {**headers, "content-length": str(len(body)), "content-type": kind}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body[:stop])
        self.close_connection = stop is not None
        if status in (200, 206) and isinstance(self.server, Hub):
            self.server.sent += len(body[:stop])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    server = Hub()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    point_at(server.address, monkeypatch)
    yield server
    huggingface_hub.close_session()
    server.shutdown()
    thread.join()
    server.server_close()


def point_at(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the hub client in this process use ``address``, as HF_ENDPOINT would have."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}"
    )
    monkeypatch.setattr(hub_stream, "WAIT", 0.0)
    monkeypatch.setattr(hub_stream, "RANGE", 1 << 16)
    huggingface_hub.close_session()


def tinystories(cache: Path | None, characters: int | None = 100_000) -> Corpus:
    return prepare(resolve("corpus", {"name": "tinystories", "characters": characters}), cache=cache)


def kept(cache: Path) -> bytes:
    whole, beginning = HUB_FILE.kept(cache)
    return whole.read_bytes() if whole.exists() else beginning.read_bytes()


def expected_stories(characters: int) -> list[str]:
    total, taken = 0, []
    for story in STORIES:
        taken.append(story)
        total += len(story)
        if total >= characters:
            return taken
    return taken


def in_order(corpus: Corpus) -> list[str]:
    training, validation = iter(corpus.training), iter(corpus.validation)
    count = len(corpus.training) + len(corpus.validation)
    return [next(training) if number % 10 else next(validation) for number in range(1, count + 1)]


def test_streams_no_more_than_is_wanted_and_keeps_it(hub: Hub, tmp_path: Path) -> None:
    corpus = tinystories(tmp_path)
    assert in_order(corpus) == expected_stories(100_000)
    beginning = kept(tmp_path)
    assert BODY.startswith(beginning)
    needed = BODY.index(expected_stories(100_000)[-1].encode())
    assert needed < len(beginning) <= hub.sent < needed + 3 * (1 << 16) < len(BODY)
    assert hub.asked[0] == "bytes=0-65535"
    requests = len(hub.asked)
    tinystories(tmp_path)
    tinystories(tmp_path, characters=5_000)
    assert len(hub.asked) == requests, "what is kept must not be asked for again"
    more = tinystories(tmp_path, characters=None)
    assert in_order(more) == STORIES
    assert hub.asked[requests].startswith(f"bytes={len(beginning)}-")
    assert kept(tmp_path) == BODY


def test_a_whole_file_needs_no_network(hub: Hub, tmp_path: Path) -> None:
    first = tinystories(tmp_path, characters=None)
    hub.plan = ["500"] * 100
    assert tinystories(tmp_path, characters=None) == first


@pytest.mark.parametrize("ranges", [True, False], ids=["ranges", "ranges ignored"])
def test_a_broken_connection_gives_the_same_bytes(hub: Hub, tmp_path: Path, ranges: bool) -> None:
    hub.ranges = ranges
    hub.plan = [30_001, 0, 17, 50_003]  # within characters of several bytes, too
    corpus = tinystories(tmp_path, characters=None)
    assert in_order(corpus) == STORIES
    assert kept(tmp_path) == BODY
    assert not hub.plan


def test_a_run_that_gave_up_is_taken_up_where_it_stopped(hub: Hub, tmp_path: Path) -> None:
    hub.plan = [40_000, *["503"] * 3]
    with pytest.raises(ConnectionError, match="after 40,000 bytes: it answered 503"):
        tinystories(tmp_path)
    assert kept(tmp_path) == BODY[:40_000]
    hub.asked.clear()
    assert in_order(tinystories(tmp_path)) == expected_stories(100_000)
    assert hub.asked[0] == "bytes=40000-105535"


def test_two_readers_may_share_a_cache(hub: Hub, tmp_path: Path) -> None:
    slow, slower = hub_stream.read(HUB_FILE, tmp_path), hub_stream.read(HUB_FILE, tmp_path)
    begun, too = next(slow) + next(slow), next(slower)
    assert b"".join(hub_stream.read(HUB_FILE, tmp_path)) == BODY
    assert begun + b"".join(slow) == BODY
    assert too + b"".join(slower) == BODY
    assert kept(tmp_path) == BODY


def test_a_web_page_is_not_stories(hub: Hub, tmp_path: Path) -> None:
    hub.kind = "text/html; charset=utf-8"
    with pytest.raises(ConnectionError, match="it answered with a web page"):
        tinystories(tmp_path)
    assert kept(tmp_path) == b""


def test_without_a_cache_nothing_is_kept(hub: Hub) -> None:
    assert in_order(tinystories(None)) == expected_stories(100_000)


def test_same_fingerprint_from_the_hub_and_from_a_local_file(hub: Hub, tmp_path: Path) -> None:
    local = tmp_path / "some where" / "mine.txt"
    local.parent.mkdir()
    local.write_bytes(BODY.rstrip().removesuffix(b"<|endoftext|>"))
    table = resolve("corpus", {"name": "tinystories", "path": str(local), "characters": 100_000})
    here, there = prepare(table, cache=None), tinystories(tmp_path)
    assert here.fingerprint == there.fingerprint
    assert here.training == there.training
    assert there.facts["identity"]["revision"] in PLACE


@pytest.mark.parametrize(
    ("plan", "said", "requests"),
    [
        (["500"] * 9, "it answered 500", hub_stream.ATTEMPTS),
        (["404"], "it answered 404", 1),
        (["401"], "401", 1),
    ],
)
def test_a_refusal_names_the_two_ways_out(
    hub: Hub, tmp_path: Path, plan: list[int | str], said: str, requests: int
) -> None:
    hub.plan = plan
    with pytest.raises(ConnectionError, match=said) as caught:
        tinystories(tmp_path)
    assert len(hub.asked) == requests
    names_the_ways_out(caught.value)


def names_the_ways_out(error: BaseException) -> None:
    message = str(error)
    assert "tinystories:PATH" in message
    assert "storyworld" in message
    assert "\n" not in message


def test_a_wrong_revision(hub: Hub, tmp_path: Path) -> None:
    file = hub_stream.HubFile(HUB_FILE.dataset, "0" * 40, HUB_FILE.name)
    with pytest.raises(hub_stream.HubError, match=f"{'0' * 40}/TinyStoriesV2-GPT4-train.txt .* 404"):
        list(hub_stream.read(file, tmp_path))


def test_a_server_that_answers_with_other_bytes(hub: Hub, tmp_path: Path) -> None:
    hub.plan = [40_000, *["503"] * 3]
    with pytest.raises(ConnectionError):
        tinystories(tmp_path)
    hub.body = BODY[:30_000]
    for hub.ranges, said in ((True, "416"), (False, "fewer than the 40,000 bytes")):
        with pytest.raises(ConnectionError, match=said):
            tinystories(tmp_path)
    hub.body, hub.ranges, hub.shift = BODY, True, 1
    with pytest.raises(ConnectionError, match="asked for bytes from 40000 on, it answered with bytes 40001-"):
        tinystories(tmp_path)
    assert kept(tmp_path) == BODY[:40_000]


def test_no_network(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at("http://127.0.0.1:9", monkeypatch)  # the discard port: nobody listens
    with pytest.raises(ConnectionError, match=r"127\.0\.0\.1:9.*could not be read") as caught:
        tinystories(tmp_path)
    names_the_ways_out(caught.value)


def test_offline_mode_asks_nobody_but_uses_what_is_kept(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tinystories(tmp_path)
    requests = len(hub.asked)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert tinystories(tmp_path) == first
    with pytest.raises(ConnectionError, match="HF_HUB_OFFLINE") as caught:
        tinystories(tmp_path / "empty")
    names_the_ways_out(caught.value)
    assert len(hub.asked) == requests


def test_a_cache_that_cannot_be_written(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "hub").write_text("a file where a folder should be")
    with pytest.raises(ConnectionError, match="cannot write the cache folder"):
        tinystories(tmp_path)


def test_the_hub_clients_own_endpoint_setting(hub: Hub, tmp_path: Path) -> None:
    script = (
        "import json; from onechange.documents import prepare; from onechange.source import parse;"
        "print(json.dumps(prepare({**parse('tinystories'), 'characters': 100_000}).facts))"
    )
    environment = {
        **os.environ,
        "HF_ENDPOINT": hub.address + "/",
        "XDG_CACHE_HOME": str(tmp_path),
        "NO_PROXY": "*",
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["documents"] == len(expected_stories(100_000))
    assert BODY.startswith(kept(tmp_path / "onechange"))
    assert done.stderr == "", "no progress bar where standard error is not a terminal"


def test_an_endpoint_set_after_the_client_was_imported(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    point_at("http://127.0.0.1:9", monkeypatch)
    monkeypatch.setenv("HF_ENDPOINT", hub.address)
    assert in_order(tinystories(tmp_path)) == expected_stories(100_000)


def test_text_without_separator_lines_is_not_this_format(tmp_path: Path) -> None:
    file = tmp_path / "novel.txt"
    file.write_text("It was a dark and stormy night.")
    with pytest.raises(ValueError, match=r"<\|endoftext\|>.*file:.*novel.txt"):
        prepare(resolve("corpus", {"name": "tinystories", "path": str(file)}), cache=None)


@pytest.mark.parametrize(
    ("name", "said"), [("missing.txt", "there is no such file"), ("", "this is a folder")]
)
def test_paths_that_lead_nowhere(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(OSError, match=said) as caught:
        prepare(resolve("corpus", {"name": "tinystories", "path": str(tmp_path / name)}), cache=None)
    assert str(caught.value).startswith(str(tmp_path))


def test_the_articles_corpus(shared_stories: Path) -> None:
    """The figures of the article's experiment, which an independent plain count confirms."""
    corpus = prepare(resolve("corpus", {"name": "tinystories", "path": str(shared_stories)}), cache=None)
    facts = corpus.facts
    assert (facts["documents"], facts["characters"], facts["distinct_characters"]) == (1980, 1_600_743, 74)
    assert (facts["validation_documents"], facts["validation_characters"]) == (198, 160_519)
    assert facts["training_characters"] == 1_440_224
    assert len(corpus.alphabet) == 74
    assert set("".join(corpus.validation)) <= set("".join(corpus.training))
    assert sum(map(len, corpus.validation)) + 198 * len(corpus.separator) == 160_915
    everything = prepare(
        resolve("corpus", {"name": "tinystories", "path": str(shared_stories), "characters": None}),
        cache=None,
    ).facts
    assert (everything["documents"], everything["characters"]) == (4842, 3_909_611)
    assert (everything["distinct_characters"], everything["duplicates_removed"]) == (79, 2)
