"""Replace what varies from run to run by its name before texts are compared."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import starmap
from typing import NamedTuple

from sphinx_drift.compare.lexer import ESCAPE, NUMBER

_WHOLE = re.compile(rf"\d+(?:,\d+)+|{NUMBER.pattern}|\w+", re.VERBOSE)
"""What a filter replaces as a whole, or not at all: a number with its sign, a word."""
_ATOM = re.compile(r"(?s)\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.")
"""An atom of a regular expression: what is escaped, a set of characters, or one character."""
_TIME = r"(?<!\d)\d+(?:\.\d+)?(?:e[+-]?\d+)? ?(?:[mnuµμ]?s|min|h|d)(?: \d+(?:h|min|s)){0,3}"


class Filter(NamedTuple):
    """What is replaced by its name in the documented and the executed text."""

    pattern: re.Pattern[str]
    name: str
    shown: str

    def apply(self, text: str, counts: Counter[str] | None = None) -> str:
        r"""Replace each match that cuts no number or word in two, and count it.

        A pattern such as ``\w+`` may match `nan` and `inf`, which are numbers: it has to name them.
        Colors and links say nothing, wherever they stand; those within a match go with it.
        """
        shown = ESCAPE.sub("", text)
        if not self.pattern.search(shown):
            return text
        is_inside = bytearray(len(shown) + 1)
        for whole in _WHOLE.finditer(shown):
            is_inside[whole.start() + 1 : whole.end()] = b"\1" * (len(whole[0]) - 1)
        named = {*re.findall(r"\w+", re.sub(r"\\.", " ", self.pattern.pattern))}
        place, pieces, done = _places(text), list[str](), 0
        for match in self.pattern.finditer(shown):
            is_cut = is_inside[match.start()] or is_inside[match.end()]
            hides_number = not named.issuperset(re.findall(r"\b(?:nan|inf)\b", match[0]))
            if not match[0] or is_cut or hides_number:
                continue
            pieces += text[done : place(match.start())], match.expand(self.shown)
            done = place(match.end() - 1) + 1
            if counts is not None:
                counts[self.name] += 1
        return "".join([*pieces, text[done:]])


def _places(text: str) -> Callable[[int], int]:
    """Return what gives the index in a text of a character that is shown, by its number."""
    shifts, firsts = [0], list[int]()
    for code in ESCAPE.finditer(text):
        firsts.append(code.start() - shifts[-1])
        shifts.append(shifts[-1] + len(code[0]))
    return lambda number: number + shifts[bisect_right(firsts, number)]


def _wildcard_in(pattern: str) -> str:
    r"""Return the first atom of a pattern that matches numbers without naming them, or ''.

    Patterns of digits, such as ``\d`` and ``[0-9a-f]``, match no exclamation mark and no square.
    """
    for atom in _ATOM.findall(pattern):
        with suppress(re.error):  # a bracket, say
            matches = re.compile(atom).fullmatch
            if matches("\N{WHITE SQUARE}") or (matches("5") and (matches("!") or matches("?"))):
                return str(atom)
    return ""


def make_filter(pattern: str, name: str, reason: str) -> Filter:
    """Return a filter that shows its name in angle brackets; its reason is for readers.

    Raises:
        ValueError: If the pattern can't be read, may match numbers that it doesn't name or nothing
            at all, or a text is missing.

    """
    if not (pattern and name and reason):
        raise ValueError("a filter is a pattern, a name and a reason")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
    if atom := _wildcard_in(pattern):
        raise ValueError(
            f"{pattern!r} has {atom!r}, which stands for too much: name digits by what means "
            r"them, such as \d or \w, and all else by itself or a set such as [a-z ]"
        )
    if compiled.fullmatch(""):
        raise ValueError(f"{pattern!r} matches an empty text")
    return Filter(compiled, name, f"<{name}>".replace("\\", ""))


def _filter_of(entry: object) -> Filter:
    """Return the filter that an entry of a list names."""
    match entry:
        case [str(pattern), str(name), str(reason)]:
            return make_filter(pattern, name, reason)
    raise ValueError(f"a filter is a pattern, a name and a reason; got {entry!r}")


def filters_in(value: object, setting: str) -> tuple[Filter, ...]:
    """Return the filters that a setting lists, each a pattern, a name and a reason."""
    try:
        return tuple(_filter_of(entry) for entry in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError) as error:
        message = f"{setting} must list patterns, each with a name and a reason: {error}"
        raise ValueError(message) from None


_IN_SUMMARY = (
    # In a wide column; in four or the last two of a table; in bold, or four columns, of LaTeX.
    r"((?<!\w)(?<!\w ){0}: {{{1},}}|{0}: \| (?=[^|\n]+\|[^|\n]*\|)|(?<=\| ){0}: \| "
    r"|\\textbf\{{ *{0}: *\}} *& *|{0}: *& *(?=[^&\n]+&[^&\n]*&)){2}(?![\w.:])"
)
_OF_SUMMARY = (
    ("Date", 10, r"(?:\w{3}, \d\d,? \w{3},? \d{4}|\d{4}-\d\d-\d\d \d\d:\d\d(?= *[|&A-Z]))"),
    ("Time", 20, r"\d\d:\d\d:\d\d"),
)
"""What a summary of statsmodels says of when it was made, and after how many spaces."""
DEFAULTS = (
    Filter(
        # Text just before a path, such as `loss=0.5:`, is no part of it; `<env>` is.
        re.compile(
            r"(?<![\w.])(?:<\w{1,9}>)?/(?:[^\s'\":=,;<>()]{0,300}/)?"
            r"(?:(ipykernel)_\d+|(site-packages|dist-packages))/"
        ),
        "folder of cells or packages",
        r"\1\2/",
    ),
    Filter(  # IPython, Colab and ipykernel each name it in their own way.
        re.compile(
            r"<ipython-input-\d+-[0-9a-f]+>"
            r"|(?<![\w./-])(?:(?:<tmp>|/tmp)/)?ipython-input-(?:\d+-)?\d+\.py"
            r"|(?<![\w./-])ipykernel/\d+\.py|(?<=\()\d+\.py(?=, line \d)"
            r"|(?<!\w)[A-Za-z]:\\(?:[^\\/:*?\"<>|\n]{1,100}\\)*ipykernel_\d+\\\d+\.py"
        ),
        *("file of a cell", "<cell>"),
    ),
    Filter(  # It differs between versions of Python, which makes it for these errors alone.
        re.compile(
            r"(?m:^)([ |]*(?:\w+\.)*\w*(?:Attribute|Import|Name|NotFound|Syntax|Type)Error: "
            r"[^\n]{0,300}?)"
            r"(?:[.?]? (?:Did you mean:?|(?:D|Or d)id you forget to import) '[\w.]{1,80}'\?)+"
        ),
        "suggestion",
        r"\1",
    ),
    # No object has an address of fewer digits: a person wrote `at 0x10`, or `RAM at 0x20000000`.
    Filter(
        re.compile(r"at 0x(?:[0-9a-fA-F]{9,}|[0-9a-fA-F]{6,}(?=[>;:]|\.{3}|, file))"),
        *("memory address", "at 0x0"),
    ),
    Filter(  # In a line as wide as the terminal.
        re.compile(
            r"(?m:^)(?:=+ )?((?:(?:, )?\d+ (?:(?:subtests )?(?:passed|failed|skipped)|errors?"
            r"|warnings?|deselected|xfailed|xpassed))+|no tests ran)"
            r" in \d+\.\d\ds(?: \(\d+:\d\d:\d\d\))?(?: =+)?(?m:$)"
        ),
        *("time of pytest", r"\1 in <time>"),
    ),
    Filter(
        re.compile(r"(?m:^)(Ran \d+ tests?) in \d+\.\d{3}s(?m:$)"),
        *("time of unittest", r"\1 in <time>"),
    ),
    Filter(  # Of what is verbose, also in scikit-learn.
        re.compile(
            r"(?m:^)(\[(?:CV[ \d/;]*|Parallel\(n_jobs=-?\d+\)|Pipeline|ColumnTransformer"
            r"|FeatureUnion|Voting|Chain)\][^\n]{1,300}? (?:\| elapsed:|total(?: time)?=)) *"
            r"\d+\.\d(?:s|min)"
            r"(?:( remaining:) +\d+\.\d(?:s|min))?"
        ),
        *("time of joblib", r"\1 <time>\2"),
    ),
    Filter(
        re.compile(
            r"(?m:^)(\d+/\d+ (?:(?:━+|\[=+\])(?: -)?|-) )(?:\d+s|(?:\d+:)?\d+:\d\d) (?:- )?"
            r"\d+[mnuµ]?s/(?:epoch|sample|step)"
        ),
        *("time of Keras", r"\1<time>"),
    ),
    Filter(
        re.compile("|".join(starmap(_IN_SUMMARY.format, _OF_SUMMARY))),
        *("time of statsmodels", r"\1\2<time>"),
    ),
    Filter(  # What a bar of tqdm ends with, before what the page adds to it.
        re.compile(
            r"(?<=\[)(?:\d+:)?\d\d:\d\d(?:<(?:(?:\d+:)?\d\d:\d\d|\?))?, +"
            r"(?:[\d.]+[kMGTP]?|\?) ?(?:[A-Za-z]{1,20}/s|s/[ A-Za-z]{1,20})(?=[],])"
        ),
        *("time of tqdm", "<time>"),
    ),
    Filter(  # Its width is what `ncols` leaves beside the rate; the percentage says the same.
        re.compile(r"(?<=%\|)(?:[\u2588-\u258F]*|#*\d?) *(?=\| +\S{1,20}/\S{1,20} \[)"),
        *("bar of tqdm", "<bar>"),
    ),
    # Jupyter has tasks and threads of its own, of which it makes more or fewer.
    Filter(re.compile(r"(<Task \w+ name=')Task-\d+(?=')"), "number of a task", r"\1Task"),
    Filter(re.compile(r"\bThread-\d+(?= \([\w<>]+\))"), "number of a thread", "Thread"),
    Filter(
        re.compile(r"(?<=, )((?:started|stopped)(?: daemon)?) \d{9,}(?=\)>)"),
        *("number of a thread", r"\1"),
    ),
    Filter(
        re.compile(r"(?:/tmp|<tmp>|(?:/private)?/var/folders/\w+/\w+/T)/tmp[a-z0-9_]{8}"),
        *("temporary folder", "/tmp/tmp"),  # noqa: S108
    ),
    Filter(  # It says whether the file was there.
        re.compile(r"(?m:^)(?:Writing|Overwriting)(?= [\w./~<>()\[\]@+,-]+(?m:$))"),
        *("%%writefile", "Writing"),
    ),
    make_filter(
        rf"CPU times: (?:user {_TIME}, sys: {_TIME}, )?total: {_TIME}\nWall time: {_TIME}"
        rf"(?:\n(?:Compiler|Parser  ) : {_TIME})*",
        *("time", "of %time"),
    ),
    make_filter(
        # The first line is only said if the times differ much.
        r"(?:The slowest run took \d+\.\d\d times longer than the fastest\. "
        r"This could mean that an intermediate result is being cached\.\n)?"
        rf"{_TIME} ± {_TIME} per loop \(mean ± std\. dev\. of \d+ runs?, [\d,]+ loops? each\)",
        *("time", "of %timeit"),
    ),
)
"""Filters of every page, for what Python and libraries print and no page decides."""


def apply_filters(text: str, filters: Iterable[Filter], counts: Counter[str] | None = None) -> str:
    r"""Return a text with what varies replaced.

    Examples:
        >>> day = make_filter(r"\d{4}-\d\d-\d\d", "day", "is today")
        >>> apply_filters("2026-11-23: 0.3061", [day])
        '<day>: 0.3061'
        >>> apply_filters("2026-11-2305", [day])
        '2026-11-2305'

    """
    for one in filters:
        text = one.apply(text, counts)
    return text
