"""A person's hands: each function uses one kind of control and returns what did not work."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from playwright.sync_api import Error

if TYPE_CHECKING:
    from playwright.sync_api import Locator
    from reader import Visit

Hand = Literal["mouse", "touch", "keyboard"]

DESK = 1000  # pixels; what is narrower is held in a hand
MENU = re.compile(r"menu|navigation|primary", re.IGNORECASE)
CONTENTS = re.compile(r"on this page|contents|secondary", re.IGNORECASE)
THEME = re.compile(r"theme|dark|light|colou?r", re.IGNORECASE)
# A mark's folds have a test of their own, and an explorer's isn't there where no script runs.
FOLDS = "article details:not(.drift-mark *, html:not([data-mode]) .explorer-fold)"
COPIERS = ".copybtn"
# What has a test of its own, so that the test of all controls passes by it.
OTHERS = f"{FOLDS}, {COPIERS}, .drift-mark"
# What a page holds to be copied: its code, not what was printed.
CODE = "article .highlight > pre"
NOT_CODE = ".cell_output, .output, .highlight-none, .highlight-ipythontb"
RUNNABLE = """(blocks, other) => blocks.map((pre) => {
  if (pre.closest(other) || !pre.checkVisibility()) return null;
  const copy = pre.cloneNode(true);
  copy.querySelectorAll(".linenos, button").forEach((part) => part.remove());
  const lines = copy.textContent.trimEnd().split("\\n");
  const prompt = /^(>>>|\\.\\.\\.|\\$|%)( |$)/;
  if (!lines.some((line) => /^(>>>|\\$) /.test(line))) return lines.join("\\n");
  const typed = lines.filter((line) => prompt.test(line));
  return typed.map((line) => line.replace(prompt, "")).join("\\n");
})"""


def use(control: Locator, hand: Hand, key: str = "Enter") -> None:
    """Press a control as a person does."""
    if hand == "touch":
        control.tap()
    elif hand == "mouse":
        control.click()
    else:
        control.focus()
        control.press(key)


def pointer(visit: Visit) -> Hand:
    """Return what points at a screen of that width."""
    return "touch" if visit.width < DESK else "mouse"


def button(visit: Visit, name: re.Pattern[str]) -> Locator | None:
    """Return the visible button of that name."""
    for role in ("button", "switch"):
        found = visit.page.get_by_role(role, name=name).locator("visible=true")  # type: ignore[arg-type]
        if found.count():
            return found.first
    return None


def rest(visit: Visit) -> None:
    """Take the hands off: nothing has the pointer or the focus, and what pops up is shut."""
    visit.page.mouse.move(0, 0)
    visit.page.keyboard.press("Escape")
    visit.page.evaluate("document.activeElement?.blur()")


def scene(visit: Visit, probe: str) -> str:
    """Return what is to be seen when scripts and styles have done what they do."""
    for _ in range(3):
        try:
            visit.page.wait_for_load_state("load")
            visit.settle()
            return str(visit.probe("scene", probe))
        except Error:  # the page was left in between
            continue
    return visit.page.url


def all_controls(visit: Visit, hand: Hand) -> list[str]:
    """Use each button, menu, toggle, field and slider: something must be different afterwards."""
    faults = []
    start = visit.page.url
    found = visit.probe("controls", OTHERS)
    for i, control in enumerate(found):
        target = visit.page.locator(f"[data-probe='{control['probe']}']")
        told = f"{control['place']} “{control['name']}”"
        if not control["name"]:
            faults.append(f"dead: {told} has no name")
        rest(visit)
        try:
            if hand == "keyboard":
                target.focus()
            elif hand == "mouse":
                target.hover()
            before = scene(visit, control["probe"])
            operate(target, control["type"], hand)
        except Error as error:
            faults.append(f"dead: {told} can't be used by {hand}: {str(error).splitlines()[0]}")
            continue
        if scene(visit, control["probe"]) == before:
            faults.append(f"dead: {told} does nothing by {hand}")
        if i + 1 < len(found):
            rest(visit)
            if visit.page.url != start or not visit.page.locator("[data-probe]").count():
                visit.go(start)
                visit.probe("controls", OTHERS)
    return faults


def operate(target: Locator, kind: str, hand: Hand) -> None:
    """Use a control of a kind so that it must change something."""
    if kind in {"search", "text"}:
        target.fill("softmax")
        target.press("Enter")
    elif kind in {"range", "number", "select-one"}:
        target.focus()
        value = target.input_value()
        target.press("ArrowRight")
        if target.input_value() == value:
            target.press("ArrowLeft")
    elif kind == "radio" and target.is_checked():
        target.press("ArrowRight")
    else:
        use(target, hand, "Space" if kind in {"checkbox", "radio"} else "Enter")


def copy_buttons(visit: Visit, hand: Hand) -> list[str]:
    """Use each copy button: the clipboard holds the code that stands there, and runs as it is."""
    faults = []
    blocks = visit.page.locator(CODE)
    for i, code in enumerate(blocks.evaluate_all(RUNNABLE, NOT_CODE)):
        if code is None:
            continue
        told = f"the button of “{code.strip().splitlines()[0][:40]}”"
        copier = blocks.nth(i).locator("..").locator(COPIERS)
        if copier.count() != 1:
            faults.append(f"copy: {told} is there {copier.count()} times")
            continue
        visit.page.evaluate("navigator.clipboard.writeText('nothing')")
        if hand == "mouse":
            blocks.nth(i).hover()
        use(copier, hand)
        if not visit.look("seen", copier):
            faults.append(f"copy: {told} can't be seen by {hand}")
        if (copied := _clipboard(visit)).rstrip("\n") != code:
            faults.append(f"copy: {told} copies {copied!r} by {hand}, not {code!r}")
    return faults


def in_the_text(visit: Visit, hand: Hand) -> list[str]:
    """Use what belongs to the text: copy buttons, folds and marks."""
    return copy_buttons(visit, hand) + folds(visit, hand) + marks(visit, hand)


def around_the_text(visit: Visit, hand: Hand) -> list[str]:
    """Use what helps to find one's way, on a page that was just opened."""
    start = visit.page.url
    faults = contents(visit, hand)
    for one in (all_controls, menu):
        visit.go(start)
        faults += one(visit, hand)
    return faults


