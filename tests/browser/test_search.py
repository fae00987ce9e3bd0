"""The search finds the place that answers first, with a server and without one."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from built_site import Website

if TYPE_CHECKING:
    from pathlib import Path

    from reader import Reader, Visit

WW, STEP, CLASS = (
    f"{name}.html"
    for name in (
        "companions/without-weights",
        "self-attention/step-by-step",
        "self-attention/compact-class",
    )
)
NOTATION, GLOSSARY = "reference/notation.html", "reference/glossary.html"
FIRST = {
    # Words that a section explains
    "W_query": f"{STEP}#step-1-queries-keys-and-values",
    "w_query": f"{STEP}#step-1-queries-keys-and-values",
    "scaled dot product": f"{STEP}#step-3-attention-weights",
    "Scaled dot-product attention": f"{STEP}#step-3-attention-weights",
    "scaled_dot_product_attention": "companions/one-call.html#section-3-4-in-one-call",
    "attention scores": f"{STEP}#step-2-attention-scores",
    "nn.Linear": f"{CLASS}#a-better-start-linear-layers",
    "variance": "companions/why-scale.html#the-derivation",
    "entropy": "companions/why-scale.html#the-entropy-of-the-weights",
    "gradient": "companions/why-scale.html#the-slope-of-softmax",
    "softmax": f"{WW}#step-2-turn-scores-into-shares",
    "dot product": f"{WW}#step-1-compare",
    "context vector": f"{WW}#the-words-as-numbers",
    "token": f"{WW}#the-words-as-numbers",
    "causal mask": "self-attention/causal.html#the-usual-way-mask-the-scores",
    "-inf": "self-attention/causal.html#the-usual-way-mask-the-scores",
    "heads": "self-attention/multi-head.html#a-stack-of-heads",
    "KV cache": "companions/kv-cache.html#token-by-token",
    "rotary": "companions/positions.html#turn-queries-and-keys",
    "padding": "companions/padding.html#a-zero-isn-t-nothing",
    "nan": "companions/padding.html#padding-everything",
    "leak": "companions/training.html#training-leak",
    "loss": "companions/training.html#the-loss-how-wrong-is-it",
    "batch": f"{CLASS}#batches-of-sentences",
    "vocabulary": "companions/thirteen-words.html#from-words-to-ids",
    "residual connection": "companions/transformer-block.html#its-parts",
    "cosine": f"{GLOSSARY}#term-cosine",
    # Titles, numbered blocks and names of the package
    "figure 3.16": f"{STEP}#fig-3-16",
    "listing 3.1": f"{CLASS}#listing-3-1",
    "3.4.2": f"{CLASS}#a-compact-self-attention-class",
    "exercise 3.1": "self-attention/exercise-3-1.html#exercise-3-1-same-weights-same-outputs",
    "multi-head attention": "self-attention/multi-head.html#multi-head-attention",
    "SelfAttention_v1": f"{CLASS}#the-class",
    "copy_weights": "reference/api.html#selfattn.modules.copy_weights",
    # Printed numbers lead to the output of their cell
    "0.3061": f"{STEP}#step-4-the-context-vector-output-1",
    "tensor([0.3061, 0.8210])": f"{STEP}#step-4-the-context-vector-output-1",
    "1.8524": f"{STEP}#step-2-attention-scores-output-1",
    "0.2264": f"{STEP}#step-3-attention-weights-output-1",
    "0.1921": "self-attention/causal.html#the-weights-that-must-go-output-1",
    "0.1921 0.1646": "self-attention/causal.html#the-weights-that-must-go-output-1",
    "1.3208": "self-attention/multi-head-class.html#all-scores-in-one-product-output-1",
    "2,360,064": "self-attention/multi-head-class.html#as-large-as-gpt-2-output-1",
    "2360064": "self-attention/multi-head-class.html#exercises-output-1",
    "0.9544": f"{WW}#step-1-compare-output-1",
    # Symbols, as they are typed or copied
    "ω": f"{NOTATION}#symbol-omega",
    "Ω": f"{NOTATION}#symbol-Omega",
    "omega": f"{NOTATION}#symbol-omega",
    "α": f"{NOTATION}#symbol-alpha",
    "W_q": f"{NOTATION}#symbol-W-q",
    "Q": f"{NOTATION}#symbol-Q",
    "q": f"{NOTATION}#symbol-q",
    "d_in": f"{STEP}#the-input",
    "√d_k": "companions/why-scale.html#why-divide-by-dk",
    "√dₖ": "companions/why-scale.html#why-divide-by-dk",
    "α21": f"{NOTATION}#symbol-alpha",
    "α_21": f"{NOTATION}#symbol-alpha",
    "α_{21}": f"{NOTATION}#symbol-alpha",
    "α₂₁": f"{NOTATION}#symbol-alpha",
    r"\alpha_{21}": f"{NOTATION}#symbol-alpha",
    "QKᵀ": f"{CLASS}#what-its-lines-compute",
    "ω22": f"{STEP}#step-2-attention-scores",
    "ω₂₂": f"{STEP}#step-2-attention-scores",
    "√": "companions/why-scale.html#why-divide-by-dk",
    "sqrt": "companions/why-scale.html#why-divide-by-dk",
    "why divide by sqrt d_k": "companions/why-scale.html#why-divide-by-dk",
    "−∞": "self-attention/causal.html#the-usual-way-mask-the-scores",
    # Names that code has behind a dot, and numbers without their 0
    "register_buffer": "self-attention/causal-class.html#listing-3-3",
    "torch.nn.functional.scaled_dot_product_attention": f"{STEP}#step-3-attention-weights",
    "0,3061": f"{STEP}#step-4-the-context-vector-output-1",
    "0.30610427": f"{STEP}#step-4-the-context-vector-output-1",
    ".3061": f"{STEP}#step-4-the-context-vector-output-1",
    ".8210": f"{STEP}#step-4-the-context-vector-output-1",
    # One wrong letter, and other endings
    "sofmax": f"{WW}#step-2-turn-scores-into-shares",
    "quries": "self-attention/index.html#three-roles-for-one-word",
    "embeding": f"{WW}#the-words-as-numbers",
    "dropuot": "self-attention/causal-class.html#dropout-on-weights",
    "varience": "companions/why-scale.html#the-derivation",
    "masking": "self-attention/causal.html#the-usual-way-mask-the-scores",
    # Words that stand in one text together
    "softmax cosine": "companions/without-weights-all.html#sol-wa-length",
    "torch.manual_seed": f"{STEP}#step-1-queries-keys-and-values",
}
HOSTILE = [
    *("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&q=", "%", "\\"),
    *(".*(a+)+$", "[", "(?<=", "constructor __proto__ toString", "\N{ZERO WIDTH JOINER}"),
    *("a" * 10_000, "word " * 2_000),
]


def results(visit: Visit) -> list[str]:
    """Return where the results lead, the first one first."""
    visit.page.locator(".search-summary", has_text=re.compile("found", re.IGNORECASE)).wait_for()
    links = visit.page.locator("ul.search a").all()
    return [link.get_attribute("href") or "" for link in links]


def asked(website: Website, words: str) -> str:
    return f"{website.page('search')}?q={quote(words)}"


def test_there_are_sixty_questions() -> None:
    assert len(FIRST) >= 60


@pytest.mark.parametrize("words", FIRST)
def test_the_place_that_answers_comes_first(reader: Reader, website: Website, words: str) -> None:
    with reader.visit(asked(website, words)) as visit:
        found = results(visit)
        assert found[0] == FIRST[words]
        assert len(found) == len(set(found))
        assert visit.heard == []


def test_every_result_leads_to_a_place_that_is_there(
    reader: Reader, website: Website, site: Path
) -> None:
    with reader.visit(asked(website, "attention weights")) as visit:
        found = [link.partition("#") for link in results(visit)]
    assert len(found) > 20
    for page, _, anchor in found:
        assert f'id="{anchor}"' in (site / page).read_text("utf-8")


def test_without_a_server_the_same_is_found(reader: Reader, site: Path) -> None:
    with reader.visit(f"{(site / 'search.html').as_uri()}?q=0.3061") as visit:
        assert results(visit)[0] == FIRST["0.3061"]
        assert visit.heard == []


def test_a_number_leads_to_its_output(reader: Reader, website: Website) -> None:
    with reader.visit(asked(website, "0.3061")) as visit:
        first = visit.page.locator("ul.search li").first
        assert first.locator("code mark").inner_text() == "0.3061"
        first.locator("a").click()
        visit.page.wait_for_url("**/step-by-step.html#step-4-the-context-vector-output-1")
        visit.page.wait_for_function("scrollY > 500")


def test_a_page_with_all_words_comes_before_one_with_some(
    reader: Reader, website: Website, site: Path
) -> None:
    words = ("rotary", "dropout", "vocabulary")
    with reader.visit(asked(website, " ".join(words))) as visit:
        found = results(visit)
    texts = [(site / link.partition("#")[0]).read_text("utf-8").lower() for link in found]
    have_all = [all(word in text for word in words) for text in texts]
    assert have_all == sorted(have_all, reverse=True)
    assert {True, False} == set(have_all)


def test_one_word_is_not_another_with_the_same_beginning(reader: Reader, website: Website) -> None:
    with reader.visit(asked(website, "positive")) as visit:
        positive = set(results(visit))
    with reader.visit(asked(website, "positional")) as visit:
        positional = set(results(visit))
    assert len(positive) > 10
    assert len(positional) < 5


@pytest.mark.parametrize("words", ["%", "(((((", "[", "\\", "?!"])
def test_what_has_no_word_finds_nothing(reader: Reader, website: Website, words: str) -> None:
    with reader.visit(asked(website, words)) as visit:
        results(visit)
        assert visit.page.locator(".search-summary").inner_text().startswith("Nothing found")


@pytest.mark.parametrize("words", ["mathbf", "operatorname", "onerror"])
def test_what_readers_do_not_see_is_not_found(reader: Reader, website: Website, words: str) -> None:
    with reader.visit(asked(website, words)) as visit:
        results(visit)
        assert visit.page.locator(".search-summary").inner_text().startswith("Nothing found")


def test_a_corrected_word_is_named(reader: Reader, website: Website) -> None:
    with reader.visit(asked(website, "atention")) as visit:
        results(visit)
        assert "“attention”" in visit.page.locator(".search-summary").inner_text()


def test_nothing_found_offers_the_glossary_and_the_notation(
    reader: Reader, website: Website
) -> None:
    with reader.visit(asked(website, "zebra")) as visit:
        found = results(visit)
        message = visit.page.get_by_role("status").filter(has_text="Nothing found")
        assert "glossary" in message.inner_text()
        assert found[-2:] == [GLOSSARY, NOTATION]
        assert len(found) == 8
        assert all(link.startswith((GLOSSARY, NOTATION)) for link in found)
        assert visit.heard == []
        assert visit.axe(colours=True) == []


@pytest.mark.parametrize("words", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_words_are_words(reader: Reader, website: Website, words: str) -> None:
    with reader.visit(asked(website, words)) as visit:
        results(visit)
        assert visit.page.locator("#search-results img, #search-results script").count() == 0
        assert visit.heard == []


def test_a_search_page_that_lost_its_places_is_noticed(
    reader: Reader, site: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(site, tmp_path / "site", ignore=shutil.ignore_patterns("_downloads"))
    page = copy / "search.html"
    lost = r'"explained":\[.*?\],"places"'
    text, count = re.subn(lost, '"explained":[],"places"', page.read_text("utf-8"))
    assert count == 1
    page.write_text(text, "utf-8")
    with Website(copy) as broken, reader.visit(f"{broken.page('search')}?q=W_q") as visit:
        assert results(visit)[0] != FIRST["W_q"]
