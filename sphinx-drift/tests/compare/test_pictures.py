"""Pictures are compared on request, as an eye would."""

from __future__ import annotations

import base64
import io
import sys
from typing import TYPE_CHECKING

import PIL.Image
import PIL.ImageDraw
import pytest
from nbformat import v4

from sphinx_drift.compare.compare import Policy
from sphinx_drift.compare.outcomes import Kind, PageResult
from sphinx_drift.compare.pictures import decoded, differing
from sphinx_drift.judge import judge_page
from sphinx_drift.run.results import Execution
from sphinx_drift.source.printed_text import Stream
from sphinx_drift.source.read_source import Cell, Expectation, Page, read_notebook

if TYPE_CHECKING:
    from pathlib import Path

    from nbformat import NotebookNode


def drawn(*, at: int = 10, size: int = 64, mode: str = "RGB", kind: str = "png") -> bytes:
    """Return a picture of a black square on white."""
    picture = PIL.Image.new(mode, (size, size), "white" if mode == "RGB" else (0, 0, 0, 0))
    PIL.ImageDraw.Draw(picture).rectangle((at, at, at + 20, at + 20), "black")
    file = io.BytesIO()
    picture.save(file, kind)
    return file.getvalue()


def test_pictures_that_look_the_same_are() -> None:
    assert differing([drawn()], [drawn()], 1) == ""
    assert differing([drawn()], [drawn(mode="RGBA")], 1) == ""
    assert differing([drawn()], [drawn(kind="jpeg")], 0.95) == ""


def test_pictures_that_differ_are_reported_with_their_likeness() -> None:
    message = differing([drawn(), drawn()], [drawn(), drawn(at=30)], 0.9)
    assert message.startswith("picture 2 is alike by 0.")
    assert message.endswith(", wanted are 0.9")
    sizes = "picture 1 is alike by 0.0000, wanted are 0.5: documented 64 x 64 pixels, drawn 65 x 65"
    assert differing([drawn()], [drawn(size=65)], 0.5).startswith(sizes)
    assert differing([drawn()], [], 0.5) == "1 documented, 0 drawn"


def test_a_picture_that_has_no_pixels_is_an_error() -> None:
    with pytest.raises(ValueError, match="draw it as PNG or JPEG"):
        differing([decoded("<svg/>")], [drawn()], 0.5)
    assert differing([decoded("<svg/>")], [decoded("<svg/>")], 1) == ""


def test_without_the_libraries_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flip_evaluator", None)
    with pytest.raises(ModuleNotFoundError, match="pip install flip-evaluator pillow"):
        differing([drawn()], [drawn(at=30)], 0.5)


def shown(*pictures: bytes, picture: object = None) -> NotebookNode:
    """Return a notebook whose cell shows pictures, and may ask for them to be compared."""
    outputs = [
        v4.new_output("display_data", data={"image/png": base64.b64encode(each).decode()})
        for each in pictures
    ]
    metadata = {"drift": {"picture": picture}} if picture else {}
    cell = v4.new_code_cell("draw()", outputs=outputs, metadata=metadata)
    return v4.new_notebook(cells=[cell])


def checked(page: Page, notebook: NotebookNode, **options: object) -> PageResult:
    execution = Execution(frozenset({0}))
    return judge_page(page, notebook, execution, file="a", **options)  # type: ignore[arg-type]


def test_stored_pictures_are_compared_where_the_cell_asks_for_it() -> None:
    page = read_notebook(shown(drawn(), picture=0.98))
    result = checked(page, shown(drawn()))
    assert [outcome.kind for outcome in result.outcomes] == [Kind.VERIFIED]
    assert result.skipped == {}
    (outcome,) = checked(page, shown(drawn(at=30))).outcomes
    assert outcome.kind is Kind.PICTURE
    assert "wanted are 0.98" in outcome.message
    elsewhere = checked(page, shown(drawn(at=30)), policy=Policy.PORTABLE)
    assert [o.kind for o in elsewhere.outcomes] == [Kind.NOT_COMPARED, Kind.NOTHING_CHECKED]


def test_a_page_names_the_files_of_its_pictures(tmp_path: Path) -> None:
    (tmp_path / "square.png").write_bytes(drawn())
    expectation = Expectation("square.png", 1, 1, Stream.PICTURE, likeness=0.98)
    page = Page((Cell(1, 0, 1, "draw()", expectations=(expectation,)),))
    result = checked(page, shown(drawn()), folder=tmp_path)
    assert [outcome.kind for outcome in result.outcomes] == [Kind.VERIFIED]
    (tmp_path / "square.png").write_bytes(drawn(at=30))
    assert checked(page, shown(drawn()), folder=tmp_path).outcomes[0].kind is Kind.PICTURE
    (tmp_path / "square.png").unlink()
    (outcome,) = checked(page, shown(drawn()), folder=tmp_path).outcomes
    assert outcome.kind is Kind.PICTURE
    assert "square.png" in outcome.message
