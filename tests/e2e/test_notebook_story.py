"""A person and a frame in memory: a plot is asked for, seen to come and run, one cell is rejected, the turn undone."""

import json
import shutil
from pathlib import Path

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call, Say
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.review import Review, allow
from tests.e2e.stage import Stage, inserted_cell_id, tool_results

EXAMPLE = Path(__file__).parents[2] / "notebooks/examples/penguins.ipynb"
PLOT = 'penguins.boxplot(column="body_mass_g", by="species");'
REMARK = "Gentoos are the heaviest by far."


def test_plot_of_in_memory_frame_is_added_seen_and_removed(tabs: Tabs, lab: LabServer, stage: Stage, name: str) -> None:
    path = shutil.copy(EXAMPLE, lab.files / f"{name}.ipynb").name
    before = [(cell["id"], "".join(cell["source"])) for cell in json.loads(EXAMPLE.read_text("utf-8"))["cells"]]
    sidebar, notebook = tabs.open(lab, path, name)
    expect(sidebar.page.get_by_role("contentinfo")).to_contain_text("Python 3 (ipykernel) | Idle")
    sidebar.page.get_by_role("menuitem", name="Run", exact=True).click()
    sidebar.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    expect(notebook.panel.locator(".jp-RenderedImage")).to_have_count(1)

    # The agent looks at the frame without a cell and without asking, then proposes, and each change waits for a yes.
    stage.play(
        [
            "I look at the frame first.",
            Call("more_tools", {"tool": "kernel_inspect", "arguments": {"path": path, "name": "penguins"}}),
        ],
        [
            Say("I’ll add a box plot and a remark."),
            Call("notebook_insert_cell", {"path": path, "cellType": "code", "source": PLOT, "afterCellId": "where"}),
        ],
        lambda request: [
            Call(
                "notebook_insert_cell",
                {
                    "path": path,
                    "cellType": "markdown",
                    "source": REMARK,
                    "afterCellId": inserted_cell_id(request),
                },
            ),
            Call("notebook_run_cell", {"path": path, "cellId": inserted_cell_id(request)}),
        ],
        "Gentoos weigh the most.",
    )
    sidebar.ask("Plot the body mass of each species")
    allow(sidebar, calls=3)
    looked = tool_results(stage.asked[1])[-1]
    assert "body_mass_g" in looked
    assert "344" in looked
    assert "[image/png" in tool_results(stage.asked[3])[-1]

    # It stands where it was put, has run, and shows its plot.
    review = Review(sidebar.page)
    expect(review.of("added")).to_have_count(2)
    plot = notebook.cells.filter(has_text="boxplot")
    expect(plot.locator(".jp-RenderedImage img")).to_be_visible()
    expect(notebook.cells.filter(has_text=REMARK)).to_have_count(1)
    expect(sidebar.answers.last).to_contain_text("Gentoos weigh the most.")

    # One cell is rejected; the turn undone takes the other one, and the notebook is as it was.
    review.on(review.of("added").last, "revert").click()
    expect(notebook.cells.filter(has_text=REMARK)).to_have_count(0)
    expect(plot).to_have_count(1)
    review.below("undo").click()
    expect(review.turn).to_contain_text("Undone")
    expect(notebook.cells.filter(has_text="boxplot")).to_have_count(0)
    notebook.save()
    after = json.loads((lab.files / path).read_text("utf-8"))["cells"]
    assert [(cell["id"], "".join(cell["source"])) for cell in after] == before
    assert any(output.get("data", {}).get("image/png") for cell in after for output in cell.get("outputs", ()))
