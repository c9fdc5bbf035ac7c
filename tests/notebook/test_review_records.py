"""What turns did to notebooks is written down before it is done, kept within bounds, and read again."""

import asyncio
import json
from typing import Any

import pytest

from onyx_jupyter.errors import NotebookError, StorageError
from onyx_jupyter.notebook.cells import cell_views
from onyx_jupyter.notebook.review.change_store import ChangeStore
from onyx_jupyter.notebook.review.recording import RetentionLimits
from onyx_jupyter.notebook.review.reviewed_cells import run_changes
from onyx_jupyter.notebook.review.undo_plan import plan
from onyx_jupyter.protocols import After, DeleteCell, EditCell, InsertCell
from tests.notebook.desk import RUN, SESSION, A, B, Desk, picture, undone
from tests.notebook.shelf import code


async def test_change_is_logged_with_previous_state_before_notebook_is_touched(desk: Desk) -> None:
    seen: list[dict[str, Any]] = []
    desk.shelf.before_apply = lambda: seen.extend(desk.lines())
    await desk.change(EditCell("two", "y = 20"))
    assert [line["kind"] for line in seen] == ["begun"]
    assert seen[0]["effects"][0]["before"]["source"] == "y = 2"
    assert [line["kind"] for line in desk.lines()] == ["begun", "done"]
    assert desk.told == [A]
    assert desk.file.stat().st_mode & 0o777 == 0o600
    assert all(line["schema_version"] == 1 for line in desk.lines())


async def test_change_that_cannot_be_logged_is_not_made(desk: Desk) -> None:
    (desk.folder / "changes").write_text("a file where the folder should be")
    with pytest.raises(StorageError):
        await desk.change(EditCell("two", "y = 20"))
    assert desk.shelf.cell(A, "two")["source"] == "y = 2"


async def test_rejected_change_leaves_no_mark(desk: Desk) -> None:
    with pytest.raises(NotebookError):
        await desk.change(EditCell("two", "y = 20", base_hash="of something else"))
    assert await desk.kinds() == {}
    assert await desk.review.turns(SESSION) == []


async def test_change_with_lost_answer_can_be_undone_after_restart(desk: Desk) -> None:
    desk.shelf.lose_answer = True
    with pytest.raises(NotebookError):
        await desk.change(EditCell("two", "y = 20"), InsertCell(code("", "new"), After("two")), DeleteCell("one"))
    desk.restart()
    before = [dict(cell) for cell in desk.shelf.notebooks[A]]
    assert [cell["source"] for cell in before] == ["y = 20", "new", "z = 3"]
    assert await undone(desk) == {}
    assert [cell["source"] for cell in desk.shelf.notebooks[A]] == ["x = 1", "y = 2", "z = 3"]


async def test_run_that_requested_input_can_be_undone(desk: Desk) -> None:
    desk.shelf.note = "The code asked for input."
    await desk.run("two")
    assert [line["kind"] for line in desk.lines()] == ["begun", "done"]
    assert await undone(desk) == {}
    assert desk.shelf.cell(A, "two")["outputs"] == []


async def test_run_with_undelivered_outputs_leaves_no_mark(desk: Desk) -> None:
    desk.shelf.shows_runs = False
    await desk.run("two")
    assert [line["kind"] for line in desk.lines()] == ["begun", "not_done"]
    assert await desk.review.turns(SESSION) == []


async def test_change_started_but_not_made_needs_no_undo(desk: Desk) -> None:
    await desk.change(EditCell("two", "y = 20"), DeleteCell("three"))
    begun = desk.file.read_text("utf-8").splitlines()[0]
    desk.file.write_text(begun + "\n")
    desk.shelf.notebooks[A] = [code("one", "x = 1"), code("two", "y = 2"), code("three", "z = 3")]
    desk.restart()
    before = json.dumps(desk.shelf.notebooks)
    assert await undone(desk) == {}
    assert json.dumps(desk.shelf.notebooks) == before


