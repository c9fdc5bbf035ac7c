import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from onyx_jupyter.errors import NotebookError, PathNotAllowed
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.toolsets.context import ToolContext
from tests.features.notebooks.desk import Desk
from tests.notebook.fake_tab import tab_cell

CELLS = [
    tab_cell("t", "# Load data", "markdown"),
    tab_cell("l", "x = 1\nprint(x)"),
    tab_cell("f", "1 / 0"),
]


@pytest.fixture
def desk(make_context: Callable[..., ToolContext]) -> Desk:
    return Desk(make_context, CELLS)


async def test_read_returns_what_an_edit_needs(desk: Desk) -> None:
    text = (await desk.run("notebook_read", path="churn.ipynb")).output
    assert text.startswith("churn.ipynb: 3 cells, kernel python3 (idle), open in a browser tab")
    assert f"cell 2 (code) id=l hash={cell_hash(CELLS[1]['source'])}\nx = 1\nprint(x)" in text


async def test_long_notebook_is_truncated_with_hint_for_the_rest(make_context: Any) -> None:
    cells = [tab_cell(f"c{number}", f"value_{number} = 1\n" * 200) for number in range(100)]
    desk = Desk(make_context, cells)
    result = await desk.run("notebook_read", path="churn.ipynb", maxChars=5000)
    assert result.truncated
    assert len(result.output) < 6000
    assert "more cells are left out" in result.output
    assert "cellIds" in result.output
    single = await desk.run("notebook_read", path="churn.ipynb", cellIds=["c70"])
    assert cells[70]["source"] in single.output
    assert "id=c71" not in single.output
    assert not single.truncated


async def test_single_cells_include_images(make_context: Any) -> None:
    plot = tab_cell("p", "plot()") | {"outputs": [{"output_type": "display_data", "data": {"image/png": "cG5n"}}]}
    desk = Desk(make_context, [plot])
    assert (await desk.run("notebook_read", path="churn.ipynb")).attachments == ()
    attached = (await desk.run("notebook_read", path="churn.ipynb", cellIds=["p"])).attachments
    assert [image.data for image in attached] == ["cG5n"]


async def test_insert_returns_new_cell_id(desk: Desk) -> None:
    result = await desk.run("notebook_insert_cell", path="churn.ipynb", cellType="code", source="y", afterCellId="t")
    inserted = desk.tab.notebooks["churn.ipynb"][1]
    assert inserted["source"] == "y"
    assert inserted["id"] in result.output


async def test_approval_shows_position_of_new_cell(desk: Desk) -> None:
    shown = await desk.preview("notebook_insert_cell", path="churn.ipynb", cellType="code", source="y", afterCellId="t")
    assert shown.summary == "Insert a code cell after “Load data”"
    assert shown.details == {
        "path": "churn.ipynb",
        "cellType": "code",
        "source": "y",
        "afterCellId": "t",
        "after": "“Load data”",
    }
    assert (await desk.preview("notebook_insert_cell", path="churn.ipynb", cellType="raw", source="")).summary == (
        "Insert a raw cell at the end of churn.ipynb"
    )
    assert len(desk.tab.notebooks["churn.ipynb"]) == 3


async def test_approval_shows_old_and_new_source_of_edit(desk: Desk) -> None:
    shown = await desk.preview("notebook_edit_cell", path="churn.ipynb", cellId="l", source="x = 2")
    assert shown.summary == "Edit cell 2 of churn.ipynb"
    assert shown.details == {
        "path": "churn.ipynb",
        "cellId": "l",
        "oldSource": "x = 1\nprint(x)",
        "newSource": "x = 2",
    }


async def test_edit_with_stale_hash_is_rejected_before_approval(desk: Desk) -> None:
    with pytest.raises(NotebookError) as caught:
        await desk.preview("notebook_edit_cell", path="churn.ipynb", cellId="l", source="x", baseHash="0" * 16)
    assert caught.value.code == "stale"


async def test_session_approval_covers_one_tool_and_one_notebook(desk: Desk) -> None:
    desk.tab.show("other.ipynb", [dict(cell) for cell in CELLS])
    first = await desk.preview("notebook_run_cell", path="churn.ipynb", cellId="l")
    same = await desk.preview("notebook_run_cell", path="./churn.ipynb", cellId="f")
    other = await desk.preview("notebook_run_cell", path="other.ipynb", cellId="l")
    edit = await desk.preview("notebook_edit_cell", path="churn.ipynb", cellId="l", source="")
    assert first.grant == same.grant
    assert len({first.grant, other.grant, edit.grant}) == 3
    assert first.grant_text == "every cell run in churn.ipynb"
    assert first.details == {"path": "churn.ipynb", "cellId": "l", "source": "x = 1\nprint(x)"}


async def test_run_returns_outputs_and_status(desk: Desk) -> None:
    well = await desk.run("notebook_run_cell", path="churn.ipynb", cellId="l")
    assert (well.ok, well.output) == (True, "Ran cell l [1].\n1")
    badly = await desk.run("notebook_run_cell", path="churn.ipynb", cellId="f")
    assert not badly.ok
    assert "ZeroDivisionError: division by zero" in badly.output


async def test_stopping_run_stops_cell(desk: Desk) -> None:
    desk.tab.notebooks["churn.ipynb"].append(tab_cell("s", "sleep"))
    task = asyncio.ensure_future(desk.run("notebook_run_cell", path="churn.ipynb", cellId="s"))
    await desk.tab.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert desk.tab.asked[-1].action == "notebook.interrupt"


async def test_notebook_outside_server_root_is_rejected(desk: Desk) -> None:
    for path in ("../churn.ipynb", "/etc/churn.ipynb", "onyx:churn.ipynb"):
        with pytest.raises(PathNotAllowed):
            await desk.run("notebook_read", path=path)
    assert desk.tab.asked == []
