"""What is used of others without their promise: that it still is what it was, and where it is used.

A name here that has changed fails with what to do. Each is used by one module, so that there is
one place to mend, and the package that it is of has a version that the dependencies stop at.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from private_api import Use, problem

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "sphinx_drift"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NOT_CAPPED = {"python", "torch"}
"""Python is what it is, and no page of torch is checked by a version that the book didn't pin."""


CLIENT = "sphinx/private_myst.py: find by what MyST-NB now makes the client that runs a page"
READER = "source/read_source.py: find how MyST-NB now reads a page's cells, with their lines"
SCREEN = "run/channel.py: compare `CellStream.__init__` with that of OutStream, and set what is new"
KERNEL = "run/child.py: find what IPython's kernel now does to run a cell; see `_run_cell`"
OUTPUTS = "run/transcript.py: find what nbclient now keeps while it takes outputs in"
WARNINGS = "sphinx/private_sphinx.py: find how Sphinx now passes warnings on, and leaves them out"
TITLES = "sphinx/private_sphinx.py: find where Sphinx now keeps copies of titles"
EARLY = "live/first_page.py: find what Sphinx now does between reading and writing a page"
TEMPLATES = "live/warm_up.py: find where Sphinx now keeps the environment of its templates"
BUILD = "live/build.py: compare it with what `sphinx.cmd.build` now does"

