"""What the server's administrator does not allow is there to be seen, locked, and cannot be had."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Sidebar
from tests.e2e.stage import Stage, tool_results

THEME = "@jupyterlab/apputils-extension/themes"


@pytest.fixture
def lab(provider: Stage, chromium: str, tmp_path: Path) -> Iterator[LabServer]:
    """A server under a ceiling: no commands, no Auto mode, and one provider, by its address."""
    lab = LabServer(tmp_path, provider.config(embedder="none"))
    ceiling = {"deny": ["exec"], "modes": ["ask", "agent"], "providers": [provider.server.base_url]}
    (tmp_path / "config" / "jupyter_server_config.py").write_text(f"c.OnyxApp.ceiling = {ceiling!r}\n", "utf-8")
    lab.start()
    yield lab
    lab.stop()


def test_disallowed_choices_are_locked(tabs: Tabs, lab: LabServer, stage: Stage, name: str) -> None:
    lab.notebook(f"{name}.ipynb", "1")
    for theme in ("Dark", "Light"):
        lab.set(THEME, {"theme": f"JupyterLab {theme}"})
        sidebar, notebook = tabs.open(lab, f"{name}.ipynb", f"{name}-{theme}")
        notebook.wait(1)  # it takes the focus, and a menu without the focus closes
        expect(sidebar.models.locator("optgroup")).not_to_have_count(0)
        sidebar.hook("mode-picker").click()
        auto = sidebar.hook("mode").last
        expect(auto).to_have_attribute("aria-disabled", "true")
        expect(auto).to_contain_text("Not allowed on this server")
        expect(auto.locator("svg")).to_have_count(1)
        expect(sidebar.hook("mode").first).not_to_have_attribute("aria-disabled", "true")
        shot(sidebar, f"modes-{theme}")
        auto.dispatch_event("click")
        expect(sidebar.hook("mode-picker")).to_have_text("Agent")
        sidebar.hook("mode").first.press("Escape")
        expect(sidebar.hook("mode")).to_have_count(0)
        shot_of_models(sidebar, f"models-{theme}")

    locked = sidebar.models.locator("optgroup[label='down – Not allowed on this server'] option")
    expect(locked).to_be_disabled()
    expect(sidebar.models.locator("option[value='scripted/writer']")).to_be_enabled()

    stage.play([Call("exec", {"command": f"touch {name}"})], "I cannot do that here.")
    sidebar.ask("Make a file")
    expect(sidebar.answers.last).to_contain_text("I cannot do that here.")
    expect(sidebar.approvals).to_have_count(0)
    assert tool_results(stage.asked[-1])[-1] == "Denied: Not allowed on this server: exec."
    assert not lab.files.joinpath(name).exists()
    shot(sidebar, "refused")


def shot(sidebar: Sidebar, what: str) -> None:
    folder = os.environ.get("ONYX_SHOTS")
    if folder:
        sidebar.page.screenshot(path=Path(folder) / f"{what}.png")


def shot_of_models(sidebar: Sidebar, what: str) -> None:
    """The list laid open, which Chromium draws outside of the page."""
    sidebar.models.evaluate("list => { list.size = 9; list.style.cssText = 'height: auto; min-width: 250px'; }")
    shot(sidebar, what)
    sidebar.models.evaluate("list => { list.size = 0; list.style.cssText = ''; }")
