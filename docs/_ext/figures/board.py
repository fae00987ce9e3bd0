"""A small drawing board: boxes, arrows and matrices as SVG text that follows the page's colours."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Anchor = Literal["start", "middle", "end"]
WIDTH = 360  # one user unit is about one pixel on a phone 390 pixels wide
TEXT = 13.0
SMALL = 11.5
RAISED, LOWERED = -5, 4
SCRIPT = re.compile(r"([_^])\{([^}]*)\}")
# Of a formula: a word, one letter, or what stands between letters.
SIGNS = re.compile(r"[A-Za-z]{2,}|[A-Za-zα-ω]|[^A-Za-zα-ω]+")
BOLD = set("qkvxzQKVXZWA")  # vectors and matrices, as in the text's formulas


def signed(text: str) -> str:
    """Write a negative number with a minus sign, which a hyphen is not."""
    return text.replace("-", "−", 1) if text.startswith("-") else text


class Board:
    """Collects shapes; coordinates in user units, y downwards.

    Args:
        height: How tall the picture is.
        values: What it asks for numbers, by `number(path)`, and for what else is drawn of it.
        width: How wide the picture is.

    """

    def __init__(self, height: float, values: Any) -> None:
        self.height = height
        self.values = values
        self.parts: list[str] = []
        self.numbers: list[tuple[str, str]] = []
        """The paths of the values that are written, and how they are written."""

    def text(
        self,
        x: float,
        y: float,
        content: str,
        *,
        anchor: Anchor = "middle",
        size: float = TEXT,
        css: str = "",
    ) -> None:
        """Write text on the base line `y`; what stands between dollar signs is a formula."""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}"'
            f"{_class(css)}>{_scripts(content)}</text>"
        )

    def note(self, x: float, y: float, content: str, *, anchor: Anchor = "middle") -> None:
        """Write small grey text."""
        self.text(x, y, content, anchor=anchor, size=SMALL, css="fig-muted")

    def number(
        self,
        x: float,
        y: float,
        path: str,
        shown: str = "",
        *,
        css: str = "",
        size: float = TEXT,
        anchor: Anchor = "middle",
    ) -> None:
        """Write one of the values, to two decimals where it is not given as a text."""
        shown = shown or signed(f"{self.values.number(path):.2f}")
        self.numbers.append((path, shown))
        self.text(x, y, shown, anchor=anchor, size=size, css=css)

    def box(self, x: float, y: float, width: float, height: float, css: str) -> None:
        """Draw a rectangle; `css` names its role, from which colour and outline follow."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3"{_class(css)}/>'
        )

    def bar(self, x: float, y: float, width: float, height: float, css: str) -> None:
        """Draw a filled bar whose length says a number."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:.2f}" height="{height:g}"'
            f"{_class(f'fig-bar {css}')}/>"
        )

    def shade(
        self, x: float, y: float, size: tuple[float, float], strength: float, role: str
    ) -> None:
        """Fill a heat-map cell; `strength` between 0 and 1."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{size[0]:g}" height="{size[1]:g}"'
            f' fill-opacity="{strength:.3f}"{_class(f"fig-shade role-{role}")}/>'
        )

    def key(self, x: float, y: float, steps: Sequence[tuple[float, str]]) -> None:
        """Draw the scale of a heat map: one swatch for each strength and role."""
        for place, (strength, role) in enumerate(steps):
            self.shade(x + 18 * place, y, (18, 10), strength, role)
        self.box(x, y, 18 * len(steps), 10, "fig-frame fig-thin role-input")

    def line(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Draw a thin rule."""
        self.parts.append(
            f'<line class="fig-rule" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'
        )

    def curve(
        self, points: Sequence[tuple[float, float]], role: str, dashes: str = "", *, marked: bool
    ) -> None:
        """Draw a line through points, and mark them: with dots, or squares where it is dashed."""
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline class="fig-frame role-{role}"{dashed} points="{line}"/>')
        for x, y in points if marked else ():
            css = _class(f"fig-shade role-{role}")
            dot = f'<circle{css} cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
            square = f'<rect{css} x="{x - 2.5:.1f}" y="{y - 2.5:.1f}" width="5" height="5"/>'
            self.parts.append(square if dashes else dot)

    def band(
        self, lower: Sequence[tuple[float, float]], upper: Sequence[tuple[float, float]], role: str
    ) -> None:
        """Shade what lies between two lines through points."""
        edge = " ".join(f"{x:.1f},{y:.1f}" for x, y in (*lower, *reversed(upper)))
        css = _class(f"fig-shade role-{role}")
        self.parts.append(f'<polygon{css} fill-opacity="0.15" points="{edge}"/>')

    def arrow(self, x1: float, y1: float, x2: float, y2: float, css: str = "") -> None:
        """Draw an arrow along an axis or aslant, its head at the second point."""
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        bx, by = x2 - 6 * ux, y2 - 6 * uy
        head = f"{x2:.1f},{y2:.1f} {bx - 3.5 * uy:.1f},{by + 3.5 * ux:.1f} "
        head += f"{bx + 3.5 * uy:.1f},{by - 3.5 * ux:.1f}"
        self.parts.append(
            f'<g{_class(f"fig-arrow {css}")}><line x1="{x1:g}" y1="{y1:g}" x2="{bx:.1f}"'
            f' y2="{by:.1f}"/><polygon points="{head}"/></g>'
        )

    def row(
        self,
        x: float,
        y: float,
        path: str,
        role: str,
        cell: tuple[float, float],
        css: str = "",
        columns: Sequence[int] | None = None,
    ) -> None:
        """Draw one number, a vector, or some columns of it as a row of cells."""
        width, height = cell
        value = self.values.at(path)
        columns = columns or range(len(value) if isinstance(value, list) else 0)
        paths = [f"{path}.{column}" for column in columns] or [path]
        self.box(x, y, width * len(paths), height, f"fig-box role-{role} {css}")
        for place, each in enumerate(paths):
            self.number(x + width * (place + 0.5), y + height / 2 + 4.3, each)

    def matrix(
        self,
        x: float,
        y: float,
        name: str,
        role: str,
        cell: tuple[float, float],
        strong: int | None = None,
    ) -> None:
        """Draw a matrix of the values; the row `strong` is set off."""
        rows = self.values[name]
        width, height = cell
        self.box(x, y, width * len(rows[0]), height * len(rows), f"fig-box role-{role}")
        if strong is not None:
            self.box(
                x, y + height * strong, width * len(rows[0]), height, f"fig-strong role-{role}"
            )
        for r, row in enumerate(rows):
            for c in range(len(row)):
                css = "fig-bold" if r == strong else ""
                self.number(
                    x + width * (c + 0.5), y + height * (r + 0.5) + 4.3, f"{name}.{r}.{c}", css=css
                )

    def words(
        self, x: float, y: float, step: float, strong: int | None = None, height: float = 0.0
    ) -> None:
        """Write the six words as labels that end at `x`; rows are `height`, or a step, tall."""
        for r, word in enumerate(self.values["words"]):
            css = "fig-bold" if r == strong else "fig-muted"
            self.text(x, y + step * r + (height or step) / 2 + 4.3, word, anchor="end", css=css)

    def heads(self, x: float, y: float, width: float, size: float = SMALL) -> None:
        """Write the six words above columns, of which the first begins at `x`."""
        for c, word in enumerate(self.values["words"]):
            self.text(x + width * (c + 0.5), y, word, size=size, css="fig-muted")

    def render(self, uid: str, title: str, description: str) -> str:
        """Return the finished picture with its text alternative."""
        label = f' role="img" aria-labelledby="{uid}-title {uid}-desc"'
        head = f'<title id="{uid}-title">{escape(title)}</title>'
        return self._svg(label, f'{head}<desc id="{uid}-desc">{escape(description)}</desc>')

    def decorate(self) -> str:
        """Return the picture for eyes alone, where the text beside it says the same."""
        return self._svg(' aria-hidden="true" focusable="false"', "")

    def _svg(self, attributes: str, head: str) -> str:
        return (
            f'<svg class="attention-svg" xmlns="http://www.w3.org/2000/svg"'
            f' viewBox="0 0 {WIDTH} {self.height:g}"{attributes}>'
            f"{head}{''.join(self.parts)}</svg>"
        )


class Panels:
    """Boards that stand below one another on a phone and side by side on a desk."""

    def __init__(self, *boards: Board) -> None:
        self.boards = boards

    @property
    def numbers(self) -> list[tuple[str, str]]:
        """The paths of all values that are written, and how they are written."""
        return [number for board in self.boards for number in board.numbers]

    def render(self, uid: str, title: str, description: str) -> str:
        """Return the panels; the first one carries the text alternative of all."""
        first, *others = self.boards
        pictures = [first.render(uid, title, description), *(b.decorate() for b in others)]
        return f'<div class="attention-panels">{"".join(pictures)}</div>'


def _class(css: str) -> str:
    return f' class="{css.strip()}"' if css.strip() else ""


def _scripts(content: str) -> str:
    """Turn `$…$` into formulas, and `_{…}` and `^{…}` in them into small shifted spans."""
    spans, height = [], 0
    for place, part in enumerate(content.split("$")):
        for text, shift in _pieces(part):
            move = f' dy="{shift - height}"' if shift != height else ""
            size = ' font-size="11"' if shift else ""
            height = shift
            if place % 2:
                first, *others = _signs(text, small=bool(shift))
                spans += [f"<tspan{move}{size}{first}", *(f"<tspan{size}{sign}" for sign in others)]
            else:
                spans.append(f"<tspan{move}{size}>{escape(text)}</tspan>" if move else escape(text))
    return "".join(spans)


def _signs(text: str, *, small: bool) -> list[str]:
    """Return the rest of a span for each sign of a formula: slanted letters, upright words."""
    ends = []
    for sign in SIGNS.findall(text):
        kind = "" if len(sign) > 1 or not sign.isalpha() else " fig-slanted"
        kind = " fig-bold" if sign in BOLD and not small else kind
        ends.append(f' class="fig-math{kind}">{escape(sign)}</tspan>')
    return ends


def _pieces(content: str) -> Iterator[tuple[str, int]]:
    position = 0
    for match in SCRIPT.finditer(content):
        if match.start() > position:
            yield content[position : match.start()], 0
        yield match[2], LOWERED if match[1] == "_" else RAISED
        position = match.end()
    if position < len(content):
        yield content[position:], 0