def _clipboard(visit: Visit) -> str:
    for _ in range(20):
        text = str(visit.page.evaluate("navigator.clipboard.readText()"))
        if text != "nothing":
            break
        visit.page.wait_for_timeout(25)
    return text.replace("\r\n", "\n")


def folds(visit: Visit, hand: Hand) -> list[str]:
    """Open each fold and close it again: what it holds is seen, then not."""
    faults = []
    found = visit.page.locator(FOLDS)
    states = [found.nth(i).evaluate("(fold) => fold.open") for i in range(found.count())]
    for i in [*range(len(states)), *reversed(range(len(states)))]:
        fold = found.nth(i)
        summary = fold.locator("> summary")
        told = f"the fold “{' '.join(summary.inner_text().split())[:40]}”"
        before = fold.evaluate("(fold) => fold.open")
        use(summary, hand)
        visit.settle()
        inside = fold.locator("> :not(summary, .explorer-before)").first
        if fold.evaluate("(fold) => fold.open") is before:
            faults.append(f"fold: {told} does not {'close' if before else 'open'} by {hand}")
        elif inside.evaluate("(part) => part.checkVisibility()") is before:
            faults.append(f"fold: {told} {'still' if before else 'never'} shows its content")
    return faults


def marks(visit: Visit, hand: Hand) -> list[str]:
    """Ask the first mark of each kind, and the last: it tells when and with what."""
    found = visit.page.locator(".drift-mark:visible")
    count = found.count()
    kinds = {str(found.nth(i).get_attribute("class")): i for i in reversed(range(count))}
    faults = []
    for i in sorted({*kinds.values(), *range(count)[-1:]}):
        mark = found.nth(i)
        handle = mark.locator("summary, button, [tabindex='0']").first
        word = " ".join(handle.inner_text().split()) if handle.count() else ""
        if not re.match(r"\w{4,}", word):
            faults.append(f"mark: number {i} has no word, only “{word}”")
            continue
        rest(visit)
        if hand == "mouse":
            handle.hover()
        else:
            use(handle, hand)
        visit.settle()
        if not re.search(r"(torch|python) \d", mark.inner_text()):
            faults.append(f"mark: number {i}, “{word}”, tells nothing by {hand}")
        if hand != "mouse":
            use(handle, hand)
    return faults


def menu(visit: Visit, hand: Hand) -> list[str]:
    """Open the book's pages where they are not shown, close them by Escape, go to one of them."""
    links = visit.page.locator("nav:has(.toctree-l1) a.internal:not([href='#'])")
    count = links.count()
    if not count:
        return ["menu: there is no navigation"]
    shown = [i for i in range(count) if links.nth(i).is_visible()]
    if len(shown) > count // 2:
        return []  # it stands beside the page
    opener = button(visit, MENU)
    if opener is None:
        return ["menu: there is no button for it"]
    use(opener, hand)
    visit.settle()
    faults = [
        f"menu: its button does not show “{links.nth(i).inner_text()}” by {hand}"
        for i in (0, count - 1)
        if not links.nth(i).is_visible()
    ]
    if faults:
        return faults
    visit.page.keyboard.press("Escape")
    visit.settle()
    if links.first.is_visible():
        faults.append("menu: Escape does not close it")
    elif not opener.evaluate("(it) => it === document.activeElement"):
        faults.append("menu: the focus is lost when Escape closes it")
    if not links.first.is_visible():
        use(opener, hand)
    target = links.last.evaluate("(link) => link.href")
    use(links.last, hand)
    try:
        visit.page.wait_for_url(target)
    except Error:
        faults.append(f"menu: a link in it leads to {visit.page.url}, not to {target}")
    return faults


