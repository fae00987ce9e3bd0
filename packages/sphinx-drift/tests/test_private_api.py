"""What is used of others without their promise: that it still is what it was, and where it is used.

A name here that has changed fails with what to do. Each is used by one module, so that there is
one place to mend, and the package that it is of has a version that the dependencies stop at.
"""

import tomllib
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from private_api import Use, problem

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "sphinx_drift"
NOT_CAPPED = {"pytest-cov", "python", "torch"}
"""Python and a plugin of pytest are what they are, and the book pins torch."""
DEPENDENCIES = [
    requirement
    for file in (ROOT, ROOT.parent / "forked-kernels", ROOT.parents[1])
    for project in [tomllib.loads((file / "pyproject.toml").read_text("utf-8"))["project"]]
    for requirement in (
        *project["dependencies"],
        *(
            each
            for name in ("docs", "pytest")
            for each in project.get("optional-dependencies", {}).get(name, ())
        ),
    )
]


CLIENT = "sphinx/private_api.py: find by what MyST-NB now makes the client that runs a page"
READER = "source/read_source.py: find how MyST-NB now reads a page's cells, with their lines"
OUTPUTS = "run/page.py: find what nbclient now keeps while it takes outputs in"

USES = [
    # MyST-NB and MyST-Parser
    Use("myst-nb", "myst_nb.sphinx_:Parser.parse", CLIENT, ("self", "inputstring", "document"),
        by=r"myst_nb\.Parser\b"),
    Use("myst-nb", "myst_nb.sphinx_:create_client", CLIENT,
        ("notebook", "source", "nb_config", "logger")),
    Use("myst-nb", "myst_nb.core.render:MditRenderMixin.render_nb_cell_code",
        "docs/_ext/website/outputs.py: find how MyST-NB now marks cells and outputs",
        by=r"\bnb_element\b", says="nb_element"),
    Use("myst-nb", "myst_nb.core.execute.base:NotebookClientBase", CLIENT,
        ("notebook", "path", "nb_config", "logger"), by=r"myst_nb.* import .*NotebookClientBase"),
    Use("myst-nb", "myst_nb.ext.glue.utils:PendingGlueReference",
        "sphinx/private_api.py: find what MyST-NB now leaves where another page's output goes",
        by=r"myst_nb.* import PendingGlueReference"),
    Use("myst-nb", "myst_nb.sphinx_ext:OUTPUT_FOLDER",
        "sphinx/private_api.py: find where MyST-NB now writes copies of notebooks",
        by=r"myst_nb.* import OUTPUT_FOLDER"),
    Use("myst-nb", "myst_nb.sphinx_:Parser",
        "sphinx/pages.py: find in which files MyST-NB now keeps what a page glues",
        by=r"\.glue\.json\b", says=".glue.json"),
    Use("myst-nb", "myst_nb.core.read:is_myst_markdown_notebook", READER, ("text",)),
    Use("myst-nb", "myst_nb.core.read:read_myst_markdown_notebook", READER, ("text", "config")),
    Use("myst-nb", "myst_nb.core.config:NbParserConfig.get_cell_level_config",
        "source/metadata.py: find how MyST-NB now reads a cell's own settings",
        ("field_name", "cell_metadata", "warning_callback")),
    Use("myst-nb", "myst_nb.core.read:UnexpectedCellDirective",
        "sphinx/directives.py: find what MyST-NB now warns by of a cell that isn't run"),
    Use("myst-parser", "myst_parser.parsers.mdit:create_md_parser", READER,
        ("config", "renderer")),
    Use("myst-parser", "myst_parser.sphinx_ext.main:create_myst_config",
        "sphinx/private_api.py: find where MyST-Parser now keeps its configuration",
        by=r"\bmyst_config\b"),
    # Sphinx
    Use("sphinx", "sphinx.application:Sphinx.build",
        "sphinx/private_api.py: find what `sphinx.ext.doctest` now does to fail a build",
        by=r"\bstatuscode\b"),
    Use("sphinx", "sphinx.config:Config.__init__",
        "conf_py.py: find where Sphinx now keeps what conf.py says",
        by=r"\b_raw_config\b"),
    Use("sphinx", "sphinx.config:Config.read",
        "conf_py.py: find how Sphinx now reads conf.py",
        ("confdir", "overrides", "tags"), by=r"\bConfig\.read\b"),
    Use("sphinx", "sphinx.util.tags:Tags",
        "conf_py.py: find what Sphinx now hands to conf.py as `tags`"),
    Use("sphinx", "sphinx.util.matching:compile_matchers",
        "patterns.py: find by what Sphinx now excludes pages", ("patterns",),
        by=r"sphinx\.util\.matching"),
    Use("sphinx", "sphinx.builders:Builder.epilog",
        "sphinx/private_api.py: find what Sphinx now says last", by=r"\bbuilder\.epilog\b"),
    Use("sphinx", "sphinx.environment:BuildEnvironment.__init__",
        "docs/_ext/website/pages.py: find where Sphinx now keeps tables of contents",
        by=r"\btoctree_includes\b", says="toctree_includes"),
    Use("sphinx", "sphinx.registry:SphinxComponentRegistry.add_translation_handlers",
        "docs/_ext/reference/exercises.py: find where Sphinx now keeps visitors of nodes",
        by=r"\btranslation_handlers\b", says="self.translation_handlers"),
    Use("sphinx", "sphinx.environment:BuildEnvironment.get_outdated_files",
        "sphinx/pages.py: find how Sphinx now knows when a page was read",
        by=r"\ball_docs\b", says="self.all_docs"),
    # Jupyter and pytest
    Use("ipykernel", "ipykernel.iostream:OutStream._setup_stream_redirects",
        "run/injected.py: find what ipykernel now does with the descriptors",
        by=r"\b_original_stdstream_copy\b", says="self.watch_fd_thread"),
    Use("ipykernel", "IPython.core.interactiveshell:InteractiveShell.initialized",
        "forked_kernels/fork_server.py: find how libraries now look for a kernel",
        by=r"\bInteractiveShell\.initialized\b"),
    Use("ipykernel", "ipykernel.kernelapp:IPKernelApp.parse_command_line",
        "forked_kernels/fork_server.py: find how ipykernel now reads its options",
        ("self", "argv")),
    Use("ipykernel", "ipykernel.kernelapp:IPKernelApp.cli_config",
        "forked_kernels/fork_server.py: find where ipykernel now keeps its options"),
    Use("ipykernel", "ipykernel.kernelapp:IPKernelApp.control_thread",
        "forked_kernels/fork_server.py: find which thread of ipykernel now flushes its output"),
    Use("pytest", "_pytest.config:Config.__init__",
        "testing/items.py: find what now parses the options of pytest",
        by=r"\bconfig\._parser\b", says="self._parser"),
    Use("pytest", "_pytest.doctest:DoctestTextfile",
        "testing/items.py: find by which class pytest now collects texts",
        by=r"_pytest\.doctest\b"),
    Use("pytest", "_pytest.fixtures:FixtureManager.parsefactories",
        "testing/items.py: find how pytest now reads the fixtures of a module",
        by=r"\.parsefactories\b", says="node_or_obj"),
    Use("pytest-cov", "pytest_cov.plugin:CovPlugin.__init__",
        "testing/items.py: find where pytest-cov now keeps what it measures",
        by=r"\bcov_controller\b", says="cov_controller"),
    Use("python", "atexit:_run_exitfuncs", "forked_kernels/fork_server.py: run them otherwise"),
    Use("python", "doctest:DocTestFinder._from_module",
        "testing/docstrings.py: find how doctest now knows whose an example is",
        ("self", "module", "object"), by=r"super\(\)\._from_module"),
    Use("python", "threading:_shutdown", "forked_kernels/fork_server.py: end threads otherwise",
        by=r"threading\._shutdown\b", says="_threading_atexits"),
    Use("python", "sys:_getframe", "run/reads.py: find otherwise who lists a folder"),
    Use("python", "weakref:finalize._registry",
        "forked_kernels/fork_server.py: find where Python now keeps finalizers",
        by=r"finalizers\._registry\b"),
    Use("python", "warnings:filters",
        "forked_kernels/fork_server.py: find which filters a library has added",
        by=r"\bwarnings\.filters\b"),
    Use("nbclient", "nbclient:NotebookClient.process_message", OUTPUTS,
        ("self", "msg", "cell", "cell_index"), by=r"super\(\)\.process_message"),
    Use("nbclient", "nbclient:NotebookClient.set_widgets_metadata", OUTPUTS,
        ("self",), by=r"\bwidget_state\b"),
    Use("nbclient", "nbclient:NotebookClient.async_wait_for_reply",
        "run/page.py: find how nbclient now waits for the answer to a request", ("self", "msg_id")),
    # Libraries of pages, and Python
    Use("torch", "torch._tensor_str:get_printoptions",
        "testing/examples.py: find how torch now tells its print options",
        by=r"_tensor_str\.get_printoptions\b"),
    Use("torch", "torch:Tensor._base",
        "run/in_full.py: find of which tensor one is now a view", by=r"\btensor\._base\b"),
]  # fmt: skip


