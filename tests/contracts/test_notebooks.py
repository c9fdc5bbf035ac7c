"""One suite over the three ways to a notebook: open in a browser tab, in a collaboration room, and as a file."""

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.notebook.document_service import DocumentService
from onyx_jupyter.protocols import (
    After,
    AppliedChange,
    CellChange,
    DeleteCell,
    EditCell,
    InsertCell,
    MoveCell,
    NbCell,
    RestoreCell,
    SetOutputs,
)
from tests.notebook.fake_tab import FakeTab, tab_cell
from tests.notebook.files import cell, service_over, write_notebook
from tests.notebook.kernels import quiet
from tests.notebook.rooms import open_room, room_config
from tests.waiting import until

SOURCES = {
    "intro": "# Load data",
    "load": "x = 1\nprint('loaded', x)",
    "fail": "1 / 0",
    "wait": "import time; time.sleep(600)",
}
TYPES = {"intro": "markdown"}


@dataclass
class Place:
    """A notebook `work.ipynb` behind one backend."""

    name: str
    service: DocumentService
    tab: FakeTab | None
    file: Path

    async def apply(self, *changes: CellChange) -> tuple[AppliedChange, ...]:
        return await self.service.apply("work.ipynb", changes)

    async def sources(self) -> dict[str, str]:
        return {cell.id: cell.source for cell in (await self.service.read("work.ipynb")).cells}

    async def ids(self) -> list[str]:
        return [cell.id for cell in (await self.service.read("work.ipynb")).cells]

    async def until_running(self, told: asyncio.Event) -> None:
        await (self.tab.started if self.tab else told).wait()


@pytest.fixture(params=["browser", "room", "contents"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def jp_server_config(kind: str, tmp_path: Path) -> dict[str, Any]:
    return room_config(tmp_path) if kind == "room" else {}


@pytest.fixture
def place(kind: str, jp_serverapp: Any, jp_root_dir: Path, jp_fetch: Any, jp_asyncio_loop: Any) -> Iterator[Place]:
    file = jp_root_dir / "work.ipynb"
    write_notebook(file, [cell(name, source, TYPES.get(name, "code")) for name, source in SOURCES.items()])
    service, tabs = service_over(jp_serverapp)
    run = jp_asyncio_loop.run_until_complete
    tab = person = None
    if kind == "browser":
        tab = FakeTab(tabs)
        tab.show("work.ipynb", [tab_cell(name, source, TYPES.get(name, "code")) for name, source in SOURCES.items()])
    if kind == "room":
        person = run(open_room(jp_serverapp, jp_fetch, "work.ipynb"))
    yield Place(kind, service, tab, file)
    if person is not None:
        person.close()
    run(jp_serverapp.kernel_manager.shutdown_all(now=True))


async def code_of(awaitable: Any) -> str:
    with pytest.raises(NotebookError) as caught:
        await awaitable
    return caught.value.code


def code(source: str, **more: Any) -> NbCell:
    return {"cell_type": "code", "source": source, "metadata": {}, **more}


async def test_read_returns_every_cell_with_id_source_and_hash(place: Place) -> None:
    view = await place.service.read("work.ipynb")
    assert view.backend == place.name
    assert {c.id: c.source for c in view.cells} == SOURCES
    assert [c.cell_type for c in view.cells] == ["markdown", "code", "code", "code"]
    assert all(c.hash == cell_hash(c.source) for c in view.cells)


async def test_partial_read_returns_some_cells_in_full_and_order_and_sizes_of_all(place: Place) -> None:
    await place.service.run_cell("work.ipynb", "load", quiet)
    await place.apply(InsertCell(code("é数😀", id="wide")), InsertCell(code(" \n", id="blank")))
    whole = await place.service.read("work.ipynb")
    some = await place.service.read_cells("work.ipynb", ["fail", "load", "nowhere"])
    assert some.cells == tuple(cell for cell in whole.cells if cell.id in ("load", "fail"))
    assert len(some.cells[0].outputs) == 1
    assert some.order == whole.order
    sizes = [(cell.id, cell.chars) for cell in some.order]
    assert sizes == [*((cell_id, len(source)) for cell_id, source in SOURCES.items()), ("wide", 3), ("blank", 0)]
    assert some.kernel_name == whole.kernel_name


async def test_last_cells_can_be_read_without_ids(place: Place) -> None:
    for ids, last, found in [([], 0, []), ([], 2, ["fail", "wait"]), (["intro", "wait"], 1, ["intro", "wait"])]:
        some = await place.service.read_cells("work.ipynb", ids, last=last)
        assert [cell.id for cell in some.cells] == found
    assert [cell.id for cell in (await place.service.read_cells("work.ipynb", [], last=9)).cells] == list(SOURCES)


async def test_images_are_returned_only_for_cells_read_in_full(place: Place) -> None:
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "cG5n", "text/plain": "<Figure>"}}
    await place.apply(SetOutputs("load", (picture,), 1), SetOutputs("fail", (picture,), 2))
    some = await place.service.read_cells("work.ipynb", ["load", "fail"], ["fail"])
    assert [set(cell.outputs[0]["data"]) for cell in some.cells] == [{"text/plain"}, {"image/png", "text/plain"}]


