"""A model in cell mode: it writes cells, which are seen, allowed, run, mended and undone as any change is."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from onyx_jupyter.testing.script import Hang, Hold
from onyx_jupyter.testing.scripted_server import Received
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.review import Review
from tests.e2e.sidebar import Notebook, Sidebar, source_of
from tests.e2e.stage import Stage

MODEL = "cells/coder"
FRAME = "customers = pd.DataFrame({'contract': ['monthly', 'yearly'] * 3, 'fee': [10.0, 20, 30, 40, 50, 65]})"
DATA = f"import pandas as pd\n{FRAME}"


def prompt(request: Received) -> str:
    messages: list[dict[str, Any]] = request.body["messages"]
    return str(messages[-1]["content"])


def block(source: str) -> str:
    return f"```python\n{source}\n```"


def layout(card: Locator) -> list[float]:
    """Where the code begins, and how far below its end the answers and the card's end are."""
    boxes = [card.locator(part).bounding_box() for part in ("[data-onyx=diff]", ".onyx-Approval-answers")]
    code, answers, whole = (*boxes, card.bounding_box())
    assert code is not None
    assert answers is not None
    assert whole is not None
    end = code["y"] + code["height"]
    return [code["y"], answers["y"] - end, whole["y"] + whole["height"] - end]


def test_cell_is_proposed_run_in_place_and_answered_from_output(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage
) -> None:
    sidebar, notebook = open_lab(DATA)
    sidebar.models.select_option(MODEL)
    stage.play(
        block("print('mean fee', customers['Fee'].average())"),
        block("print('mean fee', customers['fee'].mean())"),
        "The mean fee is 35.83.",
        block("print(customers.groupby('contract')['fee'].mean())"),
        "Yearly contracts cost 41.67 on average, monthly ones 30.",
    )

    # Nothing of the notebook has run yet, so that comes first, with a question.
    sidebar.ask("What is the mean fee?")
    expect(sidebar.approvals).to_contain_text("Run 1 cell")
    assert stage.asked == []
    sidebar.hook("approve-once").click()

    # One card for inserting and running. The columns are known from the kernel, and written as they are there.
    expect(sidebar.approvals).to_contain_text("customers['fee'].average()")
    assert "'fee': float64" in prompt(stage.asked[0])
    expect(notebook.cells).to_have_count(1)
    sidebar.hook("approve-once").click()

    # It failed; the same cell is mended, with a question again.
    expect(sidebar.approvals).to_contain_text("customers['fee'].mean()")
    expect(notebook.cells).to_have_count(2)
    assert "has no attribute 'average'" in prompt(stage.asked[1])
    sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
    expect(notebook.cells).to_have_count(2)
    assert source_of(notebook.source(1)) == "print('mean fee', customers['fee'].mean())"
    expect(notebook.output(1)).to_contain_text("mean fee 35.83")
    expect(sidebar.answers.last).to_contain_text("The mean fee is 35.83.")
    expect(sidebar.answers.last).to_contain_text("mean fee 35.833333333333336")

    # A few words are enough for the next one, and what it changed can be taken back.
    sidebar.ask("now by contract")
    expect(sidebar.approvals).to_contain_text("groupby")
    assert "Asked before: What is the mean fee?" in prompt(stage.asked[3])
    sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
    expect(notebook.cells).to_have_count(3)
    Review(sidebar.page).below("undo").click()
    expect(notebook.cells).to_have_count(2)


def test_draft_appears_in_card_and_layout_is_stable_at_approval(tabs: Tabs, lab: LabServer, stage: Stage) -> None:
    sidebar, notebook = tabs.open(lab, lab.notebook("fees.ipynb", DATA).name, "fees")
    notebook.wait(cells=1)
    notebook.run(0)
    sidebar.models.select_option(MODEL)
    torn, written, hang = Hold(), Hold(), Hang()
    stage.play(
        ["```python\nprint(customers[", torn, "\n```"],
        ["```python\nprint('mean', ", written, "customers['fee'].mean())\n```"],
        "The mean is 35.83.",
        ["```python\nprint('sum'", hang],
    )
    draft = sidebar.hook("cell-draft")

    # What is no Python is thrown away, and the next try stands in its place.
    sidebar.ask("What is the mean fee?")
    expect(draft).to_contain_text("print(customers[")
    expect(draft.locator("button:enabled")).to_have_count(0)
    expect(draft.get_by_role("button")).to_have_count(0)
    torn.released.set()
    expect(draft).to_contain_text("print('mean', ")
    expect(draft).not_to_contain_text("print(customers[")
    before = layout(draft)
    written.released.set()

    # The same place, with answers that can be given; only the code has grown.
    expect(sidebar.approvals).to_contain_text("customers['fee'].mean()")
    expect(draft).to_have_count(0)
    assert layout(sidebar.approvals) == pytest.approx(before, abs=1)
    sidebar.hook("approve-once").click()
    sidebar.wait_for_end()

    # Stop ends it, and leaves nothing of it.
    sidebar.ask("And the sum of the fees?")
    expect(draft).to_contain_text("print('sum'")
    sidebar.hook("stop").click()
    sidebar.wait_for_end("aborted")
    expect(draft).to_have_count(0)
    expect(notebook.cells).to_have_count(2)


