"""Reads the settings of a build from conf.py, the project's file and the environment."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.errors import ConfigError
from sphinx.util import logging

from sphinx_drift.configuration import find_project, table_of_texts
from sphinx_drift.device import choose_device
from sphinx_drift.run_and_judge import Settings, chosen_policy, report_origins
from sphinx_drift.sphinx.builds import Build, begin_build
from sphinx_drift.sphinx.incremental import surroundings
from sphinx_drift.sphinx.private_myst import OUTPUT_FOLDER

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

    from sphinx_drift.configuration import Project


_LOGGER = logging.getLogger(__name__)


def leave_copies_out(app: Sphinx, config: Config) -> None:
    """Keep the notebooks that MyST-NB writes beside the output folder from being read as pages."""
    copies = Path(app.outdir).parent / OUTPUT_FOLDER
    if copies.is_relative_to(app.srcdir):
        config.exclude_patterns.append(copies.relative_to(app.srcdir).as_posix())


RERUNS = ("always", "changed", "later")
"""Which pages run whose text is what it was: all, those that seem to depend on something that
changed, or those now and all others in a build that follows at once, as the live server's does."""


def read_settings(app: Sphinx) -> None:
    """Read the configuration before the first page."""
    if app.config.nb_execution_mode == "inline":
        raise ConfigError(
            "sphinx_drift runs whole pages; set nb_execution_mode = 'force', not 'inline'"
        )
    if app.config.drift_timeout <= 0:
        raise ConfigError(
            "drift_timeout must be a number of seconds above 0, the most that a cell may take; "
            f"got {app.config.drift_timeout}. A page that may take longer, or any time (-1), says "
            "so in its front matter: mystnb: {execution_timeout: 600}"
        )
    try:
        policy = chosen_policy(app.config.drift_policy)
        project = _project(app)
        device = choose_device(app.config.drift_device, module=project.devices)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    if device:
        _LOGGER.info("pages compute on %s", device)
    rerun = app.config.drift_rerun
    if rerun == "changed" and os.environ.get("CI"):
        raise ConfigError(
            'drift_rerun = "changed" leaves out pages that seem unchanged, and is refused under '
            'CI; set it to "always", or for builds elsewhere alone'
        )
    report_origins(project.packages)
    settings = Settings(
        policy,
        project.reference,
        timeout=app.config.drift_timeout,
        output_limit=app.config.drift_output_limit,
        twice=bool(app.config.drift_twice),
        packages=project.packages,
        allow_errors=app.config.nb_execution_allow_errors,
    )
    begin_build(app.env, Build(settings, surroundings(settings)))


def _project(app: Sphinx) -> Project:
    """Return what the project's file says, where conf.py doesn't say otherwise."""
    config, confdir = app.config, Path(app.confdir)
    changed: dict[str, Any] = {}
    if config.drift_reference is not None:
        changed["reference"] = table_of_texts(config.drift_reference, "drift_reference")
    if config.drift_packages is not None:
        folders = table_of_texts(config.drift_packages, "drift_packages")
        changed["packages"] = {name: confdir / folder for name, folder in folders.items()}
    if config.drift_devices is not None:
        changed["devices"] = config.drift_devices
    return replace(find_project(confdir), **changed)
