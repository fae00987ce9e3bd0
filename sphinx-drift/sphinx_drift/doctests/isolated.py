"""Check the examples of each module in a process of its own, which may end as it likes."""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import os
import pickle
import pkgutil
import sys
import traceback
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sphinx_drift.compare.outcomes import Kind, Outcome, PageResult
from sphinx_drift.doctests.examples import (
    check_examples,
    examples_of_module,
    examples_of_text,
    was_skipped,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from multiprocessing.context import ForkServerContext, SpawnContext

    from sphinx_drift.doctests.examples import Examples
    from sphinx_drift.run_and_judge import Settings

    _Read = Callable[[], Examples]
    _Note = Callable[[object], object]
    _Check = Callable[[_Note], PageResult]

_LAST_LINES = 8
_RESULTS = "results"
"""The file of what a process pickled, one after another."""
_LOG = "log"
"""The file of what it wrote to its stdout and stderr."""


def check_all(names: Sequence[str], settings: Settings, flags: int = 0) -> Iterator[PageResult]:
    """Check the examples of modules, packages and text files.

    Yields:
        What came of each file that may have examples. A name without any is a failure.

    Raises:
        ValueError: If there is neither a file nor a module of a name; nothing was run.

    """
    for name, sources in {name: _sources(name) for name in names}.items():
        results = []
        for file, read in sources:
            results.append(_checked(file, partial(_check, file, read, settings, flags)))
            yield results[-1]
        if not any(result.cells or result.outcomes for result in results):
            yield PageResult(name, (Outcome(Kind.NOTHING_CHECKED, 1),), examples=True)


# Finding files ------------------------------------------------------------------------


def _sources(name: str) -> list[tuple[str, _Read]]:
    """Return a text file, or a module and all below it that may have examples, and how to read it.

    Nothing is imported here: an import may do anything, and end this process too.
    """
    if Path(name).is_file():
        return [(_relative(name), partial(examples_of_text, Path(name)))]
    first, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(first)
    except (ImportError, ValueError):
        spec = None
    for part in rest:
        inside = spec.submodule_search_locations if spec else None
        spec = PathFinder.find_spec(f"{spec.name}.{part}", inside) if spec and inside else None
    if spec is None:
        raise ValueError(f"there is neither a file nor a module {name!r} here")
    return [
        (_relative(each.origin or each.name), partial(_imported, each.name))
        for each in _below(spec)
        if _may_have(each)
    ]


def _imported(name: str) -> Examples:
    return examples_of_module(importlib.import_module(name))


def _below(spec: ModuleSpec) -> Iterator[ModuleSpec]:
    yield spec
    for module in pkgutil.iter_modules(spec.submodule_search_locations or [], f"{spec.name}."):
        inner = PathFinder.find_spec(module.name, spec.submodule_search_locations)
        if inner and not module.name.endswith(".__main__"):
            yield from _below(inner)


def _may_have(spec: ModuleSpec) -> bool:
    """Whether a module may have examples: what is compiled may."""
    if not spec.has_location:
        return not spec.submodule_search_locations
    origin = Path(spec.origin or "")
    return origin.suffix != ".py" or b">>> " in origin.read_bytes()


def _relative(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


# Checking one -------------------------------------------------------------------------


def _checked(file: str, check: _Check) -> PageResult:
    """Check a file in another process, and say what came of it however that ends."""
    # A clean process that has loaded this module alone forks a child for each file, where
    # there is fork; multiprocessing ends it with this one.
    with TemporaryDirectory(prefix="drift-") as name:
        folder = Path(name)
        process = _context().Process(target=_in_child, args=(check, folder, dict(os.environ)))
        process.start()
        try:
            process.join()
        finally:
            if process.is_alive():  # this one was interrupted
                process.kill()
                process.join()
        return _result(file, folder, process.exitcode)


def _context() -> ForkServerContext | SpawnContext:
    if not hasattr(os, "fork"):
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def _result(file: str, folder: Path, status: int | None) -> PageResult:
    messages = list(_read(folder / _RESULTS))
    ends = [message for message in messages if isinstance(message, PageResult)]
    if ends:
        return ends[0]
    outcomes = [message for message in messages if isinstance(message, Outcome)]
    lines = [message for message in messages if isinstance(message, int)]
    last = (folder / _LOG).read_text("utf-8", "replace").splitlines()[-_LAST_LINES:]
    reason = f"the process ended with status {status} before its examples did: the rest was not run"
    text = "\n".join([reason, *last])
    outcomes.append(Outcome(Kind.DEAD_KERNEL, lines[-1] if lines else 1, message=text))
    return PageResult(file, tuple(outcomes), cells=len(lines), examples=True)


def _read(path: Path) -> Iterator[object]:
    """Yield what the process wrote: lines that it reached, outcomes, and the result at its end."""
    if not path.exists():
        return
    with path.open("rb") as file:
        while True:
            try:
                yield pickle.load(file)  # noqa: S301 - ours, from the line below
            except EOFError:
                return


def _in_child(check: _Check, folder: Path, environment: Mapping[str, str]) -> None:
    """Check a file in this process, whose words nobody reads."""
    os.environ.clear()
    os.environ.update(environment)
    with (folder / _LOG).open("wb") as log, (folder / _RESULTS).open("wb") as results:
        for stream in (1, 2):
            os.dup2(log.fileno(), stream)

        def write(message: object) -> None:
            pickle.dump(message, results)
            results.flush()

        write(check(write))


def _check(file: str, read: _Read, settings: Settings, flags: int, note: _Note) -> PageResult:
    sys.path.insert(0, os.curdir)  # a module's name holds from where the command is given
    try:
        examples = read()
    except BaseException as error:  # noqa: BLE001 - an import may raise SystemExit too
        return PageResult(file, (_not_imported(error),), examples=True)
    try:
        return check_examples(file, examples, settings, flags=flags, note=note)
    except Exception:  # noqa: BLE001 - an error here must never pass for a success
        outcome = Outcome(Kind.COULD_NOT_CHECK, 1, message=traceback.format_exc(limit=-3))
        return PageResult(file, (outcome,), examples=True)


def _not_imported(error: BaseException) -> Outcome:
    message = "".join(traceback.format_exception_only(error)).strip()
    return Outcome(Kind.UNCHECKED if was_skipped(error) else Kind.UNREADABLE, 1, message=message)
