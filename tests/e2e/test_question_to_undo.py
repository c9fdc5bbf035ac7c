"""The whole path in one test: ask, watch, allow, see the notebook change, deny with a reason, reload, stop."""

from collections.abc import Callable
from threading import Event

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call, Hold, Say
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar, added_lines, source_of
from tests.e2e.stage import Stage, inserted_cell_id, saw_disconnect, tool_results

SOURCE = 'numbers = [6, 7]\nprint("product:", numbers[0] * numbers[1])'
COMMAND = "touch made-by-onyx.txt"
STOPPED_WITHIN_MS = 5_000


def test_question_stream_approval_cell_run_denial_reload_and_stop(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], lab: LabServer, stage: Stage, name: str
) -> None:
    sidebar, notebook = open_lab("print('here before')")
    path = f"{name}.ipynb"
    half_way = Hold(released=Event())
    stage.play(
        [
            *(Say("First words", 4), half_way, Say(" and last words.", 4)),
            Call("notebook_insert_cell", {"path": path, "cellType": "code", "source": SOURCE}),
        ],
        lambda request: [Call("notebook_run_cell", {"path": path, "cellId": inserted_cell_id(request)})],
        ["Now a file.", Call("exec", {"command": COMMAND})],
        "Then I leave the disk alone. **The product is 42.**",
    )

    # The answer is seen while it comes.
    sidebar.ask("Multiply six by seven in the notebook")
    expect(sidebar.said).to_have_count(1)
    expect(sidebar.answers.last).to_contain_text("First words")
    expect(sidebar.answers.last).not_to_contain_text("last words")
    half_way.released.set()
    expect(sidebar.answers.last).to_contain_text("First words and last words.")

    # The card shows exactly what would be inserted, and nothing has happened yet.
    card = sidebar.approvals
    expect(card).to_contain_text("Insert a code cell")
    assert added_lines(card.locator("[data-onyx=diff]")) == SOURCE
    expect(card).to_contain_text(path)
    expect(notebook.cells).to_have_count(1)

    # Allowed once, the cell stands in the open notebook, not run yet.
    sidebar.hook("approve-once").click()
    expect(notebook.cells).to_have_count(2)
    assert source_of(notebook.source(1)) == SOURCE
    expect(card.locator("[data-onyx=approval-source]")).to_have_text(SOURCE, use_inner_text=True)
    expect(notebook.output(1)).to_have_count(0)

    # Allowed by key, it runs where it stands.
    card.focus()
    card.press("Enter")
    expect(notebook.output(1)).to_have_text("product: 42\n")

    # Denied, the command does not run, and the model learns why.
    expect(card.locator("[data-onyx=approval-source]")).to_have_text(COMMAND)
    assert "product: 42" in tool_results(stage.asked[2])[-1]
    sidebar.hook("deny").click()
    sidebar.hook("deny-reason").fill("Print it, write no files")
    sidebar.hook("deny-reason").press("Enter")
    expect(sidebar.answers.last).to_contain_text("The product is 42.")
    assert "Print it, write no files" in tool_results(stage.asked[3])[-1]
    assert not lab.files.joinpath("made-by-onyx.txt").exists()

    # After a reload all is there, once.
    sidebar.wait_for_end()
    before = sidebar.transcript()
    assert before == [
        "user-message You Multiply six by seven in the notebook" + f" {path}",
        "run final",
        "answer First words and last words.",
        "card notebook_insert_cell ok",
        "card notebook_run_cell ok",
        "answer Now a file.",
        "card exec denied",
        "answer Then I leave the disk alone. The product is 42.",
    ]
    notebook.save()
    sidebar.page.reload()
    sidebar.show()
    expect(sidebar.answers.last).to_contain_text("The product is 42.")
    assert sidebar.transcript() == before
    notebook.wait(cells=2)
    expect(notebook.output(1)).to_have_text("product: 42\n")
    assert len(stage.asked) == 4

    # A long answer stops at a word, and what has come so far stays.
    stage.play([Say("word " * 20_000, 5, 0.005)])
    sidebar.ask("Go on and on")
    expect(sidebar.answers.last).to_contain_text("word word word")
    sidebar.hook("stop").click()
    expect(sidebar.runs.last).to_have_attribute("data-status", "aborted", timeout=STOPPED_WITHIN_MS)
    assert saw_disconnect(stage.asked[0], timeout_s=5)
    expect(sidebar.hook("stop")).to_have_count(0)
    expect(sidebar.answers.last).to_contain_text("word word word")
    sidebar.page.reload()
    sidebar.show()
    expect(sidebar.answers.last).to_contain_text("word word word")
    expect(sidebar.runs.last).to_have_attribute("data-status", "aborted")
    expect(sidebar.said).to_have_count(2)
