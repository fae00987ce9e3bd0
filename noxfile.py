"""The project's menu: `nox -l` lists it, bare `nox` runs every gate."""

from __future__ import annotations

import argparse
import hashlib
import runpy
import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_existing_virtualenvs = True

PYPROJECT = nox.project.load_toml("pyproject.toml")
LIGHTHOUSE = "lighthouse@13.5.0"
HTML_CHECKER = "vnu-jar@26.9.27"
CHECKER = Path("sphinx-drift")
EPUB, PDF = "selfattn.epub", "selfattn.pdf"
SPHINX = ("python", "-m", "sphinx_drift.run", "-n", "-W", "-j", "auto", "-b", "html")
RECIPE = [
    *(Path("constraints.txt"), Path("pyproject.toml"), Path("noxfile.py")),
    CHECKER / "pyproject.toml",
]


def install(session: nox.Session, *groups: str) -> None:
    """Install book and checker, editable, with what Sphinx and the groups need, as constrained.

    An environment whose recipe has not changed since is left as it is.
    """
    settle(session)
    recipe = hashlib.sha256(b"\0".join(path.read_bytes() for path in RECIPE)).hexdigest()
    stamp = Path(session.virtualenv.location, "recipe.sha256")
    if stamp.exists() and stamp.read_text(encoding="utf-8") == recipe:
        return
    constrained = ("--constraint", "constraints.txt")
    # The build backend comes first, from the same pins, so that no build is isolated from them.
    session.install(*constrained, *PYPROJECT["build-system"]["requires"])
    tools = nox.project.dependency_groups(PYPROJECT, *groups)
    ours = ("--editable", f"./{CHECKER}", "--editable", ".[docs]")
    session.install(*constrained, "--no-build-isolation", *ours, *tools)
    # In a step of its own that `--no-install` skips together with the installation.
    session.run_install(
        "python", "-c", f"open({str(stamp)!r}, 'w').write({recipe!r})", log=False, silent=True
    )


def settle(session: nox.Session) -> None:
    """Make an environment anew that was copied or moved here: it would run the old folder's code.

    Its link to the package and its scripts name the folder that it was made in.
    """
    place, here = Path(session.virtualenv.location), str(Path.cwd())
    stamp = place / "folder"
    known = stamp.read_text(encoding="utf-8") if stamp.exists() else None
    elsewhere = known != here and (known or (place / "recipe.sha256").exists())
    if elsewhere and session.virtualenv.is_sandboxed:
        session.log(f"this environment was made in {known or 'a folder that it does not name'}")
        shutil.rmtree(place)
        session.virtualenv.create()
    stamp.write_text(here, encoding="utf-8")


@nox.session
def docs(session: nox.Session) -> None:
    """Build and verify the book into docs/_build/html (after --: --device, --twice, Sphinx's).

    With it come its e-book and, where Chromium is, its PDF; --no-books leaves them out.
    """
    manual(session)
    doctrees = ("-d", "docs/_build/doctrees")
    ours = argparse.ArgumentParser("nox -s docs --", allow_abbrev=False)
    ours.add_argument("--device", help="cpu, cuda, cuda:1, mps or auto")
    ours.add_argument("--twice", action="store_true", help="run each page twice")
    ours.add_argument("--no-books", action="store_true", help="make no e-book and no PDF")
    options, others = ours.parse_known_args(session.posargs)
    twice = ["-D", "drift_twice=1"] if options.twice else []
    env = {"DRIFT_DEVICE": options.device} if options.device else {}
    books = {} if options.no_books else {EPUB: make_epub}
    if books and has_chromium(session):
        books[PDF] = make_pdf
    env["SELFATTN_BOOKS"] = " ".join(books)  # what pages link to; the files follow
    session.run(*SPHINX, *doctrees, *twice, "docs", "docs/_build/html", *others, env=env)
    for name in (EPUB, PDF):
        Path("docs/_build/html/_downloads", name).unlink(missing_ok=True)
    for book in [make(session, env) for make in books.values()]:
        if book.exists():  # not if nothing is to be run but the installation
            shutil.copy2(book, "docs/_build/html/_downloads")


