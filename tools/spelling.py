"""Check the spelling of what readers read: pages, README and the like, and docstrings.

A word has to be in the English dictionary that comes with pyspellchecker or in the project's own
list, `docs/words.txt`. Phrases listed in `docs/phrases.txt` must not come back to what readers of
the book read. Code, formulas, addresses and the insides of roles are left out.

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
PHRASES = OWN.with_name("phrases.txt")
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


def without_code(text: str) -> str:
    """Blank what is no prose, and keep the lines."""
    return NO_PROSE.sub(lambda match: "\n" * match[0].count("\n") or " ", text)


def phrases() -> list[tuple[re.Pattern[str], str, str]]:
    """Return the phrases that must not come back: how to find each, itself, what to say instead."""
    lines = [line for line in PHRASES.read_text("utf-8").splitlines() if line[:1] not in ("", "#")]
    pairs = [line.split(" => ", 1) for line in lines]
    return [(_pattern(phrase), phrase.removeprefix("^"), instead) for phrase, instead in pairs]


def _pattern(phrase: str) -> re.Pattern[str]:
    """Match a phrase across lines; `^` stands for the beginning of a sentence."""
    body = r"\s+".join(map(re.escape, phrase.removeprefix("^").split()))
    start = r"(?:^|[.!?:)]\s+)[ >*-]*" if phrase.startswith("^") else r"\b"
    return re.compile(rf"{start}(?P<found>{body})\b", re.MULTILINE)


def worn(text: str, first: int) -> Iterator[tuple[int, str, str]]:
    """Yield the listed phrases in a piece of prose: line, phrase, what to say instead."""
    blank = without_code(text)
    for pattern, phrase, instead in phrases():
        for match in pattern.finditer(blank):
            yield first + blank.count("\n", 0, match.start("found")), phrase, instead


def words(text: str, first: int) -> Iterator[tuple[int, str]]:
    """Yield the words of a piece of prose, each with its line."""
    for number, line in enumerate(without_code(text).splitlines(), start=first):
        for match in WORD.finditer(line):
            yield number, match[0]


def files(arguments: list[str]) -> Iterator[Path]:
    """Yield the files given, and pages and modules in the folders given."""
    for path in map(Path, arguments):
        paths = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in paths:
            read = file.suffix in (".md", ".py") or file == path  # what is named is always read
            if read and not SKIPPED & set(file.parts):
                yield file


def main(arguments: list[str]) -> int:
    """Print unknown words and listed phrases; 1 if there is one, 2 if there was nothing to read."""
    checker = SpellChecker(distance=1)
    checker.word_frequency.load_words(OWN.read_text("utf-8").split() if OWN.exists() else [])
    checked = unknown = listed = 0
    for file in files(arguments):
        for first, text in prose(file):
            for line, phrase, instead in worn(text, first) if file.suffix != ".py" else ():
                listed += 1
                print(f"{file}:{line}: {phrase!r}: {instead}")
            for line, word in words(text, first):
                checked += 1
                if len(word) > 1 and not checker.known([word, SUFFIX.sub("", word)]):
                    unknown += 1
                    print(f"{file}:{line}: {word}")
    print(f"{checked} words checked, {unknown} unknown, {listed} phrases that must not come back")
    if unknown:
        print(f"correct each, or add it to {OWN.relative_to(OWN.parents[1])}")
    return int(bool(unknown + listed)) if checked else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
