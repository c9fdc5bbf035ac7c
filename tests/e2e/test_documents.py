"""Where a change goes: into the open notebook's own model, into the room in which it is open, or into its file.

Each story is played alone and together (jupyter-collaboration), with the tab open, closed, and closed in between.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.lab_server import LabServer, until
from tests.e2e.sidebar import Notebook, Sidebar, source_of
from tests.e2e.stage import Stage

Opened = Callable[..., tuple[Sidebar, Notebook]]


@pytest.fixture(params=["alone", "together"])
def lab(request: pytest.FixtureRequest) -> LabServer:
    fixture = {"alone": "shared_lab", "together": "together_lab"}[request.param]
    lab: LabServer = request.getfixturevalue(fixture)
    return lab


def sources_on_disk(path: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(path.read_text("utf-8"))["cells"]]


def insertion(path: Path, source: str) -> Call:
    return Call("notebook_insert_cell", {"path": path.name, "cellType": "code", "source": source})


def test_closed_notebook_is_changed_on_disk_and_shows_it_when_opened(
    open_lab: Opened, lab: LabServer, stage: Stage, name: str
) -> None:
    closed = lab.notebook(f"{name}-closed.ipynb", "1 + 1")
    sidebar, notebook = open_lab("'in front'")
    stage.play([insertion(closed, "2 + 2")], "Done.")
    sidebar.ask("Add a cell to the other notebook")
    expect(sidebar.approvals).to_contain_text(closed.name)
    assert sources_on_disk(closed) == ["1 + 1"]
    sidebar.hook("approve-once").click()
    expect(sidebar.answers.last).to_contain_text("Done.")
    assert sources_on_disk(closed) == ["1 + 1", "2 + 2"]
    expect(notebook.cells).to_have_count(1)

    sidebar.page.locator(".jp-DirListing-item", has_text=closed.name).first.dblclick()
    notebook.wait(cells=2)
    assert source_of(notebook.source(1)) == "2 + 2"


def test_open_notebook_is_changed_where_it_is_open_and_what_was_typed_stays(
    open_lab: Opened, lab: LabServer, stage: Stage, name: str
) -> None:
    sidebar, notebook = open_lab("'mine'")
    path = lab.files / f"{name}.ipynb"
    notebook.source(0).click()
    sidebar.page.keyboard.type("# not saved yet ")
    stage.play([insertion(path, "'from onyx'")], "Done.")
    sidebar.ask("Add a cell here")
    sidebar.hook("approve-once").click()
    expect(notebook.cells).to_have_count(2)
    sidebar.wait_for_end()
    notebook.save()
    until(lambda: len(sources_on_disk(path)) == 2)
    mine, theirs = sources_on_disk(path)
    assert "# not saved yet" in mine
    assert theirs == "'from onyx'"
    expect(sidebar.page.locator(".jp-Dialog")).to_have_count(0)
