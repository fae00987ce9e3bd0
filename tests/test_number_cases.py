"""One table says what a number is: Python's grammar and the box's JavaScript are tested by it."""

from __future__ import annotations

import json
from pathlib import Path

from node import run_node
from the_book import DOCS

from sphinx_drift.compare.tokens import read_tokens

CASES = json.loads(Path(__file__).with_name("number_cases.json").read_text("utf-8"))


def test_python_reads_the_numbers_of_the_table() -> None:
    read = [[text, [t.text for t in read_tokens(text) if t.is_number]] for text, _ in CASES]
    assert read == CASES


def test_the_box_reads_the_same_numbers(tmp_path: Path) -> None:
    script = tmp_path / "numbers.js"
    reader = json.dumps(str(DOCS / "_ext/diagnosis/reader.js"))
    script.write_text(
        f"require({reader});\n"
        "const { blocksOf } = globalThis.selfattn;\n"
        'const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));\n'
        "const read = (text) => blocksOf(text).flat().map((number) => number.text);\n"
        "process.stdout.write(JSON.stringify(cases.map(([text]) => [text, read(text)])));\n",
        "utf-8",
    )
    real = [case for case in CASES if not any(number.endswith("j") for number in case[1])]
    assert json.loads(run_node(script, text=json.dumps(real))) == real
