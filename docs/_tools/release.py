"""Build the three packages and try them where nothing else is; with a version, release them.

All bear one version. All happens in a clone, so a release that fails leaves nothing behind.
"""

import argparse
import datetime as dt
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "selfattn": Path(),
    "forked-kernels": Path("packages/forked-kernels"),
    "sphinx-drift": Path("packages/sphinx-drift"),
}
VERSIONS = {  # where it is written
    "selfattn/__init__.py": r'^__version__ = "(.+)"$',
    "packages/forked-kernels/forked_kernels/__init__.py": r'^__version__ = "(.+)"$',
    "packages/sphinx-drift/sphinx_drift/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
}
UNRELEASED = "## Unreleased\n"


def run(*words: str | Path, cwd: Path, **variables: str) -> str:
    """Run a command, show it, and return what it printed."""
    print("$", *words, flush=True)
    env = {**os.environ, **variables}
    done = subprocess.run(words, cwd=cwd, env=env, check=False, text=True, stdout=subprocess.PIPE)
    if done.returncode:
        print(done.stdout)
        raise ValueError(f"`{words[0]}` failed: nothing was released")
    return done.stdout


def section(text: str, heading: str) -> str:
    """Return what a change log says below a heading."""
    _, found, rest = text.partition(heading)
    return rest.partition("\n## ")[0].strip() if found else ""


def obstacles(root: Path, version: str, *, public: bool) -> list[str]:
    """Return what has to be done before a version can be released, if anything."""
    found = []
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        found.append(f"{version}: give a version of three numbers, such as 0.1.0")
    if run("git", "status", "--porcelain", cwd=root):
        found.append("commit what has changed: a release is made of commits")
    if run("git", "tag", "--list", f"v{version}", cwd=root):
        found.append(f"v{version} has been released: choose the next version")
    for name, folder in PACKAGES.items():
        if not section((root / folder / "CHANGELOG.md").read_text("utf-8"), UNRELEASED):
            found.append(f"write into {folder / 'CHANGELOG.md'}, below Unreleased, what is new")
        project = tomllib.loads((root / folder / "pyproject.toml").read_text("utf-8"))["project"]
        if public and "Repository" not in project.get("urls", {}):
            found.append(f"{name}: say where it is published, in [project.urls] as Repository")
    return found


def stamp(root: Path, version: str, day: dt.date) -> str:
    """Write a version and its day into all files that name them; return what is new in it."""
    for name, pattern in VERSIONS.items():
        path = root / name
        text = path.read_text("utf-8")
        (match,) = re.finditer(pattern, text, re.MULTILINE)
        path.write_text(text[: match.start(1)] + version + text[match.end(1) :], "utf-8")
    news = []
    for name, folder in PACKAGES.items():
        path = root / folder / "CHANGELOG.md"
        text = path.read_text("utf-8")
        news.append(f"{name} {version}\n\n{section(text, UNRELEASED)}\n")
        headings = f"{UNRELEASED}\n## {version} - {day}\n"
        path.write_text(text.replace(UNRELEASED, headings, 1), "utf-8")
    return "\n".join(news)


def build(root: Path, dist: Path) -> None:
    """Make wheel and source archive of each package."""
    shutil.rmtree(dist, ignore_errors=True)
    for folder in PACKAGES.values():
        run(sys.executable, "-m", "hatchling", "build", "-d", dist, cwd=root / folder)


def ours(root: Path, name: str) -> list[str]:
    """Return the packages of this repository that one of them brings along, itself included."""
    project = tomllib.loads((root / PACKAGES[name] / "pyproject.toml").read_text("utf-8"))
    required = {
        re.split(r"[^\w-]", each, maxsplit=1)[0] for each in project["project"]["dependencies"]
    }
    return [each for each in PACKAGES if each == name or each in required]


def try_out(root: Path, dist: Path) -> None:
    """Install each package from a folder into an empty environment; run its README's example."""
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir()), cwd=root)
    first_book = (ROOT / "packages/sphinx-drift/tests/test_manual.py", "-k", "first_book")
    for name in PACKAGES:
        with tempfile.TemporaryDirectory() as folder:
            venv.create(folder, with_pip=True)
            python = Path(folder, "Scripts" if os.name == "nt" else "bin", "python")
            pip = (python, "-m", "pip", "install", "--quiet")
            # Ours come from the folder alone, even if an index has something of that name.
            links = ("--no-index", "--no-deps", "--find-links", dist)
            run(*pip, *links, *ours(root, name), cwd=dist)
            run(*pip, "--constraint", root / "constraints.txt", name, cwd=dist)
            run(python, "-m", "pip", "check", cwd=dist)
            if name == "selfattn":
                run(python, "-m", "doctest", root / "README.md", cwd=dist)
            elif name == "forked-kernels":
                run(python, "-m", "forked_kernels", "--name", "quick", cwd=dist)
            else:
                run(
                    sys.executable,
                    "-m",
                    "pytest",
                    "-q",
                    *first_book,
                    cwd=ROOT,
                    README_PYTHON=str(python),
                )
        print(f"{name}: installed from {dist}; the README's example runs")


def release(version: str, dist: Path, *, dry: bool) -> None:
    """Release a version: commit, tag and distributions, or only the last of these."""
    missing = obstacles(ROOT, version, public=not dry)
    if missing:
        raise ValueError("not released:\n" + "\n".join(f"- {each}" for each in missing))
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder, "clone")
        run("git", "clone", "--quiet", ROOT, clone, cwd=ROOT)
        news = stamp(clone, version, dt.datetime.now(dt.UTC).date())
        build(clone, dist)
        try_out(clone, dist)
        if dry:
            print(f"{version} can be released; this is what would be new in it:\n\n{news}")
            return
        for setting in ("user.name", "user.email"):
            run(
                "git", "config", setting, run("git", "config", setting, cwd=ROOT).strip(), cwd=clone
            )
        run("git", "commit", "--quiet", "--all", "-m", f"Release {version}", cwd=clone)
        message = ("--cleanup=verbatim", "-m", f"{version}\n\n{news}")
        run("git", "tag", "--annotate", *message, f"v{version}", cwd=clone)
        run("git", "fetch", "--quiet", "--tags", clone, cwd=ROOT)
        run("git", "merge", "--quiet", "--ff-only", f"v{version}", cwd=ROOT)
    print(f"{version} is tagged and in {dist}; `git push --follow-tags` publishes it")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", nargs="?", help="the version; without one, nothing is released")
    parser.add_argument("--dry-run", action="store_true", help="do all but commit and tag")
    options = parser.parse_args()
    dist = ROOT / "dist"
    if options.version:
        release(options.version, dist, dry=options.dry_run)
    else:
        build(ROOT, dist)
        try_out(ROOT, dist)


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(str(error))
