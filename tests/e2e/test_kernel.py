"""The kernel of the notebook in front: looked into while a cell runs, and restarted where one sees it."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage, tool_results

Opened = Callable[..., tuple[Sidebar, Notebook]]


def test_running_kernel_is_inspected_runs_scratch_code_and_restarts(open_lab: Opened, stage: Stage, name: str) -> None:
    sidebar, notebook = open_lab("x = 41\nprint('on', flush=True)\nimport time; time.sleep(600)")
    path = f"{name}.ipynb"
    prompt = sidebar.page.locator(".jp-InputArea-prompt").first
    expect(sidebar.page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    notebook.source(0).click()
    sidebar.page.keyboard.press("Control+Enter")
    expect(sidebar.page.locator(".jp-OutputArea-output").first).to_have_text("on")

    look = Call("more_tools", {"tool": "kernel_variables", "arguments": {"path": path}})
    stage.play([look], [Call("notebook_restart_kernel", {"path": path})], "Restarted.")
    sidebar.ask("What is in the kernel? Then restart it.")
    sidebar.approvals.wait_for()
    assert "x (int): 41" in tool_results(stage.asked[1])[0]
    expect(prompt).to_have_text("[*]:")
    sidebar.hook("approve-once").click()
    expect(prompt).to_have_text("[ ]:")
    sidebar.wait_for_end()
    expect(sidebar.page.locator(".jp-Dialog")).to_have_count(0)

    scratch = {"path": path, "code": "y = 6 * 7\nprint('x' in globals(), y)"}
    stage.play([Call("more_tools", {"tool": "kernel_execute", "arguments": scratch})], "42.")
    sidebar.ask("Calculate")
    expect(sidebar.hook("approval-source")).to_have_text(scratch["code"])
    expect(sidebar.hook("approval-where")).to_contain_text(re.compile("in the kernel of"))
    sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
    assert tool_results(stage.asked[1])[-1].strip().endswith("False 42")
    expect(notebook.cells).to_have_count(1)
    expect(prompt).to_have_text("[ ]:")


def test_stop_while_agent_cell_waits_spares_user_cell_and_later_edits(
    open_lab: Opened, lab: LabServer, stage: Stage, name: str
) -> None:
    mine = f"import os, time\nwhile not os.path.exists('{name}.go'): time.sleep(0.05)\nprint('mine ran through')"
    sidebar, notebook = open_lab(mine, "print('theirs')")
    notebook.wait_for_kernel()
    notebook.source(0).click()
    sidebar.page.keyboard.press("Control+Enter")
    prompts = sidebar.page.locator(".jp-InputArea-prompt")
    expect(prompts.first).to_have_text("[*]:")

    stage.play([Call("notebook_run_cell", {"path": f"{name}.ipynb", "cellId": "cell-2"})], "Not asked for.")
    sidebar.ask("Run the second cell")
    sidebar.hook("approve-once").click()
    expect(sidebar.card("notebook_run_cell")).to_contain_text("Waiting for the kernel", timeout=20_000)
    expect(prompts.nth(1)).to_have_text("[ ]:")
    sidebar.hook("stop").click()
    expect(sidebar.hook("stop")).to_have_count(0)

    stage.play([Call("notebook_run_cell", {"path": f"{name}.ipynb", "cellId": "cell-2"})], "It was changed.")
    sidebar.ask("Run it all the same")
    sidebar.hook("approve-once").click()
    expect(sidebar.card("notebook_run_cell").last).to_contain_text("Waiting for the kernel", timeout=20_000)
    notebook.source(1).click()
    sidebar.page.keyboard.press("Control+End")
    sidebar.page.keyboard.type("; print('typed since')")
    (lab.files / f"{name}.go").touch()
    expect(notebook.output(0)).to_have_text("mine ran through")
    sidebar.wait_for_end()
    assert "print('theirs'); print('typed since')" in tool_results(stage.asked[1])[-1]
    expect(notebook.output(1)).to_have_count(0)

    stage.play([Call("notebook_run_cell", {"path": f"{name}.ipynb", "cellId": "cell-2"})], "It ran.")
    sidebar.ask("Now run it")
    sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
    expect(notebook.output(1)).to_have_text("theirs\ntyped since")