USES = [
    # MyST-NB and MyST-Parser
    Use("myst-nb", "myst_nb.sphinx_:Parser.parse", CLIENT, ("self", "inputstring", "document"),
        ("create_client", "create_nb_reader"), by=r"myst_nb\.Parser\b"),
    Use("myst-nb", "myst_nb.sphinx_:create_client", CLIENT,
        ("notebook", "source", "nb_config", "logger")),
    Use("myst-nb", "myst_nb.sphinx_:create_nb_reader", CLIENT,
        ("path", "md_config", "nb_config", "content"), ("myst_nb_md",)),
    Use("myst-nb", "myst_nb.core.read:NbReader", CLIENT, ("read", "md_config", "read_fmt")),
    Use("myst-nb", "myst_nb.core.execute.base:NotebookClientBase", CLIENT,
        ("notebook", "path", "nb_config", "logger"),
        ("start_client", "exec_metadata", "_path"), by=r"myst_nb.* import .*NotebookClientBase"),
    Use("myst-nb", "myst_nb.core.execute:NotebookClientDirect", CLIENT),
    Use("myst-nb", "myst_nb.core.execute:NotebookClientCache", CLIENT),
    Use("myst-nb", "myst_nb.core.execute.base:ExecutionError", CLIENT,
        by=r"myst_nb.* import ExecutionError"),
    Use("myst-nb", "myst_nb.sphinx_:NbMetadataCollector.get_exec_data",
        "sphinx/private_myst.py: find where MyST-NB now keeps when a page was run",
        ("env", "docname")),
    Use("myst-nb", "myst_nb.ext.glue.utils:PendingGlueReference",
        "sphinx/private_myst.py: find what MyST-NB now leaves where another page's output goes",
        by=r"myst_nb.* import PendingGlueReference"),
    Use("myst-nb", "myst_nb.sphinx_ext:OUTPUT_FOLDER",
        "sphinx/private_myst.py: find where MyST-NB now writes copies of notebooks",
        by=r"myst_nb.* import OUTPUT_FOLDER"),
    Use("myst-nb", "myst_nb.core.read:is_myst_markdown_notebook", READER, ("text",)),
    Use("myst-nb", "myst_nb.core.read:read_myst_markdown_notebook", READER, ("text", "config"),
        ("source_map",)),
    Use("myst-parser", "myst_parser.parsers.mdit:create_md_parser", READER,
        ("config", "renderer")),
    Use("myst-parser", "myst_parser.sphinx_ext.main:create_myst_config",
        "sphinx/private_myst.py: find where MyST-Parser now keeps its configuration",
        names=("myst_config",), by=r"\bmyst_config\b"),
    Use("myst-parser", "myst_parser.sphinx_ext.myst_refs:MystReferenceResolver",
        "sphinx/private_myst.py: find where MyST-Parser now keeps the texts of headings",
        names=("myst_slugs",), by=r"\bmyst_slugs\b"),
    # Sphinx
    Use("sphinx", "sphinx.util.logging:NAMESPACE", WARNINGS),
    Use("sphinx", "sphinx.util.logging:is_suppressed_warning", WARNINGS,
        ("suppress_warnings",)),
    Use("sphinx", "sphinx.util.logging:get_node_location", WARNINGS, ("node",)),
    Use("sphinx", "sphinx.util.console:colorize",
        "sphinx/private_sphinx.py: find how Sphinx now says whether it colours", ("name", "text")),
    Use("sphinx", "sphinx.application:Sphinx.build",
        "sphinx/private_sphinx.py: find what `sphinx.ext.doctest` now does to fail a build",
        names=("statuscode", "epilog"), by=r"\bstatuscode\b"),
    Use("sphinx", "sphinx.environment:BuildEnvironment.__init__", TITLES,
        names=("longtitles", "tocs"), by=r"\.longtitles\b"),
    Use("sphinx", "sphinx.environment:BuildEnvironment.get_doctree",
        "sphinx/private_sphinx.py: find where Sphinx now keeps doctrees", names=(".doctree",),
        by=r"\}\.doctree\b"),
    Use("sphinx", "sphinx.application:ENV_PICKLE_FILENAME", BUILD),
    Use("sphinx", "sphinx.util.docutils:patch_docutils", BUILD, ("confdir",)),
    Use("sphinx", "sphinx.util.docutils:docutils_namespace", BUILD),
    Use("sphinx", "sphinx.util.console:nocolor", BUILD),
    Use("sphinx", "sphinx.application:Sphinx.preload_builder",
        "live/standby.py: find what Sphinx now does last before it makes a builder",
        ("self", "name")),
    Use("sphinx",
        "sphinx.environment.collectors.toctree:TocTreeCollector.assign_section_numbers", EARLY,
        ("self", "env"), ("toc_secnumbers",)),
    Use("sphinx",
        "sphinx.environment.collectors.toctree:TocTreeCollector.assign_figure_numbers", EARLY,
        names=("toc_fignumbers",), by=r"\btoc_fignumbers\b"),
    Use("sphinx", "sphinx.builders.html:StandaloneHTMLBuilder.copy_image_files", EARLY, ("self",)),
    Use("sphinx", "sphinx.builders.html:StandaloneHTMLBuilder.prepare_writing", EARLY,
        ("self", "docnames"), ("search",)),
    Use("sphinx", "sphinx.builders.html:StandaloneHTMLBuilder.get_output_path",
        "live/build.py: find where Sphinx now writes a page", ("page_name",)),
    Use("sphinx", "sphinx.builders.html:StandaloneHTMLBuilder.init_templates", TEMPLATES,
        names=("theme", "templates", "create_template_bridge"), by=r"builder\.templates\b"),
    Use("sphinx", "sphinx.jinja2glue:BuiltinTemplateLoader.init", TEMPLATES,
        names=("environment",), by=r"\.templates, 'environment'"),
    Use("sphinx", "sphinx.highlighting:PygmentsBridge.get_formatter",
        "sphinx/highlight.py: find how Sphinx now makes a formatter", ("self", "kwargs")),
    # Jupyter
    Use("ipykernel", "ipykernel.iostream:OutStream", SCREEN,
        names=("_parent_header", "_parent_header_global", "_master_pid", "_isatty",
               "_should_watch", "pub_thread", "session", "topic", "echo"),
        by=r"import OutStream\b"),
    Use("ipykernel", "ipykernel.ipkernel:IPythonKernel._publish_execute_input", KERNEL, ("self",)),
    Use("ipykernel", "ipykernel.ipkernel:IPythonKernel._execute_sleep", KERNEL),
    Use("ipykernel", "ipykernel.ipkernel:IPythonKernel.finish_metadata", KERNEL,
        ("self", "parent", "metadata", "reply_content")),
    Use("ipykernel", "ipykernel.ipkernel:IPythonKernel.execute_request", KERNEL,
        ("self", "stream", "ident", "parent"),
        by=r"kernel\.execute_request\("),
    Use("ipykernel", "ipykernel.ipkernel:IPythonKernel.set_parent", KERNEL,
        ("self", "ident", "parent", "channel")),
    Use("ipykernel", "ipykernel.ipkernel:IPythonKernel.do_execute", KERNEL,
        names=("shell_channel_thread", "parent_thread"), by=r"\bparent_thread="),
    Use("ipykernel", "ipykernel.kernelapp:IPKernelApp.patch_io", KERNEL, ("self",)),
    Use("ipython", "IPython.core.debugger:InterruptiblePdb", KERNEL),
    Use("ipython", "IPython.core.history:HistoryManager.new_session",
        "run/child.py: find how IPython now begins the history of a session", ("self",)),
    Use("ipython", "IPython.core.interactiveshell:InteractiveShell.init_environment", KERNEL,
        ("self",)),
    Use("nbclient", "nbclient:NotebookClient.process_message", OUTPUTS,
        ("self", "msg", "cell", "cell_index"), ("output", "clear_output"),
        by=r"super\(\)\.process_message"),
    Use("nbclient", "nbclient:NotebookClient.output", OUTPUTS,
        names=("output_hook_stack", "clear_before_next_output"), by=r"\boutput_hook_stack\b"),
    Use("nbclient", "nbclient:NotebookClient.set_widgets_metadata", OUTPUTS,
        ("self",), ("widget_state",), by=r"\bwidget_state\b"),
    Use("nbclient", "nbclient.output_widget:OutputWidget", "run/channel.py: see `Captures`",
        ("comm_id", "state", "kernel_client", "executor"), by=r"import OutputWidget\b"),
    # Libraries of pages, and Python
    Use("torch", "torch._tensor_str:get_printoptions",
        "doctests/examples.py: find how torch now tells its print options",
        by=r"_tensor_str\.get_printoptions\b"),
    Use("python", "multiprocessing.util:register_after_fork",
        "run/workers.py: find how a process that multiprocessing forks can be reached",
        ("obj", "func")),
]  # fmt: skip