async def test_cell_is_inserted_after_another_with_new_id(place: Place) -> None:
    (made,) = await place.apply(InsertCell(code("y = 2"), After("intro")))
    assert await place.ids() == ["intro", made.cell_id, "load", "fail", "wait"]
    assert (await place.service.read("work.ipynb")).cells[1].source == "y = 2"
    assert (made.before, made.before_place) == (None, None)
    assert made.after is not None
    assert (made.after["id"], made.after["source"]) == (made.cell_id, "y = 2")


async def test_cell_is_inserted_at_start_or_end(place: Place) -> None:
    await place.apply(InsertCell(code("", id="last"), "end"), InsertCell(code("", id="first"), "start"))
    assert await place.ids() == ["first", *SOURCES, "last"]


async def test_edit_with_current_hash_replaces_source_and_returns_previous(place: Place) -> None:
    (made,) = await place.apply(EditCell("load", "x = 2", cell_hash(SOURCES["load"])))
    assert (await place.service.read("work.ipynb")).cells[1].source == "x = 2"
    assert made.before is not None
    assert made.after is not None
    assert (made.before["source"], made.after["source"]) == (SOURCES["load"], "x = 2")
    assert made.before_place == After("intro")


@pytest.mark.parametrize("change", [EditCell, DeleteCell, RestoreCell, MoveCell])
async def test_change_with_stale_hash_is_rejected_with_current_source(place: Place, change: Any) -> None:
    older = cell_hash("something older")
    stale: Any = {
        EditCell: EditCell("load", "x = 2", older),
        DeleteCell: DeleteCell("load", older),
        RestoreCell: RestoreCell(code("x = 2", id="load"), older),
        MoveCell: MoveCell("load", "start", older),
    }[change]
    with pytest.raises(NotebookError) as caught:
        await place.apply(stale)
    assert caught.value.code == "stale"
    assert caught.value.data == {"cellId": "load", "source": SOURCES["load"], "hash": cell_hash(SOURCES["load"])}
    assert await place.sources() == SOURCES
    assert await place.ids() == list(SOURCES)


async def test_edit_without_hash_is_accepted(place: Place) -> None:
    await place.apply(EditCell("load", "x = 3"))
    assert (await place.sources())["load"] == "x = 3"


async def test_deleted_cell_can_be_restored_in_place(place: Place) -> None:
    await place.service.run_cell("work.ipynb", "load", quiet)
    (gone,) = await place.apply(DeleteCell("load", cell_hash(SOURCES["load"])))
    assert await place.ids() == ["intro", "fail", "wait"]
    assert gone.after is None
    assert gone.before is not None
    assert gone.before_place is not None
    await place.apply(InsertCell(gone.before, gone.before_place))
    back = (await place.service.read("work.ipynb")).cells[1]
    assert (back.id, back.source, back.execution_count) == ("load", SOURCES["load"], 1)
    assert [output["output_type"] for output in back.outputs] == ["stream"]


