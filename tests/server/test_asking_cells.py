"""A cell that asks: its kernel is known, its tab is known, and the agent does not wait for the kernel that waits."""

import json

import pytest

from onyx_jupyter.testing.script import Call
from tests.notebook.files import cell, write_notebook
from tests.server.client import MethodFailed


@pytest.fixture
def kernel_of(jp_fetch, jp_serverapp, jp_root_dir, jp_asyncio_loop):
    """Starts the kernel of a new notebook with one cell; gives its id."""

    async def start(path):
        write_notebook(jp_root_dir / path, [cell("a", "x = 1")])
        body = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}}
        answer = await jp_fetch("api", "sessions", method="POST", body=json.dumps(body))
        return json.loads(answer.body)["kernel"]["id"]

    yield start
    jp_asyncio_loop.run_until_complete(jp_serverapp.kernel_manager.shutdown_all(now=True))


def run_cell(path):
    return [Call("notebook_run_cell", {"path": path, "cellId": "a"})]


async def test_kernel_learns_whether_a_tab_shows_its_notebook(connect, kernel_of):
    kernel, tab = await connect(), await connect()
    kernel_id = await kernel_of("mine.ipynb")
    asked = {"kernelId": kernel_id}
    assert await kernel.ask("client.shows", **asked) == {"shown": False, "path": "mine.ipynb", "cards": []}
    await tab.ask("client.update", notebooks=[{"path": "other.ipynb", "active": True}])
    assert (await kernel.ask("client.shows", **asked))["shown"] is False
    await tab.ask("client.update", notebooks=[{"path": "mine.ipynb"}])
    assert (await kernel.ask("client.shows", **asked))["shown"] is True
    assert await kernel.ask("client.shows", kernelId="of another server") == {"shown": False}
    with pytest.raises(MethodFailed):
        await kernel.ask("client.shows")


async def test_cell_of_asking_notebook_is_not_run_without_asking(connect, kernel_of, replies):
    client = await connect()
    kernel_id = await kernel_of("mine.ipynb")
    key = (await client.ask("sessions.create"))["sessionKey"]
    replies.next = [run_cell("./mine.ipynb"), "Then not."]
    asked = {"kernelId": kernel_id, "name": "mine.ipynb"}
    run_id = (await client.ask("chat.send", sessionKey=key, message="Run it", fromKernel=asked))["runId"]
    assert (await client.end(run_id))[1]["text"] == "Then not."
    finished = await client.event("tool.finished")
    assert finished["ok"] is False
    assert "its kernel is waiting for your answer" in finished["output"]
    assert client.events("exec.approval_request") == []
    assert "asked from a cell of mine.ipynb" in replies.requests[0].last_user_text
    entries = (await client.ask("chat.history", sessionKey=key))["messages"]
    assert entries[1]["meta"]["kernel"] == {**asked, "path": "mine.ipynb"}


async def test_renamed_asking_notebook_is_recognized(connect, kernel_of, replies, jp_fetch):
    client = await connect()
    kernel_id = await kernel_of("before.ipynb")
    (session,) = json.loads((await jp_fetch("api", "sessions")).body)
    key = (await client.ask("sessions.create"))["sessionKey"]
    replies.next = [[Call("ask_user", {"question": "Go on?"})], run_cell("after.ipynb"), "Then not."]
    sent = await client.ask("chat.send", sessionKey=key, message="Run it", fromKernel={"kernelId": kernel_id})
    question = await client.event("chat.question")
    await jp_fetch("api", "contents", "before.ipynb", method="PATCH", body=json.dumps({"path": "after.ipynb"}))
    await jp_fetch("api", "sessions", session["id"], method="PATCH", body=json.dumps({"path": "after.ipynb"}))
    await client.ask("questions.answer", questionId=question["questionId"], answer="yes")
    await client.end(sent["runId"])
    assert "its kernel is waiting" in client.events("tool.finished")[-1]["output"]


async def test_cell_of_other_notebook_on_asking_kernel_is_not_run(connect, kernel_of, replies, jp_fetch, jp_root_dir):
    client = await connect()
    kernel_id = await kernel_of("mine.ipynb")
    write_notebook(jp_root_dir / "beside.ipynb", [cell("a", "x = 1")])
    body = {"path": "beside.ipynb", "name": "beside.ipynb", "type": "notebook", "kernel": {"id": kernel_id}}
    await jp_fetch("api", "sessions", method="POST", body=json.dumps(body))
    key = (await client.ask("sessions.create"))["sessionKey"]
    scratch = Call("more_tools", {"tool": "kernel_execute", "arguments": {"path": "beside.ipynb", "code": "1"}})
    replies.next = [run_cell("beside.ipynb"), [scratch], run_cell("mine.ipynb"), "Then not."]
    sent = await client.ask("chat.send", sessionKey=key, message="Run it", fromKernel={"kernelId": kernel_id})
    assert (await client.end(sent["runId"]))[1]["text"] == "Then not."
    outputs = [finished["output"] for finished in client.events("tool.finished")]
    assert all("is waiting for your answer" in output for output in outputs)
    assert "a cell of mine.ipynb, and its kernel, in which beside.ipynb runs too, is waiting" in outputs[0]
    assert len(outputs) == 3
    assert client.events("exec.approval_request") == []


async def test_cell_of_other_notebook_runs_once_approved(connect, kernel_of, replies):
    client = await connect()
    kernel_id = await kernel_of("mine.ipynb")
    await kernel_of("other.ipynb")
    key = (await client.ask("sessions.create"))["sessionKey"]
    replies.next = [run_cell("other.ipynb"), "Done."]
    sent = await client.ask("chat.send", sessionKey=key, message="Run it", fromKernel={"kernelId": kernel_id})
    request = await client.event("exec.approval_request")
    await client.ask("exec.approve", approvalId=request["approvalId"])
    assert (await client.end(sent["runId"]))[1]["text"] == "Done."
    assert client.events("tool.finished")[0]["ok"] is True


async def test_memory_is_searched_by_words_without_secrets(connect, onyx_home):
    client = await connect()
    await client.ask("health.check")
    memory = onyx_home / "workspace" / "memory"
    memory.mkdir(exist_ok=True)
    (memory / "2026-01-02.md").write_text(
        "# Day\n\nThe fiscal year starts in April.\n\nkey sk-test-0123456789abcdef-secret\n"
    )
    found = (await client.ask("memory.search", query="fiscal years?"))["results"]
    assert found[0]["snippet"] == "The fiscal year starts in April."
    assert (found[0]["path"], found[0]["startLine"], found[0]["heading"]) == ("memory/2026-01-02.md", 3, "Day")
    (secret,) = (await client.ask("memory.search", query="key"))["results"]
    assert "0123456789abcdef" not in secret["snippet"]
    with pytest.raises(MethodFailed):
        await client.ask("memory.search", query="x", agentId="nobody")