def named(use: Use) -> str:
    return use.name


@pytest.mark.parametrize("use", USES, ids=named)
def test_it_is_what_it_was(use: Use) -> None:
    assert problem(use) == "", f"{use.package} has changed {use.name}. To do: {use.remedy}"


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (Use("ours", "json:gone", ""), "no attribute 'gone'"),
        (Use("ours", "json:loads", "", ("text",)), "the parameters text, got s, cls"),
        (Use("ours", "json:loads", "", ("cls", "s")), "the parameters cls, s, got s, cls"),
        (Use("ours", "json:loads", "", names=("nothing",)), "not there: ['nothing']"),
    ],
)
def test_a_change_is_seen(use: Use, message: str) -> None:
    assert message in problem(use)


# Where they are used -----------------------------------------------------------------------


@cache
def modules() -> dict[str, str]:
    """Return the package's modules without their comments and docstrings, by name."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.unparse(bare(ast.parse(path.read_text("utf-8"))))
        for path in PACKAGE.rglob("*.py")
    }


def bare(tree: ast.Module) -> ast.Module:
    """Return a module without docstrings, nor imports for types alone."""
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [each for each in body if not spoken(each)] or [ast.Pass()]  # type: ignore[attr-defined]
    return tree


def spoken(node: ast.stmt) -> bool:
    """Return whether a statement is a text, or for a type checker."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@pytest.mark.parametrize("use", USES, ids=named)
def test_one_module_uses_it(use: Use) -> None:
    users = [name for name, text in modules().items() if use.mention.search(text)]
    assert len(users) == 1, (
        f"{use.name} must be used by one module, got {users}; "
        "move the uses together, or delete the entry of what nothing uses any more"
    )


