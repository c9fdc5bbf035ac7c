"""Changes to cells: shown exactly, based on what was seen, and asked in every mode where they take most of it away."""

from dataclasses import replace
from typing import Any

import pytest

from onyx_jupyter.errors import InvalidArguments, NotebookError, ToolError
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.protocols import NotebookCells, NotebookView
from tests.features.notebooks.desk import PATH, Desk, lettered
from tests.notebook.fake_tab import tab_cell

CELLS = [tab_cell("t", "# Load data", "markdown"), tab_cell("l", "x = 1"), tab_cell("f", "y = 2"), tab_cell("p", "z")]


@pytest.fixture
def desk(make_context: Any) -> Desk:
    return Desk(make_context, CELLS)


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [({"atStart": True}, "0tlfp"), ({"afterCellId": "l"}, "tl0fp"), ({}, "tlfp0")],
)
async def test_cell_is_inserted_where_requested(desk: Desk, arguments: dict[str, Any], ids: str) -> None:
    result = await desk.call("notebook_insert_cell", cellType="code", source="new", **arguments)
    new = next(cell_id for cell_id in desk.ids if cell_id not in "tlfp")
    assert desk.ids == [new if letter == "0" else letter for letter in ids]
    assert f"Inserted code cell {new} (hash {cell_hash('new')})" in result.output


async def test_two_positions_are_rejected(desk: Desk) -> None:
    new: dict[str, Any] = {"cellType": "code", "source": ""}
    for name, more in (("notebook_insert_cell", new), ("notebook_move_cell", {"cellId": "p"})):
        with pytest.raises(InvalidArguments):
            await desk.call(name, afterCellId="l", atStart=True, **more)
    assert desk.ids == ["t", "l", "f", "p"]


async def test_edit_is_based_on_what_model_read(desk: Desk) -> None:
    """Without a hash from the model: it saw `x = 1`, the person wrote `x = 10`, and that stays."""
    await desk.run("notebook_read", path=PATH)
    desk.type("l", "x = 10")
    with pytest.raises(NotebookError) as caught:
        await desk.call("notebook_edit_cell", cellId="l", source="x = 2")
    assert caught.value.code == "stale"
    assert "x = 10" in str(caught.value)
    assert desk.sources[1] == "x = 10"
    # The refusal has shown the new text: now the model knows what it overwrites.
    await desk.call("notebook_edit_cell", cellId="l", source="x = 20")
    assert desk.sources[1] == "x = 20"


async def test_search_hit_does_not_count_as_reading_new_text(desk: Desk) -> None:
    await desk.run("notebook_read", path=PATH)
    desk.type("l", "x = 10\nkeep = 1")
    assert "x = 10" in (await desk.run("notebook_find", path=PATH, pattern="X =")).output
    await desk.run("notebook_outline", path=PATH)
    with pytest.raises(NotebookError, match="keep = 1"):
        await desk.call("notebook_edit_cell", cellId="l", source="x = 2")


async def test_edit_without_effect_is_rejected_before_approval(desk: Desk) -> None:
    source = desk.sources[1]
    with pytest.raises(InvalidArguments, match="nothing would change"):
        await desk.call("notebook_edit_cell", cellId="l", source=source)


async def test_unseen_cell_is_bound_to_what_was_approved(desk: Desk) -> None:
    with pytest.raises(NotebookError) as caught:
        await desk.call("notebook_edit_cell", cellId="l", source="x = 2", meanwhile=lambda: desk.type("l", "mine"))
    assert caught.value.code == "stale"
    assert desk.sources[1] == "mine"


async def test_models_own_writes_count_as_read(desk: Desk) -> None:
    await desk.run("notebook_read", path=PATH)
    for source in ("x = 2", "x = 3"):
        assert cell_hash(source) in (await desk.call("notebook_edit_cell", cellId="l", source=source)).output
    desk.type("l", "x = 4")
    with pytest.raises(NotebookError, match="x = 4"):
        await desk.call("notebook_edit_cell", cellId="l", source="x = 5")


