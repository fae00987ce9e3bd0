"""The project's menu: `nox -l` lists it, bare `nox` runs every gate."""

from __future__ import annotations

import hashlib
from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_existing_virtualenvs = True

PYPROJECT = nox.project.load_toml("pyproject.toml")
RECIPE = [Path("constraints.txt"), Path("pyproject.toml"), Path("noxfile.py")]


def install(session: nox.Session, *groups: str) -> None:
    """Install the package, editable, with what Sphinx and the groups need, through the constraints.

    An environment whose recipe has not changed since is left as it is.
    """
    recipe = hashlib.sha256(b"\0".join(path.read_bytes() for path in RECIPE)).hexdigest()
    stamp = Path(session.virtualenv.location, "recipe.sha256")
    if stamp.exists() and stamp.read_text(encoding="utf-8") == recipe:
        return
    constrained = ("--constraint", "constraints.txt")
    # The build backend comes first, from the same pins, so that no build is isolated from them.
    session.install(*constrained, *PYPROJECT["build-system"]["requires"])
    tools = nox.project.dependency_groups(PYPROJECT, *groups)
    session.install(*constrained, "--no-build-isolation", "--editable", ".[docs]", *tools)
    # In a step of its own that `--no-install` skips together with the installation.
    session.run_install(
        "python", "-c", f"open({str(stamp)!r}, 'w').write({recipe!r})", log=False, silent=True
    )


@nox.session
def docs(session: nox.Session) -> None:
    """Build, execute and verify the book into docs/_build/html (after --: --twice, Sphinx's)."""
    install(session)
    sphinx = ("python", "-m", "sphinx", "-n", "-W", "-j", "auto", "-b", "html")
    doctrees = ("-d", "docs/_build/doctrees")
    given = [word for word in session.posargs if word != "--twice"]
    twice = ["-D", "drift_twice=1"] if "--twice" in session.posargs else []
    session.run(*sphinx, *doctrees, *twice, "docs", "docs/_build/html", *given)


@nox.session
def doctest(session: nox.Session) -> None:
    """Run every example of the docstrings and the README, and verify what it prints."""
    install(session, "tests")
    session.run("python", "-m", "selfattn.drift.doctests", "selfattn", "README.md")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting with ruff, and spelling (the project's own: docs/words.txt)."""
    session.install(
        "--constraint", "constraints.txt", *nox.project.dependency_groups(PYPROJECT, "lint")
    )
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")
    prose = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "selfattn")
    session.run("python", "tools/spelling.py", *prose)


@nox.session
def types(session: nox.Session) -> None:
    """Check types with mypy: the package strictly, noxfile and site as far as annotated."""
    install(session, "types")
    session.run("mypy", "--strict", "selfattn")
    session.run("mypy", "noxfile.py", "docs/_ext")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests (after --: for pytest, such as -m 'not slow', or --cov)."""
    install(session, "tests")
    session.run("pytest", *session.posargs)


@nox.session(default=False)
def mutation(session: nox.Session) -> None:
    """Alter every documented output in every way, and count what is caught (a few minutes)."""
    install(session, "tests")
    session.run("python", "tools/mutation.py", *session.posargs)


@nox.session(default=False)
def lanes(session: nox.Session) -> None:
    """Check the book under settings that move last digits (about ten minutes)."""
    install(session)
    session.run("python", "tools/lanes.py", *session.posargs)


@nox.session(default=False)
def margins(session: nox.Session) -> None:
    """List the documented numbers that are closest to where their last digit changes."""
    install(session)
    session.run("python", "tools/margins.py", *session.posargs)


@nox.session(default=False)
def linkcheck(session: nox.Session) -> None:
    """Ask every address that the book links to; needs a network."""
    install(session)
    sphinx = ("python", "-m", "sphinx", "-b", "linkcheck", "-d", "docs/_build/linkcheck-doctrees")
    session.run(*sphinx, "docs", "docs/_build/linkcheck", *session.posargs)
