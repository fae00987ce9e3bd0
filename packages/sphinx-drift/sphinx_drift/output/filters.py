"""What varies from run to run and says nothing: replaced by its name before texts are compared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from sphinx_drift.compare.lexer import NUMBER

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

_FARTHEST = 300
"""Characters of what a filter may replace, and to each side of it, that it may look at."""
_STAND_INS = "\N{WHITE SQUARE}!?"
"""No digits, and one of them is in each range of characters that doesn't begin or end with one."""
VETOED = " (vetoed)"
"""What is added to the name of a filter to count where it matched a number that it doesn't name."""
_WHOLE = re.compile(rf"\d+(?:,\d+)+|{NUMBER.pattern}|\w+", re.VERBOSE)
"""What a filter replaces as a whole, or not at all: a number with its sign, a word."""
_TIME = r"\d+(?:\.\d+)?(?:e[+-]?\d+)? ?(?:[mnuµμ]?s|min|h|d)(?: \d+(?:h|min|s)){0,3}"
# What is just before a path, `loss=0.5:` for instance, is no part of it.
_VARYING = re.compile(
    r"(?<![\w.])/(?:[^\s'\":=,;<>()]{0,300}/)?(?:(ipykernel)_\d+|(site-packages|dist-packages))/"
)


class Filter(NamedTuple):
    """What is replaced by its name in the documented and the executed text."""

    pattern: re.Pattern[str]
    name: str
    reason: str
    shown: str

    def apply(self, text: str, counts: Counter[str] | None = None) -> str:
        """Replace what the pattern names; count it, and under `VETOED` what it may not name."""

        def replacement(match: re.Match[str]) -> str:
            if not match[0]:
                return ""
            is_right = self._names_each_number(match)
            if counts is not None:
                counts[self.name if is_right else self.name + VETOED] += 1
            return match.expand(self.shown) if is_right else match[0]

        return self.pattern.sub(replacement, text)

    def _names_each_number(self, match: re.Match[str]) -> bool:
        r"""Whether numbers are matched by what means them, such as ``-?\d``, and not by ``.``.

        With something else in place of a digit, a pattern that means digits no longer matches.
        """
        if len(match[0]) > _FARTHEST or _cuts(match):
            return False
        text, start, end = _near(match)
        numbers = list(NUMBER.finditer(text, start, end))
        words = {number[0].strip("+-j") for number in numbers} & {"nan", "inf"}
        named = re.findall(r"\w+", re.sub(r"\\.", " ", self.pattern.pattern))
        if not words <= {*named}:
            return False
        digits = {place for place in range(start, end) if text[place].isdecimal()}
        return not any(
            (other := self.pattern.match(f"{text[:place]}{stand_in}{text[place + 1 :]}", start))
            and other.end() > place
            for place in digits | {number.start() for number in numbers}
            for stand_in in _STAND_INS
        )


def _near(match: re.Match[str]) -> tuple[str, int, int]:
    """Return the text around a match, and where in it the match begins and ends."""
    first = max(match.start() - _FARTHEST, 0)
    near = match.string[first : match.end() + _FARTHEST]
    return near, match.start() - first, match.end() - first


def _cuts(match: re.Match[str]) -> bool:
    """Whether a match begins or ends inside a number or a word."""
    text, *ends = _near(match)
    wholes = [whole.span() for whole in _WHOLE.finditer(text)]
    return any(first < end < last for first, last in wholes for end in ends)


def make(pattern: str, name: str, reason: str, shown: str = "") -> Filter:
    """Return a filter.

    Raises:
        ValueError: If the pattern can't be read or matches nothing at all, or a text is missing.

    """
    if not (pattern and name and reason):
        raise ValueError("a filter is a pattern, a name and a reason")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
    if compiled.fullmatch(""):
        raise ValueError(f"{pattern!r} matches an empty text")
    return Filter(compiled, name, reason, shown or f"<{name}>".replace("\\", ""))


