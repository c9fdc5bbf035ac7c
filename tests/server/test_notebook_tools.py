"""A notebook made, run, stopped in the middle, begun anew and found again: over the socket, in a real kernel."""

import json

import pytest

from onyx_jupyter.security.external_content import unfenced
from onyx_jupyter.testing.script import Call
from tests.server.conftest import Replies

PATH = "work.ipynb"
SOURCES = ("x = 20", "x += 1\nprint('x is', x)", "print('begun')\nwhile x:\n    pass", "open('never', 'w').close()")
LIST = [Call("more_tools", {"tool": "notebook_list", "arguments": {}})]


@pytest.fixture(autouse=True)
def no_kernel_stays(jp_serverapp, jp_asyncio_loop):
    yield
    jp_asyncio_loop.run_until_complete(jp_serverapp.kernel_manager.shutdown_all(now=True))


def more(tool, **arguments):
    return [Call("more_tools", {"tool": tool, "arguments": {"path": PATH, **arguments}})]


def results(replies: Replies) -> list[str]:
    """What the tools gave back in the last request, without the marks around it, the oldest first."""
    return [
        unfenced(message["content"]) for message in replies.requests[-1].body["messages"] if message["role"] == "tool"
    ]


async def test_run_all_reports_progress_and_stop_keeps_kernel_usable(connect, replies, jp_root_dir):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    cells = [{"cellType": "markdown", "source": "# Work"}, *({"cellType": "code", "source": text} for text in SOURCES)]
    replies.next = [more("notebook_create", cells=cells, kernel="python3"), more("notebook_run_all")]
    run = (await client.ask("chat.send", sessionKey=key, message="Go", mode="auto"))["runId"]
    await client.until(lambda frame: "cell 3 of 4 · begun" in str(frame.get("data", {}).get("message")))
    await client.ask("chat.abort", runId=run)
    assert (await client.end(run))[0] == "chat.aborted"
    assert client.events("exec.approval_request") == []
    ids = [cell["id"] for cell in json.loads((jp_root_dir / PATH).read_text())["cells"]]

    # The kernel was interrupted and not lost: the next answer runs on in it, with what it knows.
    replies.next = [
        [Call("notebook_run_cell", {"path": PATH, "cellId": ids[2]})],
        [Call("notebook_outline", {"path": PATH})],
        more("notebook_restart_kernel"),
        [Call("notebook_run_cell", {"path": PATH, "cellId": ids[2]})],
        "Done.",
    ]
    run = (await client.ask("chat.send", sessionKey=key, message="Go on", mode="auto"))["runId"]
    assert (await client.end(run))[0] == "chat.final"
    went_on, outlined, restarted, lost = results(replies)[-4:]
    assert "x is 22" in went_on
    assert f"3 {ids[2]} code [4] 2 lines → text: x += 1" in outlined
    assert f"5 {ids[4]} code [ ]: open('never', 'w').close()" in outlined
    assert "was restarted" in restarted
    assert "NameError" in lost
    assert not (jp_root_dir / "never").exists()


async def test_existing_notebook_is_not_recreated_and_missing_one_is_reported(connect, replies, jp_root_dir):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    (jp_root_dir / PATH).write_text("mine")
    replies.next = [more("notebook_create"), more("notebook_find", pattern="x"), LIST, "Fine."]
    run = (await client.ask("chat.send", sessionKey=key, message="Go", mode="auto"))["runId"]
    assert (await client.end(run))[0] == "chat.final"
    made, found, listed = results(replies)
    assert "already exists" in made
    assert "notebook_find failed (not_notebook)" in found
    assert listed == PATH
    assert (jp_root_dir / PATH).read_text() == "mine"


async def test_one_approval_creates_opens_and_runs_notebook(connect, replies, jp_root_dir):
    client = await connect()
    await client.ask("client.update", notebooks=[], folder="")
    key = (await client.ask("sessions.create"))["sessionKey"]
    cell = {"cellType": "code", "source": "print('x is', 6 * 7)"}
    replies.next = [more("notebook_create", cells=[cell], kernel="python3", run=True), "Done."]
    run = (await client.ask("chat.send", sessionKey=key, message="Go"))["runId"]
    card = await client.event("exec.approval_request")
    assert card["summary"] == "Create work.ipynb with 1 cell and run it"
    assert not (jp_root_dir / PATH).exists()
    await client.ask("exec.approve", approvalId=card["approvalId"], version=card["version"])
    asked = await client.event("client.request")
    assert (asked["action"], asked["params"]) == ("notebook.open", {"path": PATH})
    refused = {"code": "internal", "message": "No room for it."}
    await client.ask("client.respond", requestId=asked["requestId"], error=refused)
    assert (await client.end(run))[0] == "chat.final"
    assert len(client.events("exec.approval_request")) == 1
    (told,) = results(replies)
    (made,) = json.loads((jp_root_dir / PATH).read_text())["cells"]
    assert told.startswith(f"Created {PATH} with code cell {made['id']} (hash ")
    assert "x is 42" in told
    assert "x is 42" in str(made["outputs"])