def test_denial_ends_turn_and_invented_number_is_never_shown(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage
) -> None:
    sidebar, notebook = open_lab("print('hello')")
    notebook.run(0)
    sidebar.models.select_option(MODEL)
    stage.play("This notebook greets 4711 penguins.", block("print(len('hello'))"))
    sidebar.ask("What does this notebook do?")
    expect(sidebar.approvals).to_contain_text("print(len('hello'))")
    sidebar.hook("deny").click()
    sidebar.hook("deny-reason").press("Enter")
    sidebar.wait_for_end()
    expect(sidebar.answers.last).to_contain_text("Not done")
    expect(sidebar.answers.last).not_to_contain_text("4711")
    expect(notebook.cells).to_have_count(1)


def test_without_notebook_one_approval_creates_opens_and_runs(
    tabs: Tabs, lab: LabServer, stage: Stage, name: str
) -> None:
    folder = lab.files / name
    folder.mkdir()
    folder.joinpath("fees.csv").write_text("fee,contract\n10,monthly\n20,yearly\n", "utf-8")
    page = tabs.new()
    page.goto(lab.url(f"lab/workspaces/{name}/tree/{name}", reset=""))
    sidebar, notebook = Sidebar(page), Notebook(page)
    sidebar.show()
    expect(page.locator(".jp-DirListing-item", has_text="fees.csv")).to_be_visible()
    sidebar.models.select_option(MODEL)
    stage.play(
        block("print('mean', df['Fee'].average())"),
        block("print('mean', df['fee'].mean())"),
        "The mean fee is 15.0.",
        block("print('sum', df['fee'].sum())"),
        "The sum is 30.",
    )

    # The table of the folder is known, and the card says what is made.
    sidebar.ask("What is the mean fee?")
    expect(sidebar.approvals).to_contain_text("Create Untitled.ipynb with 1 cell and run it")
    assert "'fee': int64" in prompt(stage.asked[0])
    expect(sidebar.approvals).to_contain_text("pd.read_csv('fees.csv')")
    expect(notebook.cells).to_have_count(0)
    sidebar.hook("approve-once").click()

    # It stands beside the chat, and is mended there.
    notebook.wait(cells=1)
    expect(sidebar.approvals).to_contain_text("df['fee'].mean()")
    assert "has no attribute 'average'" in prompt(stage.asked[1])
    sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
    expect(notebook.output(0)).to_contain_text("mean 15.0")
    expect(sidebar.answers.last).to_contain_text("The mean fee is 15.0.")

    # The next cell goes below it.
    sidebar.ask("And the sum of the fees?")
    expect(sidebar.approvals).to_contain_text("Insert a code cell")
    sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
    expect(notebook.cells).to_have_count(2)
    expect(notebook.output(1)).to_contain_text("sum 30")
    assert [path.name for path in folder.glob("*.ipynb")] == ["Untitled.ipynb"]


def test_shell_command_is_shown_on_card_and_picker_switches_tool_mode(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage
) -> None:
    sidebar, notebook = open_lab(DATA)
    notebook.run(0)
    sidebar.models.select_option(MODEL)
    expect(sidebar.models).to_have_attribute("title", "Model: cells/coder · Acts in cells")
    stage.play(block("print(1)\n!echo from-the-shell"), "It printed it.", "I call tools now.")
    sidebar.ask("Print the share of the fees")
    expect(sidebar.approvals).to_contain_text("and run it, with a shell command")
    expect(sidebar.hook("cell-commands")).to_contain_text("echo from-the-shell")
    expect(sidebar.hook("session-scope")).to_contain_text("exactly this again, with its command")
    sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
    expect(notebook.output(1)).to_contain_text("from-the-shell")

    sidebar.models.select_option(label="Calls tools")
    expect(sidebar.models).to_have_attribute("title", "Model: cells/coder · Calls tools")
    expect(sidebar.models).to_have_value(MODEL)
    sidebar.ask("What is the mean fee?")
    expect(sidebar.answers.last).to_contain_text("I call tools now.")
    assert "tools" in stage.asked[2].body
    sidebar.page.reload()
    sidebar.show()
    expect(sidebar.models).to_have_attribute("title", "Model: cells/coder · Calls tools")
    sidebar.models.select_option(label="Acts in cells (standard)")
    expect(sidebar.models).to_have_attribute("title", "Model: cells/coder · Acts in cells")