async def test_seen_text_is_known_under_any_path_of_the_notebook(desk: Desk) -> None:
    class Linked:
        """`link.ipynb` is the notebook by another name."""

        async def read(self, path: str, in_full: Any = ()) -> NotebookView:
            return await inner.read(PATH, in_full)

        async def read_cells(self, path: str, ids: Any, in_full: Any = (), *, last: int = 0) -> NotebookCells:
            return await inner.read_cells(PATH, ids, in_full, last=last)

        async def apply(self, path: str, changes: Any) -> Any:
            return await inner.apply(PATH, changes)

    inner = desk.context.notebooks
    desk.context = replace(desk.context, notebooks=Linked())  # type: ignore[arg-type]
    await desk.run("notebook_read", path="link.ipynb")
    for source in ("x = 2", "x = 3"):
        await desk.preview("notebook_edit_cell", path="link.ipynb", cellId="l", source=source)
        await desk.run("notebook_edit_cell", path="link.ipynb", cellId="l", source=source)
    assert desk.sources[1] == "x = 3"
    desk.type("l", "mine")
    with pytest.raises(NotebookError, match="mine"):
        await desk.preview("notebook_edit_cell", path=PATH, cellId="l", source="x = 4")


@pytest.mark.parametrize(
    ("name", "arguments", "previewed", "run"),
    [
        ("notebook_edit_cell", {"cellId": "l", "source": "x = 2"}, [(["l"], 0)], []),
        ("notebook_insert_cell", {"cellType": "code", "source": "n"}, [([], 1)], []),
        ("notebook_insert_cell", {"cellType": "code", "source": "n", "afterCellId": "t"}, [(["t"], 0)], []),
        ("notebook_delete_cell", {"cellIds": ["l", "f"]}, [(["l", "f"], 0)], []),
        ("notebook_move_cell", {"cellId": "l", "afterCellId": "f"}, [(["l", "f"], 0)], [([], 0)]),
        ("notebook_move_cell", {"cellId": "p"}, [(["p"], 2)], [([], 0)]),
        ("notebook_run_cell", {"cellId": "l"}, [(["l"], 0)], []),
        ("notebook_restart_kernel", {}, [([], 0)], []),
    ],
)
async def test_each_step_reads_once_and_only_affected_cells(
    desk: Desk, name: str, arguments: dict[str, Any], previewed: list[Any], run: list[Any]
) -> None:
    def readings() -> list[tuple[list[str], int]]:
        asked = [request.params for request in desk.tab.asked if request.action == "notebook.read"]
        return [(params["only"], params["last"]) for params in asked]

    between: list[Any] = []
    await desk.call(name, meanwhile=lambda: between.extend(readings()), **arguments)
    assert between == previewed
    assert readings() == previewed + run


@pytest.mark.parametrize("was_read", [True, False])
@pytest.mark.parametrize("name", ["notebook_delete_cell", "notebook_move_cell"])
async def test_delete_and_move_leave_concurrently_changed_cells(desk: Desk, name: str, was_read: bool) -> None:
    arguments: dict[str, Any] = {"cellIds": ["l", "f"]} if name == "notebook_delete_cell" else {"cellId": "l"}
    if was_read:
        await desk.run("notebook_read", path=PATH)
    with pytest.raises(NotebookError) as caught:
        await desk.call(name, meanwhile=lambda: desk.type("l", "mine"), **arguments)
    assert caught.value.code == "stale"
    assert desk.tab.asked[-1].action == "notebook.apply"  # the write itself is refused: nothing can come in between
    assert desk.ids == ["t", "l", "f", "p"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("notebook_edit_cell", {"cellId": "l", "source": "x = 2"}),
        ("notebook_insert_cell", {"cellType": "code", "source": "n"}),
        ("notebook_delete_cell", {"cellIds": ["l"]}),
        ("notebook_move_cell", {"cellId": "p", "atStart": True}),
        ("notebook_run_cell", {"cellId": "l"}),
        ("notebook_restart_kernel", {}),
    ],
)
async def test_page_loaded_before_upgrade_must_be_reloaded(desk: Desk, name: str, arguments: dict[str, Any]) -> None:
    desk.tab.is_old = True
    assert "x = 1" in (await desk.run("notebook_read", path=PATH)).output
    with pytest.raises(NotebookError, match="reload the page") as caught:
        await desk.call(name, **arguments)
    assert caught.value.code == "old_front_end"
    assert {request.action for request in desk.tab.asked} == {"notebook.read"}


