"""The project's menu: `nox -l` lists it, bare `nox` runs every gate that needs no browser."""

import itertools
import shutil
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_existing_virtualenvs = True

PYPROJECT = nox.project.load_toml("pyproject.toml")
HTML_CHECKER = "vnu-jar@26.9.27"
BOM = "cyclonedx-bom==7.5.0"
TWINE = "twine==7.0.0"
CHECKER = Path("packages/sphinx-drift")
KERNELS = Path("packages/forked-kernels")
OURS = ("--editable", f"./{KERNELS}", "--editable", f"./{CHECKER}")
CHECKER_PROJECT = nox.project.load_toml(CHECKER / "pyproject.toml")["project"]
TORCH_FILES = [Path("constraints.txt"), Path("pyproject.toml")]
RESOLVED = {  # what is installed with the checker, by what `nox -s versions` calls it
    "lowest": [
        each.split(",")[0].replace(">=", "==")
        for each in CHECKER_PROJECT["dependencies"]
        if not each.startswith(KERNELS.name)
    ],
    "jupyter-book-1": ["jupyter-book<2"],
    "newest": ["--upgrade", "--upgrade-strategy", "eager"],
    "pre": ["--upgrade", "--upgrade-strategy", "eager", "--pre"],
}
VERSIONS = [
    ("3.11", "lowest"),
    ("3.11", "jupyter-book-1"),
    *itertools.product(("3.11", "3.12", "3.13", "3.14"), ("newest", "pre")),
]
BUILT = Path("docs", "_build")
SITE = BUILT / "html"
DOCTREES = ("-d", str(BUILT / "doctrees"))
EPUB = "selfattn.epub"
CONSTRAINED = ("--constraint", "constraints.txt")
# All pages are written, since each shows the titles of others.
SPHINX = ("python", "-m", "sphinx_drift.run", "-n", "-W", "-a", "-j", "auto", "-b", "html")


def install(session: nox.Session, *groups: str) -> None:
    """Install book and checker, editable, with what Sphinx and the groups need, as constrained."""
    # The build backend comes first, from the same pins, so that no build is isolated from them.
    session.install(*CONSTRAINED, *PYPROJECT["build-system"]["requires"])
    ours = (*OURS, "--editable", ".[docs]")
    session.install(*CONSTRAINED, "--no-build-isolation", *ours, *tools(*groups))


def tools(*groups: str) -> tuple[str, ...]:
    """Return the requirements of dependency groups."""
    return nox.project.dependency_groups(PYPROJECT, *groups)


@nox.session
def docs(session: nox.Session) -> None:
    """Build and verify the book, the manual and the e-book (after --: for Sphinx)."""
    manual(session)
    session.run(
        *(*SPHINX, *DOCTREES, "-D", f"downloads_books={EPUB}"),
        *("docs", str(SITE), *session.posargs),
    )
    epub(session)
    if (BUILT / "epub" / EPUB).exists():  # not with --install-only
        shutil.copy2(BUILT / "epub" / EPUB, SITE / "_downloads")


@nox.session(default=False)
def manual(session: nox.Session) -> None:
    """Build and verify the checker's manual into docs/_build/html/sphinx-drift."""
    install(session)
    built, target = BUILT / "manual" / "html", SITE / "sphinx-drift"
    doctrees = ("-d", str(BUILT / "manual" / "doctrees"))
    # The manual has no device of its own: DRIFT_DEVICE and DRIFT_RUNNER are meant for the book.
    environment = {"DRIFT_DEVICE": "cpu", "DRIFT_RUNNER": ""}
    session.run(*SPHINX, *doctrees, str(CHECKER / "docs"), str(built), env=environment)
    if built.exists():  # not with --install-only
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(built, target)


@nox.session(default=False)
def epub(session: nox.Session) -> None:
    """Make the e-book docs/_build/epub/selfattn.epub."""
    install(session)
    sphinx = ("python", "-m", "sphinx", "-q", "-n", "-W", "-j", "auto", "-b", "epub")
    shutil.rmtree(BUILT / "epub", ignore_errors=True)  # all that lies there would be packed
    session.run(*sphinx, *DOCTREES, "docs", str(BUILT / "epub"))


@nox.session(default=False)
def pdf(session: nox.Session) -> None:
    """Print the book as one page, docs/_build/selfattn.pdf, with the system's Chromium."""
    install(session)
    out = BUILT / "singlehtml"
    session.run(
        *("python", "-m", "sphinx", "-q", "-n", "-W", "-j", "auto", "-b", "singlehtml"),
        *(*DOCTREES, "docs", str(out)),
    )
    session.run(
        *("chromium", "--headless", "--no-sandbox", "--no-pdf-header-footer"),
        *("--virtual-time-budget=60000", f"--print-to-pdf={BUILT / 'selfattn.pdf'}"),
        (out / "index.html").resolve().as_uri(),
        external=True,
    )


@nox.session(default=False)
def live(session: nox.Session) -> None:
    """Serve the book to this machine's browser; each save is built, verified and reloaded."""
    install(session, "live")
    watched = ("--watch", "selfattn", "--watch", str(CHECKER))
    session.run(
        *("python", "-m", "sphinx_drift.live", "docs", "docs/_build/live", *watched),
        *session.posargs,
    )


