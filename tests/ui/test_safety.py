"""Who may ask, and for what; and that nothing but the studies of the folder is ever reached."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from onechange.ui.safety import Access
from onechange.ui.server import Server
from onechange.ui.sheets import address
from onechange.ui.studies import Studies
from small_servers import ask, port, say, serving
from small_studies import files

SECRET = "a secret that lies outside"


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory, finished: Path) -> Iterator[int]:
    """The port of a server over a folder with one study, whose neighbours hold secrets."""
    root = tmp_path_factory.mktemp("root")
    (root / "secret.txt").write_text(SECRET)
    (root / "studies").symlink_to(finished)  # the folder itself may be a link: that is its owner's choice
    inside = tmp_path_factory.mktemp("inside")
    (inside / "study").mkdir()
    for path in finished.rglob("*"):
        place = inside / "study" / path.relative_to(finished)
        place.mkdir(exist_ok=True) if path.is_dir() else place.write_bytes(path.read_bytes())
    (inside / "secret.txt").write_text(SECRET)
    (inside / "linked").symlink_to(root)
    (inside / "linked-study").symlink_to(finished)
    with serving(inside) as server:
        yield port(server)


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}", "LOCALHOST:{port}"])
def test_its_own_names_are_served(where: int, host: str):
    assert ask(where, "/", f"Host: {host.format(port=where)}").status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "localhost", "localhost:1", "127.0.0.1.evil.example:{port}",
     "localhost:{port}@evil.example", "localhost:{port}:{port}", "", "[::1]", "127.0.0.1:0{port}"],
)  # fmt: skip
def test_a_name_that_somebody_pointed_here_is_not(where: int, host: str):
    found = ask(where, "/", f"Host: {host.format(port=where)}")
    assert found.status == 403
    assert found.text.count("\n") == 1 and "address" in found.text


def test_two_hosts_and_none_are_no_request(where: int):
    host = f"Host: localhost:{where}"
    assert ask(where, "/", host, host).status == 400
    assert b" 400 " in say(where, b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert b" 400 " in say(where, b"GET / HTTP/1.0\r\n\r\n")


def test_port_80_may_be_left_out():
    assert Access(80).is_ours("localhost") and Access(80).is_ours("[::1]") and Access(80).is_ours("[::1]:80")
    assert not Access(80).is_ours("::1")


@pytest.mark.parametrize("path", ["/", "/studies/study", "/studies/none/", "/static/live.js", "/nothing"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "FOO"])
def test_nothing_can_be_changed(where: int, path: str, method: str):
    found = ask(where, path, f"Origin: http://127.0.0.1:{where}", method=method)
    assert (found.status, found.text) == (405, "Nothing can be changed here.\n")
    assert found.headers["allow"] == "GET, HEAD"


PLAYED = "/studies/none/playground/write"


@pytest.mark.parametrize(
    "headers",
    [
        [],
        ["Origin: http://evil.example"],
        ["Origin: null"],
        ["Origin: https://127.0.0.1:{port}"],
        ["Origin: http://localhost:{port}"],  # as good as ours, but not the page that was opened
        ["Sec-Fetch-Site: cross-site"],
        ["Sec-Fetch-Site: same-site"],
        ["Sec-Fetch-Site: none"],
        ["Sec-Fetch-Site: same-origin", "Origin: http://evil.example"],
        ["Sec-Fetch-Site: cross-site", "Origin: http://127.0.0.1:{port}"],
    ],
)
def test_only_our_own_pages_may_ask_for_work(where: int, headers: list[str]):
    found = ask(where, PLAYED, *(line.format(port=where) for line in headers), method="POST")
    assert (found.status, found.text) == (403, "Only the server's own pages may ask for this.\n")


@pytest.mark.parametrize("header", ["Origin: http://127.0.0.1:{port}", "Sec-Fetch-Site: same-origin"])
def test_our_own_pages_come_through(where: int, header: str):
    found = ask(where, PLAYED, header.format(port=where), method="POST")
    assert found.status in (400, 404, 415), "what is asked for there is the playground's to judge"


def test_other_sites_may_link_here_but_load_nothing(where: int):
    follows = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]
    assert ask(where, "/", *follows).status == 200
    assert ask(where, "/", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors").status == 403
    assert ask(where, "/", *follows[:2], "Sec-Fetch-Dest: iframe").status == 403


@pytest.mark.parametrize("path", ["/", "/static/live.js", "/studies/none/", "/nothing", "/studies/study/"])
def test_every_answer_has_its_headers(where: int, path: str):
    found = ask(where, path)
    policy = found.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ") and "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in re.search("script-src [^;]*", policy)[0]  # type: ignore[index]
    assert found.headers["x-content-type-options"] == "nosniff"
    assert found.headers["referrer-policy"] == "no-referrer"
    assert found.headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in found.headers and "server" not in found.headers


def test_every_refusal_has_them_too(where: int):
    for found in (ask(where, "/", "Host: evil.example"), ask(where, "/", method="PUT")):
        assert found.headers["content-security-policy"].startswith("default-src 'none'")
        assert found.headers["x-content-type-options"] == "nosniff"


OUTSIDE = [
    "../secret.txt", "..%2fsecret.txt", "..%2Fsecret.txt", "%2e%2e/secret.txt", "%2e%2e%2fsecret.txt",
    "%252e%252e%252fsecret.txt", "..%5csecret.txt", "..\\secret.txt", "..%c0%afsecret.txt", "....//secret.txt",
    "%00", "study%00", "study%00.html", "secret.txt", "study/../../secret.txt", "%2fetc%2fpasswd", "/etc/passwd",
    "study/start.json", "study/%2e%2e/secret.txt", "linked", "linked/", "linked-study", "linked-study/", ".", "..",
    "./", "../", "%2e", "study%2fstart.json", "Study", "study%20", "study.", "%ff", "a" * 9000,
]  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE, ids=[name[:30] for name in OUTSIDE])
@pytest.mark.parametrize("before", ["/studies/", "/static/", "/"])
def test_no_name_leads_anywhere_else(where: int, before: str, name: str):
    found = ask(where, before + name)
    assert found.status == 404, found.text
    assert SECRET not in found.text and "root:" not in found.text and "/" not in found.text


@pytest.mark.parametrize(
    "path", ["/nothing", "/studies/%3Cimg%20src=x%3E/", "/studies/study/nothing", "/static/page.html"]
)
def test_whoever_is_lost_sees_the_way_back_and_a_program_a_line(where: int, path: str):
    host = f"Host: localhost:{where}"
    page, told = ask(where, path, host, "Accept: text/html,*/*"), ask(where, path, host)
    assert (page.status, told.status) == (404, 404)
    assert '<a href="/">All studies</a>' in page.text and "<img" not in page.text
    assert told.text.startswith("There is no") and told.text.count("\n") == 1


def test_the_playground_is_found_with_a_slash_too(where: int):
    host = f"Host: localhost:{where}"
    found = ask(where, "/studies/study/playground/", host)
    assert found.status == 307 and found.headers["location"] == "/studies/study/playground"
    assert ask(where, "/studies/study/playground", host).status == 200


def test_a_link_inside_a_study_is_not_followed(tmp_path: Path, studies: Path):
    (tmp_path / "secret.toml").write_text(SECRET)
    (studies / "first/study.toml").unlink()
    (studies / "first/study.toml").symlink_to(tmp_path / "secret.toml")
    with serving(studies) as server:
        found = ask(port(server), "/")
    assert found.status == 200 and SECRET not in found.text
    assert "leads out of" in found.text and str(tmp_path) not in found.text


NAMES = ["a b", "100%", "#1?x=y&z", "é", "<b>", "a;b", "\\", "'\"", "..%2f", "\n", "\u202e", ":", "&amp;"]


def test_a_study_may_be_called_anything(tmp_path: Path, finished: Path):
    names = [*NAMES, os.fsdecode(b"no\xffutf8")]
    for name in names:
        _copy(finished, tmp_path).rename(tmp_path / "studies" / name)
    with serving(tmp_path / "studies") as server:
        index = ask(port(server), "/")
        links = re.findall(r'href="(/studies/[^"]*)"', index.text)
        assert sorted(links) == sorted(map(address, names))
        assert all(re.fullmatch(r"/studies/[\w%.~-]+/", link, re.ASCII) for link in links)
        assert "&lt;b&gt;" in index.text and "<b><" not in index.text and "&amp;amp;" in index.text
        for link in links:
            assert ask(port(server), link[:-1]).headers["location"] == link
            assert ask(port(server), link + "events", method="HEAD").status == 200


def _copy(study: Path, folder: Path) -> Path:
    (folder / "studies").mkdir(exist_ok=True)
    for path, content in files(study, ()).items():
        place = folder / "copied" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return folder / "copied"


@pytest.fixture(scope="module")
def afar(finished: Path) -> Iterator[Server]:
    """A server that listens on every address of the machine."""
    with serving(finished.parent, host="0.0.0.0") as server:
        yield server


def test_from_afar_a_token_is_needed(afar: Server):
    where, token = port(afar), afar.address.partition("?token=")[2]
    assert len(token) >= 32 and token not in repr(Studies)
    wrong = [token[:-1], token + "x", token.swapcase(), "", "é", "%00", f"{token}&token={token}"]
    for path in [
        "/",
        "/events",
        "/static/live.js",
        "/nothing",
        *(f"/?token={quote(t, '&=')}" for t in wrong),
    ]:
        found = ask(where, path, "Host: anything.example")
        assert (found.status, found.text.count("\n")) == (403, 1), path
        assert "set-cookie" not in found.headers and token not in found.text
    for cookie in (f"onechange-{where}={token}x", f"other={token}", "onechange-1=", f"onechange-{where}"):
        assert ask(where, "/", f"Cookie: {cookie}").status == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(afar: Server):
    where, token = port(afar), afar.address.partition("?token=")[2]
    found = ask(where, f"/studies/out/?token={token}")
    cookie, *marks = found.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} == set(marks)
    assert 'content="0;url=/studies/out/"' in found.text and token not in found.text
    assert ask(where, "/", f"Cookie: a=b; {cookie}; c=d").status == 200
    assert ask(where, "/", f"Cookie: {cookie}", method="POST").status == 405


@pytest.mark.parametrize(
    "path", ["//evil.example/", "///evil.example", "/\\evil.example", "/%5cevil.example"]
)
def test_the_way_on_stays_here(afar: Server, path: str):
    found = ask(port(afar), f"{path}?token={afar.address.partition('?token=')[2]}")
    target = re.search('url=([^"]*)"', found.text)
    assert target and re.match(r"/[^/\\]", target[1]), found.text
