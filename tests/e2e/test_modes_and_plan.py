"""How much the assistant may do, chosen where one writes, and the plan that it keeps while it works."""

import os
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call, Hold
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar, source_of
from tests.e2e.stage import Stage, tool_results

STEPS = ("Load the table", "Fit the model", "Ask for the missing year", "Write down what it says")


def plan(*statuses: str) -> Call:
    steps = [{"text": text, "status": status} for text, status in zip(STEPS, statuses, strict=True)]
    return Call("plan_update", {"steps": steps})


def test_auto_works_without_approval_showing_plan_and_ask_only_reads(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], lab: LabServer, stage: Stage, name: str
) -> None:
    sidebar, notebook = open_lab("1")
    keys, picker = sidebar.page.keyboard, sidebar.hook("mode-picker")
    expect(picker).to_have_text("Agent")
    picker.focus()
    keys.press("ArrowUp")
    expect(sidebar.hook("mode")).to_have_count(3)
    shot(sidebar, "menu")
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(picker).to_have_text("Auto")
    expect(picker).to_be_focused()

    hold = Hold()
    cell = Call("notebook_insert_cell", {"path": f"{name}.ipynb", "cellType": "code", "source": "2 + 2"})
    never = Call("exec", {"command": f"touch {name}"})
    away = {"tool": "notebook_delete_cell", "arguments": {"path": f"{name}.ipynb", "cellIds": ["cell-1"]}}
    stage.play(
        [plan("doing", "pending", "pending", "pending")],
        [cell],
        [plan("done", "doing", "dropped", "pending"), never],
        [Call("more_tools", away)],
        ["Fitted.", hold],
    )
    sidebar.ask("Fit it")
    notebook.wait(2)
    # A command is not left to the policy: it waits in Auto mode as well.
    expect(sidebar.hook("approve-once")).to_be_visible()
    assert source_of(notebook.source(1)) == "2 + 2"
    pinned = sidebar.hook("pinned-plan")
    expect(pinned).to_contain_text("1 of 3")
    expect(pinned).to_contain_text("Fit the model")
    pinned.get_by_role("button").click()
    expect(pinned.locator("[data-onyx=plan-step]")).to_have_text(list(STEPS))
    shot(sidebar, "pinned")
    sidebar.hook("approve-once").click()
    # Nor is what takes most of the notebook away: its only cell from before.
    expect(sidebar.hook("must-ask")).to_contain_text(f"it would leave nothing of what {name}.ipynb had")
    expect(sidebar.hook("approve-session")).to_have_count(0)
    sidebar.hook("deny").click()
    sidebar.hook("deny-confirm").click()
    expect(sidebar.answers.last).to_have_text("Fitted.")
    hold.released.set()
    sidebar.wait_for_end()
    expect(pinned).to_have_count(0)
    expect(sidebar.hook("message-mode")).to_have_text("Auto")
    assert lab.files.joinpath(name).exists()

    notebook.save()
    sidebar.page.reload()
    sidebar.show()
    folded = sidebar.runs.last.locator("[data-onyx=plan]")
    expect(folded).to_contain_text("1 of 3")
    expect(folded.locator("[data-onyx=plan-step]").first).to_be_hidden()
    expect(sidebar.card("plan_update")).to_have_count(0)
    expect(picker).to_have_text("Auto")

    picker.click()
    sidebar.hook("mode").first.click()
    stage.play([cell], "I would add `2 + 2`.")
    sidebar.ask("And again")
    expect(sidebar.answers.last).to_have_text("I would add 2 + 2.")
    assert "Ask mode" in tool_results(stage.asked[1])[-1]
    assert "notebook_insert_cell" not in {tool["function"]["name"] for tool in stage.asked[0].body["tools"]}
    notebook.wait(2)
    shot(sidebar, "after")


def shot(sidebar: Sidebar, what: str) -> None:
    folder = os.environ.get("ONYX_SHOTS")
    if folder:
        sidebar.page.screenshot(path=Path(folder) / f"{what}.png")
