"""What a person approves stands in the card, whole and visible: code between secrets, and what nobody would see."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Sidebar, overflowing
from tests.e2e.stage import Stage
from tests.e2e.test_keyboard_and_width import THEME, narrow
from tests.security.secret_samples import MIXED

ONLY_ONCE = "because it contains what looks like a secret"
DECEIVING = [
    "is_admin = False",
    "if access != 'none\u202e\u2066': # admins only\u2069 \u2066",
    "    p\u0430ypal(1)\u200b",
    "print('a\rb')",
]


def test_code_inside_a_key_is_shown_in_card_and_runs_once(tabs: Tabs, lab: LabServer, stage: Stage, name: str) -> None:
    hidden = f"open('{name}.txt', 'a').write('ran')"
    source = (
        f"api_key = '{MIXED}'\nkey = '''-----BEGIN PRIVATE KEY-----'''\n{hidden}\nend = '''-----END PRIVATE KEY-----'''"
    )
    lab.notebook(f"{name}.ipynb", source)
    sidebar, notebook = tabs.open(lab, f"{name}.ipynb", name)
    notebook.wait_for_kernel()
    stage.play([Call("notebook_run_cell", {"path": f"{name}.ipynb", "cellId": "cell-1"})], "It ran.")
    sidebar.ask("Run it")
    assert sidebar.hook("approval-source").text_content() == source
    expect(sidebar.hook("caution")).to_contain_text("You see all of it; the conversation and the model don’t.")
    expect(sidebar.hook("always-blocked")).to_contain_text(ONLY_ONCE)
    expect(sidebar.hook("approve-always")).to_have_count(0)
    expect(sidebar.hook("approve-session")).to_have_count(0)
    assert not lab.files.joinpath(f"{name}.txt").exists()

    sidebar.page.reload()
    sidebar.show()
    assert sidebar.hook("approval-source").text_content() == source
    sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
    assert lab.files.joinpath(f"{name}.txt").read_text() == "ran"
    assert MIXED not in "".join(str(request.body) for request in stage.asked)

    sidebar.page.reload()
    sidebar.show()
    sidebar.card("notebook_run_cell").locator("button").first.click()
    expect(sidebar.hook("approval-source").first).to_contain_text("[redacted:api-key]")


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_invisible_characters_are_shown_as_marks(
    tabs: Tabs, lab: LabServer, stage: Stage, name: str, theme: str
) -> None:
    lines = "\n".join(f"line_{number} = {number}" for number in range(12))
    lab.notebook(f"{name}.ipynb", f"{lines}\nlast = 1")
    lab.set(THEME, {"theme": theme})
    try:
        sidebar, _ = tabs.open(lab, f"{name}.ipynb", name)
        light = "true" if theme.endswith("Light") else "false"
        expect(sidebar.page.locator("body")).to_have_attribute("data-jp-theme-light", light)
    finally:
        lab.set(THEME, {"theme": "JupyterLab Light"})
    change = {"path": f"{name}.ipynb", "cellId": "cell-1", "source": "\n".join([lines, *DECEIVING])}
    stage.play(
        [Call("exec", {"command": "echo safe\rrm -rf p\u0430ypal\u202e # txt.tar"})],
        [Call("notebook_edit_cell", change)],
        "As you like.",
    )
    sidebar.ask("Do it")
    marks = sidebar.hook("approval").locator("[data-onyx=character-mark]")
    expect(marks).to_have_text(["U+000D", "\u0430", "U+202E"])
    expect(marks.last).to_have_attribute("aria-label", "right-to-left override (U+202E)")
    expect(sidebar.hook("caution")).to_have_text(
        ["Contains invisible characters, shown as marks.", "Contains look-alike characters, shown as marks."]
    )
    expect(sidebar.hook("approve-always")).to_have_count(0)
    shot(sidebar, f"command-{light}")
    narrow(sidebar)
    assert overflowing(sidebar) == []
    shot(sidebar, f"command-narrow-{light}")
    deny(sidebar)

    expect(marks).to_have_text(["U+202E", "U+2066", "U+2069", "U+2066", "\u0430", "U+200B", "U+000D"])
    assert overflowing(sidebar) == []
    shot(sidebar, f"edit-narrow-{light}")
    expect(sidebar.hook("approval")).not_to_contain_text("line_2 = 2")
    sidebar.hook("unfold").click()
    expect(sidebar.hook("approval")).to_contain_text("line_2 = 2")
    deny(sidebar)
    sidebar.wait_for_end()


def deny(sidebar: Sidebar) -> None:
    sidebar.hook("deny").click()
    sidebar.hook("deny-confirm").click()


def shot(sidebar: Sidebar, what: str) -> None:
    folder = os.environ.get("ONYX_SHOTS")
    if folder:
        sidebar.page.screenshot(path=Path(folder) / f"{what}.png")