def make_epub(session: nox.Session, env: dict[str, str]) -> Path:
    """Make the e-book of the pages that were read and verified."""
    out = Path("docs", "_build", "epub")
    shutil.rmtree(out, ignore_errors=True)  # all that lies there would be packed
    sphinx = ("python", "-m", "sphinx", "-q", "-n", "-W", "-j", "auto", "-b", "epub")
    session.run(*sphinx, "-d", "docs/_build/doctrees", "docs", str(out), env=env)
    return out / EPUB


def make_pdf(session: nox.Session, env: dict[str, str]) -> Path:
    """Print the site that was built and verified."""
    order = "docs/_build/doctrees/reading-order.json"
    target = Path("docs", "_build", "pdf", PDF)
    session.run("python", "tools/print_book.py", "docs/_build/html", order, str(target), env=env)
    return target


def has_chromium(session: nox.Session) -> bool:
    """Return whether there is a browser to print with; if so, install what drives it."""
    try:
        runpy.run_path("tools/chromium.py")["chromium"]()
    except SystemExit as missing:
        session.log(f"the site goes without a PDF: {missing}")
        return False
    tools = nox.project.dependency_groups(PYPROJECT, "print")
    session.install("--constraint", "constraints.txt", *tools)
    return True


@nox.session(default=False)
def manual(session: nox.Session) -> None:
    """Build and verify the checker's manual into docs/_build/html/sphinx-drift."""
    install(session)
    built, target = Path("docs/_build/manual/html"), Path("docs/_build/html/sphinx-drift")
    doctrees = ("-d", "docs/_build/manual/doctrees")
    here = {"DRIFT_DEVICE": "cpu", "DRIFT_RUNNER": ""}  # what is asked for is asked of the book
    session.run(*SPHINX, *doctrees, str(CHECKER / "docs"), str(built), env=here)
    if built.exists():  # not if nothing is to be run but the installation
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(built, target)


@nox.session(default=False)
def live(session: nox.Session) -> None:
    """Serve the book to this machine's browser; each save is built, verified and reloaded."""
    install(session)
    watched = ("--watch", "selfattn", "--watch", str(CHECKER))
    session.run(
        *("python", "-m", "sphinx_drift.live", "docs", "docs/_build/live", *watched),
        *session.posargs,
    )


