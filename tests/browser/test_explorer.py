"""The explorer is used by mouse, touch and keyboard: every control, every task, every link."""

from __future__ import annotations

import gzip
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import pytest
from touching import Explorer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from built_site import Website
    from reader import Judge, Reader
    from using import Hand

PAGE = "self-attention/explorer"
MOST = 20_000  # bytes of all scripts and styles that a page has for its explorers
LOADED = re.compile(r"\b((?:arithmetic|state|tasks|explorer|try)\.(?:js|css))\?v=")
READABLE = ("sideways", "contrast")
EVENTS = """() => { globalThis.quantities = [];
  document.addEventListener("quantity", ({detail}) => quantities.push(detail.of)); }"""


class Way(NamedTuple):
    """A browser, what is held in the hand, and how wide the window is."""

    reader: Reader
    hand: Hand = "mouse"
    width: int = 1440


WAYS = [
    ("reader", "mouse", 1440),
    ("reader", "touch", 390),
    ("reader", "keyboard", 1440),
    ("firefox_reader", "mouse", 390),
    ("firefox_reader", "keyboard", 1440),
]


@pytest.fixture(params=WAYS, ids=lambda way: "-".join(map(str, way)))
def way(request: pytest.FixtureRequest) -> Way:
    browser, hand, width = request.param
    return Way(request.getfixturevalue(browser), hand, width)


@contextmanager
def opened(way: Way, address: str, theme: str = "light") -> Iterator[Explorer]:
    with way.reader.visit(address, way.width, theme) as visit:
        explorer = Explorer(visit, way.hand)
        explorer.root.locator(".explorer").wait_for()
        yield explorer
        assert not visit.heard


# What it shows ---------------------------------------------------------------------------


PRINTED = [
    ("step-by-step", 1, ("W_query", "W_key", "W_value"), ()),
    ("step-by-step", 2, (), ("attn_scores",)),
    ("compact-class", 1, ("attn_weights", "context_vecs"), ()),
    ("causal", 1, ("attn_weights",), ()),
    ("multi-head", 1, (), ("attn_weights",)),
]


@pytest.mark.parametrize(("chapter", "number", "tables", "lines"), PRINTED)
def test_it_starts_with_the_numbers_that_its_page_prints(
    reader: Reader,
    website: Website,
    chapter: str,
    number: int,
    tables: tuple[str, ...],
    lines: tuple[str, ...],
) -> None:
    """Whole tables, or the row of the word that asks."""
    with reader.visit(website.page(f"self-attention/{chapter}")) as visit:
        explorer = Explorer(visit, "mouse", number).unfold()
        printed = " ".join(visit.page.locator(".cell_output pre").all_inner_texts())
        for table in tables:
            for row in explorer.rows(table):
                assert ", ".join(row) in printed
        for table in lines:
            row = explorer.root.locator(f"[data-step={table}] .explorer-asks td[tabindex]")
            assert ", ".join(row.all_inner_texts()) in printed
        assert tables or lines
        assert not visit.heard


def test_the_mask_and_the_second_head_are_those_of_the_book(
    reader: Reader, website: Website
) -> None:
    with reader.visit(website.page("self-attention/causal")) as visit:
        explorer = Explorer(visit, "mouse").unfold()
        printed = " ".join(visit.page.locator(".cell_output pre").all_inner_texts())
        explorer.pick("mask", "causal")
        assert all(", ".join(row) in printed for row in explorer.rows("attn_weights"))
    with reader.visit(website.page("self-attention/multi-head")) as visit:
        explorer = Explorer(visit, "mouse").unfold()
        printed = " ".join(visit.page.locator(".cell_output pre").all_inner_texts())
        first = explorer.rows("context_vecs")
        explorer.pick("head", "2")
        second = explorer.rows("context_vecs")
        for row, other in zip(first, second, strict=True):
            assert re.search(r",\s+".join([*row, *other]), printed)
        assert ", ".join(explorer.rows("attn_weights")[5]) in printed


