import re
from pathlib import Path

import pytest
from case_tables import rows
from hypothesis import given
from hypothesis import strategies as st

from sphinx_drift.compare.compare import UNITS, Policy, Verdict, Waiver, compare
from sphinx_drift.compare.lexer import plain
from sphinx_drift.compare.tokens import read_tokens

V1 = """\
tensor([[0.2996, 0.8053],
        [0.3061, 0.8210],
        [0.3058, 0.8203],
        [0.2948, 0.7939]], grad_fn=<MmBackward0>)
"""
TAIL = "tensor([5.6183e-11, 4.7716e-11, 5.7849e-30, 9.9365e-01])"
TAIL_PRINTED = TAIL.replace("5.6183e-11", "5.6184e-11")
TAIL_PRECISE = (
    "tensor([5.61835335199933894e-11, 4.77157376110870501e-11, 5.78488041508586760e-30, "
    "9.93648350238800049e-01])\u2063float32\u2063"
)
ROUNDING = Path(__file__).with_name("rounding.txt")
SCORES = "tensor([[-0.5000,    -inf],\n        [ 0.2500,  1.5000]])"


def portable(documented: str, executed: str, precise: str | None) -> Verdict:
    return compare(documented, executed, policy=Policy.PORTABLE, precise=precise)


def notes(verdict: Verdict) -> str:
    return "; ".join(difference.note for difference in verdict.differences)


# Must be rejected --------------------------------------------------------------------

# What `benchmarks/mutation.py` does not alter.
REJECT = {
    "exponent's sign": (TAIL, TAIL.replace("5.6183e-11", "5.6183e+11")),
    "tail blanked": (TAIL, TAIL.replace("5.7849e-30", "0.0000e+00")),
    "regrouped": ("[[1, 2], [3, 4], [5, 6]]", "[[1, 2, 3], [4, 5, 6]]"),
    "infinity becomes zero": (SCORES, SCORES.replace("   -inf", "0.0000")),
    "nan becomes a number": ("tensor([nan, 1.])", "tensor([0., 1.])"),
    "integer becomes float": ("tensor([1, 2])", "tensor([1., 2.])"),
}


@pytest.mark.parametrize("name", REJECT)
def test_exact_and_portable_reject(name: str) -> None:
    documented, executed = REJECT[name]
    assert not compare(documented, executed).same
    assert not compare(executed, documented).same
    assert not portable(documented, executed, None).same, "without the full precision"
    assert not portable(documented, executed, executed).same


# Where and what ----------------------------------------------------------------------

LESS = V1.replace("[0.3058, 0.8203],\n        ", "")
ROW = "0.3058, 0.8203],\n        ["
BROKEN = "a line break before it is"


@pytest.mark.parametrize(
    ("documented", "executed", "found"),
    [
        (V1, V1.replace("0.7939", "0.7938"), [("0.7939", "0.7938", (3, 1), "")]),
        ("tensor([1, 2, 3])", "tensor([1, 2, -3])", [("3", "-3", (2,), "")]),
        ("\x1b[31mx\x1b[0m 1.5", "x 1.25", [("1.5", "1.25", None, "")]),
        (V1, LESS, [(ROW, "", (2, 0), "")]),
        (LESS, V1, [("", ROW, (2, 0), "")]),
        ("a\nb", "a", [("b", "", None, "")]),
        ("[a]", "[a", [("]", "", None, "")]),
        ("a b c d", "a x c d e", [("b", "x", None, ""), ("", "e", None, "")]),
        ("f([1, 2])", "f([1, 3])\na (b)", [("2", "3", (1,), ""), ("", ")\na (b", None, "")]),
        ("x 1 [2]", "x 1\n[2]", [("[", "[", None, f"{BROKEN} executed")]),
        ("a\nb", "a b", [("b", "b", None, f"{BROKEN} documented")]),
        ("a  1", "a 1", [("1", "1", None, "spaces before it: 2 documented, 1 executed")]),
        (
            "1 500",
            "1\xa0500",
            [("500", "500", None, "spaces before it: 1 documented, '\\xa0' executed")],
        ),
    ],
)
def test_each_difference_is_shown_alone(
    documented: str, executed: str, found: list[tuple[object, ...]]
) -> None:
    verdict = compare(documented, executed)
    assert verdict.compared == len(read_tokens(documented))
    differences = verdict.differences
    assert [(d.documented, d.executed, d.index, d.note) for d in differences] == found
    for d in differences:
        assert plain(documented)[slice(*d.documented_span)] == d.documented
        assert plain(executed)[slice(*d.executed_span)] == d.executed
        both = f"{d.documented} {d.executed}"
        assert d.number is (not d.note and re.fullmatch(r"[\d.]+ -?[\d.]+", both) is not None)


