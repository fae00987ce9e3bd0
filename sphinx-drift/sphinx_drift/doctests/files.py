"""Find the files of a package, and check them in a process that may end as it likes."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.compare.outcomes import Kind, Outcome, PageResult
from sphinx_drift.doctests.examples import check_examples, module_tests, outcome_of_error
from sphinx_drift.source.docstrings import find_tests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from sphinx_drift.run_and_judge import Settings

    _File = tuple[str, str]
    """A file's name, and that of its module; no other name for a text."""


def find_files(name: str) -> list[_File]:
    """Return a text file, or the modules of a package that may have examples.

    Nothing is imported here: an import may do anything, and end this process too.

    Raises:
        ValueError: If there is neither a file nor a module of that name.

    """
    if Path(name).is_file():
        return [(name, "")]
    first, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(first)
    except (ImportError, ValueError):
        spec = None
    modules: dict[Path, str] = {}
    if spec:
        module = str(Path(str(spec.origin)).with_suffix(""))
        for package in map(Path, spec.submodule_search_locations or [module]):
            inside = package.joinpath(*rest)
            for path in sorted(inside.rglob("*.py")) or [inside.with_suffix(".py")]:
                parts = path.relative_to(package.parent).with_suffix("").parts
                if path.is_file():
                    modules[path] = ".".join(parts).removesuffix(".__init__")
    if not modules:
        raise ValueError(f"there is neither a file nor a module {name!r} here")
    return [
        (str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path), module)
        for path, module in modules.items()
        if b">>> " in path.read_bytes()
    ]


def check_all(
    files: Sequence[_File], settings: Settings, flags: int, *, isolated: bool
) -> Iterator[PageResult]:
    """Check files in another process, and those after one that ends it in a new one.

    It may end with status 0, which must not pass for a success.
    """
    context = multiprocessing.get_context("spawn")
    waiting = list(files)
    while waiting:
        batch = waiting[:1] if isolated else waiting.copy()
        reader, writer = context.Pipe(duplex=False)
        process = context.Process(target=_in_child, args=(batch, settings, flags, writer))
        process.start()
        writer.close()
        try:
            for file, _ in batch:
                del waiting[0]
                result = _receive(reader, process)
                if result is None:
                    process.join(1)
                    yield _ended(file, process.exitcode)
                    break
                yield result
        finally:
            process.kill()
            process.join()


def _receive(reader: Connection, process: BaseProcess) -> PageResult | None:
    """Return the next result; None if the process has ended, though what it forked may live."""
    while not reader.poll(1):
        if not process.is_alive() and not reader.poll():
            return None
    try:
        result: PageResult = reader.recv()
    except (EOFError, OSError):
        return None
    return result


def _ended(file: str, status: int | None) -> PageResult:
    message = f"the process ended with status {status} before its examples did"
    return PageResult(file, (Outcome(Kind.DEAD_KERNEL, 1, message=message),), examples=True)


def _in_child(files: Sequence[_File], settings: Settings, flags: int, writer: Connection) -> None:
    """Check files in this process, and send what came of each."""
    os.dup2(2, 1)  # what modules print is no part of the report
    for file, module in files:
        writer.send(_check(file, module, settings, flags))


def _check(file: str, module: str, settings: Settings, flags: int) -> PageResult:
    if module and Path(file).stem == "__main__":
        unchecked = Outcome(Kind.UNCHECKED, 1, message="to import it would run it")
        return PageResult(file, (unchecked,), examples=True)
    try:
        if module:
            tests = module_tests(importlib.import_module(module))
        else:
            tests = find_tests(Path(file), Path(file).read_text("utf-8"))
    except BaseException as error:  # noqa: BLE001 - an import may raise SystemExit too
        return PageResult(file, (outcome_of_error(error, Kind.UNREADABLE),), examples=True)
    try:
        return check_examples(file, tests, settings, flags=flags)
    except Exception as error:  # noqa: BLE001 - an error here must never pass for a success
        return PageResult(file, (outcome_of_error(error, Kind.COULD_NOT_CHECK),), examples=True)
