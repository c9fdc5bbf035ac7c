"""What one tells Onyx is found again in another session, and one sees from which line."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage


def test_what_is_told_in_one_session_is_found_in_the_next_with_its_line(
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
