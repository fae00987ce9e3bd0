"""The explorer's JavaScript: what it computes against torch, and its tasks."""

import functools
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import torch
from node import evaluate
from page_run import made_by
from torch import Tensor
from torch.nn.utils import vector_to_parameters

from explorer import trained_model
from explorer.element import HERE, explorer
from selfattn.trained import VOCABULARY, TwoHeads, sentences, to_ids, without_head

PAGE = "self-attention/step-by-step"
SCRIPTS = [HERE / name for name in ("arithmetic.js", "state.js", "tasks.js")]
W_QUERY = [f"q{row}{column}" for row in (1, 2, 3) for column in (1, 2)]
ZERO_QUERIES = "&".join(f"{entry}=0" for entry in W_QUERY)
LEAST_QUERIES = ZERO_QUERIES.replace("q11=0", "q11=-0.0001")  # of scores printed as -0.0000
# For each task, what answers it, what doesn't, and what would if nothing else were changed.
TASKS: dict[str, tuple[list[str], list[str], list[str]]] = {
    "values": (
        ["v11=1", "v32=-3&v11=0"],
        ["", "q11=1", "k22=0", "word=4", "v11=0.0756"],  # as it is printed: nothing follows
        ["v11=1&q11=7"],
    ),
    "sixths": (
        [ZERO_QUERIES, "x21=0&x22=0&x23=0", ZERO_QUERIES.replace("q", "k")],
        ["", ZERO_QUERIES[:-6], f"{ZERO_QUERIES}&mask=causal"],
        [f"{ZERO_QUERIES}&axis=column"],
    ),
    "divisor": (["divisor=1"], ["", "q11=7"], ["divisor=1&q11=7", "divisor=d_k"]),
    "columns": (
        ["axis=column", "axis=column&mask=causal"],  # left over from the tasks before
        ["", "mask=causal", "axis=column&mask=11.21.31.41.51.61"],
        [f"{ZERO_QUERIES}&axis=column"],  # the row adds up, too
    ),
    "longer": (
        ["x21=3&x22=3&x23=3", "x22=5"],
        ["", "x22=1", "x32=5", "x21=0&x22=0&x23=0"],
        ["x22=5&q11=7"],
    ),
    "another": (
        ["x32=2"],
        ["", "x22=2", "x32=2&mask=causal", ZERO_QUERIES],
        ["x32=2&mask=22", "x42=9&axis=column"],
    ),
    "zero": (["x61=0&x62=0&x63=0"], ["", "x61=0&x62=0"], ["x61=0&x62=0&x63=0&v11=1"]),
    "negative": (
        ["x22=-2", "q11=-9"],
        ["", "v11=-9", ZERO_QUERIES, LEAST_QUERIES],
        ["x22=-2&mask=causal", "x22=-2&axis=column"],
    ),
    "alone": (
        ["mask=causal", "mask=12.13.14.15.16"],
        ["", "mask=12.13.14.15", "mask=causal&axis=column", "mask=11.12.13.14.15.16"],
        [],
    ),
    "last": (["mask=causal&word=6"], ["", "word=6", "mask=causal", "mask=causal&word=1"], []),
    "nothing": (
        ["mask=31.32.33.34.35.36", "mask=11.12.13.14.15.16.21"],
        ["", "mask=causal", "mask=31.32.33.34.35", "mask=11.21.31.41.51.61&axis=column"],
        [],
    ),
}


def explore(
    expression: str, asked: object, scripts: Sequence[Path] = SCRIPTS, page: str = PAGE
) -> Any:
    """Return what an expression makes of `asked`; in it, `now` computes a state of the explorer."""
    body = f"""
      const {{ USUAL, compute, tasks }} = selfattn;
      const {{ asked, book }} = given;
      const read = (text) => Object.fromEntries(new URLSearchParams(text));
      const now = (text) => compute({{ ...USUAL, ...read(text) }}, book);
      return {expression};
    """
    given = {"asked": asked, "book": explorer().numbers(made_by(page))}
    return evaluate(body, given, scripts)


def altered(folder: Path, script: Path, old: str, new: str) -> Path:
    """Return a copy of a script in which one thing is another."""
    text = script.read_text("utf-8")
    assert not old or text.count(old) == 1
    (folder / script.name).write_text(text.replace(old, new), "utf-8")
    return folder / script.name


# The arithmetic -----------------------------------------------------------------------

