"""Where a change goes: into the open notebook's own model, into the room in which it is open, or into its file.

Each story is played alone and together (jupyter-collaboration), with the tab open, closed, and closed in between.
"""

import json
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from playwright.sync_api import expect

from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.testing.script import Call, Hold, Say
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer, until
from tests.e2e.sidebar import Notebook, Sidebar, source_of
from tests.e2e.stage import Stage, tool_results

Opened = Callable[..., tuple[Sidebar, Notebook]]


@pytest.fixture(params=["alone", "together"])
def lab(request: pytest.FixtureRequest) -> LabServer:
    fixture = {"alone": "shared_lab", "together": "together_lab"}[request.param]
    lab: LabServer = request.getfixturevalue(fixture)
    return lab


def sources_on_disk(path: Path) -> list[str]:
    """None of them while the file is being written: Jupyter writes it in place."""
    try:
        cells = json.loads(path.read_text("utf-8"))["cells"]
    except json.JSONDecodeError:
        return []
    return ["".join(cell["source"]) for cell in cells]


def insertion(path: Path, source: str) -> Call:
    return Call("notebook_insert_cell", {"path": path.name, "cellType": "code", "source": source})


def test_closed_notebook_is_changed_on_disk_and_shown_when_opened(
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


def test_open_notebook_is_changed_in_place_and_typed_text_stays(
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


def test_closing_tab_during_turn_loses_nothing(
    open_lab: Opened, tabs: Tabs, lab: LabServer, stage: Stage, name: str
) -> None:
    path = lab.notebook(f"{name}-other.ipynb", "'first'")
    sidebar, _ = open_lab("'in front'")
    other = tabs.new()
    other.goto(lab.url(f"lab/workspaces/{name}-other/tree/{path.name}", reset=""))
    beside = Notebook(other)
    beside.wait(cells=1)
    beside.wait_for_kernel()  # Jupyter counts a page that closes while it connects to its kernel as one that is open
    closed = Hold(released=Event())
    stage.play(
        [insertion(path, "'while open'")],
        [Say("It will be closed now."), closed, insertion(path, "'after that'")],
        [Call("notebook_read", {"path": path.name})],
        "Done.",
    )
    sidebar.ask("Add a cell there, and one more")
    sidebar.hook("approve-session").click()
    beside.wait(cells=2)
    beside.save()
    until(lambda: len(sources_on_disk(path)) == 2)
    expect(sidebar.answers.last).to_contain_text("closed now")
    other.close()
    closed.released.set()
    expect(sidebar.answers.last).to_contain_text("Done.")
    # A room outlives its last visitor for a while, and has the last word about the file as long.
    where = "open in a collaboration room" if lab.collaboration else "not open"
    assert where in tool_results(stage.asked[-1])[-1].splitlines()[0]
    until(lambda: len(sources_on_disk(path)) == 3)
    assert sources_on_disk(path) == ["'first'", "'while open'", "'after that'"]

    sidebar.page.locator(".jp-DirListing-item", has_text=path.name).first.dblclick()
    Notebook(sidebar.page).wait(cells=3)
    expect(sidebar.page.locator(".jp-Dialog")).to_have_count(0)


def test_closing_notebook_while_cell_runs_is_reported_and_loses_nothing(
    open_lab: Opened, lab: LabServer, stage: Stage, name: str
) -> None:
    go = lab.files / f"{name}.go"
    waits = f"import pathlib, time\nwhile not pathlib.Path({go.name!r}).exists():\n    time.sleep(0.05)"
    path = lab.notebook(f"{name}-other.ipynb", f"print('waits', flush=True)\n{waits}")
    sidebar, notebook = open_lab("'in front'")
    page = sidebar.page
    page.locator(".jp-DirListing-item", has_text=path.name).first.dblclick()
    expect(notebook.source(0)).to_contain_text("waits")
    notebook.wait_for_kernel()
    stage.play(
        [insertion(path, "'while open'")],
        [Call("notebook_run_cell", {"path": path.name, "cellId": "cell-1"})],
        [insertion(path, "'after that'")],
        [Call("notebook_read", {"path": path.name})],
        "Done.",
    )
    sidebar.ask("Add a cell there, run the first, and add one more")
    for approval in ("Insert a code cell", "Run cell 1"):
        expect(sidebar.approvals).to_contain_text(approval)
        sidebar.hook("approve-session").click()
    expect(notebook.output(0)).to_have_text("waits")
    # A room keeps what one would lose alone; whether JupyterLab asks there hangs on what the room has saved already.
    button = page.locator(".jp-Dialog").get_by_role("button", name="Discard" if lab.collaboration else "Save")
    page.add_locator_handler(button, lambda button: button.click(), times=1)
    page.locator(".lm-DockPanel-tabBar .lm-mod-current .lm-TabBar-tabCloseIcon").click()
    expect(sidebar.answers.last).to_contain_text("Done.")
    assert "may still be running" in tool_results(stage.asked[2])[-1]
    where = "open in a collaboration room" if lab.collaboration else "not open"
    assert where in tool_results(stage.asked[-1])[-1].splitlines()[0]
    go.touch()
    until(lambda: len(sources_on_disk(path)) == 3)
    assert sources_on_disk(path)[1:] == ["'while open'", "'after that'"]

    page.locator(".jp-DirListing-item", has_text=path.name).first.dblclick()
    notebook.wait(cells=3)
    expect(page.locator(".jp-Dialog")).to_have_count(0)


def test_typing_in_edited_cell_keeps_caret_keystrokes_and_undo(
    open_lab: Opened, lab: LabServer, stage: Stage, name: str
) -> None:
    sidebar, notebook = open_lab("first = 1\nsecond = 2")
    page, cell, path = sidebar.page, notebook.source(0), f"{name}.ipynb"
    cell.locator(".cm-line").nth(1).click()
    page.keyboard.press("End")
    page.keyboard.type(" # min")
    edit = {"path": path, "cellId": "cell-1", "source": "first = 10\nsecond = 2 # min"}
    stage.play(
        [Call("notebook_edit_cell", {**edit, "baseHash": cell_hash("first = 1\nsecond = 2")})],
        [Call("notebook_edit_cell", {**edit, "baseHash": cell_hash("first = 1\nsecond = 2 # min")})],
        "Done.",
    )
    sidebar.ask("Make it ten")
    expect(sidebar.approvals).to_have_count(1)
    assert "second = 2 # min" in tool_results(stage.asked[1])[-1]  # refused, with what stands there now
    sidebar.hook("approve-once").click()
    expect(sidebar.answers.last).to_contain_text("Done.")
    assert source_of(cell) == "first = 10\nsecond = 2 # min"

    cell.evaluate("editor => editor.focus()")  # without a click, which would move the caret
    page.keyboard.type("e")
    assert source_of(cell) == "first = 10\nsecond = 2 # mine"
    page.keyboard.press("Escape")
    page.keyboard.press("z")
    expect(cell).not_to_contain_text("10")
    assert source_of(cell) == "first = 1\nsecond = 2 # mine"


@pytest.mark.parametrize("lab", ["alone"], indirect=True)
def test_off_screen_cell_runs_in_background_page(open_lab: Opened, lab: LabServer, stage: Stage, name: str) -> None:
    sources = [f"print('cell', {number})" for number in range(150)]
    long = lab.notebook(f"{name}-long.ipynb", "print('warm')", *sources)
    sidebar, _ = open_lab("'in front'")
    page = sidebar.page
    page.locator(".jp-DirListing-item", has_text=long.name).first.dblclick()
    Notebook(page).cells.first.wait_for()
    hidden = Hold(released=Event())
    stage.play(
        [Call("notebook_run_cell", {"path": long.name, "cellId": "cell-1"})],
        [Say("In the background now."), hidden, Call("notebook_run_cell", {"path": long.name, "cellId": "cell-149"})],
        "Done.",
    )
    sidebar.ask("Run the first and the last but one")
    sidebar.hook("approve-session").click()
    expect(sidebar.answers.last).to_contain_text("background now")
    page.get_by_role("tab", name=f"{name}.ipynb").click()
    page.evaluate("window.requestAnimationFrame = () => 0")  # as in a page that nobody sees
    hidden.released.set()
    until(lambda: len(stage.asked) == 3)
    assert "cell 147" in tool_results(stage.asked[2])[-1]
