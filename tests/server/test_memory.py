"""Memory on the socket: what is told to it is kept, found, compared and brought back."""

import json

import pytest

from onyx_jupyter.testing.script import Call
from tests.server.client import MethodFailed


@pytest.fixture
def workspace(onyx_home):
    return onyx_home / "workspace"


async def told(client, replies, content, target="MEMORY.md#Facts"):
    """Something that the agent writes into its memory, allowed by its person; the session in which it did."""
    key = (await client.ask("sessions.create"))["sessionKey"]
    replies.next = [[Call("memory_write", {"content": content, "target": target})], "Noted."]
    sent = await client.ask("chat.send", sessionKey=key, message="Remember that, please.")
    request = await client.event("exec.approval_request", runId=sent["runId"])
    await client.ask("exec.approve", approvalId=request["approvalId"])
    assert (await client.end(sent["runId"]))[0] == "chat.final"
    return key


async def numbered(client, path, **more):
    found = (await client.ask("memory.versions", path=path, **more))["versions"]
    return [(version["version"], version["author"], version["current"]) for version in found]


async def test_what_the_agent_wrote_is_a_version_that_can_be_compared_and_taken_back(connect, replies, workspace):
    client = await connect()
    key = await told(client, replies, "- The fiscal year starts in April")
    event = await client.event("memory.updated", path="MEMORY.md", author="agent")
    assert (event["agentId"], event["version"]) == ("main", 2)
    newest, template = (await client.ask("memory.versions", path="MEMORY.md"))["versions"]
    assert (newest["version"], newest["author"], newest["sessionKey"], newest["current"]) == (2, "agent", key, True)
    assert (template["version"], template["author"], template["current"]) == (1, "user", False)

    change = await client.ask("memory.diff", path="MEMORY.md", version=1)
    assert "+- The fiscal year starts in April" in change["diff"].splitlines()
    assert not [line for line in change["diff"].splitlines() if line.startswith("-")]

    back = await client.ask("memory.restore", path="MEMORY.md", version=1, basedOn=change["checksum"])
    assert back == {"path": "MEMORY.md", "version": 3}
    assert "April" not in (workspace / "MEMORY.md").read_text()
    assert await numbered(client, "MEMORY.md") == [(3, "user", True), (2, "agent", False), (1, "user", False)]
    assert (await client.ask("memory.versions", path="MEMORY.md"))["versions"][0]["restored"] == 1
    assert (await client.ask("memory.diff", path="MEMORY.md", version=1, to=2))["diff"] == change["diff"]


async def test_a_file_that_changed_since_it_was_looked_at_is_not_brought_back_over(connect, replies, workspace):
    client = await connect()
    await told(client, replies, "- One")
    seen = (await client.ask("memory.diff", path="MEMORY.md", version=1))["checksum"]
    (workspace / "MEMORY.md").write_text("by hand")
    with pytest.raises(MethodFailed, match="has changed since it was read") as refused:
        await client.ask("memory.restore", path="MEMORY.md", version=1, basedOn=seen)
    assert refused.value.data["code"] == "memory_conflict"
    assert (workspace / "MEMORY.md").read_text() == "by hand"
    assert [author for _, author, _ in await numbered(client, "MEMORY.md")] == ["user", "agent", "user"]


async def test_a_file_is_read_as_it_is_now_and_as_it_was_with_what_a_change_is_based_on(connect, workspace):
    client = await connect()
    await client.ask("health.check")
    (workspace / "USER.md").write_text("# You\n\nAda\n")
    await client.ask("memory.versions", path="USER.md")
    (workspace / "USER.md").write_text("# You\n\nAda Lovelace\n")
    now = await client.ask("memory.read", path="USER.md")
    assert (now["path"], now["text"], now["cut"]) == ("USER.md", "# You\n\nAda Lovelace\n", False)
    was = await client.ask("memory.read", path="USER.md", version=1)
    assert was["text"] == "# You\n\nAda\n"
    assert was["checksum"] != now["checksum"]
    assert (await client.ask("memory.diff", path="USER.md", version=1))["checksum"] == now["checksum"]
    await client.ask("memory.restore", path="USER.md", version=1, basedOn=now["checksum"])
    assert (await client.ask("memory.read", path="USER.md"))["checksum"] == was["checksum"]
    with pytest.raises(MethodFailed, match="no memory file"):
        await client.ask("memory.read", path="memory/2020-01-01.md")
    with pytest.raises(MethodFailed, match="version"):
        await client.ask("memory.read", path="USER.md", version=99)