async def test_cell_moves_to_position_counted_without_it(place: Place) -> None:
    (made,) = await place.apply(MoveCell("load", After("fail")))
    assert await place.ids() == ["intro", "fail", "load", "wait"]
    await place.apply(MoveCell("load", made.before_place or "end"))
    assert await place.ids() == list(SOURCES)
    await place.apply(MoveCell("load", "end", cell_hash(SOURCES["load"])), MoveCell("wait", "start"))
    assert await place.ids() == ["wait", "intro", "fail", "load"]


async def test_each_change_of_a_batch_sees_earlier_ones(place: Place) -> None:
    made = await place.apply(
        InsertCell(code("new", id="n"), After("intro")),
        EditCell("n", "newer", cell_hash("new")),
        MoveCell("n", "start"),
        DeleteCell("fail", cell_hash(SOURCES["fail"])),
        EditCell("load", "x = 5"),
    )
    assert await place.sources() == {"n": "newer", "intro": SOURCES["intro"], "load": "x = 5", "wait": SOURCES["wait"]}
    assert [change.before_place for change in made] == [
        None,
        After("intro"),
        After("intro"),
        After("load"),
        After("intro"),
    ]
    assert [change.cell_id for change in made] == ["n", "n", "n", "fail", "load"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (EditCell("load", "x", "0" * 16), "stale"),
        (EditCell("nowhere", "x"), "no_cell"),
        (DeleteCell("nowhere"), "no_cell"),
        (MoveCell("nowhere", "end"), "no_cell"),
        (MoveCell("load", After("load")), "no_cell"),
        (InsertCell({"cell_type": "code", "source": "x"}, After("nowhere")), "no_cell"),
        (InsertCell({"cell_type": "code", "source": "x", "id": "load"}), "cell_exists"),
        (InsertCell({"cell_type": "poem", "source": "x"}), "bad_cell"),
        (InsertCell({"cell_type": "code", "source": "x", "id": "not an id"}), "bad_cell"),
        (RestoreCell({"cell_type": "code", "source": "x", "id": "nowhere"}), "no_cell"),
    ],
)
async def test_one_rejected_change_rejects_the_batch(place: Place, bad: Any, reason: str) -> None:
    good = [EditCell("load", "changed"), InsertCell(code("", id="n")), DeleteCell("fail"), MoveCell("wait", "start")]
    bad_last = [EditCell("intro", "changed"), InsertCell(code("", id="n")), DeleteCell("fail"), bad]
    assert await code_of(place.apply(*bad_last)) == reason
    assert await code_of(place.apply(bad, *good)) == reason
    assert await place.sources() == SOURCES


async def test_notebook_always_keeps_a_cell(place: Place) -> None:
    every = [DeleteCell(cell_id) for cell_id in SOURCES]
    assert await code_of(place.apply(*every)) == "would_empty"
    assert await place.sources() == SOURCES
    await place.apply(*every, InsertCell(code("fresh", id="n")))
    assert await place.sources() == {"n": "fresh"}


@pytest.mark.parametrize(("lock", "change"), [("editable", EditCell("own", "x")), ("deletable", DeleteCell("own"))])
async def test_locked_cell_is_changed_only_by_a_users_undo(place: Place, lock: str, change: Any) -> None:
    await place.apply(InsertCell(code("locked", id="own", metadata={lock: False})))
    assert await code_of(place.apply(EditCell("load", "changed"), change)) == "locked"
    assert await place.sources() == {**SOURCES, "own": "locked"}
    other = EditCell("own", "x") if lock == "deletable" else DeleteCell("own")
    (made,) = await place.apply(replace(change, even_locked=True))
    await place.apply(InsertCell(made.before or {}) if lock == "deletable" else RestoreCell(made.before or {}))
    await place.apply(SetOutputs("own", (), 1), MoveCell("own", "start"), other)  # what it does not lock


