"""Choosing who answers, and which conversation stands in front."""

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage


def search(page: Page, palette: Locator, words: str) -> None:
    """In the palette, which closes by itself when anything else on the page takes the focus."""
    for _ in range(10):
        if not palette.is_visible():
            page.locator(".lm-MenuBar-item", has_text="View").click()
            page.locator(".lm-Menu-item[data-command='apputils:activate-command-palette']").click()
        try:
            palette.locator("input").fill(words, timeout=3_000)
            return
        except PlaywrightTimeout:
            continue
    expect(palette.locator("input")).to_have_value(words)


def test_chosen_model_answers_next_question(open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage) -> None:
    sidebar, _ = open_lab()
    stage.play("One.", "Two.")
    expect(sidebar.models).to_have_value("scripted/writer")
    offered = sidebar.models.locator("option").evaluate_all("options => options.map(option => option.value)")
    assert {"scripted/writer", "scripted/thinker", "locked/vault"} <= set(offered)
    sidebar.ask("First")
    expect(sidebar.answers).to_have_text(["One."])
    sidebar.wait_for_end()
    sidebar.models.select_option("scripted/thinker")
    sidebar.ask("Second")
    expect(sidebar.answers).to_have_text(["One.", "Two."])
    assert [request.body["model"] for request in stage.asked] == ["writer", "thinker"]


def test_new_session_search_and_return(open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage) -> None:
    sidebar, _ = open_lab()
    stage.play("About whales.", "About violins.")
    sidebar.ask("What do whales eat?")
    expect(sidebar.answers).to_have_text(["About whales."])
    sidebar.wait_for_end()

    sidebar.hook("new-session").click()
    expect(sidebar.empty).to_be_visible()
    expect(sidebar.input).to_be_focused()
    sidebar.ask("How old are violins?")
    expect(sidebar.answers).to_have_text(["About violins."])
    sidebar.wait_for_end()
    # Each session is its own: the second knows nothing of the first.
    assert "whales" not in str(stage.asked[1].body["messages"])

    sidebar.hook("session-title").click()
    rows = sidebar.hook("session")
    expect(rows.filter(has_text="whales")).to_have_count(1)
    expect(rows.filter(has_text="violins")).to_have_attribute("aria-current", "true")
    sidebar.hook("session-search").fill("whales eat")
    expect(rows).to_have_count(1)
    rows.click()
    expect(sidebar.answers).to_have_text(["About whales."])
    expect(sidebar.said).to_have_count(1)
    expect(sidebar.hook("session-title")).to_contain_text("whales")


def test_question_continues_in_new_session_if_old_one_is_deleted(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage, lab: LabServer
) -> None:
    sidebar, _ = open_lab()
    stage.play("About whales.", "About violins.")
    sidebar.ask("What do whales eat?")
    expect(sidebar.answers).to_have_text(["About whales."])
    sidebar.wait_for_end()
    for file in (lab.home / "sessions").glob("*/*.jsonl"):
        file.unlink()
    sidebar.page.reload()

    problem = sidebar.hook("session-problem")
    expect(problem).to_contain_text("no longer exists")
    expect(problem.get_by_role("button")).to_have_text(["New session", "All sessions"])
    sidebar.ask("How old are violins?")
    expect(sidebar.answers).to_have_text(["About violins."])
    expect(problem).to_have_count(0)


def test_palette_labels_our_commands(open_lab: Callable[..., tuple[Sidebar, Notebook]]) -> None:
    sidebar, notebook = open_lab("6 * 7")
    page = sidebar.page
    notebook.wait_for_kernel()
    notebook.source(0).click()
    palette = page.locator(".jp-ModalCommandPalette")
    # It shows no headings: each says itself that it is ours.
    ours = palette.locator(".lm-CommandPalette-item[data-command^='onyx:'] .lm-CommandPalette-itemLabel")
    for words, found in (
        ("active cell", ["Onyx: Explain the active cell", "Onyx: Improve the active cell"]),
        ("new session", ["Onyx: New session"]),
    ):
        search(page, palette, words)
        expect(ours).to_have_text(found)
    page.keyboard.press("Escape")

    # The menu of a cell is ours alone, and says it in a word.
    notebook.panel.locator("[data-onyx=cell-menu]").first.click()
    entries = page.locator(".lm-Menu-item[data-command^='onyx:'] .lm-Menu-itemLabel")
    expect(entries.filter(visible=True)).to_have_text(["Explain", "Improve", "Add to chat"])


def test_launcher_starts_conversation_in_closed_sidebar(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage
) -> None:
    sidebar, _ = open_lab()
    page = sidebar.page
    stage.play("Hello.")
    sidebar.ask("Good morning")
    expect(sidebar.answers).to_have_text(["Hello."])
    sidebar.wait_for_end()
    page.locator(".jp-SideBar .lm-TabBar-tab[data-id=onyx-chat]").click()
    expect(sidebar.node).not_to_be_visible()

    page.locator(".lm-MenuBar-item", has_text="File").click()
    page.locator(".lm-Menu-item[data-command='launcher:create']").click()
    card = page.locator(".jp-LauncherCard:visible", has_text="Onyx chat")
    expect(card.locator("svg[data-icon='onyx:stone']")).to_be_visible()
    card.click()
    expect(sidebar.empty).to_be_visible()
    expect(sidebar.input).to_be_focused()
    expect(card).to_be_visible()

    page.locator(".jp-LauncherCard:visible", has_text="Onyx skills").click()
    expect(page.locator("#onyx-skills")).to_be_visible()
