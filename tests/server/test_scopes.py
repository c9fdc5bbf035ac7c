"""A caller with a part of the scopes: what it may not ask for is refused, what it may not hear of never reaches it."""

import json

from onyx_jupyter.server.connection import Connection
from onyx_jupyter.testing.script import Call
from tests.waiting import until


async def test_without_admin_scope_approvals_are_neither_seen_nor_answered(connect, replies, jp_serverapp, jp_root_dir):
    replies.next = [["I do. ", Call("exec", {"command": "touch made.txt"})], "Done."]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    service = await jp_serverapp.extension_manager.extension_points["onyx_jupyter"].app.service()
    frames = []
    program = Connection(
        service.onyx,
        service._tabs,
        lambda frame: frames.append(json.loads(frame)),
        "a program",
        frozenset({"read", "chat"}),
    )

    async def ask(method, **params):
        await program.receive(json.dumps({"id": method, "method": method, "params": params}))
        await until(lambda: any(frame.get("id") == method for frame in frames))
        return next(frame for frame in frames if frame.get("id") == method)

    assert (await ask("sessions.subscribe", sessionKey=key))["result"] == {"seq": 0}
    run_id = (await client.ask("chat.send", sessionKey=key, message="Go"))["runId"]
    request = await client.event("exec.approval_request", runId=run_id)
    refused = (await ask("exec.approve", approvalId=request["approvalId"]))["error"]
    assert refused["data"] == {"code": "forbidden"}
    assert "'admin'" in refused["message"]
    assert "error" in await ask("approvals.list")
    assert not (jp_root_dir / "made.txt").exists()
    await client.ask("exec.approve", approvalId=request["approvalId"])
    await client.end(run_id)
    assert (jp_root_dir / "made.txt").exists()
    await until(lambda: any(frame.get("event") == "chat.final" for frame in frames))
    heard = [frame["event"] for frame in frames if "event" in frame]
    assert {"chat.started", "chat.delta", "exec.approval_resolved", "tool.finished"} <= set(heard)
    assert "exec.approval_request" not in heard
    program.close()
