"""A small drawing board: boxes, arrows and matrices as SVG text that follows the page's colours."""

import re
from collections.abc import Sequence
from html import escape
from typing import Any, Literal

Point = tuple[float, float]

Anchor = Literal["start", "middle", "end"]
WIDTH = 360  # one user unit is about one pixel on a phone 390 pixels wide
TEXT, SMALL = 13.0, 11.5
SHIFTS = {"": 0, "_": 4, "^": -5}
PIECE = re.compile(r"([_^])\{([^}]*)\}|((?:(?![_^]\{).)+)")
# Of a formula: a word, one letter, or what stands between letters.
SIGN = re.compile(r"[A-Za-z]{2,}|[A-Za-zα-ω]|[^A-Za-zα-ω]+")
BOLD = set("qkvxzQKVXZWA")  # vectors and matrices, as in the text's formulas


def signed(text: str) -> str:
    """Write a negative number with a minus sign, which a hyphen is not."""
    return text.replace("-", "−", 1) if text.startswith("-") else text


class Board:
    """Collects shapes; coordinates in user units, y downwards.

    A shape's `css` names its role, from which its colour follows. Numbers are the values at a
    path, such as `keys.1.0`.
    """

    def __init__(self, height: float, values: Any) -> None:
        self.height = height
        self.values = values
        self.parts: list[str] = []
        self.numbers: list[tuple[str, str]] = []
        """The paths of the values that are written, and how they are written."""

    def _put(self, tag: str, css: str = "", content: str = "", **attributes: float | str) -> None:
        text = f' class="{css.strip()}"' if css.strip() else ""
        for name, value in attributes.items():
            said = value if isinstance(value, str) else f"{round(value, 2):g}"
            text += f' {name.replace("_", "-")}="{said}"'
        self.parts.append(f"<{tag}{text}>{content}</{tag}>" if content else f"<{tag}{text}/>")

    def text(
        self, x: float, y: float, content: str, css: str = "", anchor: Anchor = "middle",
        size: float = TEXT,
    ) -> None:  # fmt: skip
        """Write text on the base line `y`; what stands between dollar signs is a formula."""
        self._put("text", css, _spans(content), x=x, y=y, font_size=size, text_anchor=anchor)

    def note(self, x: float, y: float, content: str, anchor: Anchor = "middle") -> None:
        """Write small grey text."""
        self.text(x, y, content, "fig-muted", anchor, SMALL)

    def number(
        self, x: float, y: float, path: str, css: str = "", anchor: Anchor = "middle",
        size: float = TEXT, shown: str = "",
    ) -> None:  # fmt: skip
        """Write one of the values, to two decimals where it is not given as a text."""
        shown = shown or signed(f"{self.values.number(path):.2f}")
        self.numbers.append((path, shown))
        self.text(x, y, shown, css, anchor, size)

    def box(self, x: float, y: float, width: float, height: float, css: str) -> None:
        """Draw a rectangle."""
        self._put("rect", css, x=x, y=y, width=width, height=height, rx=3)

    def bar(self, x: float, y: float, width: float, height: float, css: str) -> None:
        """Draw a filled bar whose length says a number."""
        self._put("rect", f"fig-bar {css}", x=x, y=y, width=width, height=height)

    def shade(self, x: float, y: float, size: Point, strength: float, role: str) -> None:
        """Fill a heat-map cell; `strength` between 0 and 1."""
        css, (width, height) = f"fig-shade role-{role}", size
        self._put("rect", css, x=x, y=y, width=width, height=height, fill_opacity=f"{strength:.3f}")

    def key(self, x: float, y: float, steps: Sequence[tuple[float, str]]) -> None:
        """Draw the scale of a heat map: one swatch for each strength and role."""
        for place, (strength, role) in enumerate(steps):
            self.shade(x + 18 * place, y, (18, 10), strength, role)
        self.box(x, y, 18 * len(steps), 10, "fig-frame fig-thin role-input")

    def line(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Draw a thin rule."""
        self._put("line", "fig-rule", x1=x1, y1=y1, x2=x2, y2=y2)

    def curve(
        self, points: Sequence[Point], role: str, dashes: str = "", *, marked: bool = False
    ) -> None:
        """Draw a line through points, and mark them: with dots, or squares where it is dashed."""
        self._put("polyline", f"fig-frame role-{role}", points=_joined(points),
                  stroke_dasharray=dashes or "none")  # fmt: skip
        for x, y in points if marked else ():
            css = f"fig-shade role-{role}"
            if dashes:
                self._put("rect", css, x=x - 2.5, y=y - 2.5, width=5, height=5)
            else:
                self._put("circle", css, cx=x, cy=y, r=3)

    def band(self, lower: Sequence[Point], upper: Sequence[Point], role: str) -> None:
        """Shade what lies between two lines through points."""
        edge = _joined((*lower, *reversed(upper)))
        self._put("polygon", f"fig-shade role-{role}", points=edge, fill_opacity="0.15")

    def arrow(self, x1: float, y1: float, x2: float, y2: float, css: str = "") -> None:
        """Draw an arrow along an axis or aslant, its head at the second point."""
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        bx, by = x2 - 6 * ux, y2 - 6 * uy
        head = [(x2, y2), (bx - 3.5 * uy, by + 3.5 * ux), (bx + 3.5 * uy, by - 3.5 * ux)]
        line = f'<line x1="{x1:g}" y1="{y1:g}" x2="{bx:.1f}" y2="{by:.1f}"/>'
        self._put("g", f"fig-arrow {css}", f'{line}<polygon points="{_joined(head)}"/>')

    def bow(self, start: Point, end: Point, out: Point, thickness: float) -> None:
        """Draw a bow that leaves two points in the direction `out`; a loop where both are one."""
        pull = 0.25
        if start == end:
            pull, (x, y) = -1, (5, 0) if not out[0] else (0, 5)
            start, end = (start[0] - x, start[1] - y), (start[0] + x, start[1] + y)
        inward = (pull * (end[0] - start[0]), pull * (end[1] - start[1]))
        controls = [
            (x + out[0] + sign * inward[0], y + out[1] + sign * inward[1])
            for (x, y), sign in ((start, 1), (end, -1))
        ]
        way = f"M{_joined([start])}C{_joined((*controls, end))}"
        self._put("path", "fig-bow role-weight", stroke_width=f"{thickness:.2f}", d=way)

    def row(
        self, x: float, y: float, path: str, role: str, cell: Point, css: str = "",
        columns: Sequence[int] = (),
    ) -> None:  # fmt: skip
        """Draw one number, a vector, or some columns of it as a row of cells."""
        width, height = cell
        value = self.values.at(path)
        columns = columns or range(len(value) if isinstance(value, list) else 0)
        paths = [f"{path}.{column}" for column in columns] or [path]
        self.box(x, y, width * len(paths), height, f"fig-box role-{role} {css}")
        for place, each in enumerate(paths):
            bold = "fig-bold" if "fig-bold" in css else ""
            self.number(x + width * (place + 0.5), y + height / 2 + 4.3, each, bold)

    def matrix(
        self, x: float, y: float, name: str, role: str, cell: Point, strong: int = -1
    ) -> None:
        """Draw a matrix of the values; the row `strong` is set off."""
        rows = self.values[name]
        (width, height), columns = cell, len(rows[0])
        self.box(x, y, width * columns, height * len(rows), f"fig-box role-{role}")
        if strong >= 0:
            top = y + height * strong
            self.box(x, top, width * columns, height, f"fig-strong role-{role}")
        for r, row in enumerate(rows):
            for c in range(len(row)):
                place = (x + width * (c + 0.5), y + height * (r + 0.5) + 4.3)
                self.number(*place, f"{name}.{r}.{c}", "fig-bold" if r == strong else "")

    def words(self, x: float, y: float, step: float, strong: int = -1, height: float = 0.0) -> None:
        """Write the six words as labels that end at `x`; rows are `height`, or a step, tall."""
        for r, word in enumerate(self.values["words"]):
            css = "fig-bold" if r == strong else "fig-muted"
            self.text(x, y + step * r + (height or step) / 2 + 4.3, word, css, "end")

    def heads(self, x: float, y: float, width: float, size: float = SMALL) -> None:
        """Write the six words above columns, of which the first begins at `x`."""
        for c, word in enumerate(self.values["words"]):
            self.text(x + width * (c + 0.5), y, word, "fig-muted", size=size)

    def render(self, uid: str, title: str, description: str) -> str:
        """Return the finished picture with its text alternative, if it has one."""
        label, head = 'aria-hidden="true" focusable="false"', ""
        if title:
            label = f'role="img" aria-labelledby="{uid}-title {uid}-desc"'
            head = f'<title id="{uid}-title">{escape(title)}</title>'
            head += f'<desc id="{uid}-desc">{escape(description)}</desc>'
        frame = f'viewBox="0 0 {WIDTH} {self.height:g}" {label}'
        opened = f'<svg class="attention-svg" xmlns="http://www.w3.org/2000/svg" {frame}>'
        return f"{opened}{head}{''.join(self.parts)}</svg>"


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
        pictures = [first.render(uid, title, description), *(b.render("", "", "") for b in others)]
        return f'<div class="attention-panels">{"".join(pictures)}</div>'


def _joined(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _spans(content: str) -> str:
    """Turn `$…$` into formulas, and `_{…}` and `^{…}` in them into small shifted spans."""
    spans, height = [], 0
    for place, part in enumerate(content.split("$")):
        for mark, script, plain in PIECE.findall(part):
            shift, size = SHIFTS[mark], ' font-size="11"' if mark else ""
            style = (f' dy="{shift - height}"' if shift != height else "") + size
            height = shift
            if not place % 2:
                spans.append(f"<tspan{style}>{escape(plain)}</tspan>" if style else escape(plain))
                continue
            for sign in SIGN.findall(script or plain):  # letters are slanted, words upright
                css = "fig-slanted" if len(sign) == 1 and sign.isalpha() else ""
                css = "fig-bold" if sign in BOLD and not mark else css
                spans.append(f'<tspan{style} class="fig-math {css}">{escape(sign)}</tspan>')
                style = size
    return "".join(spans)