def test_a_number_says_how_it_was_made(way: Way, website: Website) -> None:
    with opened(way, website.page(PAGE)) as explorer:
        explorer.page.evaluate(EVENTS)
        explorer.touch("attn_scores", 2, 2)
        made = "0.4306·0.4433 + 1.4551·1.1419 = 1.8524"
        assert explorer.text("trace").endswith(f"= {made}")
        assert explorer.lit() == ["keys 1 0", "keys 1 1", "queries 1 0", "queries 1 1"]
        explorer.touch("context_vecs", 1, 2)
        assert len(explorer.lit()) == 12
        explorer.touch("attn_weights", 1, 1)
        assert "exp(0.6528) / (exp(0.6528) + exp(0.9578)" in explorer.text("trace")
        explorer.pick("divisor", "1")
        explorer.touch("attn_weights", 1, 1)
        explorer.touch("inputs", 1, 1)
        told = [of for of in explorer.page.evaluate("quantities") if of]
        assert told.index("attn_scores[1,1]") < told.index("attn_weights[0,0]")
        assert explorer.page.evaluate("quantities").count("attn_weights[0,0]") == 1
        assert "inputs[0,0]" not in told  # these numbers are no longer the page's


def test_a_pointer_that_rests_is_enough(reader: Reader, website: Website) -> None:
    with opened(Way(reader), website.page(PAGE)) as explorer:
        explorer.page.evaluate(EVENTS)
        explorer.cell("queries", 2, 1).hover()
        assert explorer.text("trace").endswith("= 0.4306")
        assert len(explorer.lit()) == 6
        explorer.page.mouse.move(0, 0)
        assert not explorer.lit()
        assert explorer.page.evaluate("quantities") == ["queries[1,0]", None]


# What it changes -------------------------------------------------------------------------


def test_the_word_that_asks_is_chosen(way: Way, website: Website) -> None:
    with opened(way, website.page(PAGE)) as explorer:
        assert explorer.text("strip").startswith("journey: 15% 23% 22% 13% 9% 18%")
        explorer.pick("word", "4")
        assert explorer.text("strip").startswith("with: 16% 20% 20% 15% 12% 18%")
        assert explorer.address() == "#try-1?word=4"
        live = explorer.root.locator(".explorer-bar .explorer-live").inner_text()
        assert live == "“with” gives most to “journey”, 20%."


def test_the_bars_are_as_high_as_the_shares(reader: Reader, website: Website) -> None:
    for state in ("", "#try-1?mask=causal", "#try-1?mask=causal&word=1"):
        with opened(Way(reader), f"{website.page(PAGE)}{state}") as explorer:
            explorer.page.wait_for_timeout(400)  # they have grown
            heights = explorer.root.locator(".explorer-share > :first-child").evaluate_all(
                "(bars) => bars.map((bar) => bar.getBoundingClientRect().height)"
            )
            row = explorer.root.locator("[data-step=attn_weights] .explorer-asks td[tabindex]")
            shares = [float(share) for share in row.all_inner_texts()]
            unit = sum(heights)
            assert [height / unit for height in heights] == pytest.approx(shares, abs=5e-3)


def test_the_seed_is_typed_and_stepped(way: Way, website: Website) -> None:
    with opened(way, website.page(PAGE)) as explorer:
        first = explorer.rows("W_query")
        explorer.press("The next seed")
        assert explorer.rows("W_query") != first
        explorer.press("The seed before")
        assert explorer.rows("W_query") == first
        seed = explorer.root.get_by_role("textbox", name="Seed")
        seed.fill("0")
        seed.press("Enter")
        # What torch.rand(3, 2) gives after torch.manual_seed(0):
        drawn = [["0.4963", "0.7682"], ["0.0885", "0.1320"], ["0.3074", "0.6341"]]
        assert explorer.rows("W_query") == drawn
        for wrong in ("-1", "softmax", "4294967296", ""):
            seed.fill(wrong)
            seed.press("Enter")
            assert f"not “{wrong}”" in explorer.text("message")
            assert explorer.rows("W_query") == drawn
        assert seed.input_value() == "0"


