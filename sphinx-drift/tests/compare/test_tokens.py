from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sphinx_drift.compare.tokens import (
    ELISION,
    Token,
    TokenKind,
    groups,
    indices,
    plain,
    tokens,
    value_of,
)

SHORT = {
    TokenKind.WORD: "w",
    TokenKind.INT: "i",
    TokenKind.FLOAT: "f",
    TokenKind.MARK: "m",
    TokenKind.OPEN: "(",
    TokenKind.CLOSE: ")",
    TokenKind.LINE: "n",
    TokenKind.ELISION: "e",
}


def keys(text: str) -> list[tuple[TokenKind, str, str]]:
    return [token.key for token in tokens(text)]


def texts(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


def bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


def shape(text: str) -> str:
    return "".join(SHORT[token.kind] for token in tokens(text))


# The kinds of the tokens, and their texts; a line break is written as "/".
READ = {
    "0.5": "f 0.5",
    "-0.5": "f -0.5",
    "1.": "f 1.",
    "-1.": "f -1.",
    ".5": "f .5",
    "3": "i 3",
    "-3": "i -3",
    "+3": "i +3",
    "5.6183e-11": "f 5.6183e-11",
    "1E5": "f 1E5",
    "1e-05": "f 1e-05",
    "nan": "f nan",
    "-inf": "f -inf",
    "inf": "f inf",
    "nanny info": "ww nanny info",
    "1.+2.j": "ff 1. +2.j",
    "1.0000-0.0000j": "ff 1.0000 -0.0000j",
    "(1+2j)": "(if) ( 1 +2j )",
    "1e5-1e-05j": "ff 1e5 -1e-05j",
    "0.5+nanj": "ff 0.5 +nanj",
    "2j": "f 2j",
    "True False": "ww True False",
    "1-2": "imi 1 - 2",
    "x-1": "wmi x - 1",
    "x=-1": "wmi x = -1",
    "f(x)-1": "w(w)mi f ( x ) - 1",
    "--1": "mi - -1",
    "1..2": "immw 1 . . 2",
    "2nd": "iw 2 nd",
    "x2": "w x2",
    "0x7f": "iw 0 x7f",
    "7.1.0+cpu": "fmwmw 7.1 . 0 + cpu",
    "12:30": "imi 12 : 30",
    "1,000": "imi 1 , 000",
    "...": "w ...",
    "[1, ..., 3]": "(imwmi) [ 1 , ... , 3 ]",
    "torch.Size([6, 2])": "wmw((imi)) torch . Size ( [ 6 , 2 ] )",
    "{'a': 1}": "(mwmmi) { ' a ' : 1 }",
    "(1, 2.0)": "(imf) ( 1 , 2.0 )",
    "np.float64(0.5)": "wmw(f) np . float64 ( 0.5 )",
    "np.True_": "wmw np . True_",
    "dtype=torch.float64": "wmwmw dtype = torch . float64",
    "grad_fn=<MmBackward0>": "w grad_fn=<MmBackward>",
    "grad_fn=<SqueezeBackward4>": "w grad_fn=<SqueezeBackward4>",
    "grad_fn=<PowBackward10>": "w grad_fn=<PowBackward10>",
    "grad_fn=<Odd>": "wmmwm grad_fn = < Odd >",
    "Parameter containing:\ntensor(1.)": "wwmnw(f) Parameter containing : / tensor ( 1. )",
    "loss: 0.5": "wmf loss : 0.5",
    "RuntimeError: no (3x2)": "wmw(iw) RuntimeError : no ( 3 x2 )",
    "α = 0.5": "wmf α = 0.5",
    "5 × 3": "imi 5 × 3",
    "٣": "i ٣",
    "\x1b[31m0.5\x1b[0m": "f 0.5",
    "1\n\u22ee\n2": "ineni 1 / \u22ee / 2",
    "1 \u22ee 2": "imi 1 \u22ee 2",
    "": "",
    " \n\t\n": "",
}


@pytest.mark.parametrize("text", READ)
def test_is_read_as(text: str) -> None:
    pieces = [piece.replace("\n", "/") for piece in texts(text)]
    assert " ".join([shape(text), *pieces]) == READ[text]


def test_numbers_have_values() -> None:
    values = {"3": 3, "-0.5": -0.5, "1e3": 1000.0, "2j": 2j, "-inf": -math.inf}
    assert {text: value_of(text) for text in values} == values
    assert value_of("9" * 5000) == math.inf


SAME = {
    "wrapped in brackets": ("tensor([0.5, 1.5])", "tensor([0.5,\n        1.5])"),
    "padded": ("tensor([ 0.5, -1.5])", "tensor([0.5,  -1.5])"),
    "padded beside brackets": ("[[1, 2]]", "[ [ 1, 2 ] ]"),
    "padded before a comma": ("array([0.25 , 0.125])", "array([0.25, 0.125])"),
    "numpy rows": ("[[1 2]\n [3 4]]", "[[1 2] [3 4]]"),
    "other device wrapped": ("f(1, device='cuda:0')", "f(1,\n  device='cuda:0')"),
    "blank lines": ("a\n\n\nb", "a\nb"),
    "around": ("\na \n\n", "a"),
    "space at the end of a line": ("a  \nb", "a\nb"),
    "an array alone, indented": ("  tensor([1.])", "tensor([1.])"),
    "a wrapped list of words": ("['a', 'b']", "['a',\n 'b']"),
    "a wrapped array of words": ("['a' 'b c']", "['a'\n 'b c']"),
    "a wrapped dictionary": ("{'a': 1, 'b': [1, 2]}", "{'a': 1,\n 'b': [1,\n       2]}"),
    "a wrapped call": (
        "sort(values=tensor([1.]), indices=tensor([0]))",
        "sort(\nvalues=tensor([1.]),\nindices=tensor([0]))",
    ),
    "a row of a list of lists": ("a\n[[ 1.]\n [10.]]", "a\n[[ 1. ] [ 10. ]]"),
    "arrays below each other": ("[ 1. 2.]\n[ 3. 4.]", "[1.  2.]\n[3.  4.]"),
    "a complex number": ("[1.+2.j  3.+4.j]", "[1.+2.j 3.+4.j]"),
    "types and constants": (
        "array([True, None], dtype=torch.int8)",
        "array([True,\n   None],\n  dtype=torch.int8)",
    ),
    "carriage return": ("a\r\nb", "a\nb"),
    "colour": ("\x1b[1;31m[0.5]\x1b[0m", "[0.5]"),
    "link": ("\x1b]8;id=7;file://a\x1b\\a\x1b]8;;\x1b\\ b", "\x1b]8;;file://c\x07a\x1b]8;;\x07 b"),
    "grad_fn's counter": ("(grad_fn=<MmBackward0>)", "(grad_fn=<MmBackward>)"),
    "device": ("tensor([1.], device='cuda:0')", "tensor([1.])"),
    "another device": ("tensor([1.], device='cuda:1')", "tensor([1.])"),
    "device of a scalar": ("tensor(0.5000, device='cuda:0')", "tensor(0.5000)"),
    "devices in a list": (
        "[tensor([1], device='cuda:0'), tensor([3], device='cuda:0')]",
        "[tensor([1]), tensor([3])]",
    ),
    "device without a number": ("tensor([1.], device='mps')", "tensor([1.])"),
    "device wrapped": (
        "tensor([1.], device='cuda:0',\n       dtype=torch.float64)",
        "tensor([1.], dtype=torch.float64)",
    ),
    "device of a parameter": (
        "Parameter containing:\ntensor([1.], device='cuda:0', requires_grad=True)",
        "Parameter containing:\ntensor([1.], requires_grad=True)",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_makes_no_difference(name: str) -> None:
    one, other = SAME[name]
    assert keys(one) == keys(other)


OTHER = {
    "line break outside brackets": ("a\nb", "a b"),
    "space between": ("a b", "ab"),
    "space after a comma": ("[1, 2]", "[1,2]"),
    "sign of a zero": ("[0.]", "[-0.]"),
    "device on the CPU": ("tensor([1.], device='cpu')", "tensor([1.])"),
    "no device of torch": ("tensor([1.], device='disk:0')", "tensor([1.])"),
    "no device at all": ("tensor([1.], requires_grad='cuda:0')", "tensor([1.])"),
    "device in words": ("the device is cuda:0", "the device is cpu"),
    "device as an object": ("device(type='cuda', index=0)", "device(type='cpu')"),
    "type beside a device": ("tensor([1.], device='cuda:0', dtype=torch.half)", "tensor([1.])"),
    "meta device": ("tensor([1.], device='meta')", "tensor([1.])"),
    "device outside a tensor": ("f(1, device='cuda:0')", "f(1)"),
    "line break before a device": ("a,\ndevice='cuda:0'", "a, device='cuda:0'"),
    "device in a text": ("a, device='cuda:0'", "a"),
    "operation": ("(grad_fn=<MmBackward0>)", "(grad_fn=<MvBackward0>)"),
    "integer and float": ("[1]", "[1.]"),
    "imaginary unit": ("[1.j]", "[1.]"),
    "case": ("True", "true"),
    "bracket": ("[1]", "(1)"),
    "unmatched bracket": ("[1\n2", "[1 2"),
    "the overload of an operation": ("(grad_fn=<PowBackward0>)", "(grad_fn=<PowBackward1>)"),
    "two spaces between words": ("a  b", "a b"),
    "space before a comma": ("a , b", "a, b"),
    "space beside a bracket": ("f( x )", "f(x)"),
    "indentation": ("a:\n    b", "a:\nb"),
    "indentation of the first line": ("  a", "a"),
    "indentation of YAML": ("a:\n  b: 1\n  c: 2", "a:\n  b: 1\nc: 2"),
    "indentation of a list in YAML": ("a:\n  b: [1]\n  c: [2]", "a:\n  b: [1]\nc: [2]"),
    "indentation of Python": ("if x:\n    y()\n    z()", "if x:\n    y()\nz()"),
    "another column": ("   a    b\n0  1     ", "   a    b\n0       1"),
    "a cell of a table": ("   a    b    c\n0  1         2", "   a    b    c\n0  1    2"),
    "an exponent": (" 2\nx  + y", "      2\nx  + y"),
    "an exponent in brackets": ("[ 2   3   ]\n[x   y   z]", "[ 2       3]\n[x   y   z]"),
    "one between empty lines of a matrix": (
        "[ 2   0]\n[      ]\n[x   y]",
        "[   2 0]\n[      ]\n[x   y]",
    ),
    "inside quotation marks": ("'a  b'", "'a b'"),
    "inside quotation marks in a list": ("['a  b', 'c']", "['a b', 'c']"),
    "after an escaped quotation mark": (r"['a\'  b', 1]", r"['a\' b', 1]"),
    "beside quotation marks": ("['a ', 1]", "['a', 1]"),
    "a text of two lines in a list": ("['a\nb', 1]", "['a b', 1]"),
    "words in brackets": ("(see\n below)", "(see below)"),
    "modules": ("A(\n  (0): B()\n)", "A(\n(0): B()\n)"),
    "no-break space": ("a\N{NO-BREAK SPACE}b", "a b"),
}


@pytest.mark.parametrize("name", OTHER)
def test_makes_a_difference(name: str) -> None:
    one, other = OTHER[name]
    assert keys(one) != keys(other)


# The alphabet of outputs, so that what is drawn is near what the patterns look for.
PIECES = st.one_of(
    st.sampled_from(" \n,.[](){}+-ej01239'=<>_:"),
    st.sampled_from(
        ["  ", "\n  ", "\t", "nan", "inf", "0.25", "1e-05", "...", ELISION, "\x1b[31m"]
    ),
    st.sampled_from(["tensor(", ", device='cuda:0'", "device=", "grad_fn=<MmBackward0>", "α"]),
)
OUTPUTS = st.lists(PIECES, max_size=30).map("".join)


@settings(deadline=None)
@given(st.one_of(st.text(), OUTPUTS))
def test_any_text_can_be_read(text: str) -> None:
    result = tokens(text)
    read = plain(text)
    ends = [0, *(token.end for token in result)]
    for before, token in zip(ends, result, strict=False):
        assert before <= token.start <= token.end <= len(read)
        if token.kind not in (TokenKind.LINE, TokenKind.WORD):
            assert read[token.start : token.end] == token.text
    assert keys(text) == keys(text)
    unread = text.replace("device", "place").replace("grad_fn", "made_by")
    assert bare("".join(texts(unread))) == bare(plain(unread))
    assert len(groups(result)) == len(result)
    assert set(indices(result, range(len(result)))) == set(range(len(result)))


NUMBERS = st.one_of(
    st.integers(-999, 999).map(str),
    st.decimals(-99, 99, places=4).map(str),
    st.floats(1e-12, 1e12).map(lambda x: f"{x:.4e}"),
    st.sampled_from(["nan", "inf", "-inf", "1.", "-0.", "True"]),
)
MATRICES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=1)
)


def printed(rows: list[list[str]], comma: str = ", ", row: str = ",\n        ") -> str:
    return f"tensor([{row.join(f'[{comma.join(numbers)}]' for numbers in rows)}])"


@given(MATRICES, st.data())
def test_wrapping_and_padding_change_nothing(rows: list[list[str]], data: st.DataObject) -> None:
    text = printed(rows)
    spaces = st.sampled_from([" ", "   ", "\n", "\n\n", " \n  ", "\t"])
    wrapped = re.sub(r"\s+", lambda _: data.draw(spaces), text)
    padded = re.sub(r"(?<=\[)|(?=\])", lambda _: data.draw(st.sampled_from(["", " "])), wrapped)
    assert keys(wrapped) == keys(text)
    assert keys(padded) == keys(text)


@given(MATRICES, st.data())
def test_any_other_character_changes_something(rows: list[list[str]], data: st.DataObject) -> None:
    text = printed(rows)
    place = data.draw(st.sampled_from([i for i, c in enumerate(text) if not c.isspace()]))
    other = data.draw(st.sampled_from([c for c in "0123456789+-.,e[](){}x" if c != text[place]]))
    assert keys(text[:place] + other + text[place + 1 :]) != keys(text)
    assert keys(text[:place] + text[place + 1 :]) != keys(text)


INDEX = [
    ("tensor([0.1, 0.2])", "0.2", (1,)),
    ("tensor([[0.1, 0.2],\n        [0.3, 0.4]])", "0.3", (1, 0)),
    ("tensor([[[1, 2]], [[3, 4]]])", "4", (1, 0, 1)),
    ("[[1 2]\n [3 4]]", "4", (1, 1)),
    ("[[-1.5  2. ]\n [ 3.   4. ]]", "4.", (1, 1)),
    ("tensor([1.+2.j, 3.-4.j])", "-4.j", (1,)),
    ("[tensor([1, 2]), tensor([3, 4])]", "4", (1, 1)),
    ("{'a': [1, 2]}", "2", (1,)),
    ("(1, 2)", "2", ()),
    ("loss 0.5", "0.5", ()),
    ("torch.Size([6, 2])", "2", (1,)),
    ("x [1, 2) 3]", "3", (2,)),
]


@pytest.mark.parametrize(("text", "element", "index"), INDEX)
def test_an_element_has_an_index(text: str, element: str, index: tuple[int, ...]) -> None:
    result = tokens(text)
    place = [token.text for token in result].index(element)
    assert indices(result, {place}) == {place: index}


def test_indices_are_those_of_each_token() -> None:
    result = tokens("a [1, [2, 3]] {4: [5]} ]")
    places = indices(result, range(len(result)))
    assert places == {place: indices(result, {place})[place] for place in range(len(result))}
    assert indices(result, ()) == {}


def test_arrays_in_a_list_are_apart() -> None:
    result = tokens("[tensor([1., 2.]), tensor([3.])]")
    numbered = dict(zip([t.text for t in result], groups(result), strict=True))
    assert numbered["1."] == numbered["2."] != numbered["3."]


def test_a_token_says_where_it_stands() -> None:
    assert tokens("a  [0.5]")[2] == Token(TokenKind.FLOAT, "0.5", 4, 7, gap="")
    assert tokens("a  b")[1] == Token(TokenKind.WORD, "b", 3, 4, gap="  ")
