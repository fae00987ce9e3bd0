"""Reads the settings of a build from conf.py, the project's file and the environment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sphinx.errors import ConfigError, ExtensionError
from sphinx.util import logging

from sphinx_drift.book import NAMES, Book, settings_of, written_settings
from sphinx_drift.configuration import (
    CHECKS,
    check_values,
    find_project,
    list_of_names,
    pages_required,
    refuse_unknown,
)
from sphinx_drift.device import choose_device
from sphinx_drift.run.choice import chosen
from sphinx_drift.run.host import HOST
from sphinx_drift.run.injected import local_modules
from sphinx_drift.run.results import Probe, injected
from sphinx_drift.run_and_judge import report_origins
from sphinx_drift.sphinx.private_api import OUTPUT_FOLDER
from sphinx_drift.sphinx.state import state_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

    from sphinx_drift.configuration import Project


_LOGGER = logging.getLogger(__name__)
_MODULES = Probe(None, injected(local_modules))
PROBES: WeakKeyDictionary[Sphinx, list[Probe]] = WeakKeyDictionary()
"""What the extensions of each application ask the kernels of pages; see `sphinx_drift.api`."""


def start(app: Sphinx) -> bool:
    """Start the process that runs pages, while Sphinx loads everything else.

    Returns:
        Whether each output of the book must be documented.

    """
    if "myst_nb" not in app.extensions:
        raise ExtensionError(
            "sphinx_drift runs the pages of MyST-NB: put 'myst_nb' before it in conf.py: "
            "extensions = ['myst_nb', 'sphinx_drift']"
        )
    _read_overrides(app.config)
    try:
        project, required = find_project(Path(app.confdir)), app.config.drift_require
        required = (
            project.require if required is None else pages_required(required, "drift_require")
        )
        preload = app.config.drift_preload
        if preload is not None:
            list_of_names(preload, "drift_preload")
        elif not HOST.process:  # else it loads already what the project asks for
            preload = project.libraries([Path(app.srcdir)])
        if preload is not None:
            HOST.preload = tuple(preload)
        HOST.start()
    except ValueError as error:
        raise ConfigError(str(error)) from None
    return required == ("*",)


def _read_overrides(config: Config) -> None:
    """Read what `-D` gives as text, where a default of None tells Sphinx no type."""
    for name in ("drift_preload", "drift_require", "drift_timeout"):
        value = config.overrides.get(name)
        if isinstance(value, str) and value not in ("all", "expected"):
            setattr(config, name, int(value) if value.isdecimal() else value.split(","))


def check_settings(config: Config) -> None:
    """Refuse a setting of another name than ours, or with a value that nothing could follow."""
    try:
        ours = (name for name in written_settings(config) if name.startswith("drift_"))
        refuse_unknown((name for name in ours if name not in config), CHECKS, "conf.py")
        check_values({name: config[name] for name in CHECKS})
    except ValueError as error:
        raise ConfigError(str(error)) from None


def before_reading(app: Sphinx, config: Config) -> None:
    """Settle what Sphinx compares with the last build before it reads a page."""
    check_settings(config)
    # The notebooks that MyST-NB writes beside this output folder, or another, are no pages.
    config.exclude_patterns += [OUTPUT_FOLDER, f"**/{OUTPUT_FOLDER}"]
    config.drift_environment = f"{chosen()} {project_of(app)}"  # Sphinx knows conf.py alone


def read_settings(app: Sphinx) -> None:
    """Read the configuration before the first page."""
    config = app.config
    try:
        project = project_of(app)
        settings = settings_of(project, _settings(config))
        device = choose_device(config.drift_device, module=project.devices)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    if device:
        _LOGGER.info("pages compute on %s", device)
    report_origins(project.packages)
    state = state_of(app.env)
    state.ran.clear()
    probes = (*PROBES.get(app, ()), *([_MODULES] if config.drift_live else ()))
    state.settings = replace(settings, probes=probes)


def project_of(app: Sphinx) -> Project:
    """Return what the project's file says, where conf.py doesn't say otherwise."""
    return Book(Path(app.confdir), _settings(app.config)).project


def _settings(config: Config) -> dict[str, Any]:
    return {name: config[name] for name in NAMES}
