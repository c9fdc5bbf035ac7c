"""The settings panel: from an empty home to a tested provider, its models, the roles, a budget, and a bad file."""

from collections.abc import Callable, Iterator
from pathlib import Path

import json5
import pytest
from playwright.sync_api import expect

from onyx_jupyter.testing.script import Tokens
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.settings_panel import SettingsPanel
from tests.e2e.sidebar import Sidebar
from tests.e2e.stage import RIGHT_KEY, WRONG_KEY, Stage

# No model is asked by itself, so that each request is one of the test's.
QUIET = {"consolidation": False, "recall": False, "embedder": "none"}


@pytest.fixture
def own_lab(chromium: str, tmp_path: Path) -> Iterator[LabServer]:
    """A server of this test alone, on which no provider is set up."""
    lab = LabServer(tmp_path / "lab", {"memory": QUIET}, environment={"GROQ_API_KEY": "key-of-the-environment"})
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def opened(tabs: Tabs, own_lab: LabServer, name: str) -> Callable[[], tuple[Sidebar, SettingsPanel]]:
    def open_panel() -> tuple[Sidebar, SettingsPanel]:
        sidebar = tabs.open_new(own_lab, name)
        sidebar.models.select_option(label="Connect a model…")
        panel = SettingsPanel(sidebar.page)
        expect(panel.hook("provider-list")).to_be_visible()
        return sidebar, panel

    return open_panel


def test_server_is_added_keyed_tested_and_answers_within_its_budget(
    opened: Callable[[], tuple[Sidebar, SettingsPanel]], tabs: Tabs, own_lab: LabServer, stage: Stage
) -> None:
    sidebar, panel = opened()
    expect(panel.hook("settings-empty")).to_be_visible()
    panel.hook("add-server").click()
    panel.hook("server-name").fill("lab")
    panel.hook("server-address").fill(stage.server.base_url)
    panel.hook("server-add").click()
    panel.wait_for_state("failing")  # it wants a key
    panel.enter_key(WRONG_KEY)
    panel.hook("refresh-providers").click()
    panel.wait_for_state("failing")
    expect(panel.hook("provider-problem")).to_contain_text("key")
    panel.enter_key(RIGHT_KEY)
    panel.hook("refresh-providers").click()
    panel.wait_for_state("connected")
    expect(panel.model("lab/writer")).to_be_visible()

    stage.play("yes", ["Hello.", Tokens(600, 500)], "Another model.")
    panel.hook("test-connection").click()
    expect(panel.hook("test-result")).to_contain_text("answered in")
    expect(panel.hook("test-result")).to_contain_text("cost unknown")
    panel.model("lab/writer").locator("[data-onyx=make-default]").click()
    expect(panel.model("lab/writer").locator("[data-onyx=make-default]")).to_have_count(0)
    assert json5.loads(own_lab.home.joinpath("onyx.json").read_text())["runtime"]["defaultModel"] == "lab/writer"

    sidebar.show()
    sidebar.ask("Hi")
    sidebar.wait_for_end()
    expect(sidebar.answers).to_have_text(["Hello."])
    panel.model("lab/thinker").locator("[data-onyx=use-model]").click()
    expect(sidebar.models).to_have_value("lab/thinker")
    sidebar.ask("Hi again")
    expect(sidebar.answers).to_have_text(["Hello.", "Another model."])
    assert [request.body["model"] for request in stage.asked] == ["writer", "writer", "thinker"]

    panel.hook("show-roles").click()
    panel.setting("security.budget.dayTokens").fill("1000")
    panel.setting("security.budget.dayTokens").press("Enter")
    tabs.wait_for_replies(sidebar.page, "settings.set")
    sidebar.ask("Once more")
    expect(sidebar.problems).to_have_attribute("data-code", "budget")
    secrets = [path for path in own_lab.home.rglob("*") if path.is_file() and RIGHT_KEY.encode() in path.read_bytes()]
    assert secrets == []
    assert RIGHT_KEY not in own_lab.log.read_text()


def test_stored_keys_get_a_new_encryption_key_and_still_open(
    opened: Callable[[], tuple[Sidebar, SettingsPanel]], own_lab: LabServer, stage: Stage
) -> None:
    _, panel = opened()
    panel.provider("anthropic").click()
    panel.enter_key("key-of-a-person")
    store = own_lab.home / "credentials.json"
    before = store.read_text()
    panel.hook("rotate-key").click()
    expect(panel.hook("rotate-question")).to_contain_text("Encrypt the stored key again")
    panel.page.keyboard.press("Escape")
    expect(panel.hook("rotate-question")).to_have_count(0)
    assert store.read_text() == before
    panel.hook("rotate-key").click()
    panel.hook("rotate-confirm").click()
    expect(panel.hook("rotate-result")).to_contain_text("Done")
    assert store.read_text() != before
    panel.hook("key-remove").click()
    expect(panel.hook("key-remove")).to_have_count(0)
    expect(panel.hook("key-store-problem")).to_have_count(0)


def test_key_of_the_environment_is_locked_and_a_bad_file_is_reported_with_its_line(
    opened: Callable[[], tuple[Sidebar, SettingsPanel]], own_lab: LabServer, stage: Stage
) -> None:
    _, panel = opened()
    panel.provider("groq").click()
    expect(panel.hook("key-locked")).to_contain_text("GROQ_API_KEY")
    expect(panel.hook("key-input")).to_have_count(0)

    own_lab.home.joinpath("onyx.json").write_text('{\n  // mine\n  runtime: {\n    maxTurns: "many",\n  },\n}\n')
    expect(panel.hook("config-problems")).to_contain_text("maxTurns")
    expect(panel.hook("config-problems")).to_contain_text("line 4")
    panel.hook("show-roles").click()
    panel.setting("security.budget.dayUsd").fill("5")
    panel.setting("security.budget.dayUsd").press("Enter")
    written = own_lab.home.joinpath("onyx.json")
    while "dayUsd: 5" not in written.read_text():
        panel.page.wait_for_timeout(50)
    assert "// mine" in written.read_text()
