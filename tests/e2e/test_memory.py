"""What one tells Onyx is found again in another session, and one sees from which line."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from onyx_jupyter.testing.scripted_server import Received
from tests.e2e.lab_server import LabServer
from tests.e2e.memory_panel import MemoryPanel
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage


def test_memory_from_one_session_is_found_in_next_with_line(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], lab: LabServer, stage: Stage
) -> None:
    memory = lab.home / "workspace" / "MEMORY.md"
    sidebar, _ = open_lab("1")
    note = {"content": "- The herbarium's loan forms go to Solveig Brattli", "target": "MEMORY.md#Herbarium"}
    stage.play([Call("memory_write", note)], "I will remember that.")
    sidebar.ask("Remember: the herbarium's loan forms go to Solveig Brattli.")
    sidebar.approvals.locator("[data-onyx=approve-once]").click()
    sidebar.wait_for_end()
    line = memory.read_text("utf-8").splitlines().index(note["content"]) + 1

    sidebar.hook("new-session").click()
    expect(sidebar.said).to_have_count(0)
    stage.play([Call("memory_search", {"query": "herbarium loan forms", "limit": 1})], "To Solveig, MEMORY.md.")
    sidebar.ask("Where do the herbarium's loan forms go to?")
    sidebar.wait_for_end()
    card = sidebar.card("memory_search")
    card.click()
    expect(card).to_contain_text("Solveig Brattli")
    expect(card).to_contain_text(re.compile(rf"MEMORY\.md:(\d+–)?{line}(?!\d)"))


def test_remembered_fact_is_cited_in_next_session_as_sentence(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage
) -> None:
    fact = "The seed bank closes on 14 May"
    sidebar, _ = open_lab("1")
    page = sidebar.page
    stage.play([Call("more_tools", {"tool": "remember", "arguments": {"fact": fact, "category": "dates"}})], "Noted.")
    sidebar.ask("Remember that the seed bank closes on 14 May.")
    sidebar.approvals.locator("[data-onyx=approve-once]").click()
    sidebar.wait_for_end()

    # Asked in another session, the model knows it by its id, and what it cites leads there.
    sidebar.hook("new-session").click()
    expect(sidebar.said).to_have_count(0)
    stage.play(lambda request: f"On 14 May (memory/facts.jsonl#{id_in_prompt(request, fact)}).")
    sidebar.ask("Until when is the seed bank open?")
    sidebar.wait_for_end()
    sidebar.hook("memory-citation").click()
    panel = MemoryPanel(page)
    row = panel.hook("memory-fact").filter(has_text=fact)
    expect(row).to_have_attribute("data-marked", "true")
    expect(row).to_contain_text("dates")
    expect(row).to_contain_text("100 % sure")
    expect(panel.node).not_to_contain_text("schema_version")
    expect(panel.file("memory/facts.jsonl")).to_contain_text("Facts")

    # What a search finds leads to the same, by its line; and the row leads back to where it was told.
    stage.play([Call("memory_search", {"query": "seed bank closes", "limit": 1})], "On 14 May.")
    sidebar.ask("Look it up once more")
    sidebar.wait_for_end()
    panel.file("MEMORY.md").click()
    card = sidebar.card("memory_search")
    card.locator("button").first.click()
    card.locator("[data-onyx=memory-result]").press("Enter")
    expect(row).to_have_attribute("data-marked", "true")
    row.locator("[data-onyx=memory-session]").click()
    expect(sidebar.said.first).to_contain_text("Remember that the seed bank closes")
    remembered = sidebar.card("remember")
    remembered.locator("button").first.click()
    panel.file("MEMORY.md").click()
    remembered.locator("[data-onyx=open-memory]").click()
    expect(row).to_have_attribute("data-marked", "true")


def id_in_prompt(request: Received, fact: str) -> str:
    """Under which the request's instructions name that fact."""
    found = re.search(rf"- (f\d+), [\d-]+: {fact}", str(request.body["messages"][0]["content"]))
    assert found, "the model was not told of the fact"
    return found[1]
