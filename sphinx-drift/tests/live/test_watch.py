"""A save is seen however it is written, and none is lost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from sphinx_drift.live.watch import Watch

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "part").mkdir()
    (tmp_path / "page.md").write_text("before")
    (tmp_path / "part" / "page.md").write_text("before")
    return tmp_path


class TestChanges:
    def test_nothing_changed(self, book: Path) -> None:
        assert Watch([book]).changed() == []

    def test_a_file_written_into(self, book: Path) -> None:
        watch = Watch([book])
        (book / "part" / "page.md").write_text("after!")
        assert watch.changed() == [str(book / "part" / "page.md")]
        assert watch.changed() == []

    def test_a_file_renamed_over_another(self, book: Path) -> None:
        watch = Watch([book])
        (book / ".page.md.new").write_text("after!")
        (book / ".page.md.new").rename(book / "page.md")
        assert watch.changed() == [str(book / "page.md")]

    def test_the_same_length_at_the_same_time(self, book: Path) -> None:
        """A new file has another place on the disk, whatever its time says."""
        watch = Watch([book])
        (book / ".new").write_text("after?")
        times = (book / "page.md").stat()
        (book / ".new").rename(book / "page.md")
        os.utime(book / "page.md", ns=(times.st_atime_ns, times.st_mtime_ns))
        assert watch.changed() == [str(book / "page.md")]

    def test_files_that_come_and_go(self, book: Path) -> None:
        watch = Watch([book])
        (book / "new.md").touch()
        (book / "page.md").unlink()
        assert watch.changed() == [str(book / "new.md"), str(book / "page.md")]

    def test_saves_while_nobody_looks_come_together(self, book: Path) -> None:
        watch = Watch([book])
        (book / "page.md").write_text("1")
        (book / "page.md").write_text("22")
        (book / "part" / "page.md").write_text("333")
        assert watch.changed() == [str(book / "page.md"), str(book / "part" / "page.md")]

    def test_a_single_file_is_watched(self, book: Path) -> None:
        watch = Watch([book / "page.md"])
        (book / "part" / "page.md").write_text("other")
        (book / "page.md").write_text("after!")
        assert watch.changed() == [str(book / "page.md")]


class TestNoise:
    @pytest.mark.parametrize("name", [".page.md.swp", "page.md~", "4913.tmp", "x.pyc"])
    def test_what_editors_keep_is_none(self, book: Path, name: str) -> None:
        watch = Watch([book])
        (book / name).touch()
        assert watch.changed() == []

    def test_what_builds_write_is_none(self, book: Path) -> None:
        output = book / "_build"
        output.mkdir()
        watch = Watch([book], without=[output])
        (output / "page.html").touch()
        assert watch.changed() == []


class TestWhatCannotBeRead:
    def test_links_in_a_loop(self, book: Path) -> None:
        (book / "one").symlink_to("two")
        (book / "two").symlink_to("one")
        watch = Watch([book])
        (book / "page.md").write_text("after!")
        assert watch.changed() == [str(book / "page.md")]

    def test_links_to_the_folder_they_are_in(self, book: Path) -> None:
        """Each would double the ways to every file, forty times over."""
        for name in ("one", "two"):
            (book / "part" / name).symlink_to("..")
        watch = Watch([book])
        (book / "page.md").write_text("after!")
        (changed,) = watch.changed()
        assert os.path.realpath(changed) == str(book / "page.md")

    def test_a_folder(self, book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Root can read any folder, so the refusal is the system's words alone."""
        scan = os.scandir

        def refuse(path: str) -> object:
            if path == str(book / "part"):
                raise PermissionError(13, "Permission denied", path)
            return scan(path)

        monkeypatch.setattr(os, "scandir", refuse)
        watch = Watch([book])
        (book / "page.md").write_text("after!")
        assert watch.changed() == [str(book / "page.md")]
