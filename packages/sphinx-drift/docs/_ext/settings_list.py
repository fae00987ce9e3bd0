"""Lists settings, options of the command and variables, from the table that the code reads."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from sphinx_drift.settings import entries
from sphinx_drift.shapes import TRUTH, Place, Setting


class SettingsList(SphinxDirective):
    """List the settings, each with its type, its default, its meaning and where it may be set."""

    def run(self) -> list[nodes.Node]:
        shown = [described(entry) for entry in entries()]
        return self.parse_text_to_nodes("\n\n".join(shown))


class OptionsList(SphinxDirective):
    """List the options of the command that are settings."""

    def run(self) -> list[nodes.Node]:
        shown = [
            f"````{{option}} {entry.option}{'' if entry.shape is TRUTH else ' VALUE'}\n"
            f"{entry.text}\n````"
            for entry in entries(Place.COMMAND)
        ]
        return self.parse_text_to_nodes("\n\n".join(shown))


class VariablesList(SphinxDirective):
    """List the environment variables of settings."""

    def run(self) -> list[nodes.Node]:
        shown = [
            f"````{{envvar}} {entry.variable}\nComes before {{confval}}`drift_{entry.name}`, "
            f"and a command's `{entry.option}` before both.\n````"
            for entry in entries()
            if entry.variable
        ]
        return self.parse_text_to_nodes("\n\n".join(shown))


def described(entry: Setting) -> str:
    """Return a setting as an entry of the manual."""
    places = [place.value for place in entry.places if place is not Place.COMMAND]
    if Place.COMMAND in entry.places:
        places.append(f"{{option}}`{entry.option} <python -m sphinx_drift {entry.option}>`")
    if entry.variable:
        places.append(f"{{envvar}}`{entry.variable}`")
    return (
        f"````{{confval}} drift_{entry.name}\n:type: {entry.shape.name}\n"
        f":default: `{entry.default!r}`\n\n{entry.text}\n\nSet in {', '.join(places)}.\n````"
    )


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("settings-list", SettingsList)
    app.add_directive("options-list", OptionsList)
    app.add_directive("variables-list", VariablesList)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
