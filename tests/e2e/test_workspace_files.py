"""Onyx's own files: seen while the agent writes them, opened from a card, edited, run as notebooks."""

from collections.abc import Callable

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.lab_server import LabServer, until
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage

NOTE = "onyx:notes/plan.md"


def test_agent_files_are_listed_opened_edited_and_run(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], lab: LabServer, stage: Stage, name: str
) -> None:
    sidebar, notebook = open_lab("1")
    page = sidebar.page
    workspace = lab.home / "workspace"
    page.locator(".jp-SideBar [data-id=onyx-files]").click()
    files = page.locator("[data-onyx=files]")
    entry = files.locator(".jp-DirListing-item")
    expect(entry.filter(has_text="runs")).to_have_count(1)
    names = [text.strip() for text in files.locator(".jp-DirListing-itemName").all_inner_texts()]
    assert (
        {"workspace", "shared", "skills", "runs"}
        <= set(names)
        <= {*("workspace", "shared", "skills", "runs", "packaged-skills")}
    )
    entry.filter(has_text="workspace").dblclick()
    expect(entry.filter(has_text="SOUL.md")).to_have_count(1)

    # What the agent writes appears by itself, and its card leads to it.
    stage.play([Call("write", {"path": NOTE, "content": "# Plan\n"})], "Written.")
    sidebar.ask("Write a plan")
    sidebar.hook("approve-once").click()
    expect(entry.filter(has_text="notes")).to_have_count(1)
    sidebar.wait_for_end()
    sidebar.card("write").locator("button").first.click()
    sidebar.hook("open-file").click()
    editor = page.locator(".jp-FileEditor:visible .cm-content")
    expect(editor).to_contain_text("# Plan")

    # Edited in JupyterLab's own editor, it is what the agent reads next.
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("- the person's line")
    page.keyboard.press("Control+s")
    until(lambda: "the person's line" in workspace.joinpath("notes", "plan.md").read_text())
    stage.play([Call("read", {"path": NOTE})], "Read.")
    sidebar.ask("Read it")
    expect(sidebar.answers.last).to_contain_text("Read.")
    assert "the person's line" in str(stage.asked[1].body["messages"][-1]["content"])

    # A notebook there has a kernel, and the agent works in its tab by either path.
    lab.notebook(f"../onyx/workspace/{name}.ipynb", "print(6 * 7)")
    files.locator("[data-command=refresh], .jp-ToolbarButton").last.click()
    entry.filter(has_text=f"{name}.ipynb").dblclick()
    notebook.wait(cells=1)
    insertion = Call("notebook_insert_cell", {"path": f"onyx:{name}.ipynb", "cellType": "code", "source": "'added'"})
    running = Call("notebook_run_cell", {"path": f"Onyx:workspace/{name}.ipynb", "cellId": "cell-1"})
    stage.play([insertion], [running], "Ran.")
    sidebar.ask("Add a cell and run the first one")
    sidebar.hook("approve-once").click()
    expect(notebook.cells).to_have_count(2)
    assert len(Notebook(page).panel.all()) == 1
    sidebar.hook("approve-once").click()
    expect(notebook.output(0)).to_have_text("42\n")
    sidebar.wait_for_end()
    assert "'added'" not in workspace.joinpath(f"{name}.ipynb").read_text()

    # After a reload it is open again, from the drive.
    notebook.panel.locator(".jp-Notebook").click(position={"x": 5, "y": 5})
    page.keyboard.press("Control+s")
    until(lambda: "'added'" in workspace.joinpath(f"{name}.ipynb").read_text())
    page.reload()
    sidebar.show()
    notebook.wait(cells=2)
    expect(page.locator(".jp-Dialog")).to_have_count(0)