async def test_approval_shows_deleted_cell(desk: Desk) -> None:
    shown = await desk.preview("notebook_delete_cell", path=PATH, cellIds=["f", "l", "f"])
    assert shown.summary == "Delete 2 cells of churn.ipynb"
    assert [(cell["number"], cell["source"]) for cell in shown.details["cells"]] == [(2, "x = 1"), (3, "y = 2")]
    assert (await desk.preview("notebook_delete_cell", path=PATH, cellIds=["f"])).summary == (
        "Delete cell 3 of churn.ipynb"
    )
    assert desk.ids == ["t", "l", "f", "p"]
    await desk.call("notebook_delete_cell", cellIds=["f"])
    assert desk.ids == ["t", "l", "p"]


async def test_deleting_all_cells_is_rejected_before_approval(desk: Desk) -> None:
    with pytest.raises(NotebookError) as caught:
        await desk.preview("notebook_delete_cell", path=PATH, cellIds=["t", "l", "f", "p"])
    assert caught.value.code == "would_empty"


@pytest.mark.parametrize(
    ("lock", "name", "arguments"),
    [
        ("editable", "notebook_edit_cell", {"cellId": "l", "source": "x = 2"}),
        ("deletable", "notebook_delete_cell", {"cellIds": ["f", "l"]}),
    ],
)
async def test_locked_cell_is_rejected_before_approval(
    desk: Desk, lock: str, name: str, arguments: dict[str, Any]
) -> None:
    desk.tab.notebooks[PATH][1]["metadata"] = {lock: False}
    with pytest.raises(NotebookError, match=f"Cell l of {PATH} is locked") as caught:
        await desk.preview(name, path=PATH, **arguments)
    assert caught.value.code == "locked"
    desk.tab.notebooks[PATH][1]["metadata"] = {lock: True}
    await desk.preview(name, path=PATH, **arguments)


async def test_move_shows_positions_and_keeps_cell(desk: Desk) -> None:
    shown = await desk.preview("notebook_move_cell", path=PATH, cellId="p", afterCellId="t")
    assert shown.summary == "Move cell 4 of churn.ipynb after “Load data”"
    assert (shown.details["from"], shown.details["after"]) == ("cell 4", "“Load data”")
    result = await desk.call("notebook_move_cell", cellId="p", afterCellId="t")
    assert desk.ids == ["t", "p", "l", "f"]
    assert "is now cell 2 of churn.ipynb" in result.output
    shown = await desk.preview("notebook_move_cell", path=PATH, cellId="f", atStart=True)
    assert shown.summary == "Move cell 4 of churn.ipynb to the beginning"
    await desk.call("notebook_move_cell", cellId="f", atStart=True)
    assert desk.ids == ["f", "t", "p", "l"]
    with pytest.raises(InvalidArguments):
        await desk.preview("notebook_move_cell", path=PATH, cellId="p", afterCellId="p")


async def test_new_notebook_is_shown_completely_and_never_replaces_another(desk: Desk) -> None:
    (desk.context.server_root / "old.ipynb").write_text("{}")
    with pytest.raises(ToolError, match="already exists"):
        await desk.preview("notebook_create", path="old.ipynb")
    with pytest.raises(InvalidArguments, match="must end in"):
        await desk.preview("notebook_create", path="new.txt")
    cells = [{"cellType": "markdown", "source": "# New"}, {"cellType": "code", "source": "1"}]
    shown = await desk.preview("notebook_create", path="work/new.ipynb", cells=cells)
    assert shown.summary == "Create new.ipynb with 2 cells"
    assert [cell["source"] for cell in shown.details["cells"]] == ["# New", "1"]
    assert shown.grant_text == "every new notebook in work"
    run = await desk.preview("notebook_create", path="work/new.ipynb", cells=cells, run=True)
    assert run.summary == "Create new.ipynb with 2 cells and run them"
    assert run.details["run"] is True
    assert run.grant_text == "every new notebook in work with a run of its cells at once"
    assert run.grant != shown.grant
    with pytest.raises(InvalidArguments, match="there are none in `cells`"):
        await desk.preview("notebook_create", path="work/new.ipynb", cells=cells[:1], run=True)


