"""From an empty home to an assistant that knows how one works: by keyboard, across a reload, and once more later."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.pictures import picture
from tests.e2e.sidebar import Notebook, Sidebar, overflowing
from tests.e2e.stage import Stage
from tests.e2e.test_keyboard_and_width import narrow

PRAISE = "No filler praise. State corrections directly."


@pytest.fixture
def opened(tabs: Tabs, fresh_lab: LabServer, name: str) -> Callable[[], Sidebar]:
    return lambda: tabs.open_new(fresh_lab, name)


def asked(sidebar: Sidebar, question: str) -> None:
    expect(sidebar.hook("onboarding-question")).to_have_attribute("data-question", question)


def press(sidebar: Sidebar, *keys: str) -> None:
    """Where the focus is once a question is there; JupyterLab takes it away while a page is still opening."""
    for key in keys:
        sidebar.hook("onboarding-question").press(key)


def say(sidebar: Sidebar, words: str) -> None:
    sidebar.hook("onboarding-words").press_sequentially(words)
    sidebar.hook("onboarding-words").press("Enter")


def test_a_new_user_is_offered_onboarding_answers_by_keyboard_and_sees_every_file_first(
    opened: Callable[[], Sidebar], fresh_lab: LabServer, stage: Stage
) -> None:
    sidebar = opened()
    expect(sidebar.hook("onboarding-offer")).to_have_text("Ask something, or take two minutes to set Onyx up")
    picture(sidebar.page, "1-first-page")
    sidebar.hook("onboarding-open").click()
    asked(sidebar, "name")
    picture(sidebar.page, "2-name")
    expect(sidebar.hook("onboarding-words")).to_be_focused()
    say(sidebar, "Ada")
    asked(sidebar, "role")
    expect(sidebar.hook("onboarding-question")).to_be_focused()
    press(sidebar, "2")
    asked(sidebar, "field")
    expect(sidebar.hook("onboarding-progress")).to_contain_text("3 of ")
    say(sidebar, "Hydrology")
    asked(sidebar, "python")
    press(sidebar, "Escape")
    expect(sidebar.input).to_be_focused()

    # What was answered is there after a reload, and also what is typed opens it.
    sidebar.page.reload()
    sidebar.show()
    Notebook(sidebar.page).wait_for_kernel()
    expect(sidebar.hook("onboarding-open")).to_have_text("go on setting Onyx up")
    sidebar.ask("/onboard")
    asked(sidebar, "python")
    expect(sidebar.hook("onboarding-answered")).to_contain_text("Hydrology")
    press(sidebar, "2")
    asked(sidebar, "libraries")
    sidebar.hook("onboarding-skip").click()
    asked(sidebar, "annoyances")
    press(sidebar, "1", "3")
    expect(sidebar.hook("onboarding-question")).to_contain_text(PRAISE)
    picture(sidebar.page, "3-annoyances")
    press(sidebar, "8")
    stage.play(["- “emojis in answers”"])
    sidebar.hook("onboarding-words").fill("it puts emojis everywhere, terrible")
    sidebar.hook("onboarding-phrase").click()
    expect(sidebar.hook("onboarding-phrased")).to_have_text("Will be written: Avoid: emojis in answers")
    picture(sidebar.page, "3-phrased")
    sidebar.hook("onboarding-own-words").click()
    expect(sidebar.hook("onboarding-words")).to_have_value("it puts emojis everywhere, terrible")
    sidebar.hook("onboarding-words").fill("")
    say(sidebar, "Emojis")
    asked(sidebar, "length")
    sidebar.hook("onboarding-back").click()
    expect(sidebar.hook("onboarding-words")).to_have_value("Emojis")
    narrow(sidebar)
    assert overflowing(sidebar) == []
    picture(sidebar.page, "4-narrow")
    sidebar.hook("onboarding-continue").click()
    for question in ("length", "initiative", "disagreement"):
        asked(sidebar, question)
        press(sidebar, "1")
    asked(sidebar, "boundaries")
    press(sidebar, "1", "Enter")
    asked(sidebar, "assistant")
    press(sidebar, "1")
    asked(sidebar, "manner")
    press(sidebar, "1")
    asked(sidebar, "more")
    picture(sidebar.page, "5-more")
    press(sidebar, "1")

    files = sidebar.hook("onboarding-file")
    expect(files).to_have_count(4)
    expect(files.first).to_contain_text(PRAISE)
    workspace = fresh_lab.home / "workspace"
    assert PRAISE not in (workspace / "SOUL.md").read_text("utf-8")
    assert overflowing(sidebar) == []
    picture(sidebar.page, "6-review")
    expect(sidebar.hook("onboarding-review")).to_be_focused()
    sidebar.hook("onboarding-review").press("Enter")
    expect(sidebar.hook("onboarding-link")).to_have_text(["SOUL.md", "USER.md", "IDENTITY.md", "AGENTS.md"])
    picture(sidebar.page, "7-written")
    assert f"- {PRAISE}" in (workspace / "SOUL.md").read_text("utf-8")
    assert "- Field: Hydrology" in (workspace / "USER.md").read_text("utf-8")
    sidebar.hook("onboarding-link").first.click()
    expect(sidebar.page.locator(".jp-FileEditor, .jp-MarkdownViewer").first).to_contain_text("No filler praise")

    # The next message is answered with it, and the first page offers nothing more.
    sidebar.hook("onboarding-done").click()
    expect(sidebar.input).to_be_focused()
    expect(sidebar.hook("onboarding-offer")).to_have_count(0)
    stage.play(["Hello, Ada."])
    sidebar.ask("Hello")
    sidebar.wait_for_end()
    assert PRAISE in str(stage.asked[0].body)


def test_onboarding_again_changes_only_its_own_lines_and_says_when_a_file_has_changed(
    opened: Callable[[], Sidebar], fresh_lab: LabServer
) -> None:
    fresh_lab.set("@jupyterlab/apputils-extension/themes", {"theme": "JupyterLab Dark"})
    sidebar = opened()
    soul = fresh_lab.home / "workspace" / "SOUL.md"

    def to_review(annoyance: str) -> None:
        sidebar.ask("/onboard")
        while sidebar.hook("onboarding-question").get_attribute("data-question") != "annoyances":
            question = sidebar.hook("onboarding-question").get_attribute("data-question")
            sidebar.hook("onboarding-skip").click()
            expect(sidebar.hook("onboarding-question")).not_to_have_attribute("data-question", question or "")
        press(sidebar, annoyance, "Enter")
        for question in ("length", "initiative", "disagreement", "boundaries", "assistant", "manner"):
            asked(sidebar, question)
            sidebar.hook("onboarding-skip").click()
        asked(sidebar, "more")
        press(sidebar, "1")
        expect(sidebar.hook("onboarding-file")).to_have_count(1)

    to_review("1")
    picture(sidebar.page, "8-dark-review")
    before = soul.read_text("utf-8")
    soul.write_text(f"{before}\nMine.\n", "utf-8")
    sidebar.hook("onboarding-write").click()
    expect(sidebar.hook("onboarding-review")).to_contain_text("A file has changed since it was shown.")
    assert PRAISE not in soul.read_text("utf-8")
    picture(sidebar.page, "9-dark-changed")
    sidebar.hook("onboarding-write").click()
    expect(sidebar.hook("onboarding-link")).to_have_text(["SOUL.md"])
    picture(sidebar.page, "10-dark-written")
    sidebar.hook("onboarding-done").click()

    to_review("1")  # takes it back
    expect(sidebar.hook("onboarding-file").locator(".onyx-mod-removed").first).to_be_visible()
    sidebar.hook("onboarding-write").click()
    expect(sidebar.hook("onboarding-written")).to_be_visible()
    assert soul.read_text("utf-8") == f"{before}\nMine.\n"
