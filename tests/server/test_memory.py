"""Memory on the socket: what is told to it is kept, found, compared and brought back."""

import json
import shutil

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


async def test_agent_write_is_a_version_that_can_be_compared_and_undone(connect, replies, workspace):
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
    whole = await client.ask("memory.diff", path="MEMORY.md", version=0, to=1)  # 0: before there was a file
    assert {line[:1] for line in whole["diff"].splitlines()} == {"+", "@"}


async def test_restore_is_rejected_if_file_changed_since(connect, replies, workspace):
    client = await connect()
    await told(client, replies, "- One")
    seen = (await client.ask("memory.diff", path="MEMORY.md", version=1))["checksum"]
    (workspace / "MEMORY.md").write_text("by hand")
    with pytest.raises(MethodFailed, match="has changed since it was read") as refused:
        await client.ask("memory.restore", path="MEMORY.md", version=1, basedOn=seen)
    assert refused.value.data["code"] == "memory_conflict"
    assert (workspace / "MEMORY.md").read_text() == "by hand"
    assert [author for _, author, _ in await numbered(client, "MEMORY.md")] == ["user", "agent", "user"]


async def test_current_and_former_text_have_hash_for_changes(connect, workspace):
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


async def test_huge_file_is_shown_truncated(connect, workspace):
    client = await connect()
    await client.ask("health.check")
    (workspace / "MEMORY.md").write_text("- one line of many\n" * 50_000)
    read = await client.ask("memory.read", path="MEMORY.md")
    assert (read["cut"], len(read["text"])) == (True, 400_000)


async def test_versions_are_paged(connect, workspace):
    client = await connect()
    await client.ask("health.check")
    for number in range(5):
        (workspace / "MEMORY.md").write_text(f"state {number}")
        await client.ask("memory.versions", path="MEMORY.md")
    first = await client.ask("memory.versions", path="MEMORY.md", limit=2)
    assert (first["total"], [version["version"] for version in first["versions"]]) == (5, [5, 4])
    assert await numbered(client, "MEMORY.md", limit=2, before=4) == [(3, "user", False), (2, "user", False)]


async def test_every_file_is_listed_with_state(connect, onyx_home, workspace):
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
async def test_other_files_have_no_versions(connect, onyx_home, path):
    client = await connect()
    for method in ("memory.read", "memory.versions", "memory.diff", "memory.restore"):
        params = {"version": 1} if method in ("memory.diff", "memory.restore") else {}
        with pytest.raises(MethodFailed):
            await client.ask(method, path=path, **params)
    assert not (onyx_home / "versions/main").exists()


async def test_user_saves_renames_and_deletions_on_drive_keep_versions(connect, jp_fetch, workspace):
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


async def test_save_on_drive_succeeds_without_version_and_is_reported(connect, jp_fetch, onyx_home, workspace):
    client = await connect()
    await client.ask("health.check")

    async def save(text):
        body = json.dumps({"type": "file", "format": "text", "content": text})
        await jp_fetch("onyx", "api", "contents", "workspace", "USER.md", method="PUT", body=body)

    async def problems():
        found = (await client.ask("memory.status"))["problems"]
        return [one["message"] for one in found if "path" not in one and "USER.md" in one["message"]]

    shutil.rmtree(onyx_home / "versions")
    (onyx_home / "versions").write_text("where its folder should be")
    await save("typed by hand")
    assert (workspace / "USER.md").read_text() == "typed by hand"
    await client.event("memory.updated")
    assert ["Your change was saved" in why for why in await problems()] == [True]
    (onyx_home / "versions").unlink()
    await save("typed again")
    assert await problems() == []
    assert await numbered(client, "USER.md") == [(2, "user", True), (1, "user", False)]


async def test_files_written_by_other_tools_have_versions(connect, replies, workspace):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    replies.next = [
        [Call("write", {"path": "onyx:USER.md", "content": "# You\n\nAda\n"})],
        [Call("edit", {"path": "onyx:USER.md", "oldText": "Ada", "newText": "Ada Lovelace"})],
        "Done.",
    ]
    sent = await client.ask("chat.send", sessionKey=key, message="Write it down", mode="auto")
    for tool in ("write", "edit"):
        asked = await client.event("exec.approval_request", toolName=tool)
        assert "later conversations" in asked["details"]["mustAsk"]
        await client.ask("exec.approve", approvalId=asked["approvalId"])
    assert (await client.end(sent["runId"]))[0] == "chat.final"
    assert await numbered(client, "USER.md") == [(3, "agent", True), (2, "agent", False), (1, "user", False)]
    assert (await client.ask("memory.versions", path="USER.md"))["versions"][0]["sessionKey"] == key
    assert (await client.event("memory.updated", path="USER.md", version=3))["author"] == "agent"


async def once(client, ask):
    """What `ask` gives as soon as it gives something: asked anew whenever the server tells of memory."""

    def told_times():
        return sum(frame.get("event") == "memory.updated" for frame in client.frames)

    while True:
        before = told_times()
        if (answer := await ask()) is not None:
            return answer
        await client.until(lambda _, before=before: told_times() > before)


async def in_step(client):
    """The status, once the index can be asked and the embedder is known."""

    async def ask():
        status = await client.ask("memory.status")
        whole = status["searches"] == "index" and "progress" not in status and not status["seeksEmbedder"]
        return status if whole else None

    return await once(client, ask)


async def asked(client, replies, query, **more):
    """What the agent's own search gives in a session of its own."""
    key = (await client.ask("sessions.create"))["sessionKey"]
    replies.next = [[Call("memory_search", {"query": query, **more})], "Found."]
    sent = await client.ask("chat.send", sessionKey=key, message="Do you remember?")
    result = await client.event("tool.finished", runId=sent["runId"])
    assert (await client.end(sent["runId"]))[0] == "chat.final"
    return json.loads(result["output"])


