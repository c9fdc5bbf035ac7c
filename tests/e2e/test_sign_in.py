"""Signing in to GitHub Copilot in the settings panel, against a GitHub on loopback: the code, the wait, every end."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.settings_panel import SettingsPanel
from tests.e2e.sidebar import Sidebar
from tests.providers.subscriptions.fake_github import DEVICE_SECRET, SIGN_IN, FakeGitHub

PENDING = {"error": "authorization_pending"}
SIGNED_IN = {"access_token": SIGN_IN}
MEMORY = {"consolidation": False, "recall": False, "embedder": "none"}
# Jupyter runs its configuration as Python before it loads any extension.
POINTED_HERE = """\
from onyx_jupyter.providers.subscriptions import copilot
addresses = copilot.CopilotAddresses{addresses!r}
copilot.CopilotAddresses = lambda: addresses
"""


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub(decisions=[PENDING], interval_s=0.2) as github:
        yield github


@pytest.fixture
def lab(chromium: str, tmp_path: Path, github: FakeGitHub) -> Iterator[LabServer]:
    """A server of this test alone, for which that GitHub is the real one."""
    config = {"memory": MEMORY, "providers": {"copilot": {"models": ["gpt-x"]}}}
    lab = LabServer(tmp_path / "lab", config)
    here = github.addresses()
    addresses = (here.code, here.token, here.exchange, here.user, here.chat)
    (tmp_path / "lab" / "config").mkdir(exist_ok=True)
    (tmp_path / "lab" / "config" / "jupyter_server_config.py").write_text(POINTED_HERE.format(addresses=addresses))
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def opened(tabs: Tabs, lab: LabServer, name: str) -> Callable[[], tuple[Sidebar, SettingsPanel]]:
    def open_panel() -> tuple[Sidebar, SettingsPanel]:
        sidebar = tabs.open_new(lab, name)
        sidebar.models.select_option(label="Connect a model…")
        panel = SettingsPanel(sidebar.page)
        panel.provider("copilot").click()
        panel.setting("providers.copilot.clientId").fill("our-app")
        panel.setting("providers.copilot.clientId").press("Enter")
        panel.hook("sign-in").click()
        panel.wait_for_sign_in("pending")
        return sidebar, panel

    return open_panel


def test_a_code_and_a_link_lead_to_a_signed_in_provider_that_answers(
    opened: Callable[[], tuple[Sidebar, SettingsPanel]], lab: LabServer, github: FakeGitHub
) -> None:
    sidebar, panel = opened()
    expect(panel.hook("user-code")).to_have_text("ABCD-1234")
    link = panel.hook("verification-link")
    expect(link).to_have_attribute("href", "https://github.com/login/device")
    expect(link).to_have_attribute("target", "_blank")
    left = panel.hook("code-expires")
    expect(left).to_contain_text("The code is valid for 1")
    shown = left.inner_text()
    expect(left).not_to_have_text(shown)  # it counts down

    github.decisions = [SIGNED_IN]
    panel.wait_for_sign_in("signed_in")
    expect(panel.hook("sign-in-state")).to_have_text("Signed in as octocat.")
    expect(panel.hook("user-code")).to_have_count(0)
    panel.wait_for_state("ready")
    panel.model("copilot/gpt-x").locator("[data-onyx=use-model]").click()
    sidebar.show()
    sidebar.ask("Hi")
    sidebar.wait_for_end()
    expect(sidebar.answers).to_have_text(["Hello."])
    expect(sidebar.hook("answer-usage")).to_have_text("5 in · 2 out · plan")

    panel.hook("sign-out").click()
    panel.wait_for_sign_in("signed_out")
    page = sidebar.page.content()
    assert [secret for secret in (SIGN_IN, DEVICE_SECRET) if secret in page] == []
    files = [path for path in lab.home.rglob("*") if path.is_file()]
    assert [path for path in files if SIGN_IN.encode() in path.read_bytes()] == []
    assert SIGN_IN not in lab.log.read_text()


def test_a_declined_or_cancelled_sign_in_says_so_and_can_be_begun_again(
    opened: Callable[[], tuple[Sidebar, SettingsPanel]], github: FakeGitHub
) -> None:
    _, panel = opened()
    github.decisions = [{"error": "access_denied"}]
    panel.wait_for_sign_in("denied")
    expect(panel.hook("sign-in-state")).to_have_text("The sign-in was declined.")
    github.decisions = [PENDING]
    panel.hook("sign-in").click()
    panel.wait_for_sign_in("pending")
    expect(panel.hook("user-code")).to_be_visible()
    panel.hook("cancel-sign-in").click()
    panel.wait_for_sign_in("signed_out")
    expect(panel.hook("user-code")).to_have_count(0)
    assert len(github.asked("/code")) == 2