def filters_in(value: object, setting: str) -> tuple[Filter, ...]:
    """Return the filters that a setting lists, each a pattern, a name and a reason."""
    try:
        return tuple(make(pattern, *map(str, rest)) for pattern, *rest in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError) as error:
        message = f"{setting} must list patterns, each with a name and a reason: {error}"
        raise ValueError(message) from None


DEFAULTS = (
    Filter(
        re.compile(r"(?:\.|\?)? (?:Did you mean:? |Did you forget to import )'[\w.]{1,80}'\?"),
        *("suggestion", "differs between versions of Python", ""),
    ),
    # No object lies at fewer digits: `at 0x10` is what somebody has written.
    make(r"at 0x[0-9a-fA-F]{6,}", "memory address", "differs in each run", "at 0x0"),
    make(r"display_id=[0-9a-f]{32}", "display id", "differs in each run", "display_id=0"),
    make(r"/tmp/tmp[a-z0-9_]{8}", "temporary folder", "differs in each run", "/tmp/tmp"),  # noqa: S108
    make(
        r"(?m:^)(?:Writing|Overwriting)(?= \S+(?m:$))",
        *("%%writefile", "it says whether the file was there", "Writing"),
    ),
    make(
        rf"CPU times: (?:user {_TIME}, sys: {_TIME}, )?total: {_TIME}\nWall time: {_TIME}"
        # What compiling and parsing took is only said if it took long.
        rf"(?:\nCompiler : {_TIME})?(?:\nParser   : {_TIME})?",
        *("time", "of %time"),
    ),
    make(
        # The first line is only said if the times differ much, the last if one is long.
        r"(?:The slowest run took \d+\.\d\d times longer than the fastest\. "
        r"This could mean that an intermediate result is being cached\.\n)?"
        rf"{_TIME} ± {_TIME} per loop \(mean ± std\. dev\. of \d+ runs?, [\d,]+ loops? each\)"
        r"(?:\nCompiler time: \d+\.\d\d s)?",
        *("time", "of %timeit"),
    ),
    *(
        make(
            rf"(?m:^)({before})(?:\w{{3}}, \d\d \w{{3}} \d{{4}}|\d\d:\d\d:\d\d)(?={after})",
            *("time", "of the left column of a summary by statsmodels", r"\1<time>"),
        )
        for before, after in (
            (r"(?:Date|Time): {9,}", r" {3}\w"),
            (r"(?:Date|Time): \| ", r" \| [A-Z][\w .()-]*: \|"),  # as HTML
            (r"\\textbf\{(?:Date|Time):\} +& +", r" +& \\textbf\{"),  # as LaTeX
        )
    ),
)
"""What nobody has to name: it varies in each run, and Python or a library has written it."""


def filtered(text: str, filters: Iterable[Filter], counts: Counter[str] | None = None) -> str:
    r"""Return a text with what varies replaced, and without the folders of packages and cells.

    Examples:
        >>> day = make(r"\d{4}-\d\d-\d\d", "day", "is today")
        >>> filtered("2026-11-23: 0.3061", [day])
        '<day>: 0.3061'
        >>> filtered("loss 0.3061", [make("loss .*", "loss", "a dot names no number")])
        'loss 0.3061'

    """
    text = repeatable(text)
    for one in filters:
        text = one.apply(text, counts)
    return text


def repeatable(text: str) -> str:
    """Replace the temporary folder of a kernel's cells, and where Python's packages lie.

    Examples:
        >>> repeatable("/run/ipykernel_315/12.py:1: UserWarning: w")
        'ipykernel/12.py:1: UserWarning: w'
        >>> repeatable("/home/me/venv/lib/python3.11/site-packages/pandas/a.py:1: UserWarning: w")
        'site-packages/pandas/a.py:1: UserWarning: w'

    """
    return _VARYING.sub(lambda match: f"{match[1] or match[2]}/", text)
