"""The pages on one call and on training: their figures, and the record that one is drawn from."""

import html
import json
import math
import re

import pytest
import torch
from the_book import DOCS, TRACED

from figures.attention_trace import attention_trace
from figures.drawings import cost, training
from figures.drawings.cost_trace import FILE, FORMS, cost_trace, rounded
from figures.drawings.training import training_trace
from reference.cost import figure

PAGE = DOCS / "companions" / "training.md"


def shown(name: str) -> list[tuple[str, str]]:
    """Return each number of a figure: its path in the trace and its text."""
    drawings = cost.DRAWINGS | training.DRAWINGS
    picture = drawings[name].draw(attention_trace()).render("id", "t", "d")
    found = TRACED.findall(picture)
    return [(path, html.unescape(text).replace("−", "-")) for path, text in found]


def test_the_training_figure_shows_every_entry_of_every_matrix() -> None:
    numbers, trace = dict(shown("training")), training_trace()
    assert len(numbers) == 2 * 3 * 9 * 3
    for path, text in numbers.items():
        assert text == f"{trace.number(path):.2f}"


def test_the_trained_matrices_are_the_ones_that_the_page_prints() -> None:
    query, key, _ = training_trace().made["after"]
    scores = torch.tensor(query[6:]) @ torch.tensor(key[:3]).T / 3**0.5
    text = PAGE.read_text("utf-8")
    found = re.search(r":name: tr-match\n(.*?)\n```", text, re.DOTALL)
    assert found is not None
    documented = [float(number) for number in re.findall(r"-?\d+\.\d+", found[1])]
    assert scores.flatten().tolist() == pytest.approx(documented[9:], abs=0.0051)


def test_the_curve_ends_at_the_losses_that_the_page_prints() -> None:
    trace = training_trace()
    found = re.search(r":name: tr-loss\n(.*?)\n```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    rows = [line.split() for line in found[1].splitlines()[1:]]
    assert len(rows) > 3
    for step, *both in rows:
        assert [f"{loss:.2f}" for loss in trace.made["losses"][int(step)]] == both
    (shown_at_the_end,) = shown("loss")
    assert shown_at_the_end == (f"losses.{len(trace.made['losses']) - 1}.0", rows[-1][1])


def test_training_leaves_the_generator_and_the_threads_alone() -> None:
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    training_trace()
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_num_threads() == threads


def test_what_the_training_page_says_about_its_picture() -> None:
    trace = training_trace()
    query, key, value = (torch.tensor(matrix) for matrix in trace.made["after"])
    assert torch.equal(torch.tensor(trace.made["before"][0])[:6], query[:6])
    colour, number, asked = key.abs().split(3)
    assert colour.max() > asked.max() > number.max()
    assert value[3:6].abs().min() > value[:3].abs().max()
    assert (value[3:6].diag() > 1).all()
    moved = (value - torch.tensor(trace.made["before"][2])).abs()
    assert moved[6:].max() > 0.5 > moved[:3].max()
    assert (
        max(abs(entry) for matrix in trace.made["before"] for row in matrix for entry in row)
        <= 1 / 3
    )
    assert query[6:].abs().max() > 1


def test_the_cost_figure_labels_the_last_point_of_each_curve() -> None:
    numbers, trace = dict(shown("cost")), cost_trace()
    assert len(numbers) == 2 * len(FORMS)
    for path, text in numbers.items():
        assert text.split()[0] == rounded(trace.number(path))
        assert path.split(".")[1] == str(trace.lengths[-1])


def test_the_record_is_whole_and_says_its_machine() -> None:
    said = json.loads(FILE.read_text("utf-8"))
    assert {"processor", "threads", "torch", "system"} <= said["machine"].keys()
    assert len(said["results"]) == len(FORMS) * len(cost_trace().lengths)
    for row in said["results"]:
        low, high = row["seconds_quartiles"]
        assert 0 < low <= row["seconds"] <= high
        if row["form"] == "written-out":  # scores, scaled scores and weights, four bytes a number
            assert row["peak_bytes"] == 3 * 4 * row["T"] ** 2


def test_what_the_page_says_about_cost() -> None:
    trace = cost_trace()
    for length in trace.lengths:
        for what in ("time", "memory"):
            assert trace.number(f"one-call.{length}.{what}") < trace.number(
                f"written-out.{length}.{what}"
            )
    first, last = trace.lengths[0], trace.lengths[-1]
    growth = trace.number(f"one-call.{last}.memory") / trace.number(f"one-call.{first}.memory")
    assert growth <= last / first


@pytest.mark.parametrize(
    ("number", "text"),
    [(805.306, "805"), (0.0721, "0.0721"), (9.999, "10.00"), (2971.3, "2970"), (1.6, "1.60")],
)
def test_three_digits_and_no_exponent(number: float, text: str) -> None:
    assert rounded(number) == text
    assert float(text) == pytest.approx(number, rel=0.005)


def test_the_role_writes_a_figure_with_its_unit() -> None:
    trace = cost_trace()
    assert figure(trace, "written-out 8192 memory") == "805 MB"
    ratio = trace.number("written-out.8192.time") / trace.number("one-call.8192.time")
    assert math.isclose(float(figure(trace, "ratio 8192 time")), ratio, rel_tol=0.05)


@pytest.mark.parametrize(
    "text", ["one-call", "one-call 7 time", "one-call 8192 colour", "x 8192 y"]
)
def test_the_role_refuses_what_was_not_measured(text: str) -> None:
    trace = cost_trace()
    with pytest.raises((KeyError, ValueError)):
        figure(trace, text)
