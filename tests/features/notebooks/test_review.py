"""What runs change in notebooks is kept; a person's word about it is audited, told to the watchers and to the model."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.features.notebooks.edit_tools import notebook_edit_cell_tool, notebook_insert_cell_tool
from onyx_jupyter.features.notebooks.review_service import DAY_S, NotebookPlaces
from onyx_jupyter.features.notebooks.run_tools import notebook_run_cell_tool
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.script import Call
from tests.notebook.shelf import Shelf, code
from tests.runs.house import House
from tests.waiting import until

AUTO = json.dumps({"security": {"auto": ["group:notebook"]}})
EDIT = Call("notebook_edit_cell", {"path": "a.ipynb", "cellId": "one", "source": "x = 10"})
INSERT = Call("notebook_insert_cell", {"path": "a.ipynb", "cellType": "code", "source": "new"})
RUN = Call("notebook_run_cell", {"path": "a.ipynb", "cellId": "two"})


def open_house(
    folder: Path, shelf: Shelf, replies: Any = (), *, clock: FakeClock | None = None, limits: Any = None
) -> House:
    tools = [notebook_edit_cell_tool, notebook_insert_cell_tool, notebook_run_cell_tool]
    places = NotebookPlaces(remove=shelf.remove)
    config = json.dumps({**json.loads(AUTO), "notebooks": limits or {}})
    return House(folder, replies, config=config, more_tools=tools, notebooks=shelf, places=places, clock=clock)


@pytest.fixture
def shelf() -> Shelf:
    return Shelf(a=[code("one", "x = 1"), code("two", "y = 2")])


def audited(house: House) -> list[dict[str, Any]]:
    lines = map(json.loads, house.home.audit_file.read_text("utf-8").splitlines())
    return [line for line in lines if line["event"] == "review"]


async def test_undo_works_after_restart_and_model_is_told_once(tmp_path, shelf):
    house = open_house(tmp_path, shelf, [[EDIT, INSERT, RUN], "Done."])
    key = await house.session()
    await house.run(key, mode="auto")
    assert [cell["source"] for cell in shelf.notebooks["a.ipynb"]] == ["x = 10", "y = 2", "new"]
    run_id = house.of("chat.final")[0]["runId"]
    updates = house.of("notebook.changes_updated")
    assert len(updates) == 3
    assert updates[0] == {"paths": ["a.ipynb"], "sessionKey": key, "runId": run_id}
    await house.close()

    again = open_house(tmp_path, shelf, ["I see.", "And on."])
    await again.onyx.ready()
    outcome = await again.onyx.review.undo(key, run_id, "ada")
    assert (outcome.cells, outcome.left) == (3, [])
    assert shelf.notebooks["a.ipynb"] == [code("one", "x = 1"), code("two", "y = 2")]
    assert [(line["what"], line["by"], line["run"], line["cells"]) for line in audited(again)] == [
        ("undo", "user:ada", run_id, 3)
    ]
    assert again.of("notebook.changes_updated")[-1]["paths"] == ["a.ipynb"]

    await again.run(key, "Go on")
    await again.run(key, "And now?")
    told = [
        [message.context for message in request.messages if message.role == "user"] for request in again.model.requests
    ]
    assert "the user undid your changes to a.ipynb (cells one, " in told[0][-1]
    assert told[1] == [*told[0], ""]


async def test_turn_that_wrote_and_ran_cells_in_one_call_is_undone(tmp_path, shelf):
    arguments = {"path": "a.ipynb", "run": True}
    insert = Call("notebook_insert_cell", {**arguments, "cellType": "code", "source": "new"})
    edit = Call("notebook_edit_cell", {**arguments, "cellId": "one", "source": "x = 10"})
    house = open_house(tmp_path, shelf, [[insert, edit], "Done."])
    key = await house.session()
    await house.run(key, mode="auto")
    assert [cell["outputs"][0]["text"] for cell in shelf.notebooks["a.ipynb"] if cell["outputs"]] == ["X = 10", "NEW"]
    outcome = await house.onyx.review.undo(key, house.of("chat.final")[0]["runId"], "ada")
    assert (outcome.cells, outcome.left) == (2, [])
    assert shelf.notebooks["a.ipynb"] == [code("one", "x = 1"), code("two", "y = 2")]
    await house.close()


async def test_undo_reverted_before_next_message_is_not_reported(tmp_path, shelf):
    house = open_house(tmp_path, shelf, [[EDIT], "Done.", "Well."])
    key = await house.session()
    await house.run(key, mode="auto")
    run_id = house.of("chat.final")[0]["runId"]
    await house.onyx.review.undo(key, run_id, "ada")
    await house.onyx.review.put_back(key, run_id, "ada")
    assert shelf.cell("a.ipynb", "one")["source"] == "x = 10"
    await house.run(key, "Go on")
    assert house.model.requests[-1].messages[-1].context == ""
    assert [line["what"] for line in audited(house)] == ["undo", "put_back"]


async def test_rejected_cell_is_reported_by_id_and_kept_one_is_not(tmp_path, shelf):
    house = open_house(tmp_path, shelf, [[EDIT, INSERT], "Done.", "Well."])
    key = await house.session()
    await house.run(key, mode="auto")
    new = shelf.order("a.ipynb")[-1]
    assert await house.onyx.review.accept("a.ipynb", [new], "ada") == 1
    assert (await house.onyx.review.reject("a.ipynb", ["one"], "ada")).cells == 1
    assert await house.onyx.review.marks("a.ipynb") == []
    await house.run(key, "Go on")
    told = house.model.requests[-1].messages[-1].context
    assert "the user rejected your changes to a.ipynb (cells one)" in told
    assert new not in told


async def test_turn_waiting_for_approval_is_active(tmp_path, shelf):
    house = open_house(tmp_path, shelf, [[EDIT, Call("touch")], "Done."])
    key = await house.session()
    run_id = await house.send(key, mode="auto")
    await house.asked(key)
    with pytest.raises(InvalidRequest, match="still working"):
        await house.onyx.review.undo(key, run_id, "ada")
    await house.approve()
    await house.end(run_id)
    await house.onyx.review.undo(key, run_id, "ada")
    assert shelf.cell("a.ipynb", "one")["source"] == "x = 1"


async def test_change_that_cannot_be_logged_is_rejected_with_reason(tmp_path, shelf):
    house = open_house(tmp_path, shelf, [[EDIT], "A pity."])
    key = await house.session()
    house.home.changes.write_text("a file where the folder should be")
    await house.run(key, mode="auto")
    assert shelf.cell("a.ipynb", "one")["source"] == "x = 1"
    (result,) = house.results(key).values()
    assert not result["meta"]["ok"]
    assert "Could not" in result["content"]
    await until(lambda: not house.onyx.runs.busy)


async def test_old_records_are_deleted_while_server_runs(tmp_path, shelf):
    clock = FakeClock()
    house = open_house(tmp_path, shelf, ["One.", "Two.", "Three."], clock=clock)
    key = await house.session()
    await house.run(key)
    old = house.home.changes / "main" / "old.jsonl"
    old.parent.mkdir(parents=True)
    old.write_text("{}\n")
    long_ago = clock.now().timestamp() - 200 * DAY_S
    os.utime(old, (long_ago, long_ago))
    await house.run(key, "And now?")
    assert old.exists()
    clock.advance(DAY_S)
    await house.run(key, "The next day")
    assert not old.exists()


async def test_records_are_pruned_after_many_writes(tmp_path, shelf):
    long = Call("notebook_edit_cell", {"path": "a.ipynb", "cellId": "one", "source": "#" * 40_000})
    house = open_house(tmp_path, shelf, [[long], "Done.", "Well."], limits={"maxChangesBytes": 1_000_000})
    key = await house.session()
    old = house.home.changes / "main" / "old.jsonl"
    await house.run(key, mode="auto")
    old.write_text("{}\n")
    os.utime(old, (0, 0))
    await house.run(key, "Go on")
    assert not old.exists()
