"""Where a change goes: into the open notebook's own model, or through the contents API when it is open nowhere."""

import json
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer, until
from tests.e2e.sidebar import Notebook, Sidebar, source_of
from tests.e2e.stage import Stage


def sources_on_disk(path: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(path.read_text("utf-8"))["cells"]]


def insertion(path: Path, source: str) -> Call:
    return Call("notebook_insert_cell", {"path": path.name, "cellType": "code", "source": source})


def test_closed_notebook_is_changed_on_disk_and_shows_it_when_opened(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], lab: LabServer, stage: Stage, name: str
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

    sidebar.page.get_by_role("listitem", name=closed.name).or_(
        sidebar.page.locator(".jp-DirListing-item", has_text=closed.name)
    ).first.dblclick()
    notebook.wait(cells=2)
    assert source_of(notebook.source(1)) == "2 + 2"


def test_open_notebook_is_never_written_under(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], tabs: Tabs, lab: LabServer, stage: Stage, name: str
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
    assert sources_on_disk(path) == ["'mine'"]

    notebook.save()
    until(lambda: len(sources_on_disk(path)) == 2)
    mine, theirs = sources_on_disk(path)
    assert "# not saved yet" in mine
    assert theirs == "'from onyx'"
    expect(sidebar.page.locator(".jp-Dialog")).to_have_count(0)
