"""Read the settings of a book by the names that Sphinx has, whichever file says them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from myst_nb.core.config import NbParserConfig

from sphinx_drift.settings import entries, read_table
from sphinx_drift.shapes import Place, refuse_unknown
from sphinx_drift.source.metadata import OF_MYST_NB

EXECUTE = {
    "allow_errors": "nb_execution_allow_errors",
    "exclude_patterns": "nb_execution_excludepatterns",
    "execute_notebooks": "nb_execution_mode",
    "stderr_output": "nb_output_stderr",
    "timeout": "nb_execution_timeout",
}
"""What Jupyter Book calls the settings of MyST-NB that count here, below `execute:`."""
EXCLUDING = ("exclude_patterns", "html_static_path", "html_extra_path", "templates_path")
"""The settings whose patterns keep pages out of a book."""
_STOCK_TIMEOUT = 30
"""Seconds that MyST-NB gives a cell by default."""
OF_BUILDS = {"drift_live": False}
"""What `conf.py` or `-D` may set for a build alone, with its default."""
OURS = tuple(f"drift_{entry.name}" for entry in entries(Place.CONF))


def read_settings(settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return what the settings `drift_*` mean, and MyST-NB's timeout.

    Raises:
        ValueError: If one is invalid, or those of patterns or of MyST-NB are.
    """
    ours = {entry.name: settings.get(f"drift_{entry.name}") for entry in entries(Place.CONF)}
    changed = read_table(ours, Place.CONF, folder)
    for name in ("exclude_patterns", "include_patterns", "nb_execution_excludepatterns"):
        patterns = settings.get(name) or ()
        is_list = isinstance(patterns, (list, tuple, set, frozenset))
        if not is_list or not all(isinstance(pattern, str) for pattern in patterns):
            raise ValueError(f"{name} must be a list of patterns; got {patterns!r}")
    for name in OF_MYST_NB:
        if (value := settings.get(f"nb_{name}")) is not None:
            try:
                NbParserConfig(**{name: value})
            except Exception as error:  # noqa: BLE001 - its validators raise several
                raise ValueError(f"nb_{name} is invalid: {error.args[0]}") from None
    timeout = settings.get(name := "nb_execution_timeout")
    if timeout in (None, _STOCK_TIMEOUT):
        return changed
    if type(timeout) is not int:  # nor a truth value
        raise ValueError(f"{name} must be a whole number of seconds; got {timeout!r}")
    return {"timeout": timeout if timeout > 0 else None, **changed}


def refuse_misspelt(names: Iterable[str], origin: str) -> None:
    """Raise a `ValueError` for a name that begins as our settings do and is none of them."""
    ours = {name for name in names if name.startswith("drift_")}
    refuse_unknown(ours - OF_BUILDS.keys(), OURS, origin)
