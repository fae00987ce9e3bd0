"""The server gives a page its script, and gives nothing that isn't in its folder."""

from __future__ import annotations

import http.client
import json
import os
import socket
import sys
import threading
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from sphinx_drift.live import __main__ as command
from sphinx_drift.live import clients
from sphinx_drift.live.__main__ import main
from sphinx_drift.live.clients import BuildServer
from sphinx_drift.live.server import HOST, LiveHTTPServer, digest, with_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PAGE = b"<html><body><p>here</p></body></html>\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "part").mkdir(parents=True)
    (root / "index.html").write_bytes(PAGE)
    (root / "part" / "index.html").write_bytes(PAGE)
    (root / "style.css").write_bytes(b"p {}")
    (tmp_path / "secret.txt").write_text("secret")
    (root / "out.txt").symlink_to(tmp_path / "secret.txt")
    return root


@pytest.fixture
def server(root: Path) -> Iterator[LiveHTTPServer]:
    with LiveHTTPServer(root, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@contextmanager
def request(
    server: LiveHTTPServer, path: str, method: str = "GET", **headers: str
) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection(HOST, server.server_port, timeout=60)
    with closing(connection):
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": f"{HOST}:{server.server_port}", **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        with connection.getresponse() as answer:
            yield answer


def get(server: LiveHTTPServer, path: str, **headers: str) -> tuple[int, bytes]:
    with request(server, path, **headers) as answer:
        return answer.status, answer.read()


@contextmanager
def listening(server: LiveHTTPServer) -> Iterator[Callable[[], dict[str, Any]]]:
    """Be a browser; what it is given returns what it hears next."""
    with request(server, "/-live/events") as events:

        def hear() -> dict[str, Any]:
            data = events.readline().decode().removeprefix("data: ")
            events.readline()
            report: dict[str, Any] = json.loads(data)
            return report

        yield hear


class TestFiles:
    @pytest.mark.parametrize("path", ["/", "/index.html", "/part/", "/index.html?x=1"])
    def test_a_page_has_the_script(self, server: LiveHTTPServer, path: str) -> None:
        assert get(server, path) == (200, with_script(PAGE))

    def test_the_output_is_left_as_it_is(self, server: LiveHTTPServer, root: Path) -> None:
        get(server, "/")
        assert (root / "index.html").read_bytes() == PAGE

    def test_other_files_are_sent_as_they_are(self, server: LiveHTTPServer) -> None:
        assert get(server, "/style.css") == (200, b"p {}")

    def test_the_script_is_there(self, server: LiveHTTPServer) -> None:
        status, body = get(server, "/-live/page.js")
        assert status == 200
        assert b"SharedWorker" in body
        assert b"EventSource" in get(server, "/-live/worker.js")[1]

    def test_a_folder_without_its_slash_is_sent_to_it(self, server: LiveHTTPServer) -> None:
        """What the links on its page are relative to is the folder."""
        with request(server, "/part?x=1") as answer:
            assert answer.status == 301
            assert answer.headers["Location"] == "/part/?x=1"

    @pytest.mark.parametrize("method", ["GET", "HEAD"])
    def test_a_page_names_its_content(
        self, server: LiveHTTPServer, root: Path, method: str
    ) -> None:
        with request(server, "/", method) as answer:
            assert answer.headers["ETag"] == f'"{digest(PAGE)}"'
        (root / "index.html").write_bytes(b"other")
        with request(server, "/", method) as answer:
            assert answer.headers["ETag"] == f'"{digest(b"other")}"'

    @pytest.mark.parametrize(
        "path",
        [
            "/../secret.txt",
            "/part/../../secret.txt",
            "/%2e%2e/secret.txt",
            "/..%2fsecret.txt",
            "//secret.txt",
            "/out.txt",
            "/gone.html",
            "/index.html/",
            "/loop.html",
            "/%00",
            "/%ed%a0%80",
            "/" + "x" * 300,
        ],
    )
    def test_nothing_else_is(self, server: LiveHTTPServer, path: str) -> None:
        (server.root / "loop.html").symlink_to("loop.html")
        status, body = get(server, path)
        assert status == 404
        assert b"secret" not in body.replace(b"secret.txt", b"")

    def test_only_under_this_machines_name(self, server: LiveHTTPServer) -> None:
        """A site elsewhere can have its name lead here, and would read the book."""
        assert get(server, "/", Host="evil.example:80")[0] == 403
        assert get(server, "/", Host="evil.example")[0] == 403

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "localhost:8000"])
    def test_whatever_the_port(self, server: LiveHTTPServer, host: str) -> None:
        """A browser does not name port 80."""
        assert get(server, "/", Host=host)[0] == 200

    def test_only_from_this_machine(self, server: LiveHTTPServer) -> None:
        assert server.server_address[0] == "127.0.0.1"


