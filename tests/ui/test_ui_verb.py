"""`onechange ui` on the command line: what a person can get wrong, and Ctrl-C."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from small_servers import HOST, ask
from small_studies import files, onechange


def test_what_is_no_folder_is_one_line(tmp_path: Path):
    found = onechange("ui", tmp_path / "none")
    assert found.status == 2 and found.out == ""
    assert (
        found.err.startswith(f"onechange: {tmp_path / 'none'}: no such folder; ")
        and found.err.count("\n") == 1
    )
    (tmp_path / "file").write_text("")
    assert "file: is no folder; " in onechange("ui", tmp_path / "file").err


def test_without_the_extra_it_says_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    found = onechange("ui", tmp_path)
    assert (found.status, found.out) == (2, "")
    assert found.err == "onechange: the server needs starlette and uvicorn: pip install 'onechange[ui]'\n"


def test_a_port_in_use_is_one_line(tmp_path: Path):
    with socket.create_server((HOST, 0)) as taken:
        number = taken.getsockname()[1]
        found = onechange("ui", tmp_path, "--port", number)
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith(
        f"onechange: --host 127.0.0.1 --port {number}: another program listens there; "
    )
    assert found.err.count("\n") == 1


@pytest.mark.parametrize("host", ["203.0.113.1", "no.such.host.invalid", "", "a" * 300, "é" * 100])
def test_an_address_that_is_not_ours_is_one_line(tmp_path: Path, host: str):
    found = onechange("ui", tmp_path, "--host", host, "--port", "0")
    assert found.status == 2 and found.err.startswith(f"onechange: --host {host} --port 0: ")
    assert found.err.count("\n") == 1


@pytest.mark.parametrize("port", ["-1", "65536", "x"])
def test_a_port_that_is_none_is_one_line(tmp_path: Path, port: str):
    found = onechange("ui", tmp_path, "--port", port)
    assert found.status == 2 and "--port" in found.err and found.err.count("\n") == 1


def test_it_serves_until_ctrl_c_and_writes_nothing(finished: Path):
    before = files(finished, ())
    process = subprocess.Popen(
        [sys.executable, "-c", "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
         "from onechange.cli import main; main()", "ui", str(finished), "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout and process.stderr
    with process:
        address = process.stdout.readline().strip()
        number = int(address.rstrip("/").rpartition(":")[2])
        assert address == f"http://127.0.0.1:{number}/"
        with socket.create_connection((HOST, number), timeout=60) as client:  # a page that stays open
            client.sendall(f"GET /studies/out/events HTTP/1.1\r\nHost: {HOST}:{number}\r\n\r\n".encode())
            assert b"200 OK" in client.recv(65536)
            os.killpg(process.pid, signal.SIGINT)
            assert process.wait(30) == 0
        assert process.stderr.read() == "Ctrl-C ends it.\n"
    with pytest.raises(ConnectionError):
        ask(number, "/")
    assert files(finished, ()) == before
