"""`{listing} package.module.Name`: an object's source as it stands, without its docstrings."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.pycode import ModuleAnalyzer

from figures.numbered_blocks import CaptionedDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCSTRING = re.compile(r'^ +r?""".*?"""\n\n?', re.MULTILINE | re.DOTALL)


def listing_source(path: str) -> tuple[str, Path]:
    """Return an object's code without docstrings, and the file it stands in.

    Raises:
        ValueError: If there is no such object.

    """
    package, module, name = path.split(".")
    spec = find_spec(package)  # of the package alone: for its modules it would be imported
    if spec is None or spec.origin is None:
        raise ValueError(f"there is no package {package!r}")
    file = Path(spec.origin).with_name(f"{module}.py")
    text = file.read_text("utf-8")
    places = ModuleAnalyzer.for_string(text, module).find_tags()
    if name not in places:
        raise ValueError(f"{file.name} defines {', '.join(places)}")
    _, start, end = places[name]
    return DOCSTRING.sub("", "".join(text.splitlines(keepends=True)[start - 1 : end])), file


class Listing(CaptionedDirective):
    """Show an object's source, read from the package itself."""

    kind = "listing"
    required_arguments = 1
    option_spec = CaptionedDirective.shared_options | {"caption": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        path = self.arguments[0]
        try:
            code, file = listing_source(path)
        except (OSError, ValueError) as error:
            raise self.error(
                f"cannot list {path!r}: {error}; "
                "write the full path, such as selfattn.modules.SelfAttention_v1"
            ) from error
        self.env.note_dependency(str(file))
        block = nodes.literal_block(code, code, language="python")
        self.set_source_info(block)
        caption, messages = self.parse_inline(self.options.get("caption", path))
        return [self.wrap([block], caption, path), *messages]


def setup(app: Sphinx) -> None:
    app.add_directive("listing", Listing)
