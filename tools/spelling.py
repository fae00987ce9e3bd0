"""Check the spelling of what readers read: pages, README and the like, and docstrings.

A word has to stand in the English dictionary that comes with pyspellchecker or in the project's
own list, `docs/words.txt`. Code, formulas, addresses and the insides of roles are left out.

    python tools/spelling.py README.md docs selfattn
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from spellchecker import SpellChecker

if TYPE_CHECKING:
    from collections.abc import Iterator

OWN = Path(__file__).parents[1] / "docs" / "words.txt"
SKIPPED = {"_build", "__pycache__"}
# Fences whose insides are no prose: code, and directives that hold code or names.
CODE = r"(?:\{(?:code-cell|expected-output|toctree|listing|mermaid)\}|[a-z]|\n)"
NO_PROSE = re.compile(
    rf"^ *(?P<fence>`{{3,}}|:{{3,}})(?={CODE}).*?^ *(?P=fence)$"  # a block of code
    r"|\A---\n.*?^---$"  # front matter
    r"|^(?: *\.\. (?:math|autom).*\n)(?:\n| +.*\n)*"  # reST directives with their content
    r"|^ *>>> .*(?:\n *\S.*)*"  # an example and its output
    r"|^ *%.*$"  # a comment
    r"|\$\$.*?\$\$|\$[^$\n]+\$"  # formulas
    r"|`{1,2}[^`]*`{1,2}"  # code and roles
    r"|\{[\w:-]+\}|\]\([^)]*\)|^\([\w-]+\)=$|<[^>\n]*>|https?://\S+"  # markup and addresses
    r"|^ *:[\w-]+:(?: \S+$)?|\[\w+\]_|^ {4,}[`\w$].*$(?<!\S)",
    re.MULTILINE | re.DOTALL,
)
WORD = re.compile(r"(?<![\w.@/_-])[A-Za-zéÉ]+(?:['’][a-z]+)?(?![\w_/@]|\.\w|\()")
SUFFIX = re.compile(r"['’](?:s|t|re|ve|ll|d)$")


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield pieces of prose, each with the line on which it begins."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield 1, text
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node, clean=False)
            if docstring:
                yield node.body[0].lineno, docstring


def words(text: str, first: int) -> Iterator[tuple[int, str]]:
    """Yield the words of a piece of prose, each with its line."""
    blank = NO_PROSE.sub(lambda match: "\n" * match[0].count("\n") or " ", text)
    for number, line in enumerate(blank.splitlines(), start=first):
        for match in WORD.finditer(line):
            yield number, match[0]


def files(arguments: list[str]) -> Iterator[Path]:
    """Yield the files given, and pages and modules in the folders given."""
    for path in map(Path, arguments):
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in found:
            if file.suffix in (".md", ".py") and not SKIPPED & set(file.parts):
                yield file


def main(arguments: list[str]) -> int:
    """Print each unknown word with its place; 1 if there is one, 2 if there was nothing to read."""
    checker = SpellChecker(distance=1)
    checker.word_frequency.load_words(OWN.read_text("utf-8").split() if OWN.exists() else [])
    checked = unknown = 0
    for file in files(arguments):
        for first, text in prose(file):
            for line, word in words(text, first):
                checked += 1
                if len(word) > 1 and not checker.known([word, SUFFIX.sub("", word)]):
                    unknown += 1
                    print(f"{file}:{line}: {word}")
    print(f"{checked} words checked, {unknown} unknown")
    if unknown:
        print(f"mend each, or add it to {OWN.relative_to(OWN.parents[1])}")
    return int(bool(unknown)) if checked else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
