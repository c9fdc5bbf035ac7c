"""One yes for a cell that is written and run: what is shown runs, a run that does not begin leaves the cell."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from onyx_jupyter.errors import InvalidArguments, NotebookError
from onyx_jupyter.features.notebooks.edit_tools import notebook_edit_cell_tool, notebook_insert_cell_tool
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.toolsets.registry import ToolRegistry
from tests.features.notebooks.desk import PATH, Desk
from tests.notebook.fake_tab import tab_cell
from tests.waiting import until

CELLS = [tab_cell("t", "# Load", "markdown"), tab_cell("l", "x = 1")]
NEW = {"cellType": "code", "source": "print('new')"}


@pytest.fixture
def desk(make_context: Any) -> Desk:
    return Desk(make_context, CELLS)


def ran(desk: Desk) -> list[str]:
    return [request.params["cellId"] for request in desk.tab.asked if request.action == "notebook.run"]


async def test_one_call_inserts_cell_and_returns_output(desk: Desk) -> None:
    result = await desk.call("notebook_insert_cell", **NEW, run=True)
    new = desk.ids[-1]
    assert desk.sources[-1] == "print('new')"
    assert ran(desk) == [new]
    assert result.ok
    own = f"Inserted code cell {new} (hash {cell_hash(NEW['source'])}) into {PATH}.\nRan cell {new} [1].\n"
    assert result.parts == (own, "new", "")
    assert (result.external, result.origin) == (f"a cell of {PATH}", "outside")


async def test_one_call_edits_cell_and_returns_output(desk: Desk) -> None:
    await desk.run("notebook_read", path=PATH)
    result = await desk.call("notebook_edit_cell", cellId="l", source="print(2)", run=True)
    assert desk.sources[1] == "print(2)"
    assert result.output == f"Edited cell l of {PATH} (hash {cell_hash('print(2)')}).\nRan cell l [1].\n2"
    await desk.call("notebook_edit_cell", cellId="l", source="print(3)")  # the model knows what it wrote


async def test_without_run_nothing_runs(desk: Desk) -> None:
    await desk.call("notebook_insert_cell", **NEW)
    await desk.call("notebook_edit_cell", cellId="l", source="print(2)", run=False)
    assert ran(desk) == []


async def test_error_in_new_cell_is_reported_and_cell_stays(desk: Desk) -> None:
    result = await desk.call("notebook_insert_cell", cellType="code", source="1 / 0", run=True)
    assert not result.ok
    assert f"Cell {desk.ids[-1]} [1] raised an error." in result.own_head
    assert "ZeroDivisionError" in result.parts[1]
    assert desk.sources[-1] == "1 / 0"


@pytest.mark.parametrize("name", ["notebook_insert_cell", "notebook_edit_cell"])
async def test_run_that_cannot_start_keeps_written_cell_and_says_so(desk: Desk, name: str) -> None:
    class NoKernel:
        def __getattr__(self, name: str) -> Any:
            return getattr(notebooks, name)

        async def run_cell(self, *args: Any, **more: Any) -> Any:
            raise NotebookError("no_kernel", "The kernel did not start.")

    notebooks = desk.context.notebooks
    desk.context = replace(desk.context, notebooks=NoKernel())  # type: ignore[arg-type]
    arguments = NEW if name == "notebook_insert_cell" else {"cellId": "l", "source": NEW["source"]}
    result = await desk.call(name, **arguments, run=True)
    assert not result.ok
    assert NEW["source"] in desk.sources
    assert result.parts[0].endswith(".\nThe cell stays; running it failed (no_kernel): ")
    assert result.parts[1] == "The kernel did not start."


async def test_text_typed_into_new_cell_before_run_is_not_run(desk: Desk) -> None:
    desk.tab.free.clear()
    task = asyncio.ensure_future(desk.call("notebook_insert_cell", **NEW, run=True))
    await until(lambda: "notebook.wait" in [request.action for request in desk.tab.asked])
    desk.type(desk.ids[-1], "print('mine')")
    desk.tab.free.set()
    result = await task
    assert "The cell stays; running it failed (stale): " in result.output
    assert desk.tab.runs == {}


async def test_approval_names_both_and_covers_neither_alone(desk: Desk) -> None:
    insert = await desk.preview("notebook_insert_cell", path=PATH, **NEW)
    both = await desk.preview("notebook_insert_cell", path=PATH, **NEW, run=True)
    run = await desk.preview("notebook_run_cell", path=PATH, cellId="l")
    edit = await desk.preview("notebook_edit_cell", path=PATH, cellId="l", source="y")
    edit_both = await desk.preview("notebook_edit_cell", path=PATH, cellId="l", source="y", run=True)
    assert both.summary == f"Insert a code cell at the end of {PATH} and run it"
    assert both.grant_text == f"every cell inserted into {PATH} and run at once"
    assert both.details == {**insert.details, "run": True}
    assert edit_both.summary == f"Edit cell 2 of {PATH} and run it"
    assert edit_both.grant_text == f"every edit of a cell in {PATH} with a run of it at once"
    assert len({one.grant for one in (insert, both, run, edit, edit_both)}) == 5


@pytest.mark.parametrize("cell_type", ["markdown", "raw"])
async def test_non_code_cell_is_not_run(desk: Desk, cell_type: str) -> None:
    with pytest.raises(InvalidArguments, match="`run` is for code cells"):
        await desk.preview("notebook_insert_cell", path=PATH, cellType=cell_type, source="# New", run=True)
    with pytest.raises(InvalidArguments, match="`run` is for code cells"):
        await desk.preview("notebook_edit_cell", path=PATH, cellId="t", source="# New", run=True)
    assert desk.ids == ["t", "l"]


async def test_edit_without_effect_suggests_run_tool(desk: Desk) -> None:
    with pytest.raises(InvalidArguments, match=r"nothing would change\. Run it with notebook_run_cell"):
        await desk.preview("notebook_edit_cell", path=PATH, cellId="l", source="x = 1", run=True)


async def test_notebook_of_asking_cell_gets_cell_but_no_run(desk: Desk) -> None:
    async def asking() -> str:
        return PATH

    desk.context = replace(desk.context, asking_notebook=asking)
    with pytest.raises(NotebookError) as caught:
        await desk.preview("notebook_insert_cell", path=PATH, **NEW, run=True)
    assert caught.value.code == "kernel_waits"
    await desk.call("notebook_insert_cell", **NEW)


def test_run_option_means_no_time_limit_and_needs_both_tools() -> None:
    arguments = {"path": PATH, "cellType": "code", "source": "1"}
    tool, checked = ToolRegistry([notebook_insert_cell_tool, notebook_edit_cell_tool]).validate(
        ToolCall("1", "notebook_insert_cell", arguments)
    )
    assert (tool.risk_of(checked), tool.is_untimed(checked), tool.also(checked)) == ("write", False, ())
    running = checked.model_copy(update={"run": True})
    assert (tool.risk_of(running), tool.is_untimed(running)) == ("execute", True)
    assert tool.also(running) == ("notebook_run_cell",)


def test_write_cannot_run_if_running_is_denied() -> None:
    registry = ToolRegistry([notebook_insert_cell_tool])
    call = ToolCall("1", "notebook_insert_cell", {"path": PATH, **NEW, "run": True})
    with pytest.raises(InvalidArguments, match="the work of notebook_run_cell, which cannot be used now"):
        registry.validate(call)
    why = "the user chose Ask mode."
    with pytest.raises(InvalidArguments, match=why):
        ToolRegistry([notebook_insert_cell_tool], {"notebook_run_cell": why}).validate(call)
