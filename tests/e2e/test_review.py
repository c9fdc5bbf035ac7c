"""What a turn changed in a notebook is marked there, kept, rejected, undone and put back, over reloads and restarts."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from onyx_jupyter.testing.script import Call
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.review import Review, allow
from tests.e2e.sidebar import Notebook, Sidebar, source_of
from tests.e2e.stage import Stage, tool_results

LOOP = "total = 0\nfor x in [1, 2, 3]:\n    total += x\nprint(total)"
SUM = "total = sum([1, 2, 3])\nprint(f'total: {total}')"


def call(tool: str, path: str, **arguments: str) -> Call:
    return Call(f"notebook_{tool}", {"path": path, **arguments})


def more(tool: str, **arguments: object) -> Call:
    """A tool that stands behind `more_tools`."""
    return Call("more_tools", {"tool": f"notebook_{tool}", "arguments": arguments})


def sources(notebook: Notebook) -> list[str]:
    """Of every cell, as it stands in its editor."""
    return [source_of(cell.locator(".jp-InputArea-editor")) for cell in notebook.cells.all()]


def wait_for_sources(notebook: Notebook, *lines: str) -> None:
    """Until the notebook has exactly these cells, of one line each."""
    expect(notebook.cells.locator(".jp-InputArea-editor .cm-content")).to_have_text(list(lines))


def sources_on_disk(path: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(path.read_text("utf-8"))["cells"]]


def selected(notebook: Notebook) -> Locator:
    return notebook.panel.locator(".jp-Notebook-cell.jp-mod-active")


def test_marks_and_undo_survive_reload_and_restart(tabs: Tabs, mortal_lab: LabServer, stage: Stage, name: str) -> None:
    path = mortal_lab.notebook(f"{name}.ipynb", "import math", LOOP, "print('the end')").name
    sidebar, notebook = tabs.open(mortal_lab, path, name)
    notebook.wait(cells=3)
    # JupyterLab's own word on the server's going away.
    dismiss = sidebar.page.locator(".jp-Dialog-footer button").last
    sidebar.page.add_locator_handler(dismiss, lambda button: button.click())
    review = Review(sidebar.page)
    stage.play(
        [
            call("edit_cell", path, cellId="cell-2", source=SUM),
            call("insert_cell", path, cellType="code", source="print('new')", afterCellId="cell-1"),
            call("run_cell", path, cellId="cell-3"),
        ],
        "A sum is shorter than a loop.",
        "I see.",
    )
    sidebar.input.focus()
    sidebar.ask("Tidy this up")
    allow(sidebar, calls=3)

    # Two marks, one for each cell that looks otherwise, and nobody's place in the notebook has changed.
    expect(review.marks).to_have_count(2)
    expect(review.of("edited")).to_contain_text("Onyx · 4 lines changed")
    expect(review.of("added")).to_contain_text("Onyx · new cell")
    expect(review.all("review-count")).to_have_text("2 cells changed by Onyx")
    expect(review.below("undo")).to_be_visible()
    expect(selected(notebook).locator(".jp-InputArea-editor")).to_have_text("import math")
    expect(notebook.output(3)).to_have_text("the end\n")

    # The diff is there while the pointer or the keyboard rests on the words, and moves nothing.
    toggle, end = review.on(review.of("edited"), "diff-toggle"), notebook.cells.last
    place = end.bounding_box()
    toggle.hover()
    expect(review.peek.locator(".cm-deletedChunk")).to_contain_text("total += x")
    review.peek.hover()
    expect(review.peek).to_be_visible()
    assert end.bounding_box() == place
    sidebar.input.hover()
    expect(review.peek).to_have_count(0)
    review.on(review.of("edited"), "keep").focus()
    sidebar.page.keyboard.press("Shift+Tab")
    expect(toggle).to_be_focused()
    expect(review.peek).to_contain_text("total += x")
    sidebar.page.keyboard.press("Escape")
    expect(review.peek).to_have_count(0)
    expect(toggle).to_be_focused()

    # It is there for longer on a click, in the notebook's language, and cannot be typed into.
    review.on(review.of("edited"), "diff-toggle").click()
    diff = review.on(review.of("edited"), "diff")
    expect(diff.locator(".cm-deletedChunk")).to_contain_text("total += x")
    expect(diff.locator(".cm-content")).to_have_attribute("contenteditable", "false")
    review.on(review.of("edited"), "diff-toggle").click()
    expect(diff).to_have_count(0)

    # The marks stand in no file, and are there again after a reload.
    notebook.save()
    assert "onyx" not in mortal_lab.files.joinpath(path).read_text("utf-8").lower()
    sidebar.page.reload()
    sidebar.show()
    notebook.wait(cells=4)
    expect(review.marks).to_have_count(2)

    # One is rejected, one is kept: the bar goes.
    review.on(review.of("added"), "revert").click()
    expect(notebook.cells).to_have_count(3)
    expect(review.marks).to_have_count(1)
    review.on(review.of("edited"), "keep").click()
    expect(review.marks).to_have_count(0)
    expect(review.bar).to_be_hidden()
    assert sources(notebook) == ["import math", SUM, "print('the end')"]
    notebook.save()

    # After a restart of the server the turn is still there to be undone: what was kept, and the output of what ran.
    mortal_lab.kill()
    mortal_lab.start()
    sidebar.page.reload()
    sidebar.show()
    notebook.wait(cells=3)
    expect(review.turn).to_contain_text("2 cells changed")
    review.below("undo").click()
    expect(review.turn).to_contain_text("Undone")
    assert sources(notebook) == ["import math", LOOP, "print('the end')"]
    expect(notebook.output(2)).to_have_count(0)

    # And put back.
    review.below("put-back").click()
    expect(review.below("undo")).to_be_visible()
    assert sources(notebook) == ["import math", SUM, "print('the end')"]
    expect(notebook.output(2)).to_have_text("the end\n")
    review.below("undo").click()
    expect(review.below("put-back")).to_be_visible()

    # The model learns of it with the next message, and only then.
    sidebar.ask("Go on")
    expect(sidebar.answers.last).to_contain_text("I see.")
    assert f"the user rejected your changes to {path}" in stage.asked[2].last_user_text
    assert f"undid your changes to {path} (cells cell-2, cell-3)" in stage.asked[2].last_user_text


def test_later_user_edits_survive_undo_by_keyboard_and_in_closed_notebook(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], lab: LabServer, stage: Stage, name: str
) -> None:
    closed = lab.notebook(f"{name}-closed.ipynb", "1 + 1")
    sidebar, notebook = open_lab("a = 1", "b = 2", "c = 3")
    page, path = sidebar.page, f"{name}.ipynb"
    review = Review(page)
    stage.play(
        [
            call("edit_cell", path, cellId="cell-1", source="a = 10"),
            call("edit_cell", path, cellId="cell-2", source="b = 20"),
            call("insert_cell", path, cellType="markdown", source="# The end"),
            call("edit_cell", closed.name, cellId="cell-1", source="2 + 2"),
        ],
        "Done.",
    )
    sidebar.ask("Times ten")
    allow(sidebar, calls=4)
    expect(review.marks).to_have_count(3)
    assert sources_on_disk(closed) == ["2 + 2"]

    # From change to change, and one reverted, with keys alone; what one types in a cell is never taken away.
    notebook.source(1).click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" # mine")
    expect(review.marks.nth(1)).to_contain_text("changed by you since")
    expect(review.on(review.marks.nth(1), "revert")).to_have_count(0)
    expect(selected(notebook).locator(".jp-InputArea-editor .cm-content")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Alt+j")
    expect(selected(notebook)).to_contain_text("The end")
    page.keyboard.press("Control+Alt+j")
    expect(selected(notebook).locator(".jp-InputArea-editor")).to_have_text("a = 10")
    page.keyboard.press("Control+Alt+Backspace")
    expect(notebook.source(0)).to_have_text("a = 1")
    expect(review.marks).to_have_count(2)

    # The undo takes back the rest, here and where no tab is open, and says what it left alone.
    review.below("undo").click()
    expect(review.below("told")).to_have_text("1 cell was left as it is: you changed it since.")
    expect(review.below("undo")).to_have_text("Undo the rest")
    expect(review.below("put-back")).to_be_visible()
    expect(notebook.cells).to_have_count(3)
    assert sources(notebook) == ["a = 1", "b = 20 # mine", "c = 3"]
    assert sources_on_disk(closed) == ["1 + 1"]
    review.all("keep-all").click()
    expect(review.marks).to_have_count(0)

    # Put back is the same the other way round.
    review.below("put-back").click()
    expect(review.below("put-back")).to_have_count(0)
    expect(notebook.cells).to_have_count(4)
    assert sources(notebook)[:3] == ["a = 1", "b = 20 # mine", "c = 3"]
    assert sources_on_disk(closed) == ["2 + 2"]


@pytest.mark.parametrize("many", [60])
def test_review_scrolls_to_first_change_in_long_notebook_in_notebook_7(
    tabs: Tabs, lab: LabServer, stage: Stage, name: str, many: int
) -> None:
    path = lab.notebook(f"{name}.ipynb", *(f"x{n} = {n}" for n in range(many))).name
    page = tabs.new()
    page.goto(lab.url(f"notebooks/{path}"))
    sidebar, notebook, review = Sidebar(page), Notebook(page), Review(page)
    expect(notebook.source(0)).to_be_visible(timeout=60_000)
    sidebar.show()
    stage.play([call("edit_cell", path, cellId=f"cell-{many}", source="changed = True")], "Done.")
    sidebar.ask("Change the last cell")
    allow(sidebar, calls=1)
    expect(review.all("review-count")).to_have_text("1 cell changed by Onyx")
    expect(review.of("edited")).not_to_be_in_viewport()
    page.locator("[data-onyx=next-change]").click()
    expect(review.of("edited")).to_be_in_viewport()
    expect(review.of("edited")).to_contain_text("1 line changed")
    review.all("revert-all").click()
    expect(review.bar).to_be_hidden()
    expect(notebook.panel.get_by_text(f"x{many - 1} = {many - 1}")).to_be_visible()


def test_removed_moved_cells_and_new_notebook_with_two_collaborators(
    tabs: Tabs, together_lab: LabServer, stage: Stage, name: str
) -> None:
    lab, made = together_lab, f"{name}-made.ipynb"
    path = lab.notebook(f"{name}.ipynb", "a = 1", "b = 2", "c = 3").name
    sidebar, notebook = tabs.open(lab, path, name)
    notebook.wait(cells=3)
    _, other = tabs.open(lab, path, f"{name}-2")
    other.wait(cells=3)
    review, theirs = Review(sidebar.page), Review(other.page)
    cells = [{"cellType": "code", "source": "made = True"}]
    stage.play(
        [
            more("delete_cell", path=path, cellIds=["cell-2"]),
            more("move_cell", path=path, cellId="cell-3", atStart=True),
            more("create", path=made, cells=cells),
        ],
        "Done.",
    )
    sidebar.page.bring_to_front()
    sidebar.ask("Tidy up")
    allow(sidebar, calls=3)

    # Both see where a cell was, what stood in it, and from where the other one came.
    for seen in (review, theirs):
        expect(seen.of("deleted")).to_contain_text("Onyx removed a cell")
        expect(seen.of("moved")).to_contain_text("moved from below cell 2")
    review.on(review.of("deleted"), "diff-toggle").click()
    expect(review.on(review.of("deleted"), "diff")).to_contain_text("b = 2")

    # One puts it back: it is there once, for both, where it was.
    theirs.page.bring_to_front()
    theirs.on(theirs.of("deleted"), "revert").click()
    for place in (notebook, other):
        expect(place.cells).to_have_count(3)
    for seen in (review, theirs):
        expect(seen.marks).to_have_count(1)
    wait_for_sources(notebook, "c = 3", "a = 1", "b = 2")
    wait_for_sources(other, "c = 3", "a = 1", "b = 2")

    # The notebook that the turn made goes with the turn, from the disk and from the screen.
    sidebar.page.bring_to_front()
    tab = sidebar.page.locator(".lm-DockPanel .lm-TabBar-tab", has_text=made)
    sidebar.page.locator(".jp-DirListing-item", has_text=made).dblclick()
    expect(tab).to_have_count(1)
    expect(sidebar.page.get_by_text("made = True")).to_be_visible()
    review.below("undo").click()
    expect(review.below("told")).to_contain_text(f"{made} was removed.")
    expect(tab).to_have_count(0)
    assert not lab.files.joinpath(made).exists()
    wait_for_sources(notebook, "a = 1", "b = 2", "c = 3")
    wait_for_sources(other, "a = 1", "b = 2", "c = 3")
    expect(theirs.marks).to_have_count(0)

    review.below("put-back").click()
    expect(review.below("undo")).to_be_visible()
    assert sources_on_disk(lab.files / made) == ["made = True"]
    wait_for_sources(other, "c = 3", "a = 1", "b = 2")


def test_cell_run_by_user_keeps_place_and_outputs(tabs: Tabs, lab: LabServer, stage: Stage, name: str) -> None:
    gate = lab.files / f"{name}.open"
    wait = f"import pathlib, time\nwhile not pathlib.Path({gate.name!r}).exists():\n    time.sleep(0.05)"
    path = lab.notebook(f"{name}.ipynb", f"print('on', flush=True)\n{wait}\nprint('and on')", "'other'").name
    sidebar, notebook = tabs.open(lab, path, name)
    notebook.wait(cells=2)
    notebook.wait_for_kernel()
    review = Review(sidebar.page)
    move = more("move_cell", path=path, cellId="cell-1")
    stage.play([move], "Moved.", [more("move_cell", path=path, cellId="cell-1", atStart=True)], "Not now.")
    sidebar.ask("Put it at the end")
    allow(sidebar, calls=1)
    expect(notebook.source(1)).to_contain_text("and on")

    notebook.cells.nth(1).click(position={"x": 200, "y": 12})
    sidebar.page.keyboard.press("Control+Enter")
    expect(notebook.output(1)).to_have_text("on\n")

    # Neither the agent nor an undo takes it from under its own run.
    sidebar.ask("Put it back")
    allow(sidebar, calls=1)
    assert "Cell cell-1 is running" in tool_results(stage.asked[-1])[-1]
    review.below("undo").click()
    expect(review.below("told")).to_contain_text("1 cell was left as it is: it runs now.")
    gate.touch()
    expect(notebook.output(1)).to_have_text("on\nand on\n")

    review.below("undo").click()
    expect(notebook.source(0)).to_contain_text("and on")
    expect(notebook.output(0)).to_have_text("on\nand on\n")
    expect(review.turn).to_contain_text("Undone")
