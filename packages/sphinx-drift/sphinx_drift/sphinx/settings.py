"""Reads the settings of a build from conf.py, the project's file and the environment."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.util import logging

from sphinx_drift.book import Book
from sphinx_drift.book_settings import OF_BUILDS, refuse_misspelt
from sphinx_drift.conf_py import written_settings
from sphinx_drift.device import choose_device
from sphinx_drift.probes import Probe, injected
from sphinx_drift.run.__main__ import collect_rarely
from sphinx_drift.run.choice import chosen_runner, is_ci
from sphinx_drift.run.host import HOST
from sphinx_drift.run.preload import libraries
from sphinx_drift.run.reads import reads, stamp_of, watch_reads
from sphinx_drift.settings import Settings, entries
from sphinx_drift.shapes import Place
from sphinx_drift.sphinx.private_api import OUTPUT_FOLDER
from sphinx_drift.sphinx.state import state_of

_LOGGER = logging.getLogger(__name__)
_READS = Probe(injected(watch_reads, helper=stamp_of), injected(reads))
_CACHE = ".jupyter_cache"
"""The folder where MyST-NB has outputs kept, beside the output folder, if conf.py names none."""
PROBES: WeakKeyDictionary[Sphinx, list[Probe]] = WeakKeyDictionary()
"""What the extensions of each application ask the kernels of pages; see `sphinx_drift.api`."""


def add_config_values(app: Sphinx) -> None:
    """Register the settings that conf.py may set: the table checks them, Sphinx would only warn.

    None says nothing; then what the project's file says counts, and after that the default.
    """
    for entry in entries(Place.CONF):
        name = f"drift_{entry.name}"
        app.add_config_value(name, None, "", Any)
        text = app.config.overrides.get(name)
        if isinstance(text, str):  # by the option `-D`
            setattr(app.config, name, entry.from_text(text))
    for name, default in OF_BUILDS.items():
        app.add_config_value(name, default, "")
    # All settings, those of the project's file too: Sphinx knows conf.py alone.
    app.add_config_value("drift_environment", "", "env")


def start(app: Sphinx) -> None:
    """Start the process that runs pages, while Sphinx loads everything else."""
    if app.config.drift_live:
        collect_rarely()
    with _refusing():
        preload = _resolved(app).preload
        if app.config.drift_preload is not None or not HOST.process:
            HOST.preload = libraries(preload, [Path(app.srcdir)])
        if app.config.nb_execution_mode != "cache":  # there perhaps nothing runs
            HOST.start()  # unless it loads already what the project asks for


def before_reading(app: Sphinx, config: Config) -> None:
    """Settle what Sphinx compares with the last build before it reads a page."""
    with _refusing():
        refuse_misspelt(config.overrides, "-D")
        refuse_misspelt(written_settings(config), "conf.py")
        config.drift_environment = f"{chosen_runner()} {_resolved(app).described()}"
    # The notebooks that MyST-NB writes beside this output folder, or another, are no pages.
    config.exclude_patterns += [OUTPUT_FOLDER, f"**/{OUTPUT_FOLDER}", f"**{_CACHE}"]


def read_settings(app: Sphinx) -> None:
    """Read the configuration before the first page."""
    with _refusing():
        settings = _resolved(app)
        device = choose_device(settings.device, modules={settings.devices})
    if device:
        _LOGGER.info("pages compute on %s", device)
    state = state_of(app.env)
    state.ran.clear()
    state.shows_text = app.builder.format not in ("", "html")
    cache = _cache_folder(app, settings)
    probes = (*PROBES.get(app, ()), *[_READS] * bool(app.config.drift_live or cache))
    state.settings = replace(settings, probes=probes, cache=cache)


@contextmanager
def _refusing() -> Iterator[None]:
    """End the build where a setting has an invalid value."""
    try:
        yield
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _cache_folder(app: Sphinx, settings: Settings) -> Path | None:
    """Return where MyST-NB's cache is, if the book asks for it and nothing asks for a run."""
    config = app.config
    runs_all = is_ci() or config.drift_live or settings.twice
    if config.nb_execution_mode != "cache" or runs_all:
        return None
    beside = Path(app.outdir).parent / _CACHE
    return Path(config.nb_execution_cache_path or beside).absolute()


def _resolved(app: Sphinx) -> Settings:
    """Return what conf.py says, where it doesn't what the project's file says."""
    values = {setting.name: setting.value for setting in app.config}
    return Book(Path(app.confdir), values).resolved
