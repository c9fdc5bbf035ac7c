"""Running many cells: in order, each with its place, stopping at the first error and at Stop; and new kernels."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.protocols import CellRun
from tests.features.notebooks.desk import PATH, Desk
from tests.notebook.fake_tab import tab_cell
from tests.waiting import until

CELLS = [
    tab_cell("t", "# Load", "markdown"),
    tab_cell("a", "print('one')"),
    tab_cell("e", "  "),
    tab_cell("b", "print('two')"),
    tab_cell("c", "1 / 0"),
    tab_cell("d", "print('never')"),
]


@pytest.fixture
def desk(make_context: Any) -> Desk:
    return Desk(make_context, CELLS)


def actions(desk: Desk) -> list[str]:
    return [request.action for request in desk.tab.asked]


def ran(desk: Desk) -> list[str]:
    return [request.params["cellId"] for request in desk.tab.asked if request.action == "notebook.run"]


async def test_cells_run_in_order_until_first_error(desk: Desk) -> None:
    result = await desk.call("notebook_run_all")
    assert ran(desk) == ["a", "b", "c"]
    assert not result.ok
    assert result.output.startswith("Cell 5 (c) raised an error; 2 ran before it, 1 was not run.")
    assert "2 a [1] ok → text" in result.output
    assert "5 c [3] error → error ZeroDivisionError" in result.output
    assert "ZeroDivisionError: division by zero" in result.output
    assert [line for line in desk.said if "·" not in line] == ["cell 1 of 4", "cell 2 of 4", "cell 3 of 4"]


async def test_range_runs_alone_and_returns_output_of_last_cell(desk: Desk) -> None:
    result = await desk.call("notebook_run_all", fromCellId="t", toCellId="b")
    assert ran(desk) == ["a", "b"]
    assert result.ok
    assert result.output == (
        "Ran 2 cells of churn.ipynb.\n2 a [1] ok → text\n4 b [2] ok → text\nOutput of cell 4:\ntwo"
    )


async def test_approval_shows_number_of_cells_and_their_sources(desk: Desk) -> None:
    shown = await desk.preview("notebook_run_all", path=PATH)
    assert shown.summary == "Run 4 cells of churn.ipynb, one after the other"
    assert [cell["number"] for cell in shown.details["cells"]] == [2, 4, 5, 6]
    single = await desk.preview("notebook_run_cell", path=PATH, cellId="a")
    assert shown.grant == single.grant


async def test_stop_interrupts_running_cell_and_starts_no_other(make_context: Any) -> None:
    desk = Desk(make_context, [tab_cell("a", "1"), tab_cell("s", "sleep"), tab_cell("n", "2")])
    task = asyncio.ensure_future(desk.call("notebook_run_all"))
    await desk.tab.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert desk.tab.asked[-1].action == "notebook.interrupt"
    assert ran(desk) == ["a", "s"]


async def test_cell_removed_meanwhile_is_skipped_and_reported(make_context: Any) -> None:
    desk = Desk(make_context, [tab_cell("a", "1"), tab_cell("b", "2"), tab_cell("c", "print(3)")])
    cells = desk.tab.notebooks[PATH]
    append = desk.said.append

    def take_away(line: str) -> None:
        append(line)
        if line == "cell 1 of 3":
            del cells[1]

    object.__setattr__(desk.context, "progress", take_away)
    result = await desk.run("notebook_run_all", path=PATH)
    assert ran(desk) == ["a", "b", "c"]
    assert result.ok
    assert "1 cell was deleted meanwhile." in result.output


async def test_text_typed_while_waiting_is_not_run_and_is_shown_to_model(desk: Desk) -> None:
    desk.tab.free.clear()
    task = asyncio.ensure_future(desk.call("notebook_run_cell", cellId="a"))
    await until(lambda: "notebook.wait" in actions(desk))
    desk.type("a", "print('half ty")
    desk.tab.free.set()
    with pytest.raises(NotebookError, match="half ty") as caught:
        await task
    assert caught.value.code == "stale"
    assert desk.tab.runs == {}
    await desk.call("notebook_edit_cell", cellId="a", source="print('whole')")  # the model knows what is there now
    assert (await desk.call("notebook_run_cell", cellId="a")).output == "Ran cell a [1].\nwhole"


async def test_only_approved_cells_run_up_to_first_changed_one(desk: Desk) -> None:
    append = desk.said.append

    def type_ahead(line: str) -> None:
        append(line)
        if line == "cell 1 of 4":
            desk.type("b", "print('half ty")

    object.__setattr__(desk.context, "progress", type_ahead)
    with pytest.raises(NotebookError) as caught:
        await desk.run("notebook_run_all", path=PATH)
    assert caught.value.code == "stale"
    assert str(caught.value).startswith("In cell 4 (b; 1 cell ran before it): Cell b of churn.ipynb has changed since")
    assert str(caught.value).endswith("\nprint('half ty")
    assert len(desk.tab.runs) == 1
    assert ran(desk) == ["a", "b"]


async def test_different_code_run_by_outdated_page_is_reported(desk: Desk) -> None:
    desk.tab.runs_anything = True
    same = await desk.call("notebook_run_cell", cellId="a")
    assert same.output == "Ran cell a [1].\none"
    other = await desk.call("notebook_run_cell", cellId="a", meanwhile=lambda: desk.type("a", "print('mine')"))
    assert "reload the page. What ran:\nprint('mine')" in other.output
    desk.tab.free.clear()
    task = asyncio.ensure_future(desk.call("notebook_run_all", toCellId="b"))
    await until(lambda: actions(desk)[-1] == "notebook.wait")
    desk.type("a", "print('mine again')")
    desk.tab.free.set()
    assert "What ran:\nprint('mine again')" in (await task).output


async def test_nothing_to_run_is_reported(make_context: Any) -> None:
    desk = Desk(make_context, [tab_cell("t", "# Only words", "markdown")])
    assert "no code cell" in (await desk.run("notebook_run_all", path=PATH)).output


async def test_restart_says_what_is_lost_and_runs_all_if_requested(desk: Desk) -> None:
    alone = await desk.call("notebook_restart_kernel")
    assert alone.output == "The kernel of churn.ipynb was restarted: its variables are gone."
    assert (desk.kernels.restarted, ran(desk)) == ([PATH], [])
    shown = await desk.preview("notebook_restart_kernel", path=PATH, runAll=True)
    assert shown.summary == "Restart the kernel of churn.ipynb and run 4 cells"
    then = await desk.call("notebook_restart_kernel", runAll=True)
    assert ran(desk) == ["a", "b", "c"]
    assert not then.ok
    assert shown.grant != (await desk.preview("notebook_restart_kernel", path=PATH)).grant


async def test_missing_kernel_is_an_error_for_restart_but_not_for_run_all(desk: Desk) -> None:
    desk.kernels.error = NotebookError("no_kernel", "churn.ipynb has no kernel.")
    with pytest.raises(NotebookError, match="no kernel"):
        await desk.call("notebook_restart_kernel")
    assert "had no kernel" in (await desk.call("notebook_restart_kernel", runAll=True)).output
    assert ran(desk) == ["a", "b", "c"]


async def test_figure_description_follows_printed_output(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = desk.context.notebooks.run_cell

    async def draws(*arguments: Any, **named: Any) -> CellRun:
        return replace(await plain(*arguments, **named), figures=("bars: a 1, b 2", "nothing is drawn in it"))

    monkeypatch.setattr(desk.context.notebooks, "run_cell", draws)
    one = await desk.call("notebook_run_cell", cellId="a")
    assert one.output == "Ran cell a [1].\none\n[figure: bars: a 1, b 2]\n[figure: nothing is drawn in it]"
    assert one.own_head == "Ran cell a [1].\n"  # what a figure says is a cell's output: anybody may have written it
    several = await desk.call("notebook_run_all", fromCellId="a", toCellId="b")
    assert several.output.endswith("\n[figure: bars: a 1, b 2]\n[figure: nothing is drawn in it]")