def test_an_entry_is_typed_and_stepped(way: Way, website: Website) -> None:
    with opened(way, website.page(PAGE)) as explorer:
        before = explorer.rows("context_vecs")
        explorer.type("q11", "-1,5")
        assert explorer.rows("W_query")[0][0] == "-1.5000"
        assert explorer.rows("context_vecs") != before
        assert explorer.address() == "#try-1?q11=-1.5"
        for wrong in ("softmax", "1e5", "0.123456", "1000", "."):
            explorer.type("q11", wrong)
            if way.hand != "keyboard":  # Escape has led back to the number
                message = explorer.root.locator(".explorer-message", has_text=f"not “{wrong}”")
                message.wait_for()
            assert explorer.rows("W_query")[0][0] == "-1.5000"
        explorer.touch("inputs", 1, 1)
        if way.hand == "keyboard":
            explorer.page.keyboard.press("Enter")
            explorer.page.keyboard.press("ArrowUp")
        else:
            explorer.press("Embeddings, “Your”, column 1, more")
        assert explorer.rows("inputs")[0][0] == "0.5300"
        if way.hand == "keyboard":
            explorer.page.keyboard.press("ArrowDown")
        else:
            explorer.press("Embeddings, “Your”, column 1, less")
        assert explorer.rows("inputs")[0][0] == "0.4300"
        assert explorer.address() == "#try-1?q11=-1.5"  # the book's embedding is no change


def test_a_step_past_the_largest_number_is_refused(reader: Reader, website: Website) -> None:
    with opened(Way(reader, "keyboard"), website.page(PAGE)) as explorer:
        explorer.touch("inputs", 1, 1)
        explorer.page.keyboard.type("999")
        explorer.page.keyboard.press("ArrowUp")
        explorer.root.locator(".explorer-message", has_text="not “999.1”").wait_for()
        assert explorer.rows("inputs")[0][0] == "999.0000"


@pytest.mark.parametrize("browser", ["reader", "firefox_reader"])
def test_what_is_typed_is_taken_where_the_focus_moves_on(
    request: pytest.FixtureRequest, website: Website, browser: str
) -> None:
    way = Way(request.getfixturevalue(browser), "keyboard")
    with opened(way, website.page(PAGE)) as explorer:
        keys = explorer.page.keyboard
        explorer.touch("inputs", 1, 1)
        keys.press("5")
        keys.press("Tab")
        assert explorer.rows("inputs")[0][0] == "5.0000"
        explorer.touch("inputs", 1, 1)
        keys.press("6")
        explorer.cell("inputs", 1, 2).click()
        assert explorer.rows("inputs")[0][0] == "6.0000"
        explorer.touch("inputs", 1, 1)
        keys.press("2")
        explorer.root.get_by_role("button", name="Embeddings, “Your”, column 1, more").click()
        assert explorer.rows("inputs")[0][0] == "2.1000"
        explorer.touch("inputs", 1, 1)
        for key in ("Enter", "7", "Escape", "ArrowRight"):
            keys.press(key)
        assert explorer.rows("inputs")[0][:2] == ["2.1000", "0.1500"]
        explorer.touch("inputs", 1, 1)
        keys.press("-")
        explorer.cell("inputs", 1, 2).click()
        assert explorer.rows("inputs")[0][0] == "2.1000"
        explorer.page.wait_for_timeout(50)
        explorer.root.locator(".explorer-message", has_text="not “-”").wait_for()


def test_a_number_that_is_only_looked_at_stays_exact(reader: Reader, website: Website) -> None:
    with opened(Way(reader, "keyboard"), website.page(PAGE)) as explorer:
        explorer.touch("W_value", 1, 1)
        explorer.page.keyboard.press("Enter")
        explorer.page.keyboard.press("Enter")
        explorer.page.keyboard.press("Tab")
        assert explorer.address() == ""
        assert "0 solved" in explorer.text("count")
        assert not explorer.root.locator(".explorer-changed").count()


def test_an_entry_is_dragged(way: Way, website: Website) -> None:
    with opened(way, website.page(PAGE)) as explorer:
        explorer.touch("W_value", 1, 1)
        slider = explorer.root.get_by_role("slider")
        box = slider.bounding_box()
        assert box
        middle, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        if way.hand == "touch":
            explorer.page.touchscreen.tap(middle + box["width"] / 4, y)
        elif way.hand == "mouse":
            explorer.page.mouse.move(middle, y)
            explorer.page.mouse.down()
            explorer.page.mouse.move(middle + box["width"] / 4, y, steps=5)
            explorer.page.mouse.up()
        else:
            slider.focus()
            for _ in range(90):
                explorer.page.keyboard.press("ArrowRight")
        assert 0.8 < float(explorer.rows("W_value")[0][0]) < 1.2
        assert explorer.address().startswith("#try-1?v11=")


