"""A page imports the package that its project has, and no other copy of it."""

from pathlib import Path

import pytest
from processes import python
from small_book import cell, write

from conftest import Book
from sphinx_drift.shapes import FOLDERS

FILES = {"mine": "mine/__init__.py", "single": "single.py", "space.there": "space/there.py"}
"""Modules of a project, one of a package without a file of its own."""


def put(folder: Path) -> Path:
    return write(folder, dict.fromkeys(FILES.values(), "NUMBER = 1\n"))


@pytest.mark.parametrize(("name", "folder"), [("mine", "src/mine"), ("other", "src")])
def test_the_folder_named_is_the_one_that_holds_the_package(
    name: str, folder: str, tmp_path: Path
) -> None:
    src = put(tmp_path / "src")
    found = FOLDERS.meaning({"mine": "src", "single": "src", "space": src}, "it", tmp_path)
    assert {*found.values()} == {src}
    with pytest.raises(ValueError, match=f"it must name the folder that holds '{name}'; got .*"):
        FOLDERS.meaning({name: folder}, "it", tmp_path)


@pytest.mark.slow
def test_another_copy_fails_though_it_prints_the_same(book: Book, tmp_path: Path) -> None:
    ours, copy = put(book.folder / "src"), put(tmp_path / "other")
    names = [module.partition(".")[0] for module in FILES]
    folders = dict.fromkeys(names[1:], "src")
    book.configure(
        "from pathlib import Path", f"drift_packages = {{'mine': Path('src'), **{folders}}}"
    )
    for name, module in zip(names, FILES, strict=True):
        book.write(f"{name}.md", cell(f"import {module}\nprint({module}.NUMBER)", "1"))
    book.write("imports-none.md", cell("print(1)", "1"))
    assert book.build(PYTHONPATH=str(ours)).status == 0
    built = book.build(PYTHONPATH=str(copy))
    assert built.status == 1
    assert built.locations == {(f"{name}.md:7", "elsewhere") for name in names}
    for name, failure in zip(sorted(names), built.failures, strict=True):
        report = " ".join(failure.text.split())
        assert f"expected `{name}` from {ours}" in report
        assert f"got it from {copy / name}" in report
    command = ("-m", "sphinx_drift", "mine.md")
    checked = [python(*command, folder=book.folder, PYTHONPATH=str(p)) for p in (ours, copy)]
    assert [done.returncode for done in checked] == [0, 2]
