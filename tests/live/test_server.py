"""The server gives a page its script, and gives nothing that isn't in its folder."""

from __future__ import annotations

import http.client
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from selfattn.live.server import HOST, Server, digest, with_script

if TYPE_CHECKING:
    from collections.abc import Iterator
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
def server(root: Path) -> Iterator[Server]:
    with Server(root, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def get(server: Server, path: str, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(HOST, server.server_port)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in {"Host": f"{HOST}:{server.server_port}", **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


class Events:
    """What a browser hears."""

    def __init__(self, server: Server, path: str, shown: str) -> None:
        self.connection = http.client.HTTPConnection(HOST, server.server_port, timeout=60)
        self.connection.request("GET", f"/-live/events?path={path}&digest={shown}")
        self.answer = self.connection.getresponse()

    def next(self) -> tuple[str, dict[str, Any]]:
        name = self.answer.readline().decode().removeprefix("event: ").strip()
        data = self.answer.readline().decode().removeprefix("data: ")
        self.answer.readline()
        return name, json.loads(data)

    def close(self) -> None:
        self.answer.close()
        self.connection.close()


class TestFiles:
    @pytest.mark.parametrize("path", ["/", "/index.html", "/part/", "/index.html?x=1"])
    def test_a_page_has_the_script(self, server: Server, path: str) -> None:
        assert get(server, path) == (200, with_script(PAGE))

    def test_the_output_is_left_as_it_is(self, server: Server, root: Path) -> None:
        get(server, "/")
        assert (root / "index.html").read_bytes() == PAGE

    def test_other_files_are_sent_as_they_are(self, server: Server) -> None:
        assert get(server, "/style.css") == (200, b"p {}")

    def test_the_script_is_there(self, server: Server) -> None:
        status, body = get(server, "/-live/page.js")
        assert status == 200
        assert b"EventSource" in body

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
        ],
    )
    def test_nothing_else_is(self, server: Server, path: str) -> None:
        status, body = get(server, path)
        assert status == 404
        assert b"secret" not in body.replace(b"secret.txt", b"")

    def test_only_under_this_machines_name(self, server: Server) -> None:
        """A site elsewhere can have its name lead here, and would read the book."""
        assert get(server, "/", Host="evil.example:80")[0] == 403

    def test_only_from_this_machine(self, server: Server) -> None:
        assert server.server_address[0] == "127.0.0.1"


def test_a_page_without_an_end_has_the_script_too() -> None:
    assert b"<script" in with_script(b"<p>here")


class TestEvents:
    def test_a_build_is_told(self, server: Server) -> None:
        events = Events(server, "/", digest(PAGE))
        assert events.next() == ("built", {"failures": []})
        said = {"failures": [{"title": "page.md:1: drift", "text": "- 1\n+ 2"}]}
        server.tell(said)
        assert events.next() == ("built", said)
        events.close()

    def test_one_who_comes_later_hears_the_last_build(self, server: Server) -> None:
        said = {"failures": [{"title": "x", "text": "y"}]}
        server.tell(said)
        events = Events(server, "/", digest(PAGE))
        assert events.next() == ("built", said)
        events.close()

    def test_only_a_page_that_changed_is_loaded_again(self, server: Server, root: Path) -> None:
        here, there = Events(server, "/", digest(PAGE)), Events(server, "/part/", digest(PAGE))
        assert here.next()[0] == there.next()[0] == "built"
        (root / "index.html").write_bytes(PAGE.replace(b"here", b"there"))
        server.tell({"failures": []})
        assert here.next() == ("changed", {})
        assert there.next()[0] == "built"
        here.close()
        there.close()

    def test_a_build_between_page_and_script_is_not_lost(self, server: Server) -> None:
        events = Events(server, "/", digest(b"what was served a moment ago"))
        assert events.next() == ("changed", {})
        events.close()

    def test_a_page_that_is_gone_is_waited_for(self, server: Server, root: Path) -> None:
        (root / "index.html").unlink()
        events = Events(server, "/", digest(PAGE))
        assert events.next()[0] == "built"
        (root / "index.html").write_bytes(b"<p>new")
        server.tell({"failures": []})
        assert events.next()[0] == "changed"
        events.close()
