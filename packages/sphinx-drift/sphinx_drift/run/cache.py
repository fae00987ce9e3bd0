"""Outputs of earlier runs, which jupyter-cache keeps where a book asks for MyST-NB's `cache`.

Its key is a page's code. Whatever else decides the outputs is kept beside them; the page runs
if any of it has changed, or may have changed unseen.
"""

import functools
import hashlib
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_client.kernelspec import KernelSpecManager
from nbformat import NotebookNode

from sphinx_drift.run.choice import chosen_runner, page_environment
from sphinx_drift.run.reads import reads, stamp_of
from sphinx_drift.run.results import Execution, Request
from sphinx_drift.run.run import kernel_name

if TYPE_CHECKING:  # it takes time, and most books ask for no cache
    from jupyter_cache.cache.main import JupyterCacheBase

_OF_SESSION = re.compile(
    r"_|COLORTERM|DBUS_.*|DISPLAY|FORKED_KERNELS_.*|LS_COLORS|MAKE.*|OLDPWD|PWD|SHLVL|SSH_.*|"
    r"TERM.*|TMUX.*|VSCODE_.*|WAYLAND_.*|WINDOWID|XDG_.*"
)
"""Variables that differ between terminals."""


def find(notebook: NotebookNode, request: Request, folder: Path) -> Execution | None:
    """Give a notebook the cached outputs of the same run; return None if it has to run."""
    if (record := match(notebook, request, folder)) is None:
        return None
    with suppress(Exception):  # its notebook is gone, say
        merge = _cache(folder, os.getpid()).merge_match_into_notebook
        _, merged = merge(notebook, nb_meta=("language_info", "widgets"), cell_meta=())
        notebook.cells, notebook.metadata = merged.cells, merged.metadata
        code = _code(merged)
        return Execution(
            frozenset(code),
            answers=record.data["answers"],
            succeeded=frozenset(code[number] for number in record.data["succeeded"]),
            seconds=record.data["seconds"],
            cache_key=record.hashkey,
            since=record.data["since"],
        )
    return None


def match(notebook: NotebookNode, request: Request, folder: Path) -> Any:
    """Return the cached record of the same run; None if the page has to run."""
    with suppress(Exception):  # an unreadable cache has nothing
        record = _cache(folder, os.getpid()).match_cache_notebook(notebook)
        if record.data["how"] == _how(notebook, request) and _is_current(record.data):
            return record
    return None


def keep(
    notebook: NotebookNode,
    request: Request,
    execution: Execution,
    folder: Path,
    *,
    is_right: bool = True,
) -> str:
    """Keep the outputs of a run that has a digest; return their key, or nothing.

    A wrong run isn't kept: an author who copies an unseeded number from its report would then see
    it verified.
    """
    from jupyter_cache.base import CacheBundleIn  # noqa: PLC0415 - it takes time

    with suppress(Exception):  # a full disk, say: the page runs again
        cache = _cache(folder, os.getpid())
        with suppress(KeyError):  # what an earlier run left is not of this one
            cache.remove_cache(cache.match_cache_notebook(notebook).pk)
        if is_right and execution.failure is None and (how := _how(notebook, request)):
            answers = dict(execution.answers)
            seen = answers.pop(reads.__name__, {"": None})
            if execution.executed.issuperset(_code(notebook)) and "" not in seen:
                data = {"how": how, "machine": machine(), "reads": seen, "answers": answers}
                data |= {"seconds": execution.seconds, "since": time.time()}
                data["succeeded"] = _numbers(notebook, execution.succeeded)
                bundle = CacheBundleIn(notebook, str(request.folder), data=data)
                return str(cache.cache_notebook_bundle(bundle, check_validity=False).hashkey)
    return ""


def current(folder: Path) -> set[str]:
    """Return the keys of the cached runs that are current, as far as can be seen."""
    with suppress(Exception):
        records = _cache(folder, os.getpid()).list_cache_records()
        return {record.hashkey for record in records if _is_current(record.data)}
    return set()


@functools.cache
def _cache(folder: Path, _process: int) -> "JupyterCacheBase":
    """Return a cache; no process may use the connection of the one that forked it."""
    from jupyter_cache import get_cache  # noqa: PLC0415 - it takes time, and most books ask for none

    return get_cache(folder)


def _is_current(data: dict[str, Any]) -> bool:
    """Whether this machine, and all files that a run read, are unchanged."""
    is_same = all(stamp_of(path) == stamp for path, stamp in data["reads"].items())
    return is_same and bool(data["machine"] == machine())


def _code(notebook: NotebookNode) -> list[int]:
    """Return the indices of the code cells; new Markdown changes these, and not their numbers."""
    return [i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"]


def _numbers(notebook: NotebookNode, indices: Collection[int]) -> list[int]:
    """Return the numbers among the code cells of those with some indices."""
    return [number for number, index in enumerate(_code(notebook)) if index in indices]


def _how(notebook: NotebookNode, request: Request) -> str | None:
    """Return a digest of how a page is run; None if its kernel isn't this Python's."""
    name = kernel_name(notebook, request.kernel_aliases)
    spec = KernelSpecManager().get_kernel_spec(name)
    python = Path(shutil.which(spec.argv[0]) or os.devnull)
    is_named = re.fullmatch(r"python3?", spec.argv[0])  # Jupyter takes the Python that runs it
    if "ipykernel_launcher" not in spec.argv or not (
        is_named or python.parent == Path(sys.executable).parent
    ):
        return None
    request = replace(request, raising=_numbers(notebook, request.raising), preload=())
    return _digest(vars(request), spec.to_dict())


def machine() -> str:
    """Return a digest of what decides outputs on this machine, such as installed packages."""
    variables = {
        name: value
        for name, value in sorted(page_environment().items())
        if not _OF_SESSION.fullmatch(name)
    }
    system = platform.uname()
    return _digest(
        variables, chosen_runner(), sys.version, system.release, system.machine, installed()
    )


@functools.cache
def installed() -> str:
    """Return a digest of the packages that Python finds, and of when each was installed."""
    found = []
    for folder in filter(os.path.isdir, sys.path):
        found += [
            (entry.path, entry.stat().st_mtime_ns)
            for entry in os.scandir(folder)
            if entry.name.endswith((".dist-info", ".egg-info", ".pth"))
        ]
    return _digest(sorted(found))


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()
