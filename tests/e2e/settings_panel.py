"""The settings panel as a person sees it. Every selector of its tests stands here."""

from playwright.sync_api import Locator, Page, expect


class SettingsPanel:
    """The panel in one page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.node = page.locator("[data-onyx=settings-panel]")

    def hook(self, name: str) -> Locator:
        return self.node.locator(f"[data-onyx={name}]")

    def provider(self, name: str) -> Locator:
        return self.node.locator(f"[data-onyx=provider][data-provider={name}]")

    def setting(self, key: str) -> Locator:
        return self.node.locator(f"[data-key='{key}']")

    def model(self, model_id: str) -> Locator:
        return self.node.locator(f"[data-onyx=provider-models] [data-model='{model_id}']")

    def wait_for_state(self, state: str) -> None:
        expect(self.hook("provider-state")).to_have_attribute("data-state", state)

    def wait_for_sign_in(self, state: str) -> None:
        expect(self.hook("sign-in-state")).to_have_attribute("data-state", state)

    def enter_key(self, secret: str) -> None:
        self.hook("key-input").fill(secret)
        self.hook("key-save").click()
        expect(self.hook("key-input")).to_have_value("")
