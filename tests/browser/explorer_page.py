"""An explorer of a page: each method changes or reads one thing, by mouse, touch or keyboard."""

from dataclasses import dataclass
from typing import Self

from playwright.sync_api import Locator, Page
from reader import Device, Visit, use

LETTERS = {"x": "inputs", "q": "W_query", "k": "W_key", "v": "W_value"}
Rows = list[list[str]]


@dataclass
class Explorer:
    """One explorer of a page, and the input device that is used."""

    visit: Visit
    device: Device
    number: int = 1

    @property
    def page(self) -> Page:
        return self.visit.page

    @property
    def root(self) -> Locator:
        return self.page.locator(f"#try-{self.number}")

    def unfold(self) -> Self:
        summary = self.root.locator("> details > summary")
        if summary.count():
            use(summary, self.device)
        self.root.locator(".explorer").wait_for()
        return self

    def cell(self, step: str, row: int, column: int) -> Locator:
        """Return a cell, counted from 1."""
        table = self.root.locator(f"table[data-step={step}]")
        return table.locator("tbody tr").nth(row - 1).locator("td").nth(column - 1)

    def touch(self, step: str, row: int, column: int) -> Locator:
        """Touch a number: by keyboard the arrows lead to it from the table's first number."""
        cell = self.cell(step, row, column)
        if not cell.is_visible():
            use(self.root.get_by_text("The steps between"), self.device)
        self.close()
        if self.device == "touch":
            cell.tap()
        elif self.device == "mouse":
            cell.click()
        else:
            self.root.locator(f"table[data-step={step}] td[tabindex='0']").focus()
            for key, times in (("Home", 1), ("ArrowUp", 6), ("ArrowDown", row - 1)):
                for _ in range(times):
                    self.page.keyboard.press(key)
            for _ in range(column - 1):
                self.page.keyboard.press("ArrowRight")
        return cell

    def close(self) -> None:
        """Close the note of a number, which may stand above what comes next."""
        for _ in range(2):  # from its field to the number, and away from it
            self.page.keyboard.press("Escape")

    def type(self, name: str, value: str) -> None:
        self.touch(LETTERS[name[0]], int(name[1]), int(name[2]))
        if self.device == "keyboard":
            self.page.keyboard.press("Enter")
            self.page.keyboard.type(value)
            self.page.keyboard.press("Enter")
            self.page.keyboard.press("Escape")
            return
        field = self.root.locator(".explorer-editor input[type=text]")
        field.fill(value)
        field.press("Enter")

    def hide(self, row: int, column: int) -> None:
        self.touch("attn_weights", row, column)
        if self.device == "keyboard":
            self.page.keyboard.press("Enter")
        else:
            use(self.root.locator(".explorer-note > button"), self.device)

    def pick(self, name: str, value: str) -> None:
        field = self.root.locator(f"input[name$='-{name}'][value='{value}']")
        if self.device == "keyboard":
            options = self.root.locator(f"input[name$='-{name}']")
            self.root.locator(f"input[name$='-{name}']:checked").focus()
            for _ in range(options.count()):
                if field.is_checked():
                    return
                self.page.keyboard.press("ArrowRight")
        else:
            use(field, self.device)

    def press(self, name: str) -> None:
        self.close()
        use(self.root.get_by_role("button", name=name, exact=True), self.device)

    def rows(self, step: str) -> Rows:
        lines = self.root.locator(f"table[data-step={step}] tbody tr").evaluate_all(
            "(lines) => lines.map((line) => [...line.querySelectorAll('td[tabindex]')]"
            ".map((cell) => cell.textContent))"
        )
        return [[number.replace("−", "-") for number in line] for line in lines if line]

    def lit(self) -> list[str]:
        """Return the places that are lit, such as `keys 1 0`, counted from 0."""
        return sorted(
            self.root.locator(".explorer-lit").evaluate_all(
                "(cells) => cells.map((cell) => `${cell.step} ${cell.i} ${cell.j}`)"
            )
        )

    def shares(self) -> list[str]:
        """Return what each word gets from the one that asks."""
        return self.root.locator(".explorer-sentence label > :last-child").all_inner_texts()

    def text(self, part: str) -> str:
        return " ".join(self.root.locator(f".explorer-{part}").inner_text().split())