def test_long_outputs_are_compared_number_by_number_if_they_have_one_shape() -> None:
    rows = 2000
    one = "[" + ",\n".join(f"[0.{i:04}, 1.{i:04}]" for i in range(rows)) + "]"
    differences = compare(one, one.replace("[0.", "[2.").replace(" 1.", " 3.")).differences
    assert len(differences) == 2 * rows
    assert differences[-1].index == (rows - 1, 1)
    (difference,) = compare(f"[{'1, ' * 5000}1]", f"[{'2, ' * 5001}2]").differences
    assert difference.index == (0,)


# Numbers that no float can hold among them.
PIECES = ["1e999999999", "1e-999999999", "9" * 400, "1e400", "nan", "-inf", "0e999999", "1e308j"]
MORE = ["0.5", "[", ", ", "]", "tensor(", ", dtype=torch.bfloat16)", "\u2063float32\u2063"]
TEXTS = st.text() | st.lists(st.sampled_from([*PIECES, *MORE])).map("".join)


@given(TEXTS, TEXTS, TEXTS)
def test_nothing_is_raised_and_same_means_equal(one: str, other: str, precise: str) -> None:
    equal = [t.key for t in read_tokens(one)] == [t.key for t in read_tokens(other)]
    assert compare(one, other).same is equal
    portable(one, other, precise)
    verdict = portable(one, other, other)
    assert equal or verdict.differences or verdict.accepted


# Waivers -----------------------------------------------------------------------------

KNOWN = Waiver("5.6183e-11", "5.6184e-11", "softmax tail")
GONE = Waiver("1.2345e-11", "1.2346e-11", "gone")
HALF, FIRST, SECOND, DEEPER = (
    Waiver("0.5", "0.6", "known", index) for index in (None, (0,), (1,), (1, 0))
)
HALVES = "[0.5, 0.5]"


@pytest.mark.parametrize(
    ("documented", "executed", "waivers", "filled"),
    [
        (TAIL, TAIL_PRINTED, [KNOWN], "waived"),
        (TAIL, TAIL, [KNOWN], "stale"),
        (TAIL, TAIL_PRINTED, [KNOWN, KNOWN], "waived stale"),
        (TAIL, TAIL, [GONE], "stale"),
        (TAIL, TAIL.replace("5.6183e-11", "5.6185e-11"), [KNOWN], "differences"),
        ("a 0.5", "b 0.5", [Waiver("a", "b", "no number")], "differences stale"),
        # Each covers one element.
        (HALVES, "[0.6, 0.6]", [HALF], "differences waived"),
        (HALVES, "[0.6, 0.6]", [HALF, HALF], "waived"),
        (HALVES, "[0.6, 0.5]", [HALF, HALF], "waived stale"),
        (HALVES, "[0.5, 0.6]", [SECOND], "waived"),
        (HALVES, "[0.5, 0.6]", [FIRST], "differences stale"),
        (HALVES, "[0.5, 0.6]", [DEEPER], "differences stale"),
    ],
)
def test_a_waiver(documented: str, executed: str, waivers: list[Waiver], filled: str) -> None:
    verdict = compare(documented, executed, waivers=waivers)
    names = ("differences", "waived", "stale")
    assert " ".join(name for name in names if getattr(verdict, name)) == filled
    assert verdict.same is ("differences" not in filled)
    portably = compare(
        documented, executed, policy=Policy.PORTABLE, precise=TAIL_PRECISE, waivers=waivers
    )
    assert portably.waived == verdict.waived


# Rounding ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("documented", "executed", "precise", "why"),
    [
        *rows(ROUNDING, "Accepted"),
        *rows(ROUNDING, "Refused"),
        (TAIL, TAIL_PRINTED, TAIL_PRECISE, ""),
        (TAIL.replace("5.6183e-11", "5.6183e-10"), TAIL_PRINTED, TAIL_PRECISE, "too far"),
        (TAIL.replace("5.6183e-11", "0.0000e+00"), TAIL_PRINTED, TAIL_PRECISE, "third"),
    ],
)
def test_portable_accepts_rounding_or_says_why_not(
    documented: str, executed: str, precise: str, why: str
) -> None:
    precise = precise.replace("\N{DOUBLE VERTICAL LINE}", "\N{INVISIBLE SEPARATOR}")
    assert not compare(documented, executed, precise=precise).same
    assert not portable(documented, executed, None).same
    verdict = portable(documented, executed, precise)
    assert verdict.same is (not why)
    assert why in notes(verdict)
    assert why or (verdict.accepted and not notes(verdict))
    assert all(accepted.units <= UNITS for accepted in verdict.accepted)


def test_what_was_accepted_is_listed_with_its_distance() -> None:
    (accepted,) = portable(TAIL, TAIL_PRINTED, TAIL_PRECISE).accepted
    assert accepted.difference.index == (0,)
    assert accepted.precise == "5.61835335199933894e-11"
    assert 0 < accepted.units < 1
    wrong = portable(TAIL.replace("4.7716", "4.7816"), TAIL_PRINTED, TAIL_PRECISE)
    assert len(wrong.accepted) == len(wrong.differences) == 1
