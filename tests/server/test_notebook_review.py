"""Review and undo over the socket: a notebook that is open nowhere, and one in the very tab that asks."""

import json

import pytest

from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.testing.script import Call
from tests.notebook.files import cell, read_cells, write_notebook
from tests.server.client import Client, MethodFailed

PATH = "work/plot.ipynb"


def edit(cell_id: str, source: str) -> Call:
    return Call("notebook_edit_cell", {"path": PATH, "cellId": cell_id, "source": source})


@pytest.fixture
def notebook(jp_root_dir):
    file = jp_root_dir / PATH
    file.parent.mkdir()
    write_notebook(file, [cell("one", "x = 1"), cell("two", "y = 2"), cell("three", "z = 3")])
    return file


async def turn(client: Client, replies, *calls: Call) -> tuple[str, str]:
    """A session and its run, which made these calls with a person's leave."""
    key = (await client.ask("sessions.create"))["sessionKey"]
    replies.next = [list(calls), "Done."]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Please"))["runId"]
    for number in range(len(calls)):
        await client.until(lambda _, n=number: len(client.events("exec.approval_request")) > n)
        asked = client.events("exec.approval_request")[number]
        await client.ask("exec.approve", approvalId=asked["approvalId"])
    assert (await client.end(run_id))[0] == "chat.final"
    return key, run_id


def sources(file) -> list[str]:
    return [one["source"] for one in read_cells(file)]


async def test_marks_keep_reject_undo_and_revert_undo(connect, replies, notebook):
    client = await connect()
    insert = Call("notebook_insert_cell", {"path": PATH, "cellType": "markdown", "source": "# New"})
    key, run_id = await turn(client, replies, edit("one", "x = 10"), edit("two", "y = 20"), insert)
    changes = await client.ask("notebook.changes", path=PATH)
    assert changes["turns"] == []
    one, _, new = changes["marks"]
    assert one == {
        "cellId": "one",
        "kinds": ["edited"],
        "before": {"cellType": "code", "source": "x = 1"},
        "after": {"cellType": "code", "source": "x = 10"},
        "turns": [{"sessionKey": key, "runId": run_id}],
        "working": False,
    }
    assert (new["kinds"], "before" in new) == (["added"], False)

    unseen = await client.ask("notebook.accept", path=PATH, cellIds=["one"], shown={"one": cell_hash("x = 9")})
    assert unseen == {"cells": 0}
    assert await client.ask("notebook.accept", path=PATH, shown={"one": cell_hash("x = 10")}) == {"cells": 1}
    rejected = await client.ask("notebook.reject", path=PATH, cellIds=["two"])
    assert rejected == {"cells": 1, "paths": [PATH], "leftAlone": [], "removed": [], "made": []}
    assert sources(notebook) == ["x = 10", "y = 2", "z = 3", "# New"]
    assert [mark["cellId"] for mark in (await client.ask("notebook.changes", path=PATH))["marks"]] == [new["cellId"]]

    undone = await client.ask("notebook.undo", sessionKey=key, runId=run_id)
    assert (undone["cells"], undone["leftAlone"]) == (2, [])
    assert sources(notebook) == ["x = 1", "y = 2", "z = 3"]
    (info,) = (await client.ask("notebook.changes", sessionKey=key))["turns"]
    assert (info["undone"], info["cells"], info["standing"]) == (True, 3, 0)
    await client.ask("notebook.put_back", sessionKey=key, runId=run_id)
    assert sources(notebook) == ["x = 10", "y = 2", "z = 3", "# New"]


async def test_renamed_notebook_keeps_marks_and_undo(connect, replies, notebook, jp_fetch):
    client = await connect()
    key, run_id = await turn(client, replies, edit("one", "x = 10"))
    seen = len(client.events("notebook.changes_updated"))
    body = json.dumps({"path": "moved"})
    await jp_fetch("api", "contents", "work", method="PATCH", body=body)
    await client.until(lambda _: len(client.events("notebook.changes_updated")) > seen)
    marks = (await client.ask("notebook.changes", path="moved/plot.ipynb"))["marks"]
    assert [mark["cellId"] for mark in marks] == ["one"]
    await client.ask("notebook.undo", sessionKey=key, runId=run_id)
    assert sources(notebook.parent.parent / "moved" / "plot.ipynb")[0] == "x = 1"


async def test_turn_continuing_after_rename_has_one_record(connect, replies, notebook, jp_fetch):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    insert = Call("notebook_insert_cell", {"path": PATH, "cellType": "code", "source": "new"})
    replies.next = [[edit("one", "x = 10"), insert, edit("two", "y = 20")], "Done."]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Please"))["runId"]
    for number in range(3):
        await client.until(lambda _, n=number: len(client.events("exec.approval_request")) > n)
        if number == 1:
            seen = len(client.events("notebook.changes_updated"))
            await jp_fetch("api", "contents", PATH, method="PATCH", body=json.dumps({"path": "work/new.ipynb"}))
            await client.until(lambda _, n=seen: len(client.events("notebook.changes_updated")) > n)
        asked = client.events("exec.approval_request")[number]
        await client.ask("exec.approve", approvalId=asked["approvalId"])
    assert (await client.end(run_id))[0] == "chat.final"
    renamed = notebook.with_name("new.ipynb")
    assert sources(renamed) == ["x = 10", "y = 20", "z = 3", "new"]
    assert (await client.ask("notebook.changes", path=PATH))["marks"] == []
    assert len((await client.ask("notebook.changes", path="work/new.ipynb"))["marks"]) == 3
    (info,) = (await client.ask("notebook.changes", sessionKey=key))["turns"]
    assert info["notebooks"] == [{"path": "work/new.ipynb", "cells": 3}]
    undone = await client.ask("notebook.undo", sessionKey=key, runId=run_id)
    assert undone["leftAlone"] == []
    assert sources(renamed) == ["x = 1", "y = 2", "z = 3"]


async def test_tab_requesting_undo_performs_it(connect, replies, notebook):
    """Its answers come over the line that waits for the undo's own."""
    client = await connect()
    key, run_id = await turn(client, replies, edit("one", "x = 10"))
    await client.ask("client.update", notebooks=[{"path": PATH, "active": True}])
    undoing = await client.post("notebook.undo", sessionKey=key, runId=run_id)
    await client.event("client.request")
    asked = client.events("client.request")[0]
    assert asked["action"] == "notebook.read"
    refused = {"code": "internal", "message": "This tab is tired."}
    await client.ask("client.respond", requestId=asked["requestId"], error=refused)
    undone = (await client.answer(undoing))["result"]
    assert [(left["path"], left["message"]) for left in undone["leftAlone"]] == [(PATH, "This tab is tired.")]
    assert sources(notebook)[0] == "x = 10"


async def test_invalid_requests_are_rejected_with_message(connect, replies, notebook):
    client = await connect()
    key, _ = await turn(client, replies, edit("one", "x = 10"))
    for params in ({}, {"path": PATH, "sessionKey": key}):
        with pytest.raises(MethodFailed) as refused:
            await client.ask("notebook.changes", **params)
        assert refused.value.code == -32602
    for method in ("notebook.undo", "notebook.put_back"):
        with pytest.raises(MethodFailed, match="There is no record"):
            await client.ask(method, sessionKey=key, runId="none")
    with pytest.raises(MethodFailed, match="There is no record"):
        await client.ask("notebook.undo", sessionKey="../../etc", runId="none")
    assert await client.ask("notebook.changes", path="../../etc/passwd") == {"marks": [], "turns": []}
    assert await client.ask("notebook.accept", path=PATH, cellIds=["nowhere"]) == {"cells": 0}
