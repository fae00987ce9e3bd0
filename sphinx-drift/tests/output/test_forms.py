"""HTML and LaTeX: what is read of them, and whether they say what the text says."""

from __future__ import annotations

import re

import pytest

from sphinx_drift.output.forms import html_differs, latex_differs, text_differs
from sphinx_drift.output.html_text import html_text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a</p><p>b</p>", "a\nb"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<b>a</b><i>b</i>", "ab"),
        ("a\n  b", "a b"),
        ("&lt;x&gt; &amp; &#48;", "<x> & 0"),
        ("<pre>  a\n    b</pre>", "  a\n    b"),
        ("<ul><li>1<li>2</ul>", "- 1\n- 2"),
        ("<ol start=5><li>a<ul><li>b</ul><li value=9>c</ol>", "[5]\n- a\n- b\n- [9]c"),
        ("x<sup>2</sup>, x<sub>1</sub>", "x^{2}, x_{1}"),
        ("<style>0.5</style><script>0.5</script>1", "1"),
        ("<head><title>0.5</title></head>1", "1"),
        ("<head><meta charset=utf-8>0.5", "0.5"),
        ("<style/>0.5", "0.5"),
        ("<iframe srcdoc='&lt;p&gt;0.5&lt;p&gt;2'>3</iframe>4", "0.5 24"),
        ("<div hidden>0.5</div>", "0.5"),
        ("<svg><text>0.5</text><text>2</text></svg>", "0.5\n2"),
        ("<svg><title>0.5</title><desc>1</desc><metadata>2</metadata></svg>3", "3"),
        ("<img src='data:0.5' alt='a plot'>", "[a plot]"),
        ("<progress value=3 max=10></progress>", "[3/10]"),
        ("<input placeholder='none'>", "[none]"),
        ("<table><tr><td>1<td>2<tr><td>3<td>4</table>", "1 | 2\n3 | 4"),
        ("<table><caption>T</caption><tr><th></th><td>1</td></tr></table>a", "T\n| 1\na"),
        ("<table><tr><td><p>a<p>b</table>", "a b"),
        ("<table><tr><td>x<td><pre>\n a  1\n   2</pre><td>b</table>", "x | a 1 2 | b"),
        ("<td>1</td>", "1"),
        ("CRC 0xdeadbeef", "CRC 0xdeadbeef"),
        ("<svg><text><![CDATA[0.5]]></text></svg>", "0.5"),
        ("<select><optgroup label=5><option label=6></select>", "[5]\n[6]"),
        ("<option selected>5<option>6", "☑ 5\n6"),
        ("<input type=checkbox checked>5<input type=checkbox>6", "☑ 56"),
        ("<strike>12</strike>", "~12~"),
        ("1b4e28ba-2fa1-11d2-883f-0016d3cca427", "UUID"),
        ("<table id='T_3f2a1'><tr><td id='T_3f2a1_row0_col0'>1</table>", "1"),
        ("1<![if x]>2<![endif]><![x y]>3", "123"),
        ("1<!-- 2 <b>3", "1<!-- 2 3"),
        ("<style>unclosed", ""),
        ("", ""),
    ],
)
def test_html_is_read_as_a_reader_sees_it(html: str, text: str) -> None:
    assert html_text(html) == text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<table><tr><td>1<td></table>", "<table><tr><td><td>1</table>"),
        ("<table><tr><td>1<tr><td>2</table>", "<table><tr><td>1<td>2</table>"),
        ("<p>1<p>2", "12"),
        ("x<sup>2</sup>", "x2"),
        ("<mfrac><mn>1</mn><mn>23</mn></mfrac>", "<mfrac><mn>12</mn><mn>3</mn></mfrac>"),
        ("<msup><mi>x</mi><mn>2</mn></msup>", "<msub><mi>x</mi><mn>2</mn></msub>"),
        ("<msqrt><mn>2</mn></msqrt>", "<mn>2</mn>"),
        ("<mfrac linethickness=0><mn>3</mn></mfrac>", "<mfrac><mn>3</mn></mfrac>"),
        ("<mfenced open=[><mn>3</mn></mfenced>", "<mfenced><mn>3</mn></mfenced>"),
        ("<menclose notation=box>3</menclose>", "<menclose notation=radical>3</menclose>"),
        ("<button>1</button><button>23</button>", "<button>12</button><button>3</button>"),
        ("<textarea>1</textarea><textarea>23</textarea>", "<textarea>123</textarea>"),
        ("<svg><text>1<tspan x=9>23</tspan></text></svg>", "<svg><text>123</text></svg>"),
    ],
)
def test_structure_counts(one: str, other: str) -> None:
    assert html_text(one) != html_text(other)


# As pandas writes them, where the columns (c2) and the levels of the index (x1, y3) have names.
NAMED = (
    "<table><thead><tr><th>c2</th><th>a</th><th>b</th></tr>"
    "<tr><th>x1</th><th></th><th></th></tr></thead>"
    "<tbody><tr><th>7</th><td>-0.5</td><td>2</td></tr></tbody></table>"
)
LEVELS = (
    "<table><thead><tr><th></th><th>c2</th><th>a4</th><th>b5</th></tr>"
    "<tr><th>x1</th><th>y3</th><th></th><th></th></tr></thead><tbody>"
    "<tr><th rowspan=2>6</th><th>7</th><td>0.5</td><td>2</td></tr>"
    "<tr><th>8</th><td>1.5</td><td>3</td></tr></tbody></table>"
)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("c2    a  \\\nx1         \n7  -0.5   \n\nc2  b  \nx1     \n7   2  ", NAMED),
        (
            (
                "c2      a4  \\\nx1 y3        \n6  7    0.5   \n   8    1.5   \n\n"
                "c2     b5  \nx1 y3      \n6  7    2  \n   8    3  "
            ),
            LEVELS,
        ),
    ],
)
def test_a_wrapped_table_repeats_the_names_of_its_index(text: str, html: str) -> None:
    assert html_differs(text, html) == ""
    assert html_differs(text.replace("2  ", "9  ", 1), html)


