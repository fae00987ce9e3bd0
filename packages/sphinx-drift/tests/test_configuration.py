"""What a project says of its reference environment, found from any of its folders."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from sphinx.config import Config
from sphinx.errors import ConfigError

from sphinx_drift.configuration import CHECKS, Project, find_project
from sphinx_drift.run.injected import report_environment
from sphinx_drift.sphinx.settings import check_settings

TABLE = '[tool.sphinx-drift.reference]\ntorch = "7.1"\nsystem = "Linux"\n'
REFERENCE = {"torch": "7.1", "system": "Linux"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(TABLE, "utf-8")
    return tmp_path


def test_nearest_file_above_decides(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "docs")
    assert find_project(Path("deep")).reference == REFERENCE
    Path("pyproject.toml").write_text('[tool.other]\nname = "other"\n')
    assert find_project(Path("deep")).reference == {}
    assert find_project(project).reference == REFERENCE


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (b"[tool", ""),
        (b"a = '\xe9'", ""),
        (b"tool = 3", ".* must hold names and texts"),
        (b"[tool]\nsphinx-drift = 'exact'", ".* must hold names and texts"),
        (b"[tool.sphinx-drift]\npreload = 'numpy'", ".* must be a list of names, got 'numpy'"),
        (b"[tool.sphinx-drift]\nreferences = 1", ".* got 'references'; did you mean 'reference'"),
    ],
)
def test_what_nothing_could_follow_is_named(table: bytes, message: str, project: Path) -> None:
    (project / "pyproject.toml").write_bytes(table)
    with pytest.raises(ValueError, match=rf"pyproject\.toml: {message}"):
        find_project(project / "docs")


def test_a_page_that_is_a_link_to_nothing_is_none(tmp_path: Path) -> None:
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    (tmp_path / "page.md").write_text("import numpy")
    assert Project().libraries([tmp_path]) == ("numpy",)


def test_reference_may_name_what_pages_report(project: Path) -> None:
    reported = "".join(f'{name} = "1"\n' for name in report_environment())
    (project / "pyproject.toml").write_text(f"[tool.sphinx-drift.reference]\n{reported}")
    assert find_project(project).reference.keys() == report_environment().keys()


POLICIES = "drift_policy must be one of auto, exact, portable; got "
BAD_SETTINGS: dict[str, tuple[object, str]] = {
    "drift_policy": ("exactly", f"{POLICIES}'exactly'"),
    "drift_device": (3, "drift_device must be a text, got 3"),
    "drift_devices": (["mine"], "drift_devices must be a text, got ['mine']"),
    "drift_environment": (1, "drift_environment must be a text, got 1"),
    "drift_executor": (3, "drift_executor must be a text, got 3"),
    "drift_filters": ([("(", "a", "b")], "must list patterns, each with a name and a reason"),
    "drift_output_limit": (-1, "drift_output_limit must be a whole number above 0, got -1"),
    # A version that is a number equals none: *portable* would judge, and not say why.
    "drift_packages": ({"a": 3.11}, "drift_packages must hold names and texts, got {'a': 3.11}"),
    "drift_preload": ("numpy", "drift_preload must be a list of names, got 'numpy'"),
    "drift_require": ("most", "drift_require must be 'expected', 'all' or a list of patterns"),
    "drift_severity": ("info", "drift_severity must be one of error, warning; got 'info'"),
    "drift_reference": ({"torhc": "2"}, "got 'torhc'; did you mean 'torch'?"),
    "drift_live": ("yes", "drift_live must be True or False, got 'yes'"),
    "drift_timeout": ("60", "drift_timeout must be a whole number above 0, got '60'"),
    "drift_twice": ("no", "drift_twice must be True or False, got 'no'"),
    "drift_polcy": ("portable", "got 'drift_polcy'; did you mean 'drift_policy'?"),
}


def test_each_setting_is_refused_below() -> None:
    assert BAD_SETTINGS.keys() == {*CHECKS, "drift_polcy"}


@pytest.mark.parametrize("setting", BAD_SETTINGS)
def test_a_setting_that_nothing_could_follow_is_refused(setting: str) -> None:
    value, message = BAD_SETTINGS[setting]
    config = Config({setting: value})
    for name in CHECKS:
        config.add(name, None, "", Any)
    with pytest.raises(ConfigError, match=re.escape(message)):
        check_settings(config)