@pytest.mark.parametrize("package", sorted({use.package for use in USES} - NOT_CAPPED))
def test_its_package_has_a_cap(package: str) -> None:
    (requirement,) = (
        each for each in map(Requirement, PROJECT["dependencies"]) if each.name == package
    )
    operators = {each.operator for each in requirement.specifier}
    assert "<" in operators, f"{package} is used beyond its promises, so it needs `<` a version"


SUPPORTED = {
    *("docutils:nodes", "markdown_it.renderer:RendererHTML", "traitlets:Any"),
    *("jinja2:FileSystemBytecodeCache", "jinja2:TemplateError", "traitlets.config:Config"),
    *("jupyter_client.kernelspec:KernelSpecManager", "jupyter_client.kernelspec:NoSuchKernel"),
    *("jupyter_client.manager:AsyncKernelManager", "jupyter_client.session:Session"),
    *("nbclient.exceptions:CellExecutionComplete", "nbclient.exceptions:CellExecutionError"),
    *("nbclient.exceptions:CellTimeoutError", "nbclient.exceptions:DeadKernelError"),
    *("nbformat", "nbformat:NotebookNode", "nbformat:from_dict", "nbformat:v4", "pytest"),
    *("pygments.lexers:get_lexer_by_name", "pygments.util:ClassNotFound", "PIL.Image", "numpy"),
    *("flip_evaluator", "tornado.ioloop:IOLoop", "tornado.platform:asyncio"),
    *("myst_parser.config.main:MdParserConfig", "sphinx:addnodes", "sphinx:version_info"),
    *("sphinx.application:Sphinx", "sphinx.builders.html:StandaloneHTMLBuilder"),
    *("sphinx.builders.dummy:DummyBuilder", "sphinx.cmd.build:main", "sphinx.config:ENUM"),
    *("sphinx.errors:ConfigError", "sphinx.errors:ExtensionError", "sphinx.util:logging"),
    *("sphinx.transforms.post_transforms:SphinxPostTransform",),
    *("sphinx.util.docutils:SphinxDirective", "sphinx.util.docutils:SphinxRole"),
}
"""Imports that their makers document for extensions and clients."""


def imported(text: str) -> set[str]:
    """Return what a module imports of packages that are neither Python's nor ours."""
    ours = {*sys.stdlib_module_names, "sphinx_drift"}
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.update(f"{node.module}:{alias.name}" for alias in node.names)
    return {name for name in names if re.split(r"[.:]", name)[0] not in ours}


def test_every_import_is_supported_or_listed() -> None:
    listed = {re.sub(r"(:\w+)\..*", r"\1", use.name) for use in USES}
    modules_of_listed = {name.partition(":")[0] for name in listed}
    names = set().union(*map(imported, modules().values()))
    unknown = names - SUPPORTED - listed - modules_of_listed
    assert unknown - {"IPython.core:debugger"} == set(), "say in USES what to do if it changes"
    unused = SUPPORTED - names
    assert unused == set(), "delete from SUPPORTED what nothing imports"


def test_an_import_that_is_not_listed_is_seen() -> None:
    text = "import json\nfrom sphinx.util.parallel import make_chunks\nimport myst_nb.core.lexers"
    assert imported(text) == {"sphinx.util.parallel:make_chunks", "myst_nb.core.lexers"}


def private_attributes(text: str) -> set[str]:
    """Return the attributes with an underscore that a module uses and does not define."""
    nodes = list(ast.walk(ast.parse(text)))
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    taken = (node for node in nodes if isinstance(node, ast.Attribute) and node.attr not in own)
    return {
        node.attr
        for node in taken
        if re.fullmatch(r"_[a-z]\w*", node.attr)
        and not (isinstance(node.value, ast.Name) and node.value.id in {"self", "cls", "os"})
    }


DOCUMENTED = {"_base", "_replace"}
"""Of torch, under tensor views; and of named tuples."""
LISTED = {"_tensor_str"}


def test_no_other_module_reaches_behind_an_underscore() -> None:
    assert set().union(*map(private_attributes, modules().values())) == DOCUMENTED | LISTED
    assert private_attributes("self._a, os._exit, a.__class__, b.c._d") == {"_d"}