async def test_outputs_too_large_to_keep_are_named_and_text_restored(desk: Desk) -> None:
    desk.limits = RetentionLimits(output_chars=50)
    desk.shelf.cell(A, "two")["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "long " * 100}]
    await desk.change(EditCell("two", "y = 20"))
    await desk.run("two")
    assert await undone(desk) == {"two": "outputs_not_kept"}
    assert desk.shelf.cell(A, "two")["source"] == "y = 2"
    assert "long long" not in desk.lines()[-1].get("effects", "")


async def test_stopped_run_loses_no_previous_image(desk: Desk) -> None:
    picture = {"output_type": "display_data", "data": {"image/png": "A" * 300_000}, "metadata": {}}
    desk.shelf.cell(A, "two").update(outputs=[picture], execution_count=7)
    before = dict(desk.shelf.cell(A, "two"))
    desk.shelf.stop_runs = True
    with pytest.raises(asyncio.CancelledError):
        await desk.run("two")
    assert desk.shelf.cell(A, "two")["outputs"] == []
    desk.restart()
    assert await undone(desk) == {}
    assert desk.shelf.cell(A, "two") == before


async def test_run_result_too_large_for_previous_outputs_loses_nothing(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "two")
    before = dict(desk.shelf.cell(A, "two"))
    desk.shelf.carried_chars = 10
    await desk.run("two")
    assert await undone(desk) == {}
    assert desk.shelf.cell(A, "two") == before


async def test_partially_read_outputs_are_never_restored_as_complete(desk: Desk) -> None:
    text = {"output_type": "stream", "name": "stdout", "text": "long " * 100_000}
    desk.shelf.cell(A, "two").update(outputs=[text], execution_count=7)
    cut = cell_views([desk.shelf.cell(A, "two")], ["two"])[0]
    assert cut.outputs_shortened
    assert len(cut.outputs[0]["text"]) < len(text["text"])
    desk.shelf.shortened = {"two"}
    desk.shelf.stop_runs = True
    with pytest.raises(asyncio.CancelledError):
        await desk.run("two")
    assert await undone(desk) == {"two": "outputs_not_kept"}


async def test_deleted_cells_are_restored_with_outputs_too_large_for_the_answer(desk: Desk) -> None:
    for name in ("one", "two"):
        desk.shelf.run_by_hand(A, name)
    before = json.loads(json.dumps(desk.shelf.notebooks[A]))
    desk.shelf.carried_chars = 80  # room for one of them
    await desk.change(DeleteCell("one"), DeleteCell("two"))
    assert await undone(desk) == {}
    assert desk.shelf.notebooks[A] == before


async def test_deleted_cell_restored_without_outputs_is_named(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "one")
    desk.limits = RetentionLimits(output_chars=10)
    await desk.change(DeleteCell("one"))
    assert await undone(desk) == {"one": "outputs_not_kept"}
    assert desk.shelf.cell(A, "one")["source"] == "x = 1"
    assert await desk.kinds() == {}


async def test_removed_notebook_names_cells_restored_without_outputs(desk: Desk) -> None:
    await desk.hand().create("new.ipynb", [code("made", "made")])
    await desk.run("made", path="new.ipynb")
    desk.shelf.shortened = {"made"}
    assert await undone(desk) == {}
    outcome = await desk.review.put_back(SESSION, RUN, "ada")
    assert [(left.cell_id, left.reason) for left in outcome.left] == [("made", "outputs_not_kept")]
    assert "outputs" not in desk.shelf.cell("new.ipynb", "made")
    assert await desk.kinds("new.ipynb") == {"made": ("added",)}


async def test_previous_outputs_are_not_held_in_memory_and_are_restored(desk: Desk) -> None:
    for name in ("one", "two", "three"):
        desk.shelf.cell(A, name).update(outputs=[picture(name)], execution_count=7)
    before = json.loads(json.dumps(desk.shelf.notebooks))
    await desk.run("one")
    await desk.change(DeleteCell("two"), EditCell("three", "z = 30"))
    await desk.hand().create("new.ipynb", [code("made", "made", outputs=[picture("made")])])
    as_left = json.loads(json.dumps(desk.shelf.notebooks))
    assert "PICTURE" in desk.file.read_text("utf-8")
    assert await undone(desk) == {}
    assert desk.shelf.notebooks == before
    assert "PICTURE" not in repr(await desk.store.of_session(SESSION))
    assert desk.store.kept_bytes < 10_000 < desk.file.stat().st_size
    assert (await desk.review.put_back(SESSION, RUN, "ada")).left == []
    assert desk.shelf.notebooks == as_left


async def test_outputs_missing_on_disk_are_named(desk: Desk) -> None:
    desk.shelf.cell(A, "one").update(outputs=[picture("one")], execution_count=7)
    await desk.run("one")
    changes = await desk.store.of_session(SESSION)
    assert changes is not None
    (item,) = run_changes(changes, RUN)
    desk.file.write_bytes(b"x" * desk.file.stat().st_size)
    (filled,) = await desk.store.filled([item])
    assert (item.outputs_left_out, filled.outputs_left_out) == (False, True)
    view = await desk.shelf.read(A, ["one"])
    assert [left.reason for left in plan(view, [filled], lambda cell_id: False).left] == ["outputs_not_kept"]


async def test_only_new_part_of_grown_file_is_read(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    assert len(await desk.store.of_notebook(A)) == 1
    size = desk.file.stat().st_size
    desk.file.write_bytes(desk.file.read_bytes().replace(b'"path":"a.ipynb"', b'"path":"z.ipynb"'))
    with desk.file.open("ab") as file:
        file.write(b'{"schema_version":1,"kind":"decided","path":"b.ip')
    assert desk.file.stat().st_size > size
    assert [await desk.store.of_notebook(path) for path in ("z.ipynb", B)] == [[], []]
    with desk.file.open("ab") as file:  # another server's line is whole now
        file.write(b'ynb","id":"x"}\n')
    assert len(await desk.store.of_notebook(B)) == 1


async def test_only_latest_files_are_held_in_memory(desk: Desk) -> None:
    for session in ("s1", "s2", "s3"):
        await desk.change(EditCell("one", "x" * 100_000 + session), session=session)
    store = ChangeStore(desk.folder / "changes", max_kept_bytes=500_000)
    found = await store.of_notebook(A)
    assert [changes.session_key for changes in found] == ["s1", "s2", "s3"]
    assert 0 < store.kept_bytes <= 500_000 < desk.store.appended_bytes


async def test_oldest_files_are_deleted_first(desk: Desk) -> None:
    for session in ("s1", "s2", "s3"):
        await desk.change(EditCell("one", f"of {session}"), session=session)
    size = desk.file.stat().st_size
    assert await desk.store.prune(1000.0, 10 * size, desk.file.stat().st_mtime) == 0
    assert await desk.store.prune(1000.0, 2 * size, desk.file.stat().st_mtime) == 1
    assert await desk.review.turns("s1") == []
    assert len(await desk.review.turns("s3")) == 1
    assert await desk.store.prune(1000.0, 10 * size, desk.file.with_name("s3.jsonl").stat().st_mtime + 2000) == 2


async def test_damaged_line_loses_only_itself(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    with desk.file.open("a") as file:
        file.write(
            '{"schema_version":1,"kind":"begun","pa\n{"schema_version":1,"kind":"of a later version","path":"x"}\n'
        )
    await desk.change(EditCell("two", "y = 20"))
    desk.restart()
    assert set(await desk.kinds()) == {"one", "two"}
