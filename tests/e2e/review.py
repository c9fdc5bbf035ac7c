"""Review as a person sees it in a notebook and below a turn. Every selector of its tests stands here."""

from playwright.sync_api import Locator, Page

from tests.e2e.sidebar import Sidebar


class Review:
    """Marks in the notebook in front, the bar above them, and what stands below a turn."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self.marks = self.panel.locator("[data-onyx=cell-mark]")
        self.bar = self.panel.locator("[data-onyx=review-bar]")
        self.peek = page.locator("[data-onyx=mark-peek]")
        self.turn = page.locator("[data-onyx=turn-changes]").last

    def of(self, kind: str) -> Locator:
        """The marks of that kind."""
        return self.panel.locator(f"[data-onyx=cell-mark][data-kind={kind}]")

    def on(self, mark: Locator, what: str) -> Locator:
        """A part of a mark: `keep`, `revert`, `diff`, `diff-toggle`."""
        return mark.locator(f"[data-onyx=mark-{what}]")

    def all(self, what: str) -> Locator:
        """A part of the bar by its hook."""
        return self.bar.locator(f"[data-onyx={what}]")

    def below(self, what: str) -> Locator:
        """A part of what stands below the last turn: `review`, `undo`, `put-back`, `told`."""
        return self.turn.locator(f"[data-onyx=turn-{what}]")


def allow(sidebar: Sidebar, calls: int) -> None:
    """Says yes to each call of a turn, and waits for its end."""
    for number in range(calls):
        sidebar.page.wait_for_function(
            "count => document.querySelectorAll('[data-onyx=tool-card][data-status=ok]').length >= count",
            arg=number,
        )
        sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