def test_a_page_without_an_end_has_the_script_too() -> None:
    assert b"<script" in with_script(b"<p>here")


class TestEvents:
    def test_a_build_is_reported(self, server: LiveHTTPServer) -> None:
        with listening(server) as hear:
            assert hear() == {"failures": []}
            report = {"failures": [{"title": "page.md:1: drift", "text": "- 1\n+ 2"}]}
            server.send(report)
            assert hear() == report

    def test_one_who_comes_later_hears_the_last_build(self, server: LiveHTTPServer) -> None:
        report = {"failures": [{"title": "x", "text": "y"}]}
        server.send(report)
        with listening(server) as hear:
            assert hear() == report


class TestConnections:
    def test_more_of_them_wait_than_a_browser_opens(self, server: LiveHTTPServer) -> None:
        """The system keeps them until they are answered; beyond, it has browsers try again."""
        server.shutdown()
        with ExitStack() as opened:
            for _ in range(60):
                connection = opened.enter_context(socket.socket())
                connection.setblocking(False)  # noqa: FBT003 - the socket's own way
                connection.connect_ex((HOST, server.server_port))
                connection.settimeout(1)
                assert connection.getpeername()[0] == HOST


class TestPorts:
    """The command says why it can't serve; it would else go on without a server."""

    @pytest.fixture
    def book(self, tmp_path: Path) -> Path:
        (tmp_path / "conf.py").touch()
        return tmp_path

    def test_one_that_is_occupied(
        self, server: LiveHTTPServer, book: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        port = str(server.server_port)
        assert main([str(book), str(book / "out"), "--port", port]) == 2
        err = capsys.readouterr().err
        assert f"port {port}" in err
        assert "Address already in use" in err
        assert "--port" in err

    def test_one_that_is_none(self, book: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([str(book), str(book / "out"), "--port", "70000"]) == 2
        assert "port 70000" in capsys.readouterr().err


def test_where_nothing_can_be_forked_the_command_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "conf.py").touch()
    monkeypatch.delattr(os, "pidfd_open")
    assert main([str(tmp_path), str(tmp_path / "out")]) == 2
    assert "needs Linux" in capsys.readouterr().err


def test_a_project_file_that_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "conf.py").touch()
    (tmp_path / "pyproject.toml").write_text("[tool.sphinx-drift]\npreload = 3\n", "utf-8")
    assert main([str(tmp_path), str(tmp_path / "out")]) == 2
    assert "preload in [tool.sphinx-drift]" in capsys.readouterr().err


@pytest.mark.parametrize(("number", "last"), [(1, "1 failure"), (2, "2 failures")])
def test_the_last_line_counts_failures(
    number: int, last: str, capsys: pytest.CaptureFixture[str]
) -> None:
    failures = [{"title": "page.md:1: drift", "text": "- 1\n+ 2"}] * number
    command._print([], {"failures": failures, "summary": ""}, "page.md", 0.0)  # noqa: SLF001
    assert capsys.readouterr().out.rstrip().endswith(f" s: {last}")


def test_a_build_server_that_can_not_start_is_started_less_and_less_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(clients.time, "sleep", pauses.append)
    ending = [sys.executable, "-c", "raise SystemExit(3)"]
    monkeypatch.setattr(clients, "command", lambda *_: ending)
    server = BuildServer()
    for _ in range(9):
        report = server.wait(60)
        assert report == {"died": 3}
        assert server.renew_after(report)
    assert pauses[:3] == [0, pytest.approx(0.1), pytest.approx(0.3)]
    assert pauses[-1] == 10
    server.close()
