"""What a conversation leaves in the memory by itself: told below the answer, compared, and taken back."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from onyx_jupyter.memory.consolidation import SYSTEM
from onyx_jupyter.testing.script import Reply
from onyx_jupyter.testing.scripted_server import Received
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import overflowing
from tests.e2e.stage import Stage

SAID = "Our fiscal year starts in April, reports are due then, and I plot with seaborn."
WHY = {"reason": "you said so", "sources": [1]}
WISHES = [
    {"op": "add", "section": "Facts", "content": "The fiscal year starts in April", **WHY},
    {"op": "add", "section": "Preferences", "content": "Plots with seaborn", **WHY},
    {"op": "add", "section": "Facts", "content": "In April reports go to account 4711-22", **WHY},
]


@pytest.fixture
def lab(provider: Stage, chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A server that looks through a conversation after each answer."""
    config = {**provider.config(), "memory": {"consolidationWindow": 2}}
    lab = LabServer(tmp_path_factory.mktemp("remembering"), config)
    lab.start()
    yield lab
    lab.stop()


def answer(request: Received) -> Reply:
    if request.body["messages"][0]["content"] != SYSTEM:
        return "Noted."
    return json.dumps({"operations": WISHES, "history": ""})


def test_statement_is_remembered_shown_and_undone(tabs: Tabs, lab: LabServer, stage: Stage, name: str) -> None:
    sidebar, _ = tabs.open(lab, lab.notebook(f"{name}.ipynb").name, name)
    stage.play(answer, answer)
    sidebar.ask(SAID)
    note = sidebar.hook("note")
    expect(note).to_contain_text("Remembered 2 things")
    memory = lab.home / "workspace/MEMORY.md"
    assert "- The fiscal year starts in April\n" in memory.read_text("utf-8")
    note.get_by_role("button", name="Remembered 2 things").click()
    expect(sidebar.hook("memory-change").first).to_contain_text("Facts · you said so")
    note.get_by_text("1 left out").click()
    expect(note).to_contain_text("'4711-22' was not mentioned there")
    sidebar.hook("memory-diff").click()
    expect(sidebar.hook("diff")).to_contain_text("Plots with seaborn")
    assert overflowing(sidebar) == []
    ours = memory.read_text("utf-8")
    memory.write_text(f"{ours}- Mine\n", "utf-8")
    sidebar.hook("memory-undo").click()
    expect(sidebar.hook("memory-refused")).to_contain_text("has changed since")
    assert memory.read_text("utf-8") == f"{ours}- Mine\n"
    memory.write_text(ours, "utf-8")
    sidebar.page.reload()
    sidebar.show()
    expect(note).to_contain_text("Remembered 2 things")
    sidebar.hook("memory-undo").click()
    expect(sidebar.hook("memory-undone")).to_be_visible()
    assert "fiscal" not in memory.read_text("utf-8")
