"""Reads the settings of a build from conf.py, the project's file and the environment."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from docutils import nodes
from sphinx.errors import ConfigError, ExtensionError
from sphinx.util import logging

from sphinx_drift.compare.compare import Policy
from sphinx_drift.configuration import (
    filters_in,
    find_project,
    list_of_names,
    number_above_zero,
    one_of,
    pages_required,
    reference_in,
    refuse_unknown,
    table_of_texts,
    text,
    truth,
)
from sphinx_drift.device import choose_device
from sphinx_drift.run import host
from sphinx_drift.run.choice import RUNNER_VARIABLE, chosen
from sphinx_drift.run.injected import local_modules
from sphinx_drift.run.results import Probe, injected
from sphinx_drift.run_and_judge import Settings, chosen_policy, report_origins
from sphinx_drift.sphinx.private_myst import OUTPUT_FOLDER
from sphinx_drift.sphinx.private_sphinx import written_settings
from sphinx_drift.sphinx.state import state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sphinx.application import Sphinx
    from sphinx.config import Config

    from sphinx_drift.configuration import Project


_LOGGER = logging.getLogger(__name__)
NOTHING_EXECUTED = (
    f"Nothing was executed or verified: {RUNNER_VARIABLE}=off is for writing prose. "
    "Unset it, and build again."
)
_LONGER = (
    "; a page that may take longer, or any time (-1), says so in its front matter: "
    "mystnb: {execution_timeout: 600}"
)
CHECKS: Mapping[str, Callable[[object, str], object]] = {
    "drift_device": text,
    "drift_devices": text,
    "drift_environment": text,
    "drift_executor": text,
    "drift_filters": filters_in,
    "drift_live": truth,
    "drift_output_limit": number_above_zero,
    "drift_packages": table_of_texts,
    "drift_policy": one_of("auto", *Policy),
    "drift_preload": list_of_names,
    "drift_ratchet": text,
    "drift_reference": reference_in,
    "drift_require": pages_required,
    "drift_severity": one_of("error", "warning"),
    "drift_timeout": partial(number_above_zero, hint=_LONGER),
    "drift_twice": truth,
}
"""What refuses a wrong value of each setting; None, where it is the default, says nothing."""
_MODULES = Probe(None, injected(local_modules))
_STOCK_TIMEOUT = 30
"""Seconds that MyST-NB gives a cell if nobody says otherwise."""
PROBES: WeakKeyDictionary[Sphinx, list[Probe]] = WeakKeyDictionary()
"""What the extensions of each application ask the kernels of pages; see `sphinx_drift.api`."""


def start(app: Sphinx) -> bool:
    """Start the process that runs pages, while Sphinx loads everything else.

    Returns:
        Whether each output of the book must be documented.

    """
    for name in ("drift.txt", "drift.json"):  # this build may not live to replace them
        Path(app.outdir, name).unlink(missing_ok=True)
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
        runner, preload = chosen(), app.config.drift_preload
        if preload is not None:
            list_of_names(preload, "drift_preload")
        elif not host.is_started():  # else it loads already what the project asks for
            preload = project.libraries([Path(app.srcdir)])
    except ValueError as error:
        raise ConfigError(str(error)) from None
    if preload is not None:
        host.preload(preload)
    if runner == "off":
        app.connect("doctree-read", _warn_at_head)
    else:
        host.start()
    return required == ("*",)


def _read_overrides(config: Config) -> None:
    """Read what `-D` gives as text, where a default of None tells Sphinx no type."""
    for name in ("drift_preload", "drift_require", "drift_timeout"):
        value = config.overrides.get(name)
        if isinstance(value, str) and value not in ("all", "expected"):
            setattr(config, name, int(value) if value.isdecimal() else value.split(","))


def _warn_at_head(_app: Sphinx, doctree: nodes.document) -> None:
    """Say at the head of a page that nothing was executed."""
    place = next(iter(doctree.findall(nodes.section)), doctree)
    after_title = 1 if isinstance(place, nodes.section) else 0
    place.insert(after_title, nodes.warning("", nodes.paragraph("", NOTHING_EXECUTED)))


def check_settings(config: Config) -> None:
    """Refuse a setting of another name than ours, or with a value that nothing could follow."""
    try:
        ours = (name for name in written_settings(config) if name.startswith("drift_"))
        refuse_unknown((name for name in ours if name not in config), CHECKS, "conf.py")
        for name, check in CHECKS.items():
            if config[name] is not None:
                check(config[name], name)
    except ValueError as error:
        raise ConfigError(str(error)) from None


def before_reading(app: Sphinx, config: Config) -> None:
    """Settle what Sphinx compares with the last build before it reads a page."""
    check_settings(config)
    # The notebooks that MyST-NB writes beside the output folder are no pages.
    copies = Path(app.outdir).parent / OUTPUT_FOLDER
    if copies.is_relative_to(app.srcdir):
        config.exclude_patterns.append(copies.relative_to(app.srcdir).as_posix())
    config.drift_environment = f"{chosen()} {project_of(app)}"  # Sphinx knows conf.py alone


def read_settings(app: Sphinx) -> None:
    """Read the configuration before the first page."""
    config = app.config
    try:
        policy = chosen_policy(config.drift_policy)
        project = project_of(app)
        device = choose_device(config.drift_device, module=project.devices)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    if device:
        _LOGGER.info("pages compute on %s", device)
    report_origins(project.packages)
    state = state_of(app.env)
    state.ran.clear()
    state.settings = Settings(
        policy,
        project.reference,
        timeout=_timeout(config),
        output_limit=config.drift_output_limit,
        twice=config.drift_twice,
        packages=project.packages,
        probes=(*PROBES.get(app, ()), *([_MODULES] if config.drift_live else ())),
        complete=project.require,
        filters=project.filters,
        allow_errors=config.nb_execution_allow_errors,
        metadata_key=config.nb_metadata_key,
    )


def _timeout(config: Config) -> int | None:
    """Return the seconds that a cell may take: MyST-NB's setting counts where it was set."""
    if config.drift_timeout is not None:
        return int(config.drift_timeout)
    own: int = config.nb_execution_timeout
    if own == _STOCK_TIMEOUT:
        return Settings.timeout
    return own if own > 0 else None


def project_of(app: Sphinx) -> Project:
    """Return what the project's file says, where conf.py doesn't say otherwise."""
    config, confdir = app.config, Path(app.confdir)
    changed: dict[str, Any] = {}
    if config.drift_reference is not None:
        changed["reference"] = config.drift_reference
    if config.drift_packages is not None:
        folders = config.drift_packages.items()
        changed["packages"] = {name: confdir / folder for name, folder in folders}
    if config.drift_devices is not None:
        changed["devices"] = config.drift_devices
    if config.drift_filters is not None:
        changed["filters"] = filters_in(config.drift_filters, "drift_filters")
    if config.drift_require is not None:
        changed["require"] = pages_required(config.drift_require, "drift_require")
    return replace(find_project(confdir), **changed)