async def test_removing_half_of_cells_over_a_turn_must_be_asked(make_context: Any) -> None:
    desk = Desk(make_context, lettered(9))
    for letter in "abcd":
        assert (await desk.preview("notebook_delete_cell", path=PATH, cellIds=[letter])).must_ask == ""
        await desk.call("notebook_delete_cell", cellIds=[letter])
    shown = await desk.preview("notebook_delete_cell", path=PATH, cellIds=["e"])
    assert shown.must_ask == "it would leave 4 of the 9 cells that churn.ipynb had"
    # What the turn adds is no replacement for what it takes; what it takes of its own is no loss.
    await desk.call("notebook_insert_cell", cellType="code", source="new = 1")
    assert (await desk.preview("notebook_delete_cell", path=PATH, cellIds=["e"])).must_ask
    assert (await desk.preview("notebook_delete_cell", path=PATH, cellIds=[desk.ids[-1]])).must_ask == ""
    # Blanking a cell takes it away as well; another source does not.
    assert (await desk.preview("notebook_edit_cell", path=PATH, cellId="e", source=" \n")).must_ask
    assert (await desk.preview("notebook_edit_cell", path=PATH, cellId="e", source="other = 2")).must_ask == ""
    desk.new_run()
    assert (await desk.preview("notebook_delete_cell", path=PATH, cellIds=["e"])).must_ask == ""


async def test_emptying_only_cell_must_be_asked(make_context: Any) -> None:
    desk = Desk(make_context, lettered(1))
    shown = await desk.preview("notebook_edit_cell", path=PATH, cellId="a", source="")
    assert shown.must_ask == "it would leave nothing of what churn.ipynb had"


async def test_removing_most_text_must_be_asked_even_without_deleting_cells(make_context: Any) -> None:
    desk = Desk(make_context, lettered(4, "value_{n} = 1\n" * 20))
    for letter in "ab":
        assert (await desk.preview("notebook_edit_cell", path=PATH, cellId=letter, source="#")).must_ask == ""
        await desk.call("notebook_edit_cell", cellId=letter, source="#")
    shown = await desk.preview("notebook_edit_cell", path=PATH, cellId="c", source="#")
    assert shown.must_ask == "it would leave less than half of the text that churn.ipynb had"
    assert (await desk.preview("notebook_edit_cell", path=PATH, cellId="a", source="back = 1")).must_ask == ""


@pytest.mark.parametrize("grow", ["a new cell", "one of theirs"])
async def test_added_text_does_not_offset_removed_text(make_context: Any, grow: str) -> None:
    desk = Desk(make_context, lettered(4, "value_{n} = 1\n" * 20))
    if grow == "a new cell":
        await desk.call("notebook_insert_cell", cellType="code", source="# long\n" * 500)
    else:
        await desk.call("notebook_edit_cell", cellId="d", source="# long\n" * 500)
    asked = []
    for letter in "abc":
        asked.append((await desk.preview("notebook_edit_cell", path=PATH, cellId=letter, source="x")).must_ask != "")
        await desk.call("notebook_edit_cell", cellId=letter, source="x")
    assert asked == [False, False, True]


@pytest.mark.parametrize(("line", "must_ask"), [("x = {n}", False), ("total = prices[{n}].sum()", True)])
async def test_short_notebook_is_protected_but_not_one_or_two_lines(
    make_context: Any, line: str, must_ask: bool
) -> None:
    desk = Desk(make_context, lettered(3, line))
    await desk.call("notebook_edit_cell", cellId="a", source="x")
    shown = await desk.preview("notebook_edit_cell", path=PATH, cellId="b", source="x")
    assert (shown.must_ask != "") == must_ask


async def test_users_own_deletions_do_not_trigger_approval(make_context: Any) -> None:
    desk = Desk(make_context, lettered(6))
    await desk.run("notebook_outline", path=PATH)
    del desk.tab.notebooks[PATH][1:5]
    assert (await desk.preview("notebook_edit_cell", path=PATH, cellId="a", source="other = 2")).must_ask == ""
    assert (await desk.preview("notebook_delete_cell", path=PATH, cellIds=["a"])).must_ask
