"""Allowing always, over the socket: two tabs, a restart, the list, revoking, and what the audit file says of it."""

import json

import pytest

from onyx_jupyter.testing.script import Call
from tests.server.client import MethodFailed
from tests.waiting import until


async def ask(client, replies, command, *, more=()):
    """Sends a message on which the model runs the command; the session's key and the run's id."""
    replies.next = [[Call("exec", {"command": command})], *more]
    key = (await client.ask("sessions.create"))["sessionKey"]
    return key, (await client.ask("chat.send", sessionKey=key, message="Go"))["runId"]


def audit(onyx_home, event):
    lines = (onyx_home / "audit.jsonl").read_text("utf-8").splitlines()
    return [item for item in map(json.loads, lines) if item["event"] == event]


async def test_always_in_one_tab_closes_request_in_other_and_is_not_asked_again(
    connect, replies, onyx_home, jp_root_dir
):
    one, two = await connect(), await connect()
    key, run_id = await ask(one, replies, "touch a.txt && touch b.txt")
    await two.ask("sessions.subscribe", sessionKey=key)
    for tab in (one, two):
        request = await tab.event("exec.approval_request")
        assert request["details"]["alwaysScope"].startswith("`touch a.txt` and `touch b.txt`, each exactly so, in ")
        assert "alwaysBlocked" not in request["details"]
    assert await two.ask("exec.approve", approvalId=request["approvalId"], scope="always") == {"ok": True}
    for tab in (one, two):
        assert (await tab.event("exec.approval_resolved"))["decision"] == "approved"
        await tab.event("grants.updated")
        await tab.end(run_id)
    with pytest.raises(MethodFailed) as late:
        await one.ask("exec.approve", approvalId=request["approvalId"], scope="once")
    assert late.value.data["code"] == "already_resolved"
    assert (await one.ask("approvals.list"))["approvals"] == []
    (jp_root_dir / "b.txt").unlink()
    _, again = await ask(one, replies, "touch  'b.txt'")
    assert (await one.end(again))[0] == "chat.final"
    assert (jp_root_dir / "b.txt").exists()
    assert len(one.events("exec.approval_request")) == 1
    grants = (await one.ask("grants.list"))["grants"]
    assert [(grant["tool"], grant["agentId"]) for grant in grants] == [("exec", "main")] * 2
    assert grants[1]["what"] == f"`touch b.txt` in {jp_root_dir}"
    by_person, by_grant = audit(onyx_home, "decision")
    assert (by_person["decision"], by_person["scope"], by_person["by"]) == (
        "approved",
        "always",
        f"user:{grants[0]['by']}",
    )
    assert [item["grant"] for item in by_person["grants"]] == [grant["id"] for grant in grants]
    assert (by_grant["decision"], by_grant["by"]) == ("approved", f"grant:{grants[1]['id']}")
    first, second = audit(onyx_home, "tool")
    assert (first["tool"], first["status"], first["by"]) == ("exec", "ok", by_person["by"])
    assert (second["arguments"], second["by"]) == ({"command": "touch  'b.txt'"}, by_grant["by"])


async def test_revoked_grant_asks_again_and_disappears_in_every_tab(connect, replies, onyx_home):
    one, two = await connect(), await connect()
    _, run_id = await ask(one, replies, "touch a.txt")
    request = await one.event("exec.approval_request")
    await one.ask("exec.approve", approvalId=request["approvalId"], scope="always")
    await one.end(run_id)
    (grant,) = (await two.ask("grants.list"))["grants"]
    assert await two.ask("grants.revoke", grantId=grant["id"]) == {"ok": True}
    await one.until(lambda frame: len(one.events("grants.updated")) == 2)
    assert (await one.ask("grants.list"))["grants"] == []
    with pytest.raises(MethodFailed) as twice:
        await two.ask("grants.revoke", grantId=grant["id"])
    assert twice.value.data["code"] == "not_found"
    _, run_id = await ask(one, replies, "touch a.txt")
    await one.event("exec.approval_request", runId=run_id)
    await one.ask("chat.abort", runId=run_id)
    await one.end(run_id)
    (revoked,) = audit(onyx_home, "revoked")
    assert (revoked["grant"], revoked["what"]) == (grant["id"], grant["what"])
    assert [item["decision"] for item in audit(onyx_home, "decision")] == ["approved", "aborted"]


