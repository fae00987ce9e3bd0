"""`{listing}`: number, name, caption and marked changed lines for the code cell that follows."""

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging, parselinenos

from figures.numbered_blocks import CaptionedDirective, caption_text, captioned

LOGGER = logging.getLogger(__name__)


class Listing(CaptionedDirective):
    """Announce the code cell that follows as a listing."""

    kind = "listing"
    option_spec = CaptionedDirective.shared_options | {
        "caption": directives.unchanged_required,
        "changed": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        caption, messages = self.parse_inline(self.options.get("caption", ""))
        node = self.wrap([], caption, self.options.get("number", ""))
        node["changed"] = self.options.get("changed", "")
        return [node, *messages]


class PutCellsIntoListings(SphinxTransform):
    """Move each listing's code cell below its caption, number its lines and mark those changed."""

    default_priority = 12  # after an exercise's parts have been put together

    def apply(self, **kwargs: object) -> None:
        for node in list(self.document.findall(captioned)):
            if node["kind"] == "listing":
                try:
                    put_cell_into(node)
                except ValueError as error:
                    LOGGER.warning("%s: %s", node["label"], error, location=node, type="listing")


def put_cell_into(listing: captioned) -> None:
    """Move the cell after a listing into it.

    Raises:
        ValueError: If no code cell follows, or it has fewer lines than are said to have changed.

    """
    cell = listing.next_node(descend=False, siblings=True)
    if not isinstance(cell, nodes.container) or cell.get("nb_element") != "cell_code":
        raise ValueError("no code cell follows; write {listing} directly before the {code-cell}")
    cell.parent.remove(cell)
    listing += cell
    code = next(cell.findall(nodes.literal_block))
    code["linenos"] = True
    if not listing["changed"]:
        return
    last = len(code.astext().rstrip().splitlines())
    changed = [1 + line for line in parselinenos(listing["changed"], last)]
    if strays := [line for line in changed if not 1 <= line <= last]:
        raise ValueError(
            f":changed: names line {strays[0]}, but the cell has the lines 1 to {last}"
        )
    code["highlight_args"] = {"hl_lines": changed}
    caption = next(listing.findall(caption_text))
    words = f" Changed: {'lines' if len(changed) > 1 else 'line'} {in_words(changed)}."
    caption += nodes.inline(words, words, classes=["listing-changed"])


def in_words(lines: list[int]) -> str:
    """Return line numbers such as "4–6 and 12"."""
    runs: list[list[int]] = []
    for line in sorted(set(lines)):
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    parts = [f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def setup(app: Sphinx) -> None:
    app.add_directive("listing", Listing)
    app.add_transform(PutCellsIntoListings)