def test_divisor_mask_and_axis_are_picked(way: Way, website: Website) -> None:
    with opened(way, website.page(PAGE)) as explorer:
        scores = explorer.rows("attn_scores")
        explorer.pick("divisor", "1")
        assert explorer.rows("masked") == scores
        explorer.pick("divisor", "d_k")
        assert float(explorer.rows("masked")[1][1]) == pytest.approx(1.8524 / 2, abs=1e-4)
        explorer.pick("divisor", "sqrt")
        explorer.pick("mask", "causal")
        assert explorer.rows("masked")[0][1:] == ["-inf"] * 5
        assert explorer.rows("attn_weights")[0] == ["1.0000"] + ["0.0000"] * 5
        explorer.hide(2, 1)
        assert explorer.rows("attn_weights")[1] == ["0.0000", "1.0000"] + ["0.0000"] * 4
        explorer.hide(2, 1)
        explorer.pick("mask", "none")
        explorer.pick("axis", "column")
        columns = zip(*explorer.rows("attn_weights"), strict=True)
        assert all(sum(map(float, column)) == pytest.approx(1, abs=1e-3) for column in columns)
        explorer.pick("drawn", "linear")
        assert float(explorer.rows("W_query")[0][0]) == pytest.approx(-0.2354, abs=1e-4)
        assert explorer.address() == "#try-1?axis=column&drawn=linear"


# What it teaches -------------------------------------------------------------------------


def typed(*entries: str, value: str = "0") -> Callable[[Explorer], None]:
    def walk(explorer: Explorer) -> None:
        for entry in entries:
            explorer.type(entry, value)

    return walk


def hidden(row: int, *columns: int) -> Callable[[Explorer], None]:
    def walk(explorer: Explorer) -> None:
        for column in columns:
            explorer.hide(row, column)

    return walk


def picked(*choices: tuple[str, str]) -> Callable[[Explorer], None]:
    def walk(explorer: Explorer) -> None:
        for name, value in choices:
            explorer.pick(name, value)

    return walk


W_QUERY = [f"q{row}{column}" for row in (1, 2, 3) for column in (1, 2)]
# What answers each task, and what comes close and doesn't.
WALKS = {
    "values": (typed("v22"), typed("k22")),
    "sixths": (typed(*W_QUERY), typed(*W_QUERY[:-1])),
    "divisor": (picked(("divisor", "1")), picked(("divisor", "d_k"))),
    "alone": (hidden(1, 2, 3, 4, 5, 6), hidden(1, 2, 3, 4, 5)),
    "last": (
        picked(("mask", "causal"), ("word", "6")),
        picked(("mask", "causal"), ("word", "5")),
    ),
    "columns": (picked(("axis", "column")), picked(("mask", "causal"))),
    "longer": (typed("x21", "x22", "x23", value="2"), typed("x22", value="1")),
    "another": (typed("x32", value="2"), typed("x22", value="2")),
    "zero": (typed("x61", "x62", "x63"), typed("x61", "x62")),
    "negative": (typed("x22", value="-2"), typed("v22", value="-2")),
    "nothing": (hidden(3, 1, 2, 3, 4, 5, 6), hidden(3, 1, 2, 3, 4, 5)),
}


def test_every_task_is_walked(reader: Reader, website: Website) -> None:
    with opened(Way(reader), website.page(PAGE)) as explorer:
        names = explorer.page.evaluate("selfattn.tasks.map((task) => task.name)")
    assert names == list(WALKS)
    assert len(names) >= 8


@pytest.mark.parametrize("way", [WAYS[0], WAYS[1], WAYS[-1]], indirect=True)
@pytest.mark.parametrize("task", WALKS)
def test_a_task_accepts_its_answer_and_no_other(way: Way, website: Website, task: str) -> None:
    answer, wrong = WALKS[task]
    place = list(WALKS).index(task)
    with opened(way, website.page(PAGE)) as explorer:
        for _ in range(place):
            explorer.press("Next task")
        assert explorer.text("count") == f"Task {place + 1} of {len(WALKS)} · 0 solved"
        wrong(explorer)
        assert not explorer.text("learned")
        assert "0 solved" in explorer.text("count")
        explorer.press("Reset")
        answer(explorer)
        learned = explorer.text("learned")
        assert learned.startswith("✓ ")
        assert "undefined" not in learned
        assert "1 solved" in explorer.text("count")
        explorer.press("Reset")
        assert explorer.text("learned") == learned  # a lesson stays