MATRICES = {"x": "inputs", "q": "W_query", "k": "W_key", "v": "W_value"}
STEPS = ("queries", "keys", "values", "attn_scores", "attn_weights", "context_vecs")
NUMBERS = f"""asked.map((text) => {{
  const made = now(text);
  return {json.dumps([*MATRICES.values(), *STEPS])}.map((name) => made[name].data.map(String));
}})"""


@functools.cache
def states() -> list[str]:
    """Draw states of the explorer; the first is the page's own."""
    chance = random.Random(3)  # noqa: S311 - no secret
    found = [""]
    for _ in range(150):
        state: dict[str, Any] = {name: chance.choice(of) for name, of in CHOSEN.items()}
        if chance.random() < 0.3:
            places = (f"{i}{j}" for i in range(1, 7) for j in range(1, 7) if chance.random() < 0.4)
            state["mask"] = ".".join(places) or "none"
        for _ in range(chance.randrange(9)):
            letter = chance.choice("xqkv")
            entry = f"{letter}{chance.randint(1, 6 if letter == 'x' else 3)}{chance.randint(1, 2)}"
            state[entry] = round(chance.uniform(-9, 9), chance.choice((1, 2, 4)))
        found.append("&".join(f"{name}={value}" for name, value in state.items()))
    return found


CHOSEN = {
    "divisor": ("sqrt", "1", "d_k"),
    "axis": ("row", "column"),
    "mask": ("none", "causal"),
}


def steps_of(text: str, dtype: torch.dtype, page: str = PAGE) -> list[Tensor]:
    """Compute a state as the book's pages do."""
    state = {"divisor": "sqrt", "axis": "row", "mask": "none"} | dict(parse_qsl(text))
    book = explorer().numbers(made_by(page))
    given = {n: torch.tensor(book[name], dtype=dtype) for n, name in MATRICES.items()}
    for name, value in state.items():
        if name[0] in given and name[1:].isdigit():
            given[name[0]][int(name[1]) - 1, int(name[2]) - 1] = float(value)
    queries, keys, values = (given["x"] @ given[letter] for letter in "qkv")
    scores = queries @ keys.T
    scaled = scores / {"1": 1, "sqrt": 2**0.5, "d_k": 2}[state["divisor"]]
    ahead = torch.ones(6, 6).triu(diagonal=1).bool()
    hidden = ahead if state["mask"] == "causal" else torch.zeros(6, 6).bool()
    for place in [] if state["mask"] in {"none", "causal"} else state["mask"].split("."):
        hidden[int(place[0]) - 1, int(place[1]) - 1] = True
    masked = scaled.masked_fill(hidden, -torch.inf)
    weights = torch.softmax(masked, dim=-1 if state["axis"] == "row" else -2)
    return [*given.values(), queries, keys, values, scores, weights, weights @ values]


def differing(texts: list[str], scripts: Sequence[Path] = SCRIPTS) -> list[str]:
    """Return the states that the script computes in another way than torch."""
    answers = explore(NUMBERS, texts, scripts)
    return [
        text
        for text, answer in zip(texts, answers, strict=True)
        for ours, theirs in zip(answer, steps_of(text, torch.float64), strict=True)
        if not torch.allclose(
            torch.tensor([*map(float, ours)], dtype=torch.float64),
            theirs.flatten(), rtol=1e-9, atol=1e-9, equal_nan=True,
        )
    ]  # fmt: skip


def test_all_states_are_as_in_torch() -> None:
    assert differing(states()) == []


@pytest.mark.parametrize("page", [PAGE, "self-attention/causal"])
def test_a_page_s_own_numbers_print_as_in_torch(page: str) -> None:
    [made] = explore(NUMBERS, [""], page=page)
    for ours, theirs in zip(made, steps_of("", torch.float32, page), strict=True):
        assert [f"{float(x):.4f}" for x in ours] == [f"{x:.4f}" for x in theirs.flatten().tolist()]


def test_an_alteration_of_the_script_is_found(tmp_path: Path) -> None:
    keys_summed = ("product(attn_weights, values)", "product(attn_weights, keys)")
    assert differing(states()[:40], [altered(tmp_path, SCRIPTS[0], *keys_summed), *SCRIPTS[1:]])


