"""What memory has to say to a message goes along unasked: one sees which lines, and what became of them since."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.memory_panel import MemoryPanel
from tests.e2e.sidebar import Sidebar, overflowing
from tests.e2e.stage import Stage

QUESTION = "Where do the herbarium's loan forms go to?"
ENTRY = "- The herbarium's loan forms go to Solveig Brattli"


@pytest.fixture
def lab(provider: Stage, chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A server that recalls."""
    config = {**provider.config(), "memory": {"consolidation": False}}
    lab = LabServer(tmp_path_factory.mktemp("recalling"), config)
    lab.start()
    yield lab
    lab.stop()


def recalled(sidebar: Sidebar, stage: Stage, number: int) -> Locator:
    """The line below the message that brought the note along: the first, or where the search took longer the next."""
    for answer in ("To Solveig.", "As I said."):
        stage.play(answer)
        sidebar.ask(QUESTION)
        expect(sidebar.answers.last).to_contain_text(answer)
        sidebar.wait_for_end()
    lines = sidebar.said.locator("[data-onyx=sent-context]").filter(has_text="memory ·")
    expect(lines).to_have_count(number)
    return lines.last


def test_relevant_note_is_attached_and_again_after_correction(
    tabs: Tabs, lab: LabServer, stage: Stage, name: str
) -> None:
    memory = lab.home / "workspace" / "MEMORY.md"
    memory.parent.mkdir(parents=True, exist_ok=True)
    memory.write_text(f"# Memory\n\n## Herbarium\n\n{ENTRY}\n", "utf-8")
    sidebar, _ = tabs.open(lab, lab.notebook(f"{name}.ipynb").name, name)
    panel = MemoryPanel(sidebar.page)
    panel.show()
    expect(panel.hook("memory-status")).to_contain_text("Search by meaning and keywords")

    line = recalled(sidebar, stage, 1)
    expect(line).to_have_text(re.compile(r"^memory · MEMORY\.md:\d"))
    line.click()
    text = sidebar.hook("sent-text")
    expect(text).to_contain_text("Solveig Brattli")
    assert overflowing(sidebar) == []
    sidebar.hook("memory-recalled").click()
    expect(panel.marked().last).to_contain_text("Solveig Brattli")

    # What a conversation has is not sent again, until its person has corrected it.
    memory.write_text(memory.read_text("utf-8").replace("Solveig Brattli", "Noor Haddad"), "utf-8")
    panel.search.fill("herbarium loan forms Noor")
    expect(panel.hook("memory-result").first).to_contain_text("Noor Haddad")
    line = recalled(sidebar, stage, 2)
    line.click()
    expect(text.last).to_contain_text("changed since it was sent before")
    expect(text.last).to_contain_text("Noor Haddad")
    assert any("Noor Haddad" in str(message) for message in stage.asked[-1].body["messages"])

    sidebar.page.reload()
    sidebar.show()
    expect(sidebar.said.locator("[data-onyx=sent-context]").filter(has_text="memory ·")).to_have_count(2)