async def found_at(client, query, words, path="MEMORY.md"):
    """The passage of that file that holds those words: files are read into the index in the background."""

    async def ask():
        results = (await client.ask("memory.search", query=query))["results"]
        return next((one for one in results if one["path"] == path and words in one["snippet"]), None)

    return await once(client, ask)


async def test_memory_is_found_across_sessions_edits_restore_and_lost_index(
    connect, replies, onyx_home, workspace, embedded_embedder
):
    client = await connect()
    await told(client, replies, "- The fiscal year starts in April")
    await in_step(client)

    assert (await client.ask("memory.status"))["embedder"]["provider"] == "local"
    (result,) = (await asked(client, replies, "In which month do our budgets begin?", limit=1))["results"]
    line = (workspace / "MEMORY.md").read_text().splitlines().index("- The fiscal year starts in April") + 1
    assert result["path"] == "MEMORY.md"
    assert result["startLine"] <= line <= result["endLine"]
    assert "- The fiscal year starts in April" in result["snippet"]
    assert set(result) == {"path", "startLine", "endLine", "heading", "score", "snippet"}

    edited = (workspace / "MEMORY.md").read_text().replace("April", "October, since the merger")
    (workspace / "MEMORY.md").write_text(edited)
    await found_at(client, "fiscal year", "October, since the merger")

    await client.ask("memory.restore", path="MEMORY.md", version=2)
    await found_at(client, "fiscal year", "starts in April")

    async def everything():
        queries = ("fiscal year", "April", "notes")
        return [(await client.ask("memory.search", query=query))["results"] for query in queries]

    before = await everything()
    shutil.rmtree(onyx_home / "index")
    await found_at(client, "fiscal year", "starts in April")
    await in_step(client)
    assert await everything() == before
    assert (onyx_home / "index").is_dir()


async def test_server_starting_without_index_finds_the_same(connect, onyx_home, workspace):
    workspace.mkdir()
    (workspace / "memory").mkdir()
    (workspace / "memory/2026-01-05.md").write_text("# 2026-01-05\n\n## 10:00\n\nThe telescope arrived, scratched.\n")
    client = await connect()
    passage = await found_at(client, "telescope", "scratched", "memory/2026-01-05.md")
    assert passage["day"] == "2026-01-05"
    await in_step(client)
    passage = await found_at(client, "telescope", "scratched", "memory/2026-01-05.md")
    assert (passage["kind"], passage["agentId"]) == ("memory", "main")
    assert 0 < passage["textScore"] <= 1
    only = {"query": "telescope", "since": "2026-01-06"}
    assert (await client.ask("memory.search", **only))["results"] == []
    assert (await client.ask("memory.search", query="telescope", kinds=["shared", "fact"]))["results"] == []
    with pytest.raises(MethodFailed, match="kinds"):
        await client.ask("memory.search", query="telescope", kinds=["session"])
    assert (await client.ask("memory.search", query="telescope", paths=["memory/"]))["results"] == [passage]
    status = await client.ask("memory.status")
    assert status["files"] == len([file for file in (await client.ask("memory.files"))["files"] if file["indexed"]])
    assert status["chunks"] >= status["files"]


async def test_unsearchable_part_is_reported_and_the_rest_found(connect, workspace):
    workspace.mkdir()
    (workspace / "broken.md").write_bytes(b"caf\xe9 telescope")
    (workspace / "notes.md").write_text("A telescope\n")
    client = await connect()
    await found_at(client, "telescope", "A telescope", "notes.md")
    status = await in_step(client)
    (problem,) = [problem for problem in status["problems"] if problem.get("path")]
    assert (problem["path"], problem["agentId"]) == ("broken.md", "main")
    assert "UTF-8" in problem["message"]
    files = {file["path"]: file for file in (await client.ask("memory.files"))["files"]}
    assert (files["broken.md"]["indexed"], files["notes.md"]["indexed"]) == (False, True)


async def test_agent_lists_compares_and_restores_versions_with_approval(connect, replies, workspace):
    client = await connect()
    await told(client, replies, "- One")
    key = (await client.ask("sessions.create"))["sessionKey"]

    def history(action, **more):
        arguments = {"path": "MEMORY.md", "action": action, **more}
        return [Call("more_tools", {"tool": "memory_history", "arguments": arguments})]

    replies.next = [history("list"), history("diff", version=1), history("restore", version=1), "Done."]
    sent = await client.ask("chat.send", sessionKey=key, message="As it was before, please.", mode="auto")
    request = await client.event("exec.approval_request", runId=sent["runId"])
    assert (request["toolName"], request["summary"]) == ("memory_history", "Restore MEMORY.md to version 1")
    assert "-- One" in request["details"]["diff"].splitlines()
    assert "out of the memory" in request["details"]["mustAsk"]
    assert "- One" in (workspace / "MEMORY.md").read_text()
    await client.ask("exec.approve", approvalId=request["approvalId"])
    assert (await client.end(sent["runId"]))[0] == "chat.final"
    listed, compared, restored = [
        json.loads(frame["data"]["output"])
        for frame in client.frames
        if frame.get("event") == "tool.finished" and frame["data"]["runId"] == sent["runId"]
    ]
    assert [(one["version"], one["author"]) for one in listed["versions"]] == [(2, "agent"), (1, "user")]
    assert "+- One" in compared["diff"].splitlines()
    assert (restored["versions"][0]["version"], restored["versions"][0]["restored"]) == (3, 1)
    assert "- One" not in (workspace / "MEMORY.md").read_text()
