"""Finding a conversation again by what was said in it."""

from collections.abc import Callable

from playwright.sync_api import Locator, expect

from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage

LONG = "\n\n".join(f"Paragraph {number} about nothing in particular." for number in range(40))


def search_until_found(sidebar: Sidebar, words: str) -> Locator:
    """A turn is read into the index behind its run, and the list does not change under who reads it."""
    field, match = sidebar.hook("session-search"), sidebar.hook("session-match")
    for _ in range(20):
        field.fill("")
        field.fill(words)
        try:
            expect(match).to_have_count(1, timeout=3_000)
            return match
        except AssertionError:
            continue
    expect(match).to_have_count(1)
    return match


def test_statement_is_found_in_session_list_and_opens_at_its_turn(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage
) -> None:
    sidebar, _ = open_lab()
    stage.play("In burrows on grassy cliffs.", LONG, "Five metres.")
    for question in ("Where do puffins nest?", "And what else is there?"):
        sidebar.ask(question)
        sidebar.wait_for_end()
        expect(sidebar.runs).to_have_count(1 if "puffins" in question else 2)
    sidebar.hook("new-session").click()
    sidebar.ask("How tall are giraffes?")
    expect(sidebar.answers).to_have_text(["Five metres."])
    sidebar.wait_for_end()

    # Neither a title nor how a session ends holds these words.
    sidebar.hook("session-title").click()
    match = search_until_found(sidebar, "grassy burrows")
    expect(match).to_have_text("Onyx: In burrows on grassy cliffs.")
    expect(match.locator("mark")).to_have_text(["burrows", "grassy"])
    sidebar.hook("session-search").press("Enter")

    found = sidebar.answers.first
    expect(found).to_have_text("In burrows on grassy cliffs.")
    expect(found).to_be_focused()
    expect(found).to_be_in_viewport()
    expect(sidebar.hook("jump-to-end")).to_be_visible()