def contents(visit: Visit, hand: Hand) -> list[str]:
    """Use the page's contents: each heading is there, a link leads to it and marks it."""
    headings = visit.page.locator("article section[id]:has(> .heading > h2)")
    if headings.count() < 2:
        return []
    last = headings.last.get_attribute("id")
    link = visit.page.locator(f"nav a[href='#{last}']").last
    if not link.count():
        return [f"contents: #{last} is not in them"]
    if not link.is_visible():
        opener = button(visit, CONTENTS)
        if opener is None:
            return ["contents: there is no button for them"]
        use(opener, hand)
        visit.settle()
        if not link.is_visible():
            return [f"contents: their button does not show them by {hand}"]
    use(link, hand)
    visit.page.wait_for_timeout(100)
    visit.settle()
    faults = []
    heading = headings.last.locator("> .heading > h2")
    top = heading.evaluate("(it) => it.getBoundingClientRect().top")
    height = visit.page.evaluate("innerHeight")
    covered = heading.evaluate("""(it) => {
      const box = it.getBoundingClientRect();
      const there = document.elementFromPoint(box.left + 5, box.top + box.height / 2);
      return !(it === there || it.contains(there));
    }""")
    if not 0 <= top < height:
        faults.append(f"contents: the link to #{last} leaves it at {top:.0f} px")
    elif covered:
        faults.append(f"contents: #{last} lies under something when its link was used")
    marked = link.evaluate("""(it) => it.closest("[aria-current], .active") !== null""")
    if link.is_visible() and not marked:
        faults.append(f"contents: they do not show that #{last} is being read")
    return faults


def theme(visit: Visit, hand: Hand, *others: str) -> list[str]:
    """Switch the theme: it shows, and stays on the other pages, from their first paint on."""
    switch = button(visit, THEME)
    if switch is None:
        return ["theme: there is no button for it"]
    was = visit.probe("dark")
    use(switch, hand)
    visit.settle()
    if visit.probe("dark") is was:
        return [f"theme: its button does not change it by {hand}"]
    faults = []
    for other in others:
        visit.go(other)
        if visit.probe("dark") is was:
            faults.append(f"theme: {other} does not keep it")
        elif (first := visit.page.evaluate("globalThis.firstColour")) != _ground(visit):
            faults.append(f"theme: {other} flashes {first} before {_ground(visit)}")
    switch = button(visit, THEME)
    if switch is not None:
        use(switch, hand)
    visit.settle()
    if visit.probe("dark") is not was and not faults:
        faults.append("theme: its button does not change it back")
    return faults


def _ground(visit: Visit) -> str:
    return str(visit.page.evaluate("getComputedStyle(document.body).backgroundColor"))


def search(visit: Visit, word: str) -> list[str]:
    """Look a word up from a page: there are results, and they lead to where it stands."""
    field = visit.page.locator("input[type=search]:visible")
    if not field.count():
        opener = visit.page.get_by_role("button", name=re.compile("search", re.IGNORECASE)).or_(
            visit.page.get_by_role("link", name=re.compile("search", re.IGNORECASE))
        )
        if not opener.locator("visible=true").count():
            return ["search: there is no way to it"]
        opener.locator("visible=true").first.click()
        visit.page.wait_for_load_state("load")
    field.first.fill(word)
    field.first.press("Enter")
    results = visit.page.locator("#search-results a, .search a")
    try:
        results.first.wait_for()
        results.first.click()
    except Error:
        return [f"search: nothing is found for “{word}”"]
    visit.page.wait_for_load_state("load")
    text = visit.page.locator("article").inner_text()
    return [] if word.lower() in text.lower() else [f"search: {visit.page.url} lacks “{word}”"]


def skip_link(visit: Visit) -> list[str]:
    """Press Tab once and Enter: the reading begins at the text."""
    visit.page.keyboard.press("Tab")
    active = visit.page.locator("*:focus")
    if not active.count() or not (active.get_attribute("href") or "").startswith("#"):
        return ["skip: the first Tab does not reach a link to the text"]
    faults = []
    box = active.bounding_box()
    if not box or box["y"] < 0 or box["height"] < 8:
        faults.append("skip: the link to the text is not seen when it has the focus")
    visit.page.keyboard.press("Enter")
    visit.page.keyboard.press("Tab")
    if not visit.page.evaluate("document.activeElement?.closest('main, article') !== null"):
        faults.append("skip: after it, the next Tab is not in the text")
    return faults
