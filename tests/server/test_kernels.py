"""A notebook's kernel over the socket: for the model through its tools, for the front end by a method."""

import json

import pytest

from onyx_jupyter.testing.script import Call
from tests.notebook.kernels import KernelPlace

SETUP = "import pandas as pd\nframe = pd.DataFrame({'a': [1, 2]})\nurl = 'sk-proj-' + 'a1B2' * 12\napi_key = 'hunter2'"


@pytest.fixture
def kernels(jp_serverapp, jp_root_dir, jp_asyncio_loop):
    yield KernelPlace(jp_serverapp, jp_root_dir)
    jp_asyncio_loop.run_until_complete(jp_serverapp.kernel_manager.shutdown_all(now=True))


async def test_front_end_lists_variables_without_secrets_or_learns_why_not(connect, kernels):
    client = await connect()
    none = await client.ask("kernel.variables", path="work.ipynb")
    assert (none["state"], none["variables"]) == ("no_kernel", [])
    assert "no running kernel" in none["message"]
    await kernels.run(SETUP)
    found = await client.ask("kernel.variables", path="work.ipynb")
    assert found["state"] == "ok"
    told = {variable["name"]: variable["summary"] for variable in found["variables"]}
    assert told["frame"] == "2 × 1: a int64"
    assert told["api_key"] == "hidden, length 7"
    assert "[redacted:" in told["url"]
    assert "a1B2" not in json.dumps(client.frames)
    few = await client.ask("kernel.variables", path="work.ipynb", pattern="fra", limit=1)
    assert [variable["name"] for variable in few["variables"]] == ["frame"]


async def test_agent_inspects_without_approval_and_needs_it_to_run_code(connect, kernels, replies):
    await kernels.run(SETUP)
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    look = {"tool": "kernel_variables", "arguments": {"path": "work.ipynb"}}
    inspect = {"tool": "kernel_inspect", "arguments": {"path": "work.ipynb", "name": "frame"}}
    execute = {"tool": "kernel_execute", "arguments": {"path": "work.ipynb", "code": "print(frame.a.sum()); url"}}
    replies.next = [[Call("more_tools", look)], [Call("more_tools", inspect)], [Call("more_tools", execute)], "Three."]
    run_id = (await client.ask("chat.send", sessionKey=key, message="What is in frame?"))["runId"]
    asked = await client.event("exec.approval_request")
    assert (asked["toolName"], asked["details"]["code"]) == ("kernel_execute", "print(frame.a.sum()); url")
    await client.ask("exec.approve", approvalId=asked["approvalId"])
    assert (await client.end(run_id))[1]["text"] == "Three."
    listed, told, ran = [finished["output"] for finished in client.events("tool.finished")]
    assert "frame (pandas.DataFrame" in listed
    assert "| a | int64 | 0 |" in told
    assert ran.startswith("3\n")
    assert "a1B2" not in json.dumps([client.frames, [request.body for request in replies.requests]])