def named(use: Use) -> str:
    return use.name


@pytest.mark.parametrize("use", USES, ids=named)
def test_it_is_what_it_was(use: Use) -> None:
    assert problem(use) == "", f"{use.package} has changed {use.name}. To do: {use.remedy}"


# Where they are used -----------------------------------------------------------------------


HOUSES = {
    "": PACKAGE,
    "forked_kernels/": ROOT.parent / "forked-kernels" / "forked_kernels",
    "docs/_ext/": ROOT.parents[1] / "docs" / "_ext",
}


@cache
def modules(*houses: str) -> dict[str, str]:
    """Return the texts of modules, by name."""
    return {
        f"{house}{path.relative_to(HOUSES[house]).as_posix()}": path.read_text("utf-8")
        for house in houses
        for path in HOUSES[house].rglob("*.py")
    }


@pytest.mark.parametrize("use", USES, ids=named)
def test_one_module_uses_it(use: Use) -> None:
    users = [name for name, text in modules(*HOUSES).items() if use.mention.search(text)]
    assert users, "delete the entry of what nothing uses any more"
    assert len([name for name in users if not name.startswith("docs/")]) <= 1, (
        f"{use.name} must be used by one module, got {users}; move the uses together"
    )


@pytest.mark.parametrize("package", sorted({use.package for use in USES} - NOT_CAPPED))
def test_its_package_has_a_cap(package: str) -> None:
    requirements = [each for each in map(Requirement, DEPENDENCIES) if each.name == package]
    operators = {each.operator for known in requirements for each in known.specifier}
    assert "<" in operators, f"{package} is used beyond its promises, so it needs `<` a version"
