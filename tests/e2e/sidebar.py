"""The sidebar and the notebook as a person sees them in the page. Every selector of these tests stands here."""

import re
from contextlib import suppress

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

SHORTCUT = "Control+Alt+o"
APPEAR_MS = 60_000


class Sidebar:
    """Onyx's sidebar in one page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.node = page.locator("[data-onyx=sidebar]")
        self.input = self.node.locator("[data-onyx=input]")
        self.messages = self.node.locator("[data-onyx=messages]")
        self.said = self.node.locator("[data-onyx=user-message]")
        self.runs = self.node.locator("[data-onyx=run]")
        self.answers = self.node.locator("[data-onyx=answer]")
        self.approvals = self.node.locator("[data-onyx=approval]")
        self.cards = self.node.locator("[data-onyx=tool-card]")
        self.problems = self.node.locator("[data-onyx=run-problem]")
        self.empty = self.node.locator("[data-onyx=empty]")
        self.models = self.node.locator("[data-onyx=model-picker]")
        self.offline = self.node.locator("[data-onyx=connection-banner]")
        self.config_banner = self.node.locator("[data-onyx=config-banner]")

    def show(self) -> None:
        """Opens the sidebar where it is closed; it may be open already."""
        self.page.locator(".jp-SideBar li[data-id=onyx-chat], #onyx-chat").first.wait_for(
            state="attached", timeout=APPEAR_MS
        )
        expect(self.page.locator("#jupyterlab-splash")).to_have_count(0, timeout=APPEAR_MS)
        self._wait_for_first_focus()
        for _ in range(10):
            # Idempotent. The first press may come before the page listens to keys.
            self.page.keyboard.press(SHORTCUT)
            try:
                self.input.wait_for(state="visible", timeout=2_000)
                return
            except PlaywrightTimeout:
                continue
        expect(self.input).to_be_visible()

    def _wait_for_first_focus(self) -> None:
        """JupyterLab opens the address's notebook after its layout is restored, and moves the focus into a cell.

        A key that is pressed before goes there, too.
        """
        if re.search(r"/tree/.*\.ipynb", self.page.url):
            with suppress(PlaywrightTimeout):  # the page is open for a while, and the focus where the person put it
                self.page.wait_for_function("document.activeElement?.closest('.jp-Notebook-cell')", timeout=5_000)

    def ask(self, text: str) -> None:
        """Sends it. The input is empty when it returns."""
        self.input.fill(text)
        for _ in range(5):
            # A page that was not shown by `show` may still move the focus to the notebook.
            self.input.press("Enter")
            with suppress(AssertionError):
                expect(self.input).to_have_value("", timeout=2_000)
                return
        expect(self.input).to_have_value("")

    def hook(self, name: str) -> Locator:
        """An element by the name that the front end gives it."""
        return self.node.locator(f"[data-onyx={name}]")

    def card(self, tool: str) -> Locator:
        return self.cards.and_(self.page.locator(f"[data-tool={tool}]"))

    def wait_for_end(self, outcome: str = "final") -> None:
        """Until the last run has ended in this way."""
        expect(self.runs.last).to_have_attribute("data-status", outcome)

    def transcript(self) -> list[str]:
        """What stands in the conversation, one line a thing, states included and times left out."""
        parts = self.messages.locator(
            "[data-onyx=user-message], [data-onyx=answer], [data-onyx=tool-card], [data-onyx=approval], "
            "[data-onyx=run-problem], [data-onyx=run]"
        )
        return [_line(part) for part in parts.all()]


class Notebook:
    """The notebook in front, in one page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self.cells = self.panel.locator(".jp-Notebook-cell")

    def wait(self, cells: int) -> None:
        expect(self.cells).to_have_count(cells, timeout=APPEAR_MS)

    def source(self, index: int) -> Locator:
        return self.cells.nth(index).locator(".cm-content")

    def output(self, index: int) -> Locator:
        return self.cells.nth(index).locator(".jp-OutputArea-output")

    def wait_for_kernel(self) -> None:
        """Without one, JupyterLab runs nothing and says nothing."""
        expect(self.page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=APPEAR_MS)

    def run(self, index: int) -> None:
        """As a person does, who waits for the kernel first."""
        self.wait_for_kernel()
        self.cells.nth(index).click(position={"x": 200, "y": 12})
        self.page.keyboard.press("Control+Enter")
        expect(self.cells.nth(index).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"))

    def save(self) -> None:
        """The disk has it when it returns."""
        self.panel.locator(".jp-Notebook").click(position={"x": 5, "y": 5})
        self.page.keyboard.press("Control+s")
        expect(self.page.locator(".jp-mod-dirty")).to_have_count(0)


def added_lines(diff: Locator) -> str:
    """The source that a diff would add; the signs beside it are no text."""
    return "\n".join(diff.locator(".onyx-mod-added").all_inner_texts())


def source_of(editor: Locator) -> str:
    return "\n".join(line.strip("\n") for line in editor.locator(".cm-line").all_inner_texts())


def overflowing(sidebar: Sidebar) -> list[str]:
    """What reaches beyond the sidebar's edge, and the conversation where it would have to be moved sideways."""
    found: list[str] = sidebar.node.evaluate(
        """root => {
            const list = root.querySelector('[data-onyx=messages]');
            const frame = new Set([root, list]);
            const edge = root.getBoundingClientRect().right + 1;
            const kept = element => {
                for (let one = element.parentElement; one && !frame.has(one); one = one.parentElement) {
                    if (getComputedStyle(one).overflowX !== 'visible') {
                        return true;
                    }
                }
                return false;
            };
            return [...root.querySelectorAll('*')]
                .filter(element => element.getBoundingClientRect().width > 0 && !element.closest('mjx-assistive-mml'))
                .filter(element => element.getBoundingClientRect().right > edge && !kept(element))
                .concat([...frame].filter(element => element && element.scrollWidth > element.clientWidth))
                .map(element => `${element.tagName}.${element.className} ${element.scrollWidth}`);
        }"""
    )
    return found


def _line(part: Locator) -> str:
    kind = part.get_attribute("data-onyx") or ""
    match kind:
        case "tool-card":
            return f"card {part.get_attribute('data-tool')} {part.get_attribute('data-status')}"
        case "approval":
            return f"approval {part.get_attribute('data-approval-id')}"
        case "run":
            return f"run {part.get_attribute('data-status')}"
        case _:
            words = re.sub(r"\s+", " ", part.inner_text()).strip()
            return f"{kind} {words}"
