"""The memory panel as a person sees it. Every selector of its tests stands here."""

from playwright.sync_api import Locator, Page, expect

from tests.e2e.skills_panel import choose


class MemoryPanel:
    """The panel in one page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.node = page.locator("[data-onyx=memory-panel]")
        self.search = self.hook("memory-search")
        self.text = self.hook("memory-text")
        self.versions = self.hook("memory-version")
        self.diff = self.hook("memory-diff")
        self.notices = page.locator(".Toastify__toast")

    def hook(self, name: str) -> Locator:
        return self.node.locator(f"[data-onyx={name}]")

    def file(self, path: str) -> Locator:
        return self.node.locator(f'[data-onyx=memory-file][data-path="{path}"]')

    def document(self, path: str) -> Locator:
        return self.node.locator(f'[data-onyx=document][data-document="{path}"]')

    def drop(self, name: str, text: str) -> None:
        """A file of the computer onto the panel."""
        self.node.evaluate(
            """(node, [name, text]) => {
                const dataTransfer = new DataTransfer();
                dataTransfer.items.add(new File([text], name));
                for (const type of ['dragenter', 'dragover', 'drop']) {
                    node.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
                }
            }""",
            [name, text],
        )

    def version(self, number: int) -> Locator:
        return self.node.locator(f'[data-onyx=memory-version][data-version="{number}"]')

    def marked(self) -> Locator:
        """The pieces of the text whose lines were asked for."""
        return self.text.locator("[data-marked]")

    def show(self) -> None:
        """By its tab where it is open, else by the menu."""
        tab = self.page.locator(".lm-TabBar-tab[data-id=onyx-memory]")
        if tab.count():
            tab.click()
        else:
            choose(self.page, "View", "onyx:memory")
        expect(self.node).to_be_visible()

    def close(self) -> None:
        self.page.locator(".lm-TabBar-tab[data-id=onyx-memory] .lm-TabBar-tabCloseIcon").click()
        expect(self.node).to_have_count(0)

    def search_until(self, words: str, found: Locator) -> None:
        """A turn is read into the index behind its run, and results do not change under who reads them."""
        for _ in range(20):
            self.search.fill("")
            self.search.fill(words)
            try:
                expect(found).to_have_count(1, timeout=3_000)
                return
            except AssertionError:
                continue
        expect(found).to_have_count(1)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
