"""The figures of the pages on scaling show what those pages print, number by number."""

import inspect
import math
import re

import pytest
import torch
from the_book import DOCS, TRACED

from figures.attention_trace import attention_trace
from figures.drawings.scaling import DRAWINGS
from figures.drawings.scaling_trace import SIZES, Series, scaling_trace, words_trace

NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?")


def documented(page: str, name: str) -> list[float]:
    """Return the numbers of a page's named output, which the build holds against the cell."""
    text = (DOCS / "companions" / page).read_text("utf-8")
    found = re.search(rf":name: {name}\n(?::allow:[^\n]*\n)?\n?(.*?)\n```", text, re.DOTALL)
    assert found is not None
    return [float(number) for number in NUMBER.findall(found[1].partition("grad_fn")[0])]


def shown(name: str) -> list[tuple[str, str]]:
    """Return each number of a figure: its path in the trace and its text."""
    picture = DRAWINGS[name].draw(attention_trace()).render("id", "t", "d")
    return [(path, text.replace("−", "-")) for path, text in TRACED.findall(picture)]


def column(name: str, place: int) -> list[float]:
    """Return one column of a table of three that the page on scaling prints."""
    return documented("why-scale.md", name)[place::3]


@pytest.mark.parametrize("name", sorted(DRAWINGS))
def test_every_number_in_the_figure_is_the_trace_s(name: str) -> None:
    trace = scaling_trace() if name == "scaling" else words_trace()
    numbers = shown(name)
    assert numbers
    for path, text in numbers:
        digits = len(text.partition("e")[0].partition(".")[2])
        form = f".{digits}e" if "e" in text else f".{digits}f"
        assert format(trace.number(path), form) == text


def test_the_words_figure_shows_every_score_and_weight() -> None:
    paths = {path for path, _ in shown("saturated")}
    assert paths == {f"{n}.{i}" for n in ("scaled_scores", "attn_weights") for i in range(13)}


def test_the_trace_has_the_weights_that_the_page_prints() -> None:
    weights = documented("thirteen-words.md", "tw-weights")
    scores = documented("thirteen-words.md", "tw-scores")
    assert words_trace().attn_weights == pytest.approx(weights, rel=2e-5)
    scaled = [score / math.sqrt(24) for score in scores]
    assert words_trace().scaled_scores == pytest.approx(scaled, abs=2e-5)


@pytest.mark.parametrize(
    ("name", "measured", "forms"),
    [
        ("ws-variance", "variance", (".1f", ".2f")),
        ("ws-entropy", "entropy", (".2f", ".2f")),
        ("ws-slope", "gradient", (".1e", ".2f")),
    ],
)
def test_the_curves_are_the_tables(name: str, measured: str, forms: tuple[str, str]) -> None:
    trace = scaling_trace()
    assert column(name, 0) == list(SIZES)
    for place, form in enumerate(forms, 1):
        side: Series = (trace.plain, trace.scaled)[place - 1]
        numbers = getattr(side, measured)
        assert column(name, place) == [float(format(number, form)) for number in numbers]


def test_variance_is_the_size_and_one() -> None:
    trace = scaling_trace()
    assert trace.plain.variance == pytest.approx(trace.sizes, rel=0.06)
    assert trace.scaled.variance == pytest.approx([1] * len(trace.sizes), rel=0.06)


def test_a_trace_leaves_the_generator_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("figures.drawings.scaling_trace.SIZES", (2,))
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    inspect.unwrap(scaling_trace)()
    inspect.unwrap(words_trace)()
    assert torch.equal(torch.rand(1), expected)


def test_a_path_to_no_number_is_refused() -> None:
    with pytest.raises(TypeError, match="words is no number"):
        words_trace().number("words")
