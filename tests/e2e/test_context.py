"""What goes along with a message: by `@`, by drag, with one click under a traceback, and what is shown of it."""

from collections.abc import Callable

from playwright.sync_api import Locator, expect

from onyx_jupyter.testing.script import Call
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar, source_of
from tests.e2e.stage import Stage


def drag(notebook: Notebook, grip: Locator, target: Locator) -> None:
    """By mouse, as a person does: press, move a little, move there, let go."""
    mouse, begin, end = notebook.page.mouse, grip.bounding_box(), target.bounding_box()
    assert begin
    assert end
    mouse.move(begin["x"] + begin["width"] / 2, begin["y"] + begin["height"] / 2)
    mouse.down()
    mouse.move(begin["x"] + begin["width"] / 2 + 15, begin["y"] + begin["height"] / 2 + 15, steps=4)
    mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=6)


def test_files_variables_and_cells_can_be_attached_by_at_and_drag(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], lab: LabServer, stage: Stage, name: str
) -> None:
    lab.files.joinpath("notes-on-it.txt").write_text("The year starts in April.")
    sidebar, notebook = open_lab("fiscal = 4", "print(6 * 7)")
    stage.play("Both seen.")

    # By @: narrowed as one types, chosen with Enter, which does not send.
    sidebar.input.click()
    sidebar.input.press_sequentially("Compare @notes-on")
    option = sidebar.hook("mention")
    expect(option.first).to_have_text("notes-on-it.txt")
    expect(option.first).to_have_attribute("aria-selected", "true")
    sidebar.input.press("Enter")
    expect(sidebar.input).to_have_value("Compare ")
    chips = sidebar.hook("chip")
    expect(chips).to_have_text([f"{name}.ipynb", "notes-on-it.txt"])

    # A variable, as soon as its kernel has it, by the button that opens the same menu.
    notebook.run(0)
    sidebar.hook("add-context").click()
    expect(sidebar.input).to_be_focused()
    sidebar.input.press_sequentially("fisc")
    variable = option.and_(sidebar.page.locator("[data-section=variables]"))
    expect(variable).to_have_text("fiscal4")
    variable.click()
    expect(sidebar.input).to_have_value("Compare ")
    expect(chips.last).to_have_text("fiscal")

    # By drag, with the place to drop shown; the cell stays in its notebook.
    prompt = notebook.cells.nth(1).locator(".jp-InputPrompt")
    prompt.click()
    drag(notebook, prompt, sidebar.input)
    expect(sidebar.page.locator(".onyx-Chat.onyx-mod-drop")).to_be_visible()
    sidebar.page.mouse.up()
    expect(chips).to_have_text([f"{name}.ipynb", "notes-on-it.txt", "fiscal", "cell 2"])
    expect(notebook.cells).to_have_count(2)

    # Before it is sent: the very text, and how much it is.
    chips.last.locator("[data-onyx=chip-name]").click()
    preview = sidebar.hook("chip-preview")
    expect(preview.locator("[data-onyx=sent-text]")).to_contain_text("print(6 * 7)")
    expect(preview.locator("[data-onyx=sent-tokens]")).to_contain_text("tokens")
    before = preview.locator("[data-onyx=sent-text]").inner_text()

    # Beside a draft it outlives a reload; sent, only the notebook in front stays.
    sidebar.page.reload()
    sidebar.show()
    notebook.wait(cells=2)
    expect(chips).to_have_count(4)
    sidebar.input.press("Enter")
    expect(sidebar.answers.last).to_contain_text("Both seen.")
    expect(chips).to_have_text([f"{name}.ipynb"])
    asked = stage.asked[0].last_user_text
    assert before in asked
    assert "The year starts in April." in asked
    assert "variable fiscal of" in asked

    # Afterwards: on the message, also after a reload, whatever has changed since.
    lab.files.joinpath("notes-on-it.txt").write_text("Something else.")
    sidebar.page.reload()
    sidebar.show()
    line = sidebar.said.first.locator("[data-onyx=sent-context]")
    expect(line).to_have_text(f"{name}.ipynb · notes-on-it.txt · fiscal · cell 2")
    line.click()
    texts = sidebar.said.first.locator("[data-onyx=sent-text]")
    expect(texts).to_have_count(3)
    expect(texts.first).to_contain_text("The year starts in April.")
    assert texts.last.inner_text() == before


