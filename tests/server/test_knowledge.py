"""Documents on the socket: added with progress, found with their page, by a person and by the agent, and removed."""

import json

import pytest

from onyx_jupyter.security.external_content import unfenced
from onyx_jupyter.testing.script import Call
from tests.ingest.files import encrypted_pdf, pdf
from tests.server.client import MethodFailed


async def finished(client, item_id):
    return await client.event("knowledge.progress", itemId=item_id, state="done")


async def test_folder_is_added_with_progress_found_with_page_and_removed(connect, jp_root_dir):
    docs = jp_root_dir / "docs"
    docs.mkdir()
    (docs / "manual.pdf").write_bytes(pdf("The bilge pump has a fuse.", "The anchor weighs ten kilograms."))
    (docs / "locked.pdf").write_bytes(encrypted_pdf("secret"))
    (docs / "log.md").write_text("# Log\n\nWe left Emden at dawn.\n")
    client = await connect()
    added = await client.ask("knowledge.add", path="docs")
    assert (added["kind"], added["path"], added["state"]) == ("path", "docs", "waiting")
    done = await finished(client, added["itemId"])
    assert (done["done"], done["total"], done["chunks"], done["problemCount"]) == (3, 3, 3, 1)
    assert done["problems"][0]["path"] == "docs/locked.pdf"

    found = await client.ask("knowledge.search", query="How heavy is the anchor?", limit=1)
    (passage,) = found["results"]
    assert (passage["path"], passage["page"]) == ("docs/manual.pdf", 2)
    assert passage["text"] == "The anchor weighs ten kilograms."
    assert "startLine" not in passage
    (line,) = (await client.ask("knowledge.search", query="Emden at dawn", limit=1))["results"]
    assert (line["path"], line["startLine"], line["heading"]) == ("docs/log.md", 1, "Log")

    (item,) = (await client.ask("knowledge.list"))["items"]
    assert item == done
    await client.ask("knowledge.remove", itemId=item["itemId"])
    await client.event("knowledge.updated")
    assert (await client.ask("knowledge.list"))["items"] == []
    assert (await client.ask("knowledge.search", query="anchor"))["results"] == []


async def test_agent_adds_document_after_approval_and_cites_it(connect, replies, jp_root_dir):
    (jp_root_dir / "log.md").write_text("# Log\n\nThe parrot escaped at Cuxhaven.\n")
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    search = {"tool": "knowledge_search", "arguments": {"query": "parrot"}}
    add = {"tool": "knowledge_add", "arguments": {"path": "log.md"}}
    replies.next = [[Call("more_tools", add)], [Call("more_tools", search)], "It escaped at Cuxhaven (log.md:3)."]
    sent = await client.ask("chat.send", sessionKey=key, message="Read the log. Where did the parrot go?")
    request = await client.event("exec.approval_request", runId=sent["runId"])
    assert (request["toolName"], request["summary"].endswith("log.md to what Onyx finds")) == ("knowledge_add", True)
    assert (await client.ask("knowledge.list"))["items"] == []
    await client.ask("exec.approve", approvalId=request["approvalId"])
    assert (await client.end(sent["runId"]))[0] == "chat.final"

    results = [message for message in replies.requests[-1].body["messages"] if message["role"] == "tool"]
    assert json.loads(unfenced(results[0]["content"])) == {"path": "log.md", "files": 1, "passages": 1}
    assert "the user's documents" in results[1]["content"]  # fenced as what nobody here wrote
    assert "The parrot escaped at Cuxhaven." in results[1]["content"]
    assert '"startLine": 1' in results[1]["content"]


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"path": "/etc/passwd"}, "outside the folders"),
        ({"path": "nowhere.md"}, "no file or folder"),
        ({"url": "http://127.0.0.1:1/x"}, "127.0.0.1"),
        ({"path": "a", "url": "https://example.com"}, "either path or url"),
        ({}, "either path or url"),
    ],
)
async def test_disallowed_document_is_rejected(connect, params, says):
    client = await connect()
    with pytest.raises(MethodFailed, match=says):
        await client.ask("knowledge.add", **params)
    assert (await client.ask("knowledge.list"))["items"] == []