TABLE = "<table><tr><th><th>a<th>b<tr><th>7<td>-0.5<td>2</table>"


@pytest.mark.parametrize(
    ("text", "html", "message"),
    [
        ("a b\n7 -0.5 2", TABLE, ""),
        ("a b\n7 0.5 2", TABLE, "the text has 0.5, the HTML has -0.5"),
        ("a b\n7 -0.5", TABLE, "the text has none more, the HTML has 2"),
        ("a b\n7 2 -0.5", TABLE, "the text has 2, the HTML has -0.5"),
        ("   a \\\n7 -0.5   \n\n   b  \n7  2  ", TABLE, ""),
        ("   a \\\n7 -0.5   \n\n   b  \n7  3  ", TABLE, "the text has 3, the HTML has 2"),
        ("   a \\\n7  2   \n\n   b  \n7  -0.5  ", TABLE, "the text has 2, the HTML has -0.5"),
        ("loss 1 \\\nacc 2", "loss 2<br>acc 1", "the text has 1, the HTML has 2"),
        ("5 mW", "<b>5</b> MW", "the text has mW, the HTML has MW"),
        ("-∞", "∞", "the text has -∞, the HTML has ∞"),
        ("-$5", "$5", "the text has -$5, the HTML has 5"),
        ("1 2", "1&#8203;2", r"the text has 2, the HTML has '\u200b'"),
        ("1 2", "&#8238;1 2", r"the text has 1, the HTML has '\u202e'"),
        ("no number", "<b>5</b>", "the text has none more, the HTML has 5"),
        ("accepted 5", "<b>rejected</b> 5", "the text has accepted, the HTML has rejected"),
        ("a 1 b 2", "<td>b<td>1<td>a<td>2", "the text has a, the HTML has b"),
        ("[5 rows x 3 columns]", "5 rows \N{MULTIPLICATION SIGN} 3 columns", ""),
        ("Box(5)", "<b>5</b>", ""),
        ("1\n2", "<ul><li>1<li>2</ul>", ""),
        ("3-5", "3 \N{EN DASH} 5", ""),
        ("0.5", "<b>&minus;0.5</b>", "the text has 0.5, the HTML has -0.5"),
        ("-0.5", "<b>&minus;0.5</b>", ""),
        ("loss nan", "loss <b>inf</b>", "the text has nan, the HTML has inf"),
        ("inf nan info", "<td>Inf<td>NaN<td>info", ""),
    ],
)
def test_html_has_the_numbers_of_the_text(text: str, html: str, message: str) -> None:
    assert html_differs(text, html) == message


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a True", "a False"),
        ("a 0.5", "a 0.5 %"),
        ("a 0.5", "a \N{EN DASH}0.5"),
        ("5%", "5"),
        ("0.5", "- 0.5"),
        ("0.5", "<p>\N{EN DASH} 0.5"),
        ("0.5", "\N{NON-BREAKING HYPHEN}<b>0.5</b>"),
        ("nan", "<td>- nan"),
        ("-Infinity", "Infinity"),
    ],
)
def test_html_has_the_signs_and_booleans_of_the_text(text: str, html: str) -> None:
    assert html_differs(text, text) == ""
    assert html_differs(text, html) != ""


@pytest.mark.parametrize(
    ("text", "latex", "message"),
    [
        ("x**2 - 1/3", r"$\displaystyle x^{2} - \frac{1}{3}$", ""),
        (
            "x**2 - 1/3",
            r"$\displaystyle x^{2} + \frac{1}{3}$",
            "the text has -, the LaTeX has 1",
        ),
        ("x**2 - 1/3", r"$\displaystyle x^{2} - \frac{1}{4}$", "the text has 3, the LaTeX has 4"),
        ("Integral(x**2, (x, 0, 1))", r"\int\limits_{0}^{1} x^{2}\, dx", ""),
        ("1.0e-5*x", r"1.0 \cdot 10^{-5} x", ""),
        ("-1.50000000000000e+20", r"-1.5 \cdot 10^{20}", ""),
        ("Matrix([[1, 2], [-3, 4]])", r"\begin{matrix}1 & 2\\-3 & 4\end{matrix}", ""),
        ("1.0e-5*x", r"1.0 \cdot 10^{-6} x", "the text has 1e-05, the LaTeX has 1e-06"),
        ("x**2 - 3", "x^{3} - 2", "the text has 2, the LaTeX has 3"),
        ("2 - x", "-2 x", "the text has 2, the LaTeX has -"),
        ("x", "\N{MINUS SIGN}x", "the text has none more, the LaTeX has -"),
        ("x**(1/3)", r"\sqrt[3]{x}", "the text has 1, the LaTeX has 3"),
    ],
)
def test_latex_has_the_numbers_of_the_text(text: str, latex: str, message: str) -> None:
    assert latex_differs(text, latex) == message


def test_markdown_has_the_numbers_of_the_text() -> None:
    assert text_differs("loss 0.5", "**loss** 0.5") == ""
    assert re.findall(r"0\.\d", text_differs("loss 0.5", "**loss** 0.6")) == ["0.5", "0.6"]