async def test_unavailable_always_is_rejected_and_request_stays_open(connect, replies, jp_root_dir):
    client = await connect()
    _, run_id = await ask(client, replies, "echo x > never.txt")
    request = await client.event("exec.approval_request")
    assert request["details"]["alwaysScope"] is None
    assert request["details"]["alwaysBlocked"] == "it redirects input or output"
    with pytest.raises(MethodFailed, match="“Always” is not available, because it redirects") as refused:
        await client.ask("exec.approve", approvalId=request["approvalId"], scope="always")
    assert (refused.value.code, refused.value.data) == (-32602, {"field": "scope"})
    assert len((await client.ask("approvals.list"))["approvals"]) == 1
    assert await client.ask("chat.abort", runId=run_id) == {"ok": True}
    assert (await client.end(run_id))[0] == "chat.aborted"
    assert not (jp_root_dir / "never.txt").exists()
    assert await client.ask("chat.abort", runId=run_id) == {"ok": False}
    assert (await client.ask("grants.list"))["grants"] == []


async def test_grants_from_before_start_apply_to_first_call(connect, replies, onyx_home, jp_root_dir):
    client = await connect()
    _, run_id = await ask(client, replies, "touch a.txt")
    request = await client.event("exec.approval_request")
    await client.ask("exec.approve", approvalId=request["approvalId"], scope="always")
    await client.end(run_id)
    kept = (onyx_home / "grants.json").read_text()
    await client.ask("grants.revoke", grantId=json.loads(kept)["grants"][0]["id"])
    (onyx_home / "grants.json").write_text(kept)
    (jp_root_dir / "a.txt").unlink()
    _, run_id = await ask(client, replies, "touch a.txt")
    assert (await client.end(run_id))[0] == "chat.final"
    assert (jp_root_dir / "a.txt").exists()


async def test_damaged_grants_and_altered_audit_file_are_in_health(connect, replies, onyx_home):
    client = await connect()
    _, run_id = await ask(client, replies, "touch a.txt")
    request = await client.event("exec.approval_request")
    await client.ask("exec.approve", approvalId=request["approvalId"], scope="always")
    await client.end(run_id)
    await until(lambda: audit(onyx_home, "tool"))
    well = (await client.ask("health.check"))["components"]
    assert well["grants"] == {"ok": True, "message": "1 grant is in effect."}
    assert well["audit"] == {"ok": True, "message": "audit.jsonl: 3 entries, unchanged."}
    (onyx_home / "grants.json").write_text("{")
    path = onyx_home / "audit.jsonl"
    path.write_text(path.read_text().replace('"approved"', '"denied"'))
    health = await client.ask("health.check")
    assert health["status"] == "degraded"
    assert "grants.json.damaged" in health["components"]["grants"]["message"]
    assert health["components"]["audit"]["message"] == "audit.jsonl, line 2: it was changed."
    assert (await client.ask("grants.list"))["grants"] == []


async def test_yes_that_cannot_be_audited_runs_nothing_and_can_be_repeated(connect, replies, onyx_home, jp_root_dir):
    client = await connect()
    _, run_id = await ask(client, replies, "touch a.txt")
    request = await client.event("exec.approval_request")
    (onyx_home / "audit.jsonl").mkdir()
    with pytest.raises(MethodFailed, match=r"audit\.jsonl") as refused:
        await client.ask("exec.approve", approvalId=request["approvalId"])
    assert refused.value.data["code"] == "storage"
    assert not (jp_root_dir / "a.txt").exists()
    (onyx_home / "audit.jsonl").rmdir()
    await client.ask("exec.approve", approvalId=request["approvalId"])
    assert (await client.end(run_id))[0] == "chat.final"
    assert (jp_root_dir / "a.txt").exists()