def test_each_task_accepts_its_answers_and_no_others() -> None:
    verdicts = explore(
        """tasks.map((task) => [task.name, asked[task.name].map((texts) =>
          texts.map((text) => task.check(now(text), now(""))))])""",
        TASKS,
    )
    assert [name for name, _ in verdicts] == list(TASKS)
    for name, (accepted, refused, nearly) in verdicts:
        assert set(accepted) == {True}, name
        assert set(refused) == {False}, name
        assert all(verdict.startswith("Nearly: ") for verdict in nearly), name


def test_what_a_task_teaches_has_this_states_numbers() -> None:
    answers = {name: answers[0] for name, (answers, _, _) in TASKS.items()}
    lessons = explore("tasks.map((task) => task.learned(now(asked[task.name]), now('')))", answers)
    assert all(len(lesson) > 80 for lesson in lessons)
    assert not [lesson for lesson in lessons if "undefined" in lesson or "NaN" in lesson]
    assert "from 23% to 25%" in lessons[list(TASKS).index("divisor")]


# The trained model --------------------------------------------------------------------

MODEL_MUTANTS = {
    "nothing": ("", ""),
    "keys as values": ("[queries, keys, values]", "[queries, values, keys]"),
}
VIEW = """return given.states.map((state) => {
  const { read, shares, likeliest, chances } = selfattn.view(given.model, state);
  return [read.join(" "), likeliest, [...shares.flat(), ...chances.map((each) => each[1])]];
})"""
TRAINED = trained_model.PAGE


@functools.cache
def MODEL() -> dict[str, Any]:  # noqa: N802 - a constant that takes seconds
    node = trained_model.trained_model(data={"controls": trained_model.CONTROLS})
    return node.numbers(made_by(TRAINED))


@pytest.mark.parametrize("mutant", MODEL_MUTANTS)
def test_the_trained_model_shows_what_torch_computes(tmp_path: Path, mutant: str) -> None:
    """Also that a script which is altered doesn't."""
    script = altered(tmp_path, HERE / "trained.js", *MODEL_MUTANTS[mutant])
    states, wanted = _states_of_the_model()
    answers = evaluate(VIEW, {"model": MODEL(), "states": states}, [*SCRIPTS, script])
    faults = [
        (answer, text)
        for answer, (text, (likeliest, numbers), (_, unrounded)) in zip(
            answers, wanted, strict=True
        )
        if answer[:2] != [text, likeliest]
        or [f"{number:.2f}" for number in answer[2]] != [f"{number:.2f}" for number in numbers]
        or max(abs(one - other) for one, other in zip(answer[2], unrounded, strict=True)) > 1e-4
    ]
    assert bool(faults) is (mutant != "nothing"), faults[:3]


@functools.cache
def _states_of_the_model() -> tuple[list[dict[str, Any]], list[Any]]:
    """Draw states; return them and what they show, with the saved weights and the unrounded."""
    chance = random.Random(1)  # noqa: S311 - no secret
    rows, scale = torch.cat(sentences()), MODEL()["scale"]
    saved = torch.tensor(MODEL()["parameters"], dtype=torch.float64) / scale
    unrounded = torch.tensor(made_by(TRAINED)["parameters"], dtype=torch.float64)
    states, wanted = [], []
    for row in rows[chance.sample(range(len(rows)), 200)]:
        on = chance.choices([True, False], k=2)
        asked, end = chance.choice((("verb", 6), ("pronoun", 9)))
        text = [VOCABULARY[i] for i in row]
        given = [*text[:6], "was", *text[7:]]  # the script makes the verb agree
        states.append({"text": given, "asked": asked, "isOn": on})
        wanted.append(
            (
                " ".join(text[:end]),
                *(_what_torch_shows(each, row[:end], on) for each in (saved, unrounded)),
            )
        )
    return states, wanted


@torch.no_grad()
def _what_torch_shows(parameters: Tensor, ids: Tensor, on: list[bool]) -> tuple[str, list[float]]:
    model = TwoHeads()
    vector_to_parameters(parameters, model.parameters())
    shares = model.attn_weights(ids)[:, -1].flatten().tolist()
    for head in (0, 1):
        model = model if on[head] else without_head(model, head)
    chances = model(ids)[-1].softmax(dim=-1)
    forms = chances[to_ids("was were" if len(ids) == 6 else "she he")].tolist()
    return VOCABULARY[int(chances.argmax())], [*shares, *forms, 1 - sum(forms)]
