"""Run examples with the standard library's runner, and compare them as pages are compared."""

import builtins
import copy
import doctest
import os
import re
import sys
import traceback
import unittest
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import TracebackType

import pytest

from sphinx_drift.compare.compare import Policy, compare
from sphinx_drift.device import computing_on
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, PageResult
from sphinx_drift.output.filters import DEFAULTS, Filter, apply_filters
from sphinx_drift.run.choice import DEVICE_VARIABLE
from sphinx_drift.run.in_full import IN_FULL
from sphinx_drift.run.injected import report_environment
from sphinx_drift.second_look import add_hints, may_be_rounding
from sphinx_drift.settings import Settings
from sphinx_drift.testing.docstrings import line_of

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType]

_SKIPS = (pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest)
_BLANK = re.compile(rf"(?m)^{doctest.BLANKLINE_MARKER}\s*?$")
for _flag in ("NUMBER", "ALLOW_BYTES", "ALLOW_UNICODE"):
    doctest.register_optionflag(_flag)  # as pytest does: examples may name them


def check_examples(
    file: str, test: doctest.DocTest, settings: Settings, *, flags: int = 0
) -> PageResult:
    """Run the examples of a docstring; if a float's text differs, once more in full precision."""
    runner = _Runner(flags, settings.filters)
    with computing_on(os.environ.get(DEVICE_VARIABLE, "cpu")):
        outcomes: Sequence[Outcome] = runner.record(test)
        environment = report_environment()
        policy = settings.policy_on(environment)
        if any(map(may_be_rounding, outcomes)):
            with full_precision():
                again = _Runner(flags, settings.filters).record(test)
            precise = {outcome.line: outcome.executed for outcome in again}
            judged = [runner.judged(outcome, precise.get(outcome.line)) for outcome in outcomes]
            outcomes = judged if policy is Policy.PORTABLE else add_hints(outcomes, judged)
    number = len(test.examples)
    return PageResult(file, tuple(outcomes), number, policy, environment)


class _Checker(doctest.OutputChecker):
    """Compares outputs token by token, and keeps what came of the last comparison.

    Option flags mean what they mean to :mod:`doctest`.
    """

    def __init__(self, filters: Iterable[Filter]) -> None:
        self._filters = (*filters, *DEFAULTS)
        self.last = Outcome(Kind.VERIFIED, 0)

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        want = _BLANK.sub("", want)
        texts = apply_filters(want, self._filters), apply_filters(got, self._filters)
        self.last = _outcome_of(*texts, optionflags)
        # What `...` matches may be what a filter replaces, in one text or in both.
        in_want = [each for each in self._filters if each.pattern.search(want)]
        for some in (in_want, ()):
            if _matches(apply_filters(want, some), apply_filters(got, some), optionflags):
                self.last = _verified(self.last)
        return self.last.verdict.same


def _outcome_of(
    documented: str,
    executed: str,
    flags: int,
    *,
    policy: Policy = Policy.EXACT,
    precise: str | None = None,
) -> Outcome:
    """Compare texts as pages do, or as the standard library, which knows ``...``."""
    if flags & doctest.NORMALIZE_WHITESPACE:
        documented, executed = " ".join(documented.split()), " ".join(executed.split())
        precise = precise and " ".join(precise.split())
    verdict = compare(documented, executed, policy=policy, precise=precise)
    kind = Kind.VERIFIED if verdict.same else Kind.DRIFT
    outcome = Outcome(kind, 0, documented=documented, executed=executed, verdict=verdict)
    return _verified(outcome) if _matches(documented, executed, flags) else outcome


def _matches(documented: str, executed: str, flags: int) -> bool:
    """Whether ``...`` is allowed, and the standard library finds the texts the same."""
    # Its checker may be another package's, with flags of its own.
    strict = flags & doctest.COMPARISON_FLAGS | doctest.DONT_ACCEPT_TRUE_FOR_1
    is_same = doctest.OutputChecker().check_output
    return bool(flags & doctest.ELLIPSIS) and is_same(documented, executed, strict)


