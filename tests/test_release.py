"""A release is refused, or made whole: versions, change logs, a commit and its tag."""

import datetime as dt
import re
import runpy
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import release as command
from the_book import ROOT

RELEASED = ("CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md", "pyproject.toml", "selfattn")
NOXFILE = runpy.run_path(str(ROOT / "noxfile.py"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
GUIDES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/_contributing/*.md")})
GUIDES.remove(ROOT / "CHANGELOG.md")


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    return command.run("git", *who, *words, cwd=root)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    ignored = shutil.ignore_patterns("__pycache__", "tests", "docs", "benchmarks")
    for name in (*RELEASED, ".gitignore", "packages"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=ignored)
        else:
            root.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, root / name)
    for folder in command.PACKAGES.values():
        (root / folder / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- A thing.\n")
        with (root / folder / "pyproject.toml").open("a", encoding="utf-8") as file:
            file.write('\n[project.urls]\nRepository = "https://example.org"\n')
    git(root, "init", "--quiet")
    git(root, "config", "user.name", "A")
    git(root, "config", "user.email", "a@example.org")
    return commit(root)


def commit(root: Path) -> Path:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "-m", "A commit")
    return root


@pytest.mark.slow
def test_release_is_a_commit_a_tag_and_two_files_of_each(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "ROOT", tree)
    monkeypatch.setattr(command, "try_out", lambda *_: None)  # takes minutes, and a network
    command.release("7.8.9", tree / "dist", dry=True)
    assert git(tree, "tag") == ""
    command.release("7.8.9", tree / "dist", dry=False)
    assert git(tree, "log", "-1", "--format=%s %D").strip().endswith("tag: v7.8.9")
    today = dt.datetime.now(dt.UTC).date()
    for folder in command.PACKAGES.values():
        log = (tree / folder / "CHANGELOG.md").read_text("utf-8")
        assert log == f"# Changelog\n\n## Unreleased\n\n## 7.8.9 - {today}\n\n- A thing.\n"
    assert "sphinx-drift 7.8.9\n\n- A thing." in git(tree, "tag", "-l", "--format=%(contents)")
    assert {path.name for path in (tree / "dist").iterdir()} == {
        f"{name}-7.8.9{end}"
        for name in ("forked_kernels", "selfattn", "sphinx_drift")
        for end in ("-py3-none-any.whl", ".tar.gz")
    }
    with pytest.raises(ValueError, match=r"v7\.8\.9 has been released"):
        command.release("7.8.9", tree / "dist", dry=False)


def test_a_package_is_installed_with_those_of_ours_that_it_requires() -> None:
    assert command.ours(ROOT, "sphinx-drift") == ["forked-kernels", "sphinx-drift"]
    assert command.ours(ROOT, "selfattn") == ["selfattn"]


def test_what_is_not_ready_is_not_released(tree: Path) -> None:
    assert command.obstacles(tree, "0.1.0", public=True) == []
    git(tree, "tag", "v0.1")
    (tree / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n## 0.0.1\n\n- Old.\n")
    text = (tree / "pyproject.toml").read_text("utf-8")
    (tree / "pyproject.toml").write_text(text.replace("Repository", "Other"), "utf-8")
    found = command.obstacles(tree, "0.1", public=True)
    for remedy in ("three numbers", "commit what", "has been released", "what is new", "published"):
        assert sum(remedy in line for line in found) == 1
    assert len(command.obstacles(tree, "0.1", public=False)) == len(found) - 1


@pytest.mark.slow
def test_the_package_is_all_that_its_distributions_contain(tmp_path: Path) -> None:
    command.run(sys.executable, "-m", "hatchling", "build", "-d", tmp_path, cwd=ROOT)
    code = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "selfattn").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    (wheel,), (source,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    about = {"METADATA", "RECORD", "WHEEL", "licenses/LICENSE"}
    with zipfile.ZipFile(wheel) as file:
        names = {name.partition(".dist-info/")[2] or name for name in file.namelist()}
    assert names == code | about
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names == code | {*RELEASED[:-1], "PKG-INFO", ".gitignore"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_an_action_is_pinned_by_its_commit(path: Path) -> None:
    used = re.findall(r"uses: (?!\./)\S+?@(.+)", path.read_text("utf-8"))
    assert used
    assert [each for each in used if not re.fullmatch(r"[0-9a-f]{40} # v\d+\.\d+\.\d+", each)] == []


@pytest.mark.parametrize("hook", ["ruff", "codespell"])
def test_what_runs_before_a_commit_is_what_the_gate_runs(hook: str) -> None:
    """pre-commit's other hook, actionlint, is no package."""
    (pinned,) = re.findall(
        rf"^{hook}==(.+)$", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE
    )
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    assert re.search(rf"/{hook}(?:-pre-commit)?\n    rev: v{re.escape(pinned)}\n", hooks)


@pytest.mark.parametrize("path", NOXFILE["TORCH_FILES"], ids=str)
def test_new_torch_finds_the_version_where_it_replaces_it(path: Path) -> None:
    version = NOXFILE["PYPROJECT"]["tool"]["sphinx-drift"]["reference"]["torch"]
    assert (ROOT / path).read_text("utf-8").count(version) == 1


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_guides_name_sessions_and_files_that_exist(guide: Path) -> None:
    text = guide.read_text("utf-8")
    sessions = re.findall(r"nox -s ([a-z-]+)", text)
    assert [each for each in sessions if each.replace("-", "_") not in NOXFILE] == []
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [each for each in links if not (guide.parent / each).exists()] == []


def test_both_readmes_show_the_same_failing_build() -> None:
    """The checker's is run by a test of its own."""
    shown = [
        re.findall(
            r"```text\n(\$ .+?)```", (ROOT / folder / "README.md").read_text("utf-8"), re.DOTALL
        )
        for folder in (".", "packages/sphinx-drift")
    ]
    assert len(shown[0]) == 1
    assert shown[0] == shown[1]