async def test_a_huge_file_is_shown_to_where_a_page_can_show_it(connect, workspace):
    client = await connect()
    await client.ask("health.check")
    (workspace / "MEMORY.md").write_text("- one line of many\n" * 50_000)
    read = await client.ask("memory.read", path="MEMORY.md")
    assert (read["cut"], len(read["text"])) == (True, 400_000)


async def test_versions_come_in_pages(connect, workspace):
    client = await connect()
    await client.ask("health.check")
    for number in range(5):
        (workspace / "MEMORY.md").write_text(f"state {number}")
        await client.ask("memory.versions", path="MEMORY.md")
    first = await client.ask("memory.versions", path="MEMORY.md", limit=2)
    assert (first["total"], [version["version"] for version in first["versions"]]) == (5, [5, 4])
    assert await numbered(client, "MEMORY.md", limit=2, before=4) == [(3, "user", False), (2, "user", False)]


async def test_every_file_is_listed_with_how_it_stands(connect, onyx_home, workspace):
    client = await connect()
    await client.ask("health.check")
    (workspace / "memory").mkdir(exist_ok=True)
    (workspace / "memory/2026-01-01.md").write_text("# Day\n")
    (workspace / "MEMORY.md").write_bytes(b"\xff\xfe no text")
    (workspace / "USER.md").write_text("kept")
    await client.ask("memory.versions", path="USER.md")
    (workspace / "USER.md").unlink()
    (onyx_home / "shared/user-profile.md").write_text("everybody's")
    files = {file["path"]: file for file in (await client.ask("memory.files"))["files"]}
    day, shared, gone = files["memory/2026-01-01.md"], files["shared/user-profile.md"], files["USER.md"]
    assert (day["sizeBytes"], day["shared"], day["deleted"], len(day["checksum"])) == (6, False, False, 64)
    assert (shared["shared"], shared["versions"]) == (True, 0)
    assert (gone["deleted"], gone["versions"]) == (True, 1)
    with pytest.raises(MethodFailed, match="no agent 'nobody'"):
        await client.ask("memory.files", agentId="nobody")


@pytest.mark.parametrize("path", ["../onyx.json", "onyx.json", "/etc/passwd", "sessions/x.md", "shared/../onyx.json"])
async def test_no_other_file_has_versions(connect, onyx_home, path):
    client = await connect()
    for method in ("memory.read", "memory.versions", "memory.diff", "memory.restore"):
        params = {"version": 1} if method in ("memory.diff", "memory.restore") else {}
        with pytest.raises(MethodFailed):
            await client.ask(method, path=path, **params)
    assert not (onyx_home / "versions/main").exists()


async def test_what_a_person_saves_renames_and_deletes_on_the_drive_keeps_its_former_states(
    connect, jp_fetch, workspace
):
    client = await connect()
    await client.ask("health.check")
    (workspace / "memory").mkdir(exist_ok=True)
    (workspace / "memory/2026-01-01.md").write_text("first")

    async def drive(place, method, **body):
        parts = ("onyx", "api", "contents", "workspace", *place.split("/"))
        await jp_fetch(*parts, method=method, body=json.dumps(body) if body else None, allow_nonstandard_methods=True)

    await drive("memory/2026-01-01.md", "PUT", type="file", format="text", content="second")
    await drive("memory/2026-01-01.md", "PATCH", path="workspace/memory/2026-01-02.md")
    await drive("memory/2026-01-02.md", "DELETE")
    assert await numbered(client, "memory/2026-01-01.md") == [(3, "user", True), (2, "user", False), (1, "user", False)]
    assert await numbered(client, "memory/2026-01-02.md") == [(2, "user", True), (1, "user", False)]
    await client.ask("memory.restore", path="memory/2026-01-01.md", version=1)
    assert (workspace / "memory/2026-01-01.md").read_text() == "first"


async def test_files_that_the_agent_writes_by_other_tools_have_versions_too(connect, replies, workspace):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    replies.next = [
        [Call("write", {"path": "onyx:USER.md", "content": "# You\n\nAda\n"})],
        [Call("edit", {"path": "onyx:USER.md", "oldText": "Ada", "newText": "Ada Lovelace"})],
        "Done.",
    ]
    sent = await client.ask("chat.send", sessionKey=key, message="Write it down", mode="auto")
    assert (await client.end(sent["runId"]))[0] == "chat.final"
    assert await numbered(client, "USER.md") == [(3, "agent", True), (2, "agent", False), (1, "user", False)]
    assert (await client.ask("memory.versions", path="USER.md"))["versions"][0]["sessionKey"] == key
    assert (await client.event("memory.updated", path="USER.md", version=3))["author"] == "agent"