@nox.session
def doctest(session: nox.Session) -> None:
    """Run every example of the docstrings and the README, and verify what it prints."""
    install(session, "tests")
    examples = ("-p", "sphinx_drift.pytest_plugin", "--drift-doctests")
    checked = ("selfattn", str(CHECKER / "sphinx_drift"), "README.md")
    session.run("pytest", "-q", *examples, *checked, *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting with ruff, spelling with codespell, and who imports whom."""
    session.install(*CONSTRAINED, *tools("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")
    layers = ("lint-imports", "--no-cache")
    session.run(*layers, env={"PYTHONPATH": "docs/_ext"})
    with session.chdir(CHECKER):
        session.run(*layers)


@nox.session
def types(session: nox.Session) -> None:
    """Check types with mypy: both packages strictly, everything else as far as annotated."""
    install(session, "types", "tests")
    session.run("mypy", "--strict", "selfattn", str(CHECKER / "sphinx_drift"))
    session.run("mypy", "--strict", str(KERNELS / "forked_kernels"))
    site = ("docs/_ext", "docs/_data", "docs/_tools", str(CHECKER / "docs" / "_ext"))
    session.run("mypy", "noxfile.py", "conftest.py", *site)
    session.run("mypy", "tests")
    session.run("mypy", str(CHECKER / "tests"), str(CHECKER / "benchmarks"), str(KERNELS / "tests"))


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests, two at a time (after --: for pytest, such as -m 'not slow', or --cov)."""
    install(session, "tests")
    session.run("pytest", "-n", "2", *session.posargs)


@nox.session(default=False)
def browser(session: nox.Session) -> None:
    """Look at the built book in Chromium and Firefox (after --: --all, or for pytest)."""
    session.install(*CONSTRAINED, *tools("browser"))
    # The HTML checker is npm's, and installed beside the session's environment.
    home = str(Path(session.virtualenv.location, "vnu").resolve())
    npm = ("npm", "install", "--no-audit", "--no-fund", "--prefix", home)
    session.run_install(*npm, HTML_CHECKER)
    session.run("pytest", "-n", "2", "tests/browser", *session.posargs, env={"VNU_HOME": home})


@nox.session(default=False)
def bom(session: nox.Session) -> None:
    """List what `docs` built the site with, and its licences, in the site's bom.json."""
    built_with = Path(session.virtualenv.location).with_name("docs")
    if not (built_with.is_dir() and SITE.is_dir()):
        session.error("there is no site yet whose packages could be listed: run nox -s docs")
    session.install(BOM)
    session.run(
        *("cyclonedx-py", "environment", str(built_with), "--pyproject", "pyproject.toml"),
        *("--output-reproducible", "--output-file", str(SITE / "bom.json")),
    )


@nox.session(default=False)
def mutation(session: nox.Session) -> None:
    """Alter every documented output in every way, and count what is caught (a few minutes)."""
    install(session, "tests")
    session.run("python", "packages/sphinx-drift/benchmarks/mutation.py", *session.posargs)


@nox.session(default=False)
def properties(session: nox.Session) -> None:
    """Try many random outputs and computations (minutes; after --: how many of each)."""
    install(session, "tests")
    count = session.posargs[0] if session.posargs else "2000"
    test = "packages/sphinx-drift/tests/test_properties.py"
    session.run("pytest", test, env={"PROPERTY_EXAMPLES": count})


@nox.session(default=False)
def hostile(session: nox.Session) -> None:
    """Time hostile outputs at 10 KB, 100 KB and 1 MB (minutes; after --: shapes)."""
    install(session, "tests")
    session.run("python", "packages/sphinx-drift/benchmarks/hostile.py", *session.posargs)


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measure builds, beside stock MyST-NB and nothing executed (a quarter of an hour)."""
    install(session)
    session.run("python", "packages/sphinx-drift/benchmarks/build_cost.py", *session.posargs)


@nox.session(default=False, venv_backend="none")
def doctor(session: nox.Session) -> None:
    """Say what is here, what is missing for which task, and what a build would use."""
    session.run(sys.executable, "docs/_tools/doctor.py")


@nox.session(name="new-torch", default=False)
def new_torch(session: nox.Session) -> None:
    """Move the book to another torch (after --: 2.14.0), and list which numbers moved."""
    (version,) = session.posargs
    old = PYPROJECT["tool"]["sphinx-drift"]["reference"]["torch"]
    for path in TORCH_FILES:
        path.write_text(path.read_text("utf-8").replace(old, version), "utf-8")
    install(session)
    # "portable" accepts what rounding explains, and lists it with its distance.
    session.run("python", "-m", "sphinx_drift", "--policy", "portable", "docs")


@nox.session(default=False)
@nox.parametrize("python, resolved", VERSIONS, ids=["-".join(each) for each in VERSIONS])
def versions(session: nox.Session, resolved: str) -> None:
    """Try the checker with other versions of Python and of what it requires."""
    needed = ("hypothesis", "numpy", "psutil", "pytest>=9.2")
    session.install(
        "--editable", f"./{KERNELS}", "--editable", f"./{CHECKER}", *needed, *RESOLVED[resolved]
    )
    tests = CHECKER / "tests"  # those that need no torch: it isn't to be had for every Python
    rooms = [str(tests / room) for room in ("compare", "output")]
    session.run("pytest", "-q", "-m", "not slow", *rooms, *session.posargs)
    session.run("pytest", "-q", str(tests / "test_manual.py"), *session.posargs)


@nox.session(default=False)
def release(session: nox.Session) -> None:
    """Build both packages into dist/ and try them (after --: 0.1.0 [--dry-run], to release)."""
    install(session, "tests")
    session.install(TWINE)
    session.run("python", "docs/_tools/release.py", *session.posargs)


@nox.session(default=False)
def linkcheck(session: nox.Session) -> None:
    """Ask every address that the book links to; needs a network."""
    install(session)
    sphinx = ("python", "-m", "sphinx", "-b", "linkcheck", "-d", "docs/_build/linkcheck-doctrees")
    session.run(*sphinx, "docs", "docs/_build/linkcheck", *session.posargs)
