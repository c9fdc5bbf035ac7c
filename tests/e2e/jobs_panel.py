"""The jobs panel as a person sees it. Every selector of its tests stands here."""

from playwright.sync_api import Locator, Page, expect


class JobsPanel:
    """The panel in one page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.node = page.locator("[data-onyx=jobs-panel]")
        self.notices = page.locator(".Toastify__toast")

    def hook(self, name: str) -> Locator:
        return self.node.locator(f"[data-onyx={name}]")

    def job(self, name: str) -> Locator:
        return self.hook("job").filter(has_text=name)

    def schedule_every(self, message: str, count: int, unit: str) -> None:
        """Fills in the form of a new job, and sends it."""
        self.hook("job-new").click()
        self.hook("job-message").fill(message)
        self.hook("job-rhythm").select_option("every")
        self.hook("job-count").fill(str(count))
        self.hook("job-unit").select_option(unit)
        expect(self.hook("job-preview")).to_contain_text("Next: ")
        self.hook("job-save").click()
        expect(self.hook("job-form")).to_have_count(0)

    def wait_for_state(self, state: str) -> None:
        expect(self.hook("job-state")).to_have_attribute("data-state", state)
