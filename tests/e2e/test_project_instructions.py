"""A folder's AGENTS.md: shown once, used only when it is trusted, and asked about again when it has changed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from onyx_jupyter.testing.scripted_server import Received
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar, overflowing
from tests.e2e.stage import Stage
from tests.e2e.test_keyboard_and_width import THEME, narrow

HEADING = "# This project's instructions (AGENTS.md of files)"
RULES = "".join(f"{number}. **Rule** <b>{number}</b>: answer with a haiku.\n" for number in range(1, 43))


@pytest.fixture
def own_lab(provider: Stage, chromium: str, tmp_path: Path) -> Iterator[LabServer]:
    """A server of this test alone, whose folder brings instructions along."""
    lab = LabServer(tmp_path / "lab", provider.config(embedder="none"))
    (lab.files / "AGENTS.md").write_text(RULES)
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def open_own(tabs: Tabs, own_lab: LabServer, name: str) -> Callable[[], Sidebar]:
    return lambda: tabs.open_new(own_lab, name)


def system_of(request: Received) -> str:
    return "".join(str(one["content"]) for one in request.body["messages"] if one["role"] == "system")


def open_panel(sidebar: Sidebar) -> None:
    sidebar.hook("menu").click()
    sidebar.page.get_by_role("menuitem", name="Project instructions…").click()
    expect(sidebar.hook("project-panel")).to_be_visible()


def test_instructions_are_shown_used_once_trusted_and_asked_again_when_changed(
    open_own: Callable[[], Sidebar], own_lab: LabServer, stage: Stage, tabs: Tabs, name: str
) -> None:
    file = own_lab.files / "AGENTS.md"
    sidebar = open_own()
    notice = sidebar.hook("project-notice")
    expect(notice).to_have_count(1)
    expect(notice).to_contain_text("(AGENTS.md, 42 lines). They are not used until you trust them.")
    stage.play("One.", "Two.", "Three.", "Four.")
    sidebar.ask("Before")
    sidebar.wait_for_end()
    assert "haiku" not in str(stage.asked[0].body)
    expect(sidebar.hook("project-trust")).to_be_disabled()
    sidebar.hook("project-show").click()
    assert sidebar.hook("project-source").inner_text() == RULES
    other, _ = tabs.open(own_lab, f"{name}.ipynb", f"{name}-other")
    expect(other.hook("project-notice")).to_be_visible()

    sidebar.hook("project-trust").click()
    for tab in (sidebar, other):
        expect(tab.hook("project-notice")).to_have_count(0)
    other.page.close()
    expect(sidebar.input).to_be_focused()
    sidebar.ask("With them")
    expect(sidebar.answers).to_have_count(2)
    sidebar.wait_for_end()
    system = system_of(stage.asked[1])
    assert RULES.strip() in system[system.index(HEADING) :]
    assert "haiku" not in system[: system.index(HEADING)]

    file.write_text(RULES.replace("7. **Rule** <b>7</b>: answer with a haiku", "7. Answer with a sonnet", 1))
    sidebar.ask("After the change")
    expect(sidebar.answers).to_have_count(3)
    sidebar.wait_for_end()
    assert "haiku" not in str(stage.asked[2].body["messages"][0])
    assert "sonnet" not in str(stage.asked[2].body["messages"][0])
    expect(notice).to_contain_text("have changed (AGENTS.md, 42 lines)")
    sidebar.hook("project-show").click()
    expect(notice.locator(".onyx-mod-removed")).to_have_text("7. **Rule** <b>7</b>: answer with a haiku.")
    expect(notice.locator(".onyx-mod-added")).to_have_text("7. Answer with a sonnet.")
    sidebar.hook("project-show-all").click()
    assert sidebar.hook("project-source").inner_text() == file.read_text()

    # It changes under the eyes of the person, before the page knows: a yes is for what they saw.
    tabs.wait_for_replies(sidebar.page, "project.files")
    file.write_text("Obey.\n")
    sidebar.hook("project-trust").click()
    expect(sidebar.hook("project-refusal")).to_contain_text("has changed since it was shown")
    expect(notice.locator(".onyx-mod-added")).to_have_text("Obey.")
    sidebar.hook("project-decline").click()
    expect(notice).to_have_count(0)
    sidebar.page.reload()
    sidebar.show()
    Notebook(sidebar.page).wait_for_kernel()
    open_panel(sidebar)
    expect(sidebar.hook("project-file")).to_have_attribute("data-state", "declined")
    assert sidebar.hook("project-source").inner_text() == "Obey.\n"
    expect(notice).to_have_count(0)
    sidebar.hook("project-trust").click()
    expect(sidebar.hook("project-file")).to_have_attribute("data-state", "trusted")
    sidebar.hook("project-panel").press("Escape")
    expect(sidebar.input).to_be_focused()
    sidebar.ask("Once more")
    sidebar.wait_for_end()
    expect(sidebar.answers.last).to_have_text("Four.")
    assert "Obey." in system_of(stage.asked[3])


def test_in_auto_mode_writing_instructions_is_asked_and_denial_keeps_file(
    open_own: Callable[[], Sidebar], own_lab: LabServer, stage: Stage
) -> None:
    sidebar = open_own()
    stage.play([Call("write", {"path": "./AGENTS.md", "content": "Obey."})], "As you like.")
    sidebar.hook("mode-picker").click()
    sidebar.hook("mode").and_(sidebar.page.locator("[data-mode=auto]")).click()
    sidebar.ask("Write it")
    expect(sidebar.approvals).to_contain_text("it holds instructions that Onyx follows in this project")
    expect(sidebar.hook("approve-always")).to_have_count(0)
    sidebar.hook("deny").click()
    sidebar.hook("deny-confirm").click()
    sidebar.wait_for_end()
    assert (own_lab.files / "AGENTS.md").read_text() == RULES


def test_notice_and_panel_fit_minimum_width_in_dark_theme_and_by_keyboard(
    open_own: Callable[[], Sidebar], own_lab: LabServer
) -> None:
    long = "a_word_without_any_place_to_break_" * 8
    (own_lab.files / "AGENTS.md").write_text(f"# {long}\n{RULES}")
    own_lab.set(THEME, {"theme": "JupyterLab Dark"})
    sidebar = open_own()
    expect(sidebar.hook("project-notice")).to_be_visible()
    narrow(sidebar)
    assert overflowing(sidebar) == []
    sidebar.hook("project-show").focus()
    keys = sidebar.page.keyboard
    keys.press("Enter")
    expect(sidebar.hook("project-source")).to_contain_text(long)
    assert overflowing(sidebar) == []
    keys.press("Tab")
    expect(sidebar.hook("project-trust")).to_be_focused()
    keys.press("Enter")
    expect(sidebar.hook("project-notice")).to_have_count(0)
    expect(sidebar.input).to_be_focused()
    open_panel(sidebar)
    expect(sidebar.hook("project-file")).to_have_attribute("data-state", "trusted")
    assert overflowing(sidebar) == []
    sidebar.hook("project-decline").press("Enter")
    expect(sidebar.hook("project-file")).to_have_attribute("data-state", "declined")
    expect(sidebar.hook("project-panel")).to_be_focused()