async def test_restored_cell_has_outputs_count_and_metadata_without_running(place: Place) -> None:
    run = await place.service.run_cell("work.ipynb", "load", quiet)
    assert run.before is not None
    assert run.before["outputs"] == []
    tagged = {**run.before, "metadata": {"tags": ["kept"]}}
    (made,) = await place.apply(RestoreCell(tagged, cell_hash(SOURCES["load"])))
    now = (await place.service.read("work.ipynb")).cells[1]
    assert (now.outputs, now.execution_count, now.metadata["tags"]) == ((), None, ["kept"])
    assert made.before is not None
    await place.apply(RestoreCell(made.before))
    again = (await place.service.read("work.ipynb")).cells[1]
    assert (again.execution_count, len(again.outputs)) == (1, 1)
    assert "tags" not in again.metadata


async def test_restored_cell_keeps_unspecified_fields(place: Place) -> None:
    await place.service.run_cell("work.ipynb", "load", quiet)
    await place.apply(RestoreCell({"id": "load", "cell_type": "code", "source": "x = 9"}))
    now = (await place.service.read("work.ipynb")).cells[1]
    assert (now.source, now.execution_count, len(now.outputs)) == ("x = 9", 1, 1)


async def test_markdown_attachments_survive_edit_move_and_deletion(place: Place) -> None:
    picture = {"p.png": {"image/png": "cG5n"}}
    note = {"id": "note", "cell_type": "markdown", "source": "![](attachment:p.png)", "attachments": picture}
    await place.apply(InsertCell(note), EditCell("note", "# Moved"), MoveCell("note", "start"))
    (gone,) = await place.apply(DeleteCell("note"))
    assert gone.before is not None
    assert gone.before["attachments"] == picture
    (back,) = await place.apply(InsertCell(gone.before, "start"))
    assert back.after is not None
    assert back.after["attachments"] == picture
    assert (await place.apply(MoveCell("note", "end")))[0].before == back.after


async def test_raw_cells_and_metadata_are_preserved(place: Place) -> None:
    raw = {"id": "r", "cell_type": "raw", "source": "---", "metadata": {"format": "text/restructuredtext"}}
    await place.apply(InsertCell(raw))
    cell = (await place.service.read("work.ipynb")).cells[-1]
    assert (cell.cell_type, cell.source, cell.metadata) == ("raw", "---", {"format": "text/restructuredtext"})


@pytest.mark.parametrize("source", ["", "é — 数学 — 😀", "a\u2028b\x00c\r\nd\t", "x" * 50_000])
async def test_any_text_round_trips(place: Place, source: str) -> None:
    await place.apply(EditCell("load", source), InsertCell(code(source, id="n")))
    sources = await place.sources()
    assert (sources["load"], sources["n"]) == (source, source)
    await place.apply(EditCell("load", "after", cell_hash(source)))


async def test_two_hundred_edits_match_nbformat(place: Place) -> None:
    by_nbformat = nbformat.read(place.file, as_version=4)
    dice = random.Random(4)
    for number in range(200):
        edited = dice.choice(by_nbformat.cells)
        at, words = dice.randint(0, len(edited.source)), dice.choice(["", "\n", "é — 😀", f"value = {number}\n"])
        source = edited.source[:at] + words + edited.source[at + dice.randint(0, 9) :]
        await place.apply(EditCell(edited.id, source, cell_hash(edited.source)))
        edited.source = source
    view = await place.service.read("work.ipynb")
    assert [(cell.id, cell.cell_type, cell.source) for cell in view.cells] == [
        (cell.id, cell.cell_type, cell.source) for cell in by_nbformat.cells
    ]
    if place.name == "contents":
        assert nbformat.read(place.file, as_version=4).cells == by_nbformat.cells


async def test_run_returns_outputs_and_stores_them_in_notebook(place: Place) -> None:
    run = await place.service.run_cell("work.ipynb", "load", quiet)
    assert (run.status, run.note) == ("ok", None)
    assert run.outputs == ({"output_type": "stream", "name": "stdout", "text": "loaded 1\n"},)
    after = (await place.service.read("work.ipynb")).cells[1]
    assert after.execution_count == run.execution_count == 1
    assert [output["output_type"] for output in after.outputs] == ["stream"]


