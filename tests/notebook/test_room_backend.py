import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.document_service import DocumentService
from onyx_jupyter.protocols import DeleteCell, EditCell, InsertCell, SetOutputs
from tests.notebook.files import cell, read_cells, write_notebook
from tests.notebook.kernels import quiet
from tests.notebook.rooms import open_room, room_config
from tests.waiting import until


@pytest.fixture
def jp_server_config(tmp_path: Path) -> dict[str, Any]:
    return room_config(tmp_path)


def rooms_of(server: Any) -> dict[str, Any]:
    (app,) = server.extension_manager.extension_apps["jupyter_server_ydoc"]
    rooms: dict[str, Any] = app.ywebsocket_server.rooms
    return rooms


async def test_closed_notebook_is_read_and_changed_without_a_room(
    server: Any, service: DocumentService, jp_root_dir: Path
) -> None:
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "x = 1")])
    await service.apply("n.ipynb", [EditCell("a", "x = 2")])
    assert (await service.read("n.ipynb")).backend == "contents"
    assert rooms_of(server) == {}
    assert server.web_app.settings["file_id_manager"].get_id("n.ipynb") is None


async def test_loading_room_is_waited_for(
    server: Any, service: DocumentService, jp_root_dir: Path, jp_fetch: Any
) -> None:
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "x = 1"), cell("b", "y = 1")])
    person = await open_room(server, jp_fetch, "n.ipynb")
    (room,) = [room for room in rooms_of(server).values() if room.room_id.startswith("json:")]
    async with room._update_lock:  # as while it replaces its content from the file
        changing = asyncio.ensure_future(service.apply("n.ipynb", [EditCell("a", "x = 2")]))
        await asyncio.sleep(0.2)
        assert not changing.done()
        assert str(room._document.ycells[0]["source"]) == "x = 1"
    await changing
    assert str(room._document.ycells[0]["source"]) == "x = 2"
    await until(lambda: '"x = 2"' in (jp_root_dir / "n.ipynb").read_text())
    person.close()


async def test_edits_and_growing_outputs_change_only_differences(
    server: Any, service: DocumentService, jp_root_dir: Path, jp_fetch: Any
) -> None:
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "é = 1\ny = 2\n😀 = 3")])
    person = await open_room(server, jp_fetch, "n.ipynb")
    (document,) = [room._document for room in rooms_of(server).values()]
    shared = document.ycells[0]
    source, changes = shared["source"], []
    watching = source.observe(lambda event: changes.append(event.delta))
    await service.apply("n.ipynb", [EditCell("a", "é = 1\ny = 20\n😀 = 3")])
    assert changes == [[{"retain": len("é = 1\ny = 2".encode())}, {"insert": "0"}]]
    source.unobserve(watching)

    out = {"output_type": "stream", "name": "stdout"}
    await service.apply("n.ipynb", [SetOutputs("a", ({**out, "text": "one\n"},), 1)])
    stream = shared["outputs"][0]["text"]
    grown: list[Any] = []
    watching = stream.observe(lambda event: grown.append(event.delta))
    await service.apply("n.ipynb", [SetOutputs("a", ({**out, "text": "one\ntwo\n"},), 1)])
    assert grown == [[{"retain": 4}, {"insert": "two\n"}]]
    stream.unobserve(watching)
    assert (await service.read("n.ipynb")).cells[0].outputs[0]["text"] == "one\ntwo\n"
    await service.apply("n.ipynb", [SetOutputs("a", (), None)])
    assert (await service.read("n.ipynb")).cells[0].outputs == ()
    person.close()


async def test_outputs_appear_in_room_while_cell_runs(
    server: Any, service: DocumentService, jp_root_dir: Path, jp_fetch: Any
) -> None:
    wait = "import os, time\nprint('on', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('end')"
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", wait)])
    person = await open_room(server, jp_fetch, "n.ipynb")
    (document,) = [room._document for room in rooms_of(server).values()]
    task = asyncio.ensure_future(service.run_cell("n.ipynb", "a", quiet))
    await until(lambda: [output["text"] for output in document.get_cell(0)["outputs"]] == ["on\n"])
    assert not task.done()
    (jp_root_dir / "go").touch()
    run = await task
    assert (run.status, run.note, run.before and run.before["outputs"]) == ("ok", None, [])
    assert document.get_cell(0)["outputs"][0]["text"] == "on\nend\n"
    person.close()


