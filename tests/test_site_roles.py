"""The figures of the companion pages on raw embeddings and on queries, keys and values."""

import re
from dataclasses import fields
from typing import Any

import pytest
import torch
from the_book import DOCS, TRACED

from figures.attention_trace import attention_trace
from figures.drawings import landing, plane, roles
from figures.drawings.roles import RolesTrace, roles_trace
from selfattn.examples import six_tokens

FIGURES: dict[str, tuple[Any, int]] = {
    "journey": (roles.journey, 23),
    "raw-attention": (roles.raw_attention, 76),
    "two-scores": (roles.two_scores, 76),
}
TEXT = re.compile(r"<text [^>]*>.*?</text>")


@pytest.fixture(params=sorted(FIGURES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def drawn(name: str, trace: RolesTrace) -> str:
    return str(FIGURES[name][0](trace).render("fig", "A title", "A description"))


def test_every_figure_is_registered() -> None:
    assert set(roles.DRAWINGS) == set(FIGURES)
    for drawing in roles.DRAWINGS.values():
        assert "data-trace" in drawing.draw(attention_trace()).render("fig", drawing.title, "")


def test_every_number_is_the_traces_number(name: str) -> None:
    numbers = TRACED.findall(drawn(name, roles_trace()))
    assert len(numbers) == FIGURES[name][1]
    for path, shown in numbers:
        assert shown == f"{roles_trace().number(path):.2f}"


def test_no_number_is_written_by_hand(name: str) -> None:
    for element in TEXT.findall(drawn(name, roles_trace())):
        if "data-trace" not in element:
            words = re.sub(r"<[^>]*>", "", element)
            assert not re.search(r"\d\.\d", words), words


def test_another_trace_gives_other_numbers(name: str) -> None:
    moved = RolesTrace(**{
        field.name: _plus_one(getattr(roles_trace(), field.name)) for field in fields(RolesTrace)
    })  # fmt: skip
    for path, shown in TRACED.findall(drawn(name, moved)):
        assert shown == f"{roles_trace().number(path) + 1:.2f}"


def test_the_trace_has_both_forms_of_attention() -> None:
    trace, inputs = roles_trace(), six_tokens().inputs
    scores = torch.tensor(trace.raw_scores)
    weights = torch.tensor(trace.raw_weights)
    torch.testing.assert_close(scores, torch.einsum("im,jm->ij", inputs, inputs))
    powers = scores.double().exp()
    torch.testing.assert_close(weights.double(), powers / powers.sum(-1, keepdim=True))
    torch.testing.assert_close(torch.tensor(trace.raw_context_vecs), weights @ inputs)
    assert trace.attn_scores == attention_trace().attn_scores


def test_the_outlined_cells_mirror_each_other() -> None:
    (row, column), mirrored = roles.MIRROR
    assert mirrored == (column, row)
    trace = roles_trace()
    assert trace.raw_scores[row][column] == pytest.approx(trace.raw_scores[column][row])
    assert trace.attn_scores[row][column] > 1.5 * trace.attn_scores[column][row]


def test_the_journeys_rounded_numbers_are_the_documented_ones() -> None:
    shown = dict(TRACED.findall(drawn("journey", roles_trace())))
    scores = [shown[f"attn_scores.1.{token}"] for token in range(6)]
    assert scores == ["1.27", "1.85", "1.81", "1.08", "0.56", "1.54"]
    for role, numbers in (
        ("queries", ["0.43", "1.46"]),
        ("keys", ["0.44", "1.14"]),
        ("values", ["0.40", "1.00"]),
    ):
        assert [shown[f"{role}.1.{place}"] for place in range(2)] == numbers


def _plus_one(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_plus_one(part) for part in value)
    return value + 1 if isinstance(value, float) else value


class TestArrows:
    def test_each_dot_product_is_the_one_that_the_page_prints(self) -> None:
        page = (DOCS / "companions" / "without-weights.md").read_text("utf-8")
        found = re.search(r":name: ww-arrows\n(.*?)\n```", page, re.DOTALL)
        assert found is not None
        rows = [line.rsplit(maxsplit=3) for line in found[1].splitlines()[1:]]
        shown = TRACED.findall(plane.arrows(attention_trace()).render("id", "t", "d"))
        assert [row[0] for row in rows] == list(plane.ARROWS)
        assert [row[1] for row in rows] == [text.replace("−", "-") for _, text in shown]

    def test_the_page_has_the_arrows_of_the_figure(self) -> None:
        page = (DOCS / "companions" / "without-weights.md").read_text("utf-8")
        for name, arrow in plane.ARROWS.items():
            assert f'"{name}": {list(arrow)}' in page
        assert f"q = torch.tensor({list(plane.QUERY)})" in page


class TestFirstPage:
    def test_the_sentence_has_the_weights_of_journey(self) -> None:
        numbers = TRACED.findall(landing.sentence(attention_trace()).render("i", "t", "d"))
        assert [path for path, _ in numbers] == [f"attn_weights.1.{place}" for place in range(6)]
        assert [text for _, text in numbers] == ["0.15", "0.23", "0.22", "0.13", "0.09", "0.18"]

    def test_small_pictures_say_nothing(self) -> None:
        for pictogram in landing.PICTOGRAMS.values():
            picture = pictogram().decorate()
            assert 'aria-hidden="true"' in picture
            assert "<text" not in picture