ONLY = {
    "values": typed("v22"),
    "divisor": picked(("divisor", "1")),
    "longer": typed("x21", "x22", "x23", value="2"),
    "zero": typed("x61", "x62", "x63"),
}


@pytest.mark.parametrize("task", ONLY)
def test_a_task_says_when_more_was_changed_than_it_asks(
    reader: Reader, website: Website, task: str
) -> None:
    with opened(Way(reader), website.page(PAGE)) as explorer:
        for _ in range(list(WALKS).index(task)):
            explorer.press("Next task")
        explorer.press("The next seed")
        ONLY[task](explorer)
        assert explorer.text("message").startswith("Nearly")
        assert not explorer.text("learned")


@pytest.mark.parametrize("way", [WAYS[0], WAYS[1], WAYS[-1]], indirect=True)
def test_each_task_begins_with_the_books_numbers(way: Way, website: Website) -> None:
    """What answered one task must not stand in the way of another."""
    with opened(way, website.page(PAGE)) as explorer:
        for answer, _ in WALKS.values():
            answer(explorer)
            explorer.press("Next task")
            assert explorer.rows("attn_weights")[1][1] == "0.2264"
        assert explorer.address() == ""
        assert f"{len(WALKS)} solved" in explorer.text("count")


@pytest.mark.parametrize("way", [WAYS[0], WAYS[1], WAYS[-1]], indirect=True)
def test_a_solved_task_leads_on_from_where_the_reader_is(way: Way, website: Website) -> None:
    with opened(way, website.page(PAGE)) as explorer:
        explorer.press("Previous task")
        hidden(3, 1, 2, 3, 4, 5, 6)(explorer)
        explorer.press("Go on to task 1")
        ask = explorer.root.locator(".explorer-ask")
        assert ask.evaluate("(it) => it === document.activeElement")
        assert explorer.visit.look("seen", ask)
        assert explorer.text("count") == f"Task 1 of {len(WALKS)} · 1 solved"
        onward = explorer.root.get_by_role("button", name="Go on to task")
        assert not onward.is_visible()
        explorer.press("Previous task")
        explorer.press("Previous task")
        WALKS["negative"][0](explorer)
        assert onward.inner_text() == "Go on to task 1"  # 11 is solved


def test_equal_shares_are_announced_as_equal(reader: Reader, website: Website) -> None:
    with opened(Way(reader), website.page(PAGE)) as explorer:
        typed(*W_QUERY)(explorer)
        explorer.page.get_by_text("“journey” gives the same to all, 17%.").wait_for(
            state="attached"
        )


def test_what_can_be_changed_is_named(reader: Reader, website: Website) -> None:
    with opened(Way(reader), website.page(PAGE)) as explorer:
        assert "The embeddings and the matrices can be changed." in explorer.text("trace")
    with reader.visit(website.page("self-attention/step-by-step")) as visit:
        fourth = Explorer(visit, "mouse", 4).unfold()
        assert "how it was made. The matrices can be changed." in fourth.text("trace")


def test_a_minus_moves_no_table(reader: Reader, website: Website) -> None:
    with opened(Way(reader), website.page(PAGE)) as explorer:
        places = """(root) => [...root.querySelectorAll("table")].map((table) => {
          const {x, y, width} = table.getBoundingClientRect();
          return [x, y + scrollY, width].map(Math.round);
        })"""
        before = explorer.root.evaluate(places)
        for name, value in (("x21", "-1"), ("x22", "-1"), ("x61", "0")):
            explorer.type(name, value)
        explorer.hide(1, 1)
        assert "-0.6672" in explorer.rows("attn_scores")[1]
        assert explorer.root.evaluate(places) == before