def test_fix_under_traceback_opens_sidebar_and_gets_answer(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage, name: str
) -> None:
    sidebar, notebook = open_lab("1 / 0", "'fine'")
    page = sidebar.page
    notebook.run(0)
    row = notebook.cells.first.locator("[data-onyx=error-actions]")
    expect(row).to_be_visible()

    # The row is no part of the notebook: it is there again for the stored error, and the file knows nothing of it.
    notebook.save()
    page.reload()
    expect(row).to_be_visible()
    sidebar.show()
    page.locator(".jp-SideBar li[data-id=onyx-chat]").click()
    expect(sidebar.node).to_be_hidden()

    edit = Call("notebook_edit_cell", {"path": f"{name}.ipynb", "cellId": "cell-1", "source": "1 / 1"})
    stage.play(["It divides by zero.", edit], "Mended.")
    row.locator("[data-onyx=fix-error]").click()
    expect(sidebar.said).to_have_count(1)
    expect(sidebar.said).to_contain_text("Fix the error in cell 1.")
    expect(sidebar.said.locator("[data-onyx=sent-context]")).to_have_text("Error in cell 1")
    expect(sidebar.approvals).to_be_visible()
    asked = stage.asked[0].last_user_text
    assert "1 / 0\n--- error:\n" in asked
    assert "ZeroDivisionError: division by zero" in asked
    assert "'fine'" not in asked
    sidebar.hook("approve-once").click()
    expect(sidebar.answers.last).to_contain_text("Mended.")
    assert source_of(notebook.source(0)) == "1 / 1"

    # From the cell's own toolbar: explaining changes nothing, so it goes with the tools that only read.
    stage.play("It is a text.")
    notebook.cells.nth(1).click(position={"x": 200, "y": 12})
    notebook.cells.nth(1).locator("[data-onyx=cell-menu]").click()
    labels = page.locator(".lm-Menu-content > li:not(.lm-mod-hidden) .lm-Menu-itemLabel")
    expect(labels).to_have_text(["Explain", "Improve", "Add to chat"])
    labels.first.click()
    expect(sidebar.answers.last).to_contain_text("It is a text.")
    expect(sidebar.said.last).to_contain_text("Explain cell 2.")
    assert "'fine'" in stage.asked[0].last_user_text
    tools = {tool["function"]["name"] for tool in stage.asked[0].body["tools"]}
    assert "notebook_read" in tools
    assert "notebook_edit_cell" not in tools

    # And from what a cell shows.
    stage.play("It shows itself.")
    notebook.run(1)
    notebook.cells.nth(1).locator(".jp-OutputArea-output").click(button="right")
    page.locator(".lm-Menu-item", has_text="Onyx").first.hover()
    page.locator('.lm-Menu-item[data-command="onyx:explain-output"]').click()
    expect(sidebar.answers.last).to_contain_text("It shows itself.")
    expect(sidebar.said.last).to_contain_text("Explain what cell 2 shows.")
    assert "--- output:" in stage.asked[0].last_user_text


def test_explain_under_stored_error_in_notebook_7(tabs: Tabs, lab: LabServer, stage: Stage, name: str) -> None:
    path = lab.notebook(f"{name}.ipynb", "nothing")
    error = (
        '{"output_type": "error", "ename": "NameError", "evalue": "no nothing", "traceback": ["NameError: no nothing"]}'
    )
    path.write_text(path.read_text().replace('"outputs": []', f'"outputs": [{error}]'))
    page = tabs.new()
    page.goto(lab.url(f"notebooks/{path.name}"))
    sidebar, notebook = Sidebar(page), Notebook(page)
    notebook.wait(cells=1)
    stage.play("There is no such name.")
    notebook.cells.first.locator("[data-onyx=explain-error]").click()
    expect(sidebar.answers.last).to_contain_text("There is no such name.")
    assert "NameError: no nothing" in stage.asked[0].last_user_text
