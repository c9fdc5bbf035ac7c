"""What a conversation leaves in the memory, over the socket of a real Jupyter server."""

import json

import pytest

from onyx_jupyter.memory.consolidation import SYSTEM
from tests.server.client import MethodFailed
from tests.waiting import until

APRIL = {
    "op": "add",
    "section": "Facts",
    "content": "Our fiscal year starts in April",
    "reason": "said",
    "sources": [1],
}


@pytest.fixture
def remembering(onyx_home, replies):
    path = onyx_home / "onyx.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "memory": {"consolidationWindow": 2}}))
    wishes = json.dumps({"operations": [APRIL], "history": ""})
    replies.each = lambda request: wishes if is_consolidation(request) else "ok"
    return onyx_home / "workspace" / "MEMORY.md"


def is_consolidation(request):
    return request.body["messages"][0]["content"] == SYSTEM


async def test_note_says_what_was_remembered_and_undo_restores_file(remembering, connect, replies):
    client, other = await connect(), await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    await other.ask("sessions.subscribe", sessionKey=key)
    before = remembering.read_text()
    run_id = (await client.ask("chat.send", sessionKey=key, message="Our fiscal year starts in April.", typed=True))[
        "runId"
    ]
    note = await other.event("chat.note", kind="memory")
    assert (note["runId"], note["message"]) == (run_id, "Remembered 1 thing in MEMORY.md.")
    assert "- Our fiscal year starts in April\n" in remembering.read_text()
    (side,) = [request for request in replies.requests if is_consolidation(request)]
    assert "tools" not in side.body
    data = note["data"]
    diff = await client.ask("memory.diff", path=data["path"], version=data["before"], to=data["version"])
    assert "+- Our fiscal year starts in April" in diff["diff"]
    found = await client.ask("memory.versions", path="MEMORY.md")
    assert (found["versions"][0]["author"], found["versions"][0]["sessionKey"]) == ("consolidation", key)
    ours = remembering.read_text()
    remembering.write_text(f"{ours}- Mine\n")
    refused = await client.ask("memory.undo", sessionKey=key, noteId=data["id"])
    assert not refused["ok"]
    assert "changed since" in refused["reason"]
    assert remembering.read_text() == f"{ours}- Mine\n"
    remembering.write_text(ours)
    assert await client.ask("memory.undo", sessionKey=key, noteId=data["id"]) == {"ok": True}
    assert remembering.read_text() == before
    await until(lambda: [note["data"]["state"] for note in other.events("chat.note")] == ["kept", "undone"])
    with pytest.raises(MethodFailed) as again:
        await client.ask("memory.undo", sessionKey=key, noteId=data["id"])
    assert again.value.data["code"] == "already_resolved"
    stored = (await client.ask("sessions.get", sessionKey=key))["messages"]
    assert [entry["meta"]["data"]["state"] for entry in stored if entry["meta"].get("note") == "memory"] == [
        "kept", "undone",
    ]  # fmt: skip


async def test_messages_from_programs_are_never_remembered(remembering, connect, replies):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    for text in ("Our budget is 500.", "Our office moves in June."):
        await client.end((await client.ask("chat.send", sessionKey=key, message=text))["runId"])
    sent = await client.ask("chat.send", sessionKey=key, message="Our fiscal year starts in April.", typed=True)
    await client.end(sent["runId"])
    await client.event("chat.note", kind="memory")
    (side,) = [request for request in replies.requests if is_consolidation(request)]
    shown = str(side.body["messages"])
    assert "fiscal year" in shown
    assert "budget" not in shown
    assert "June" not in shown


async def test_missing_proposal_is_rejected_by_name(remembering, connect):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    with pytest.raises(MethodFailed) as unknown:
        await client.ask("memory.accept", sessionKey=key, noteId="N", proposal=0)
    assert unknown.value.data["code"] == "not_found"


async def test_consolidation_does_not_reorder_session_list(remembering, connect):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Our fiscal year starts in April.", typed=True))[
        "runId"
    ]
    await client.end(run_id)
    await client.event("chat.note", kind="memory")
    found = await client.ask("sessions.get", sessionKey=key)
    last = [entry for entry in found["messages"] if (entry["meta"] or {}).get("kind") == "run_end"][-1]
    assert found["session"]["updatedAt"] == last["ts"]