def test_the_hint_of_a_task_is_that_of_the_task(reader: Reader, website: Website) -> None:
    hints = set()
    with opened(Way(reader), website.page(PAGE)) as explorer:
        for _ in WALKS:
            explorer.root.locator(".explorer-task summary").click()
            hints.add(explorer.root.locator(".explorer-task details p").inner_text())
            explorer.press("Next task")
        assert len(hints) == len(WALKS)
        assert explorer.text("count").startswith("Task 1 of")


# Its address -----------------------------------------------------------------------------

STATE = "#try-1?seed=7&word=4&divisor=1&mask=12.36&axis=column&x11=-0.25&q32=2"


def test_a_link_leads_to_what_was_seen(reader: Reader, website: Website) -> None:
    address = website.page(PAGE)
    with opened(Way(reader), f"{address}{STATE}") as explorer:
        seen = explorer.root.locator(".explorer-steps").inner_text()
        assert explorer.rows("inputs")[0][0] == "-0.2500"
        assert explorer.rows("masked")[2][5] == "-inf"
        assert explorer.text("strip").startswith("with:")
        explorer.press("Copy link")
        assert explorer.text("message").startswith("Link copied")
        copied = explorer.page.evaluate("navigator.clipboard.readText()")
        assert copied == f"{address}{STATE}"
        explorer.press("Reset")
        assert explorer.rows("inputs")[0][0] == "0.4300"
        assert explorer.address() == ""
        explorer.page.evaluate("(hash) => { location.hash = hash; }", STATE)
        explorer.page.wait_for_timeout(100)
        assert explorer.root.locator(".explorer-steps").inner_text() == seen


def test_a_link_to_an_unchanged_fold_leads_to_it(reader: Reader, website: Website) -> None:
    address = website.page("self-attention/step-by-step")
    with reader.visit(address) as visit:
        explorer = Explorer(visit, "mouse", 2).unfold()
        explorer.press("Copy link")
        copied = visit.page.evaluate("navigator.clipboard.readText()")
        assert copied == f"{address}#try-2"
    with reader.visit(copied) as visit:
        explorer = Explorer(visit, "mouse", 2)
        explorer.root.locator(".explorer").wait_for()
        assert 0 <= explorer.root.bounding_box()["y"] < 200  # type: ignore[index]


def test_a_fault_goes_with_its_link(reader: Reader, website: Website) -> None:
    address = website.page(PAGE)
    with opened(Way(reader), f"{address}#try-1?seed=5") as explorer:
        seen = explorer.rows("W_query")
        explorer.page.evaluate("location.hash = 'try-1?bogus=1'")
        explorer.page.wait_for_timeout(100)
        assert explorer.text("message").startswith("This link can’t be read")
        assert explorer.rows("W_query") != seen
        explorer.page.go_back()
        explorer.page.wait_for_timeout(100)
        assert not explorer.text("message")
        assert explorer.rows("W_query") == seen


@pytest.mark.parametrize("hash_", ["#try-3?word=5", "#try-3%3Fword%3D5"])
def test_a_link_opens_the_fold_that_it_means(reader: Reader, website: Website, hash_: str) -> None:
    address = website.page("self-attention/step-by-step")
    with reader.visit(f"{address}{hash_}") as visit:
        folds = visit.page.locator("attention-explorer > details")
        assert folds.evaluate_all("(all) => all.map((fold) => fold.open)") == [
            *(False, False, True, False),
        ]
        third, fourth = Explorer(visit, "mouse", 3), Explorer(visit, "mouse", 4).unfold()
        third.pick("divisor", "1")
        assert third.rows("attn_weights") == fourth.rows("attn_weights")  # they show one state


