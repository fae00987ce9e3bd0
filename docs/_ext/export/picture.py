"""Draw a figure as a picture that notebooks show: they take PNG as an attachment, and no SVG."""

import re
import tempfile
from functools import cache
from pathlib import Path

import resvg_py
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

STATIC = Path(__file__).parents[2] / "_themes" / "selfattn" / "static"
FONTS = (  # file, name, weight where a file has several
    ("serif", "Book Serif", 400),
    ("serif", "Book Serif", 700),
    ("serif-italic", "Book Serif", None),
    ("math", "Book Math", None),
)
LETTERS = str.maketrans("αω", "𝛼𝜔")  # as the book's font for formulas has them
WIDTH = 600  # pixels, as Jupyter shows them beside its text
RULE = re.compile(r"^(\.(?:role|attention-svg)[^{@]*)\{([^}]*)\}", re.MULTILINE)
FAMILIES = """.attention-svg { font-family: "Book Serif"; }
.attention-svg .fig-math { font-family: "Book Serif", "Book Math"; }"""
VARIABLE = re.compile(r"(--[\w-]+): light-dark\((#\w+), #\w+\)")


def to_png(svg: str) -> bytes:
    """Return an SVG picture of the book as PNG, in the colours of the light page."""
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg.translate(LETTERS),
            background="#ffffff",
            width=WIDTH,
            style_sheet=style_sheet(),
            skip_system_fonts=True,
            font_files=font_files(),
        )
    )


@cache
def style_sheet() -> str:
    """Return the site's rules for figures, without what a small reader of CSS doesn't know.

    A role is a variable there, which each element's rules use, and here the element's colour.
    """
    colours = dict(VARIABLE.findall((STATIC / "book.css").read_text("utf-8")))
    rules = []
    for selectors, body in RULE.findall((STATIC / "content.css").read_text("utf-8")):
        plain = re.sub(r":not\([^)]*\)", "", selectors)
        if options := re.search(r":is\(([^)]*)\)", plain):
            each = options[1].split(", ")
            plain = ", ".join(plain.replace(options[0], option).strip() for option in each)
        rule = body.replace("--role:", "color:")
        rule = re.sub(r"var\(--role[^()]*(\([^)]*\))?\)", "currentColor", rule)
        rule = re.sub(r"var\((--[\w-]+)\)", lambda name: colours.get(name[1], ""), rule)
        rules.append(f"{plain} {{{re.sub('font-family:[^;]*;', '', rule)}}}")
    rules += [FAMILIES, f".attention-svg {{ color: {colours['--fig-input']}; }}"]
    return "\n".join(rules)


@cache
def font_files() -> list[str]:
    """Return the book's fonts as files that the program which draws can read."""
    folder = Path(tempfile.mkdtemp("fonts"))
    for number, (file, name, weight) in enumerate(FONTS):
        font = TTFont(STATIC / "fonts" / f"{file}.woff2")
        if weight:
            font = instantiateVariableFont(font, {"wght": weight})
            font["OS/2"].usWeightClass = weight
        for record in (1, 6):  # names that a font for the web may leave out, and this needs
            font["name"].setName(name, record, 3, 1, 0x409)
        font.flavor = None
        font.save(folder / f"{number}.ttf")
    return [str(path) for path in sorted(folder.iterdir())]