async def test_unsaveable_notebook_is_not_changed_but_its_cells_run(
    place: Place, jp_serverapp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = place.file.read_bytes()
    monkeypatch.setattr(jp_serverapp.contents_manager, "is_writable", lambda path: False)
    if place.tab is not None:
        place.tab.read_only = True
    for change in (EditCell("load", "x = 2"), InsertCell(code("new")), DeleteCell("load"), MoveCell("load", "end")):
        with pytest.raises(NotebookError, match=r"work\.ipynb is read-only") as caught:
            await place.apply(change)
        assert caught.value.code == "not_saved"
    run = await place.service.run_cell("work.ipynb", "load", quiet)
    assert [output["text"] for output in run.outputs] == ["loaded 1\n"]
    assert await place.sources() == SOURCES
    is_open = place.name != "contents"
    assert bool((await place.service.read("work.ipynb")).cells[1].outputs) == is_open  # seen, if not saved
    assert ("read-only" in (run.note or "")) != is_open
    assert place.file.read_bytes() == before


async def test_exception_in_cell_is_a_result_not_an_error(place: Place) -> None:
    run = await place.service.run_cell("work.ipynb", "fail", quiet)
    assert run.status == "error"
    assert run.outputs[-1]["ename"] == "ZeroDivisionError"


@pytest.mark.parametrize(("cell_id", "code"), [("intro", "not_code"), ("nowhere", "no_cell")])
async def test_only_existing_code_cells_can_run(place: Place, cell_id: str, code: str) -> None:
    assert await code_of(place.service.run_cell("work.ipynb", cell_id, quiet)) == code


async def test_cancelling_a_run_interrupts_kernel(place: Place) -> None:
    running = asyncio.Event()
    await place.apply(EditCell("wait", "print('on', flush=True); import time; time.sleep(600)"))
    task = asyncio.ensure_future(
        place.service.run_cell("work.ipynb", "wait", lambda line: line == "on" and running.set())
    )
    await place.until_running(running)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    if place.tab is not None:
        assert place.tab.asked[-1].action == "notebook.interrupt"
    else:
        shown = (await place.service.read("work.ipynb")).cells[3].outputs
        assert shown[0]["text"] == "on\n"
        assert (await place.service.run_cell("work.ipynb", "load", quiet)).status == "ok"  # else it would wait for ever


async def test_cell_changed_while_waiting_for_kernel_is_not_run(place: Place) -> None:
    go = place.file.parent / "go"
    busy = f"print('on', flush=True)\nimport os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)"
    own: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    if place.tab is not None:
        place.tab.free.clear()
        own.set_result(None)
    else:
        await place.apply(EditCell("wait", busy))
        running = asyncio.Event()
        own = asyncio.ensure_future(
            place.service.run_cell("work.ipynb", "wait", lambda line: line == "on" and running.set())
        )
        await running.wait()
    said: list[str] = []
    began: list[bool] = []
    waiting = asyncio.ensure_future(
        place.service.run_cell(
            "work.ipynb",
            "load",
            said.append,
            base_hash=cell_hash(SOURCES["load"]),
            began=lambda: began.append(True),
        )
    )
    await until(lambda: bool(place.tab.asked if place.tab else said))
    await place.apply(EditCell("load", "import shutil; shutil.rmt"))
    go.touch()
    if place.tab is not None:
        place.tab.free.set()
    with pytest.raises(NotebookError) as caught:
        await waiting
    await own
    assert (caught.value.code, caught.value.data["source"]) == ("stale", "import shutil; shutil.rmt")
    assert began == []
    cell = (await place.service.read("work.ipynb")).cells[1]
    assert (cell.outputs, cell.execution_count) == ((), None)
    now = cell_hash("import shutil; shutil.rmt")
    assert (await place.service.run_cell("work.ipynb", "load", quiet, base_hash=now)).status == "error"


async def test_open_notebook_reaches_disk_only_from_where_it_is_open(place: Place) -> None:
    before = place.file.read_bytes()
    await place.apply(InsertCell(code("y = 2")))
    await place.service.run_cell("work.ipynb", "load", quiet)
    if place.tab is not None:
        assert place.file.read_bytes() == before
    else:  # a room saves itself, when it wants to
        await until(lambda: all(text in place.file.read_text("utf-8") for text in ('"y = 2"', '"loaded 1')))