def _verified(outcome: Outcome) -> Outcome:
    """Return an outcome without its differences."""
    verdict = replace(outcome.verdict, differences=(), accepted=())
    return replace(outcome, kind=Kind.VERIFIED, verdict=verdict)


class _Runner(doctest.DocTestRunner):
    """Keeps an outcome for each example instead of printing."""

    def __init__(self, flags: int, filters: Iterable[Filter]) -> None:
        self._comparer = _Checker(filters)
        super().__init__(checker=self._comparer, verbose=False, optionflags=flags)
        self._outcomes: dict[int, Outcome] = {}
        """The outcome of each example, by its line."""
        self._flags: dict[int, int] = {}
        """The flags that each was compared with, by its line."""

    def record(self, test: doctest.DocTest) -> list[Outcome]:
        """Run one docstring, which can be run again; what it leaves out is unchecked."""
        again = copy.copy(test)
        again.globs = dict(test.globs)
        self.run(again)
        for example in test.examples:
            is_recorded = line_of(test, example) in self._outcomes
            if not is_recorded and (example.want or example.options.get(doctest.SKIP)):
                self._keep(test, example, Outcome(Kind.UNCHECKED, 0, message="skipped"))
        return [*self._outcomes.values()]

    def judged(self, outcome: Outcome, precise: str | None) -> Outcome:
        """Return what *portable* makes of a drift; run again, it might print something else."""
        if outcome.kind is not Kind.DRIFT:
            return outcome
        texts, flags = (outcome.documented, outcome.executed), self._flags[outcome.line]
        again = _outcome_of(*texts, flags, policy=Policy.PORTABLE, precise=precise)
        return replace(outcome, kind=again.kind, verdict=again.verdict)

    def _keep(self, test: doctest.DocTest, example: doctest.Example, outcome: Outcome) -> None:
        """Keep an outcome, with the lines of its example and of what that must print."""
        line = line_of(test, example)
        body = example.source.count("\n") + example.want.count("\n")
        self._flags[line] = self.optionflags
        # Above the message of an error stands its traceback, which isn't compared.
        body_line = line + body - (example.exc_msg or example.want).count("\n")
        self._outcomes[line] = replace(outcome, line=line, body_line=body_line)

    def report_success(
        self, out: object, test: doctest.DocTest, example: doctest.Example, got: str
    ) -> None:
        """Keep the checker's last outcome, which says whether the output is the same."""
        if example.want:
            self._keep(test, example, self._comparer.last)
        elif got:
            self._keep(test, example, replace(self._comparer.last, kind=Kind.UNDOCUMENTED))

    report_failure = report_success

    def report_unexpected_exception(
        self, out: object, test: doctest.DocTest, example: doctest.Example, exc_info: _ExcInfo
    ) -> None:
        """Keep what was raised; what skips or ends a test, such as pytest, ends its docstring."""
        message = "".join(traceback.format_exception_only(exc_info[1])).strip()
        kind = Kind.UNCHECKED if isinstance(exc_info[1], _SKIPS) else Kind.RAISED
        if isinstance(exc_info[1], (*_SKIPS, pytest.fail.Exception)):
            self.optionflags |= doctest.FAIL_FAST
        self._keep(test, example, Outcome(kind, 0, documented=example.want, message=message))


@contextmanager
def full_precision() -> Iterator[None]:
    """Temporarily print all digits."""
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:

        def restore(owner: object, *names: str) -> None:
            for name in names:
                patch.setattr(owner, name, getattr(owner, name))

        restore(builtins, "print")
        if numpy := sys.modules.get("numpy"):
            stack.enter_context(numpy.printoptions())
            restore(numpy, "set_printoptions")
        if torch := sys.modules.get("torch"):
            options = torch._tensor_str.get_printoptions()  # noqa: SLF001 - nothing public tells
            stack.callback(torch.set_printoptions, **options)
            restore(torch, "set_printoptions")
            restore(torch.Tensor, "item", "tolist", "__repr__")
        for name, change in IN_FULL.items():
            if name in sys.modules:
                change()
        yield
