"""Another agent answers: it is chosen like a model, and edits the open notebook after a yes."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.acp.agent_house import SCRIPT
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import added_lines, source_of
from tests.e2e.stage import Stage

SOURCE = 'print("from another agent")'


@pytest.fixture(scope="module")
def agent_lab(provider: Stage, chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A server with the scripted agent."""
    agents = {"scripted": {"command": sys.executable, "args": [str(Path(SCRIPT))]}}
    lab = LabServer(tmp_path_factory.mktemp("agent"), {**provider.config(embedder="none"), "acp": {"agents": agents}})
    lab.start()
    yield lab
    lab.stop()


def test_another_agent_is_chosen_and_edits_the_open_notebook_after_an_approval(
    tabs: Tabs, agent_lab: LabServer, stage: Stage, name: str
) -> None:
    path = agent_lab.notebook(f"{name}.ipynb", "x = 1").name
    sidebar, notebook = tabs.open(agent_lab, path, name)
    notebook.wait(cells=1)
    sidebar.models.select_option("acp/scripted")

    # It asks with Onyx's card, and nothing has happened yet.
    insert = {"path": path, "cellType": "code", "source": SOURCE, "run": True}
    sidebar.ask(f"plan look,change\nsay I add a cell.\ncall notebook_insert_cell {json.dumps(insert)}\nsay Done.")
    card = sidebar.approvals
    expect(card).to_contain_text("Insert a code cell")
    assert added_lines(card.locator("[data-onyx=diff]")) == SOURCE
    expect(notebook.cells).to_have_count(1)

    # Allowed, the cell stands in the open notebook, and has run there.
    sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
    expect(notebook.cells).to_have_count(2)
    assert source_of(notebook.source(1)) == SOURCE
    expect(notebook.output(1)).to_have_text("from another agent\n")
    expect(sidebar.answers.last).to_contain_text("Done.")

    # Its own command is asked about as any other, and a no is told to it.
    sidebar.ask("run rm -rf data\nsay Then not.")
    expect(card.locator("[data-onyx=approval-source]")).to_have_text("rm -rf data")
    sidebar.hook("deny").click()
    sidebar.hook("deny-reason").press("Enter")
    sidebar.wait_for_end()
    expect(sidebar.answers.last).to_contain_text("Then not.")

    # Stop ends it at once.
    sidebar.ask("hang")
    expect(sidebar.answers.last).to_contain_text("I begin,")
    sidebar.hook("stop").click()
    sidebar.wait_for_end("aborted")
    assert stage.asked == []
