"""The skills panel as a person sees it. Every selector of its tests stands here."""

from playwright.sync_api import Locator, Page, expect

RUN_MS = 90_000


class SkillsPanel:
    """The panel in one page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.node = page.locator("[data-onyx=skills-panel]")
        self.run = self.node.locator("[data-onyx=skill-run-view]")

    def hook(self, name: str) -> Locator:
        return self.node.locator(f"[data-onyx={name}]")

    def skill(self, name: str) -> Locator:
        return self.node.locator(f"[data-onyx=skill][data-skill={name}]")

    def field(self, name: str) -> Locator:
        return self.node.locator(f"[data-field={name}]")

    def fill(self, name: str, text: str) -> None:
        self.field(name).locator("input, textarea").fill(text)

    def show(self) -> None:
        """By its tab where it is open, else by the menu."""
        tab = self.page.locator(".lm-TabBar-tab[data-id=onyx-skills]")
        if tab.count():
            tab.click()
        else:
            choose(self.page, "View", "onyx:skills")
        expect(self.node).to_be_visible()

    def wait_for(self, status: str) -> None:
        expect(self.run).to_have_attribute("data-status", status, timeout=RUN_MS)


def choose(page: Page, menu: str, command: str) -> None:
    page.locator(".lm-MenuBar-item", has_text=menu).first.click()
    page.locator(f'.lm-Menu-item[data-command="{command}"]').click()