async def test_run_waiting_for_kernel_leaves_cell_unchanged(
    server: Any, service: DocumentService, jp_root_dir: Path, jp_fetch: Any
) -> None:
    wait = "import os, time\nprint('on', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)"
    shown = {"output_type": "stream", "name": "stdout", "text": "of before\n"}
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", wait), {**cell("b", "x = 1"), "outputs": [shown]}])
    person = await open_room(server, jp_fetch, "n.ipynb")
    (document,) = [room._document for room in rooms_of(server).values()]
    first = asyncio.ensure_future(service.run_cell("n.ipynb", "a", quiet))
    await until(lambda: [output["text"] for output in document.get_cell(0)["outputs"]] == ["on\n"])
    said: list[str] = []
    began: list[bool] = []
    waiting = asyncio.ensure_future(service.run_cell("n.ipynb", "b", said.append, began=lambda: began.append(True)))
    await until(lambda: "Waiting for the kernel" in said)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert began == []
    assert [output["text"] for output in document.get_cell(1)["outputs"]] == ["of before\n"]
    (jp_root_dir / "go").touch()
    assert (await first).status == "ok"
    await service.run_cell("n.ipynb", "b", quiet, began=lambda: began.append(True))
    assert began == [True]
    person.close()


async def test_cells_with_duplicate_or_missing_ids_are_distinguished_and_keep_them(
    server: Any, service: DocumentService, jp_root_dir: Path, jp_fetch: Any
) -> None:
    path = jp_root_dir / "n.ipynb"
    write_notebook(path, [cell("a", "x = 1"), cell("b", "y = 2")])
    person = await open_room(server, jp_fetch, "n.ipynb")
    (document,) = [room._document for room in rooms_of(server).values()]
    document.ycells[1]["id"] = "a"
    ids = [found.id for found in (await service.read("n.ipynb")).cells]
    assert ids[0] == "a"
    assert len(set(ids)) == 2
    await service.apply("n.ipynb", [EditCell(ids[1], "y = 3")])
    assert [str(shared["source"]) for shared in document.ycells] == ["x = 1", "y = 3"]
    await until(lambda: "y = 3" in path.read_text() and [c["id"] for c in json.loads(path.read_text())["cells"]] == ids)
    person.close()


async def test_old_format_is_upgraded_so_room_saves_ids(
    server: Any, service: DocumentService, jp_root_dir: Path, jp_fetch: Any
) -> None:
    path = jp_root_dir / "n.ipynb"
    write_notebook(path, [cell(None, "x = 1"), cell(None, "y = 2")], minor=4)
    person = await open_room(server, jp_fetch, "n.ipynb")
    ids = [found.id for found in (await service.read("n.ipynb")).cells]
    await service.apply("n.ipynb", [EditCell(ids[0], "x = 3")])
    await until(lambda: "x = 3" in path.read_text())
    saved = json.loads(path.read_text())
    assert (saved["nbformat_minor"], [c.get("id") for c in saved["cells"]]) == (5, ids)
    person.close()


async def test_room_closing_during_turn_hands_over_to_file(
    server: Any, service: DocumentService, jp_root_dir: Path, jp_fetch: Any
) -> None:
    path = jp_root_dir / "n.ipynb"
    write_notebook(path, [cell("a", "x = 1")])
    person = await open_room(server, jp_fetch, "n.ipynb")
    await service.apply("n.ipynb", [InsertCell(cell("b", "from the room"))])
    await until(lambda: "from the room" in path.read_text())
    person.close()
    (app,) = server.extension_manager.extension_apps["jupyter_server_ydoc"]
    (room,) = rooms_of(server).values()
    await app.ywebsocket_server.delete_room(room=room)
    await service.apply("n.ipynb", [InsertCell(cell("c", "from the file"))])
    assert [c["id"] for c in read_cells(path)] == ["a", "b", "c"]
    assert (await service.read("n.ipynb")).backend == "contents"


async def test_one_rejected_change_leaves_room_unchanged(
    server: Any, service: DocumentService, jp_root_dir: Path, jp_fetch: Any
) -> None:
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "x = 1")])
    person = await open_room(server, jp_fetch, "n.ipynb")
    (document,) = [room._document for room in rooms_of(server).values()]
    state = document.ydoc.get_state()
    with pytest.raises(NotebookError):
        await service.apply("n.ipynb", [EditCell("a", "x = 2"), DeleteCell("nowhere")])
    assert document.ydoc.get_state() == state
    person.close()