HOSTILE = [
    "seed=-1",
    "x11=<img src=x onerror=alert(1)>",
    "__proto__=1",
    "%E0%A4%A",
    "=" * 50_000,
    "seed=7&" * 5_000 + "seed=x",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_broken_link_says_so_and_falls_back(reader: Reader, website: Website, text: str) -> None:
    with opened(Way(reader), f"{website.page(PAGE)}#try-1?{text}") as explorer:
        assert explorer.text("message").startswith("This link can’t be read: ")
        assert len(explorer.text("message")) < 250
        assert explorer.rows("attn_scores")[1][1] == "1.8524"
        assert not explorer.root.locator("img").count()
        explorer.press("The next seed")
        assert explorer.address() == "#try-1?seed=124"


def test_links_to_other_places_are_left_alone(reader: Reader, website: Website) -> None:
    with opened(Way(reader), f"{website.page(PAGE)}#are-these-numbers-true") as explorer:
        assert not explorer.text("message")
        assert explorer.address() == "#are-these-numbers-true"


# Where it is used ------------------------------------------------------------------------


def test_it_works_from_a_folder(way: Way, site: Path) -> None:
    with opened(way, (site / f"{PAGE}.html").as_uri()) as explorer:
        explorer.type("v11", "1")
        assert explorer.text("learned").startswith("✓ In one column, the values")
        assert explorer.address() == "#try-1?v11=1"
        explorer.page.reload()
        assert explorer.rows("W_value")[0][0] == "1.0000"


STATES = ["", "#try-1?seed=-1", STATE, "#try-1?mask=11.12.13.14.15.16", "#try-1?x11=-999&q11=999"]


@pytest.mark.parametrize("state", STATES, ids=range(len(STATES)))
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_no_state_has_a_fault(
    reader: Reader, website: Website, judge: Judge, width: int, theme: str, state: str
) -> None:
    hand: Hand = "touch" if width < 1000 else "mouse"
    with opened(Way(reader, hand, width), f"{website.page(PAGE)}{state}", theme) as explorer:
        explorer.page.evaluate("scrollTo(0, 0)")
        faults = explorer.visit.axe(colours=True)
        explorer.touch("masked", 2, 3)
        explorer.scroll_past()
        faults += explorer.visit.axe(colours=True, scrolled=True)
        explorer.root.locator(".explorer-task summary").click()
        explorer.touch("W_key", 2, 2)
        explorer.scroll_past()
        faults += explorer.visit.axe(colours=True, scrolled=True)
        faults += [fault for name in READABLE for fault in explorer.visit.probe(name)]
        judge(explorer.visit, faults)


@pytest.mark.parametrize("chapter", ["step-by-step", "compact-class", "causal", "multi-head"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_no_fold_has_a_fault(
    reader: Reader, website: Website, judge: Judge, width: int, theme: str, chapter: str
) -> None:
    hand: Hand = "touch" if width < 1000 else "mouse"
    with reader.visit(website.page(f"self-attention/{chapter}"), width, theme) as visit:
        for number in range(1, visit.page.locator("attention-explorer").count() + 1):
            Explorer(visit, hand, number).unfold()
        visit.page.evaluate("scrollTo(0, 0)")
        faults = visit.axe(colours=True)
        visit.page.keyboard.press("Shift")  # from now on, the focus shows
        faults += [fault for probe in (*READABLE, "focus") for fault in visit.probe(probe)]
        judge(visit, faults + visit.heard)


def test_a_finger_meets_what_it_aims_at(reader: Reader, website: Website) -> None:
    with opened(Way(reader, "touch", 390), website.page(PAGE)) as explorer:
        explorer.touch("W_query", 1, 1)
        small = explorer.root.locator(
            "td[tabindex], button:visible, label, input:visible:not(label *), summary"
        ).evaluate_all(
            """(all) => all.map((it) => [it.outerHTML.slice(0, 60), it.getBoundingClientRect()])
              .filter(([, box]) => box.height < 43.5 || box.width < 43.5).map(([name]) => name)"""
        )
        assert not small


@pytest.mark.parametrize("table", ["inputs", "attn_weights"])
@pytest.mark.parametrize(("width", "height"), [(320, 700), (320, 256), (390, 844), (1440, 900)])
def test_the_focus_is_never_covered(
    reader: Reader, website: Website, width: int, height: int, table: str
) -> None:
    with opened(Way(reader, "keyboard", width), website.page(PAGE)) as explorer:
        explorer.page.set_viewport_size({"width": width, "height": height})
        for row in range(1, 7):
            cell = explorer.touch(table, row, 3)
            explorer.page.wait_for_timeout(150)
            assert cell.evaluate(
                """(it) => { const {left, top, height} = it.getBoundingClientRect();
                return [0.1, 0.5, 0.9].every((part) =>
                  it.contains(document.elementFromPoint(left + 5, top + part * height))); }"""
            ), row


def test_each_number_has_a_name_and_says_how_it_was_made(reader: Reader, website: Website) -> None:
    with opened(Way(reader, "keyboard"), website.page(PAGE)) as explorer:
        cell = explorer.touch("attn_scores", 2, 2)
        described = cell.get_attribute("aria-describedby")
        text = explorer.page.locator(f"#{described}").text_content()
        assert text
        assert "0.4306·0.4433" in text
        grids = explorer.root.get_by_role("grid")
        names = grids.evaluate_all("(all) => all.map((grid) => grid.ariaLabel)")
        assert len(set(names)) == len(names) == 11
        assert explorer.root.get_by_role("rowheader", name="journey").count() == 8
        assert explorer.root.get_by_role("radio", name="journey").is_checked()


def test_what_may_differ_elsewhere_says_so(reader: Reader, website: Website) -> None:
    uncertain = """() => { const {compute, isCertain, USUAL} = selfattn;
      const {inputs} = JSON.parse(document.querySelector("attention-explorer").dataset.given);
      for (let seed = 0; seed < 3000; seed++) {
        const now = compute({...USUAL, seed: String(seed)}, inputs);
        for (let i = 0; i < 6; i++) for (let j = 0; j < 6; j++)
          if (!isCertain("attn_scores", i, j, now)) return [seed, i, j];
      } }"""
    with opened(Way(reader), website.page(PAGE)) as explorer:
        assert not explorer.root.get_by_text("not verified").count()
        seed, row, column = explorer.page.evaluate(uncertain)
        explorer.page.evaluate("(hash) => { location.hash = hash; }", f"try-1?seed={seed}")
        cell = explorer.touch("attn_scores", row + 1, column + 1)
        assert cell.inner_text().startswith("≈")
        assert (cell.text_content() or "").endswith(", not verified")
        assert explorer.text("trace").endswith("(≈ not verified)")
        caption = explorer.root.locator("table[data-step=attn_scores] caption")
        assert "≈ not verified" in caption.inner_text()


def test_the_bar_marks_what_may_differ_elsewhere(reader: Reader, website: Website) -> None:
    state = "word=3&divisor=d_k&drawn=linear&x11=999&x61=999&v12=0.4"
    with opened(Way(reader), f"{website.page(PAGE)}#try-1?{state}") as explorer:
        assert "≈−489.8443" in explorer.text("strip")
    state = "divisor=1&drawn=linear&head=2&x33=-999"
    with opened(Way(reader), f"{website.page(PAGE)}#try-1?{state}") as explorer:
        explorer.touch("attn_weights", 1, 3)
        assert "exp(≈386.6510)" in explorer.text("trace")
        assert explorer.text("trace").endswith("(≈ not verified)")


def test_other_colours_and_less_motion(reader: Reader, website: Website) -> None:
    style = "(it, name) => getComputedStyle(it)[name]"
    with opened(Way(reader), website.page(PAGE)) as explorer:
        explorer.page.emulate_media(forced_colors="active", reduced_motion="reduce")
        cell = explorer.touch("attn_scores", 2, 2)
        assert cell.evaluate(style, "outlineStyle") == "solid"
        assert explorer.cell("keys", 2, 1).evaluate(style, "outlineStyle") == "dashed"
        checked = explorer.root.locator(".explorer-choice label:has(:checked)").first
        assert checked.evaluate(style, "outlineStyle") == "solid"
        bar = explorer.root.locator(".explorer-share > :first-child").first
        assert bar.evaluate(style, "transitionDuration") == "0s"
        explorer.page.emulate_media(forced_colors="none", reduced_motion="no-preference")


def test_it_is_small_and_only_where_it_is_used(site: Path) -> None:
    pages = {path: path.read_text("utf-8") for path in site.rglob("*.html")}
    used = {path for path, text in pages.items() if "<attention-explorer" in text}
    files = {path: set(LOADED.findall(text)) for path, text in pages.items()}
    assert len(used) == 5
    for path in used:
        texts = [(site / "_static" / file).read_bytes() for file in files[path]]
        size = sum(len(gzip.compress(text)) for text in texts)
        assert 5_000 < size <= MOST, f"{path.name} has {size} bytes of {sorted(files[path])}"
    others = [files[path] for path in pages.keys() - used]
    assert not [each for each in others if each - {"arithmetic.js"}]  # other pages compute, too