@nox.session
def doctest(session: nox.Session) -> None:
    """Run every example of the docstrings and the README, and verify what it prints."""
    install(session, "tests")
    checked = ("selfattn", "sphinx_drift", "README.md")
    session.run("python", "-m", "sphinx_drift.doctests", *checked, *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting with ruff, and spelling (the project's own: docs/words.txt)."""
    settle(session)
    session.install(
        "--constraint", "constraints.txt", *nox.project.dependency_groups(PYPROJECT, "lint")
    )
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")
    prose = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "selfattn", str(CHECKER)]
    prose += ["docs/_data/recap.txt"]
    session.run("python", "tools/spelling.py", *prose)


@nox.session
def types(session: nox.Session) -> None:
    """Check types with mypy: both packages strictly, everything else as far as annotated."""
    install(session, "types", "tests")
    session.run("mypy", "--strict", "selfattn", str(CHECKER / "sphinx_drift"))
    site = ("docs/_ext", str(CHECKER / "docs" / "_ext"))
    session.run("mypy", "noxfile.py", "conftest.py", *site)
    session.run("mypy", "benchmarks", "tests", "tools")
    session.run("mypy", str(CHECKER / "tests"))


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests, two at a time (after --: for pytest, such as -m 'not slow', or --cov)."""
    install(session, "tests")
    session.run("pytest", "-n", "2", *session.posargs)


@nox.session(default=False)
def epub(session: nox.Session) -> None:
    """Make the e-book, docs/_build/epub/selfattn.epub, and have EPUBCheck look at it (Java)."""
    install(session, "ebook")
    session.run("python", "tools/check_epub.py", str(make_epub(session, {})))


@nox.session(default=False)
def browser(session: nox.Session) -> None:
    """Use every page of the built book in Chromium and Firefox (after --: for pytest)."""
    look(session, "browser")
    home = npm_install(session, HTML_CHECKER)
    # The live server, which one test uses, needs the standard library alone: nothing is installed.
    here = {"PYTHONPATH": str(CHECKER.resolve()), "VNU_HOME": home}
    session.run("pytest", "-n", "2", "tests/browser", *session.posargs, env=here)


@nox.session(default=False)
def lighthouse(session: nox.Session) -> None:
    """Ask Lighthouse about every page of the built book; answers in docs/_build/lighthouse."""
    look(session, "lighthouse")
    home = npm_install(session, LIGHTHOUSE)
    out = "docs/_build/lighthouse"
    command = ("python", "tools/lighthouse.py", "docs/_build/html", out)
    session.run(*command, *session.posargs, env={"LIGHTHOUSE_HOME": home})


@nox.session(default=False)
def card(session: nox.Session) -> None:
    """Draw the picture that a link to the book is shown with, in Chromium."""
    install(session, "browser")
    session.run("python", "tools/social_card.py", env={"PYTHONPATH": "docs/_ext"})


def npm_install(session: nox.Session, package: str) -> str:
    """Install a package of npm's beside the session's environment, and return its folder."""
    home = Path(session.virtualenv.location, package.partition("@")[0]).resolve()
    session.run_install("npm", "install", "--no-audit", "--no-fund", "--prefix", home, package)
    return str(home)


def look(session: nox.Session, group: str) -> None:
    """Install what looks at the built book, which is there; torch and Sphinx aren't needed."""
    if not Path("docs/_build/html/index.html").exists():
        session.error("there is no book to look at: `nox -s docs` builds it")
    settle(session)
    tools = nox.project.dependency_groups(PYPROJECT, group)
    session.install("--constraint", "constraints.txt", *tools)


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
def bounds(session: nox.Session) -> None:
    """Try bounds of the portable policy on many cells in all lanes (about five minutes)."""
    install(session)
    session.run("python", "tools/bounds.py", *session.posargs)


@nox.session(default=False)
def device(session: nox.Session) -> None:
    """Check the book on a device (after --: --device cuda, --record to keep the report)."""
    install(session)
    session.run("python", "tools/devices.py", *session.posargs)


@nox.session(default=False)
def margins(session: nox.Session) -> None:
    """List the documented numbers that are closest to where their last digit changes."""
    install(session)
    session.run("python", "tools/margins.py", *session.posargs)


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measure what builds cost, of generated books and of this one (about two hours)."""
    install(session, "bench")
    command = ("python", "benchmarks/build.py", "--jupyter-book", jupyter_book(session))
    session.run(*command, *session.posargs)


def jupyter_book(session: nox.Session) -> str:
    """Install Jupyter Book 1 into an environment of its own, and return its command."""
    home = Path(session.virtualenv.location, "jupyter-book").resolve()
    pins = Path("benchmarks", "jupyter-book.txt")
    lines = Path("constraints.txt").read_text(encoding="utf-8").splitlines()
    torch = next(line for line in lines if line.startswith("torch=="))
    recipe = hashlib.sha256(pins.read_bytes() + torch.encode()).hexdigest()
    stamp = home / "recipe.sha256"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != recipe:
        session.run_install("python", "-m", "venv", "--clear", str(home))
        pip = (str(home / "bin" / "python"), "-m", "pip", "install", "--quiet")
        session.run_install(*pip, "--requirement", str(pins), torch, external=True)
        stamp.write_text(recipe, encoding="utf-8")
    return str(home / "bin" / "jupyter-book")


@nox.session(default=False)
def linkcheck(session: nox.Session) -> None:
    """Ask every address that the book links to; needs a network."""
    install(session)
    sphinx = ("python", "-m", "sphinx", "-b", "linkcheck", "-d", "docs/_build/linkcheck-doctrees")
    session.run(*sphinx, "docs", "docs/_build/linkcheck", *session.posargs)
