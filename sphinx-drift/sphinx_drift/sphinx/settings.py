"""Reads the settings of a build from conf.py, the project's file and the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.errors import ConfigError
from sphinx.util import logging

from sphinx_drift.configuration import (
    find_devices,
    find_packages,
    find_reference,
    table_of_texts,
)
from sphinx_drift.device import chosen_device
from sphinx_drift.run_and_judge import Settings, chosen_policy, report_origins
from sphinx_drift.sphinx.builds import Build, begin_build
from sphinx_drift.sphinx.incremental import surroundings
from sphinx_drift.sphinx.private_myst import OUTPUT_FOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx.application import Sphinx
    from sphinx.config import Config


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
        msg = "sphinx_drift runs whole pages; set nb_execution_mode = 'force', not 'inline'"
        raise ConfigError(msg)
    try:
        policy = chosen_policy(app.config.drift_policy)
        device = chosen_device(app.config.drift_device, module=_devices(app))
        reference = _reference(app)
        packages = _packages(app)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    if device.told:
        _LOGGER.info("pages compute on %s", device.told)
    rerun = app.config.drift_rerun
    if rerun == "changed" and os.environ.get("CI"):
        raise ConfigError(
            'drift_rerun = "changed" leaves out pages that seem unchanged, and is refused under '
            'CI; set it to "always", or for builds elsewhere alone'
        )
    report_origins(packages)
    settings = Settings(
        policy,
        reference,
        timeout=app.config.drift_timeout,
        output_limit=app.config.drift_output_limit,
        twice=bool(app.config.drift_twice),
        packages=packages,
        allow_errors=app.config.nb_execution_allow_errors,
    )
    begin_build(app.env, Build(settings, surroundings(settings)))


def _reference(app: Sphinx) -> Mapping[str, str]:
    """Return the reference environment, as conf.py or the project names it."""
    configured = app.config.drift_reference
    if configured is None:
        return find_reference(Path(app.confdir))
    return table_of_texts(configured, "drift_reference")


def _packages(app: Sphinx) -> Mapping[str, Path]:
    """Return the packages that pages must import from the project, as conf.py or it says."""
    confdir, configured = Path(app.confdir), app.config.drift_packages
    if configured is None:
        return find_packages(confdir)
    folders = table_of_texts(configured, "drift_packages")
    return {name: confdir / folder for name, folder in folders.items()}


def _devices(app: Sphinx) -> str:
    """Return the module that knows devices, as conf.py or the project names it."""
    named: str | None = app.config.drift_devices
    return find_devices(Path(app.confdir)) if named is None else named
