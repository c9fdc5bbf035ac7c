"""The same sidebar in Notebook 7, from the same server."""

import re

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.memory_panel import MemoryPanel
from tests.e2e.sidebar import Notebook, Sidebar, source_of
from tests.e2e.skills_panel import SkillsPanel, choose
from tests.e2e.stage import Stage


def test_question_is_answered_and_cell_inserted(tabs: Tabs, lab: LabServer, stage: Stage, name: str) -> None:
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
        "There it is, in cell 2, not in cell 9.",
    )
    sidebar.ask("Add a cell")
    expect(sidebar.answers.first).to_contain_text("Hello, Notebook.")
    sidebar.hook("approve-once").click()
    expect(notebook.cells).to_have_count(2)
    assert source_of(notebook.source(1)) == "6 * 7"
    expect(sidebar.answers.last).to_contain_text("There it is")

    # A cell that the answer names is a link to it.
    notebook.cells.first.click()
    sidebar.hook("cell-reference").first.click()
    expect(notebook.cells.nth(1)).to_have_class(re.compile("jp-mod-active"))
    sidebar.hook("cell-reference").last.click()
    expect(page.locator(".Toastify__toast")).to_contain_text(f"{name}.ipynb has no cell 9.")


def test_panels_open_beside_notebook_and_are_restored(tabs: Tabs, lab: LabServer, name: str) -> None:
    """The main area is the notebook's alone there."""
    lab.notebook(f"{name}.ipynb", "rows = 3  # how many")
    page = tabs.new()
    page.goto(lab.url(f"notebooks/{name}.ipynb"))
    Notebook(page).wait(cells=1)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(error.stack or str(error)))
    skills, memory = SkillsPanel(page), MemoryPanel(page)
    for _ in range(2):
        choose(page, "View", "onyx:skills")
        expect(skills.skill("profile-table")).to_be_visible()
        choose(page, "View", "onyx:memory")
        expect(memory.search).to_be_visible()
        expect(skills.node).to_be_hidden()
    choose(page, "File", "onyx:save-as-skill")
    expect(skills.field("parameters").locator("textarea")).to_have_value("# Parameters\nrows: int = 3  # how many")
    assert [problem for problem in problems if "onyx" in problem] == []  # Notebook 7 has one of its own
