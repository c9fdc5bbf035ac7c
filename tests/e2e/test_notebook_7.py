"""The same sidebar in Notebook 7, from the same server."""

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar, source_of
from tests.e2e.stage import Stage


def test_question_is_answered_and_a_cell_inserted(tabs: Tabs, lab: LabServer, stage: Stage, name: str) -> None:
    lab.notebook(f"{name}.ipynb", "'here before'")
    page = tabs.new()
    page.goto(lab.url(f"notebooks/{name}.ipynb"))
    sidebar, notebook = Sidebar(page), Notebook(page)
    notebook.wait(cells=1)
    sidebar.show()
    stage.play(
        [
            "Hello, Notebook.",
            Call("notebook_insert_cell", {"path": f"{name}.ipynb", "cellType": "code", "source": "6 * 7"}),
        ],
        "There it is.",
    )
    sidebar.ask("Add a cell")
    expect(sidebar.answers.first).to_contain_text("Hello, Notebook.")
    sidebar.hook("approve-once").click()
    expect(notebook.cells).to_have_count(2)
    assert source_of(notebook.source(1)) == "6 * 7"
    expect(sidebar.answers.last).to_contain_text("There it is.")
