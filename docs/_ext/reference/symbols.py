"""The symbols of the book, as `docs/_data/notation.toml` has them."""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).parents[2] / "_data" / "notation.toml"
# A formula that is one symbol, perhaps under a root, transposed, or with its value given.
ALONE = r"(?:\\sqrt\{{(?:{0})\}}|(?:{0})(?:\^\\top)?(?: = [\d.]+)?)"


@dataclass(frozen=True)
class Symbol:
    """One symbol of the book."""

    id: str
    latex: str
    pattern: str
    meaning: str
    code: tuple[str, ...] = ()
    shape: str = ""

    @property
    def anchor(self) -> str:
        """Where it stands on the notation page; HTML ids tell capitals apart."""
        return f"symbol-{self.id}"

    @property
    def written(self) -> tuple[str, ...]:
        """How readers type it: `d_in`, `x` for what has an index, and a Greek letter's name."""
        greek = re.match(r"\\([A-Za-z]+)(?=[_^]|$)", self.latex)
        plain = re.sub(r"\\(?:mathbf|mathrm|operatorname)\{(\w+)\}", r"\1", self.latex)
        plain = re.sub(r"[_^]\{[^}]*\}.*|_[ij]$", "", plain)
        if greek is None:
            return tuple(plain.split(", "))
        letter = GREEK.get(greek[1])
        return (letter, greek[1]) if letter else (greek[1],)

    @property
    def meaning_in_words(self) -> str:
        """What it means, in words alone."""
        words = re.sub(r"\{\w+\}|[`*]|<[^>]*>", "", self.meaning.partition(";")[0])
        return re.sub(r"\$(.+?)\$", lambda match: spoken(match[1]), words)

    def explanation(self, formula: str) -> str:
        """Read a formula that is this symbol aloud, and say what it means.

        Browsers name a link by its title where its text is a formula, which they leave out.
        """
        return f"{spoken(formula)}: {self.meaning_in_words}"

    def is_all_of(self, formula: str) -> bool:
        """Whether a formula shows this symbol and nothing else."""
        return self.alone.fullmatch(formula.strip()) is not None

    @functools.cached_property
    def alone(self) -> re.Pattern[str]:
        """What a formula is like that is all of this symbol."""
        return re.compile(ALONE.format(self.pattern))


GREEK = {
    "omega": "ω", "Omega": "Ω", "alpha": "α", "delta": "δ", "theta": "θ", "varphi": "φ",
    "partial": "∂", "top": "⊤", "cdot": "·",
}  # fmt: skip


def spoken(formula: str) -> str:
    """Return a short formula as it is read aloud: "q i", "the square root of d k"."""
    for pattern, words in (
        (r"\\(?:mathbf|mathrm|boldsymbol|operatorname)\{([^}]*)\}", r"\1"),
        (r"_\{(\w)(\w)\}", r" \1 \2"),
        (r"\\var|\\c(?=dot)", ""),
        (r"\\sqrt", "the square root of "),
        (r"\^\\top", " transposed"),
        (r"'", " prime"),
        (r"[\\{}()]", ""),
        (r"[_^]", " "),
    ):
        formula = re.sub(pattern, words, formula)
    return " ".join(formula.split())


@functools.cache
def groups() -> dict[str, tuple[Symbol, ...]]:
    """Return the symbols, by the title of their group."""
    table = tomllib.loads(DATA.read_text("utf-8"))["group"]
    by_title = {
        group["title"]: tuple(
            Symbol(**entry | {"code": tuple(entry.get("code", ()))}) for entry in group["symbol"]
        )
        for group in table
    }
    ids = [symbol.id for symbols in by_title.values() for symbol in symbols]
    if len(ids) != len(set(ids)):
        raise ExtensionError(f"{DATA}: two symbols have one id")
    return by_title


def symbols() -> Iterator[Symbol]:
    """Yield all symbols."""
    for group in groups().values():
        yield from group
