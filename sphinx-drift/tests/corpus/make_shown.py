"""Write shown.ipynb: what well-known libraries show, in every form in which they show it.

`python sphinx-drift/tests/corpus/make_shown.py` needs IPython's display, pandas, SymPy,
scikit-learn, Pillow, ipywidgets and MyST-NB beside the project itself.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbformat import v4

from sphinx_drift.run.run import execute, request_for

FRAME = """\
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.normal(size=(3, 2)), columns=["loss", "accuracy"])
"""
CELLS = [
    f"{FRAME}frame",
    'pd.concat({"train": frame, "test": -frame}).loc[["train", "test"]].describe()',
    'pd.DataFrame(rng.normal(size=(2, 9)), index=pd.Index([10, 20], name="step"))',
    'frame.style.format("{:.2f}").set_caption("Run 7")',
    'frame.groupby(frame.loss > 0).agg(["mean", "max"])',
    """\
import sympy

x = sympy.Symbol("x")
sympy.Integral(x**2 - sympy.Rational(1, 3), (x, 0, 5))""",
    "sympy.Matrix([[1, 2], [-3, x**4 / 25]])",
    "sympy.Float('1.25e-5') * x",
    """\
from sklearn.linear_model import Ridge

Ridge(alpha=2.5, max_iter=300)""",
    """\
from PIL import Image

Image.new("L", (28, 14))""",
    """\
from ipywidgets import IntSlider

IntSlider(value=7, min=-3, max=25)""",
    """\
from IPython.display import HTML, Latex, Markdown, display

display(HTML("<h3>Loss</h3><ul><li>0.75<li>x<sup>2</sup></ul>"), Latex("$x^{31}$"))
display(Markdown("**4** of 5 | `0.5`"))""",
    """\
from myst_nb import glue

glue("accuracy", 0.9712, display=False)
glue("frame", frame, display=False)""",
    """\
for done in range(3):
    print(f"\\r{done + 1} of 3", end="")""",
    """\
import warnings

warnings.warn("only 3 of 7 rows are used")""",
    """\
def fail(row):
    raise ValueError(f"row {row} has 3 columns, not 4")


fail(17)""",
    'raise ExceptionGroup("2 of 9 runs", [ValueError("run 3"), KeyError(8)])',
    "%no_such_magic 12",
]
LONG = re.compile(
    r"(?s)<style>.*?</style>|<script>.*?</script>|<span class=.param-doc-description.*?</span>"
)
"""What is longer in scikit-learn's HTML than all the rest."""


def main() -> None:
    """Write it beside this file."""
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in CELLS])
    execute(notebook, request_for(Path.cwd(), may_raise=range(len(CELLS))))
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        for output in cell.outputs:
            html = output.get("data", {}).get("text/html")
            if html:
                output.data["text/html"] = LONG.sub("", html)
    nbformat.write(notebook, Path(__file__).with_name("shown.ipynb"))


if __name__ == "__main__":
    main()
