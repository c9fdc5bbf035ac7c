"""Cells that the agent runs in the tab: they ask, show widgets, are stopped, and die, as when a person runs them."""

import json
import re
from collections.abc import Callable

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from onyx_jupyter.testing.scripted_server import Received
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage, tool_results

Opened = Callable[..., tuple[Sidebar, Notebook]]

COUNTER = """from ipywidgets import Button
count = Button(description="Press")
count.on_click(lambda button: setattr(button, "description", f"pressed by {name}"))
count"""


def test_agent_runs_input_and_widget_cells_like_a_user(open_lab: Opened, stage: Stage, name: str) -> None:
    sidebar, notebook = open_lab("name = input('Who? ')\nprint('hello', name)", COUNTER)
    notebook.wait_for_kernel()
    stage.play([run(name, "cell-1")], [run(name, "cell-2")], "Press it.")
    sidebar.ask("Say hello, then show the button")
    sidebar.hook("approve-session").click()
    asks = notebook.cells.first.locator(".jp-Stdin-input")
    asks.fill("Ada")
    asks.press("Enter")
    sidebar.wait_for_end()
    assert "hello Ada" in tool_results(stage.asked[1])[-1]
    button = notebook.cells.nth(1).get_by_role("button", name=re.compile("press", re.IGNORECASE))
    expect(button).to_have_text("Press")
    button.click()
    expect(button).to_have_text("pressed by Ada")


def test_stop_interrupts_only_agent_cell_and_dead_kernel_is_reported(
    tabs: Tabs, lab: LabServer, stage: Stage, name: str
) -> None:
    long = "x = 1\nprint('on', flush=True)\nimport time; time.sleep(600)"
    file = lab.notebook(f"{name}.ipynb", "print('not me')", long, "print('still', x)", "import os; os._exit(1)")
    content = json.loads(file.read_text("utf-8"))
    content["cells"][1]["id"] = "cell-1"  # as a tool that copies cells may leave it
    file.write_text(json.dumps(content), "utf-8")
    sidebar, notebook = tabs.open(lab, file.name, name)
    notebook.wait(cells=4)
    notebook.wait_for_kernel()

    stage.play([Call("notebook_outline", {"path": file.name})], lambda asked: [run(name, second_cell(asked))])
    sidebar.ask("Run the long one")
    sidebar.hook("approve-session").click()
    expect(notebook.output(1)).to_have_text("on")
    sidebar.hook("stop").click()
    sidebar.wait_for_end("aborted")
    expect(notebook.output(1).last).to_contain_text("KeyboardInterrupt")
    expect(sidebar.page.locator("#jp-main-statusbar")).to_contain_text("| Idle")
    expect(notebook.output(0)).to_have_count(0)

    # The kernel that was interrupted keeps its variables; the one that dies does not, and the model hears of it.
    stage.play([run(name, "cell-3")], [run(name, "cell-4")], "It died.")
    sidebar.ask("And the others")
    sidebar.wait_for_end()
    assert "still 1" in tool_results(stage.asked[1])[-1]
    told = tool_results(stage.asked[2])[-1]
    assert "kernel died" in told
    assert "stopped" not in told


def run(name: str, cell_id: str) -> Call:
    return Call("notebook_run_cell", {"path": f"{name}.ipynb", "cellId": cell_id})


def second_cell(asked: Received) -> str:
    """Its id, which the tab gave it, from the outline."""
    found = re.search(r"^2 (\S+) code", tool_results(asked)[-1], re.MULTILINE)
    assert found, tool_results(asked)[-1]
    assert found[1] != "cell-1"
    return found[1]
