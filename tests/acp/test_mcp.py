"""The bridge to Onyx's tools: a process that agents start, which opens nothing without its token."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from onyx_jupyter.acp import mcp_server
from onyx_jupyter.acp.mcp_bridge import PORT_VARIABLE, TOKEN_VARIABLE
from onyx_jupyter.acp.mcp_gate import McpGate
from onyx_jupyter.messages import Attachment, ToolDefinition, ToolResult


class Tools:
    """Two tools: one answers, the other waits until it is stopped."""

    def __init__(self) -> None:
        self.started, self.stopped = asyncio.Event(), asyncio.Event()

    def definitions(self) -> Sequence[ToolDefinition]:
        schema = {"type": "object", "properties": {"word": {"type": "string"}}}
        return [ToolDefinition("say", "Says it.", schema), ToolDefinition("wait", "Waits.")]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        if name == "say":
            return ToolResult(str(arguments["word"]), attachments=(Attachment("image", "image/png", "aaaa"),))
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.set()
        raise AssertionError


class Bridge:
    """The bridge as an agent starts it, from what `session/new` says."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def start(cls, server: Mapping[str, Any], **changed: str) -> "Bridge":
        env = {"PATH": os.environ["PATH"], **{one["name"]: one["value"] for one in server["env"]}, **changed}
        pipe = asyncio.subprocess.PIPE
        return cls(
            await asyncio.create_subprocess_exec(
                server["command"], *server["args"], stdin=pipe, stdout=pipe, stderr=pipe, env=env
            )
        )

    async def tell(self, message: Any) -> None:
        self.process.stdin.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")
        await self.process.stdin.drain()

    async def hear(self) -> dict[str, Any]:
        return json.loads(await self.process.stdout.readline())

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        await self.tell({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
        return await self.hear()

    async def end(self) -> int:
        self.process.stdin.close()
        return await self.process.wait()


async def test_tools_are_listed_and_called(tmp_path):
    gate = McpGate()
    _, server = await gate.offer(Tools())
    bridge = await Bridge.start(server)
    begun = (await bridge.ask("initialize", protocolVersion="2024-11-05"))["result"]
    assert (begun["protocolVersion"], begun["serverInfo"]["name"]) == ("2024-11-05", "onyx")
    assert (await bridge.ask("ping"))["result"] == {}
    tools = (await bridge.ask("tools/list"))["result"]["tools"]
    assert [(tool["name"], tool["inputSchema"]["type"]) for tool in tools] == [("say", "object"), ("wait", "object")]
    said = (await bridge.ask("tools/call", name="say", arguments={"word": "Grüße"}))["result"]
    assert said["content"][0] == {"type": "text", "text": "Grüße"}
    assert said["content"][1]["type"] == "image"
    assert said["isError"] is False
    await bridge.end()
    await gate.close()


async def test_nonsense_is_answered_or_passed_over(tmp_path):
    gate = McpGate()
    _, server = await gate.offer(Tools())
    bridge = await Bridge.start(server)
    for nonsense in (b"no json", b"[1, 2]", b'{"id": 1}', b'{"method": "notifications/initialized"}', b"[" * 5000):
        await bridge.tell(nonsense)
    assert (await bridge.ask("resources/list"))["error"]["code"] == -32601
    assert (await bridge.ask("tools/call", name=5))["error"]["code"] == -32602
    assert (await bridge.ask("tools/call", name="say"))["error"]["code"] == -32603
    await bridge.end()
    await gate.close()


async def test_call_is_cancelled_and_reports_while_it_lasts(tmp_path, monkeypatch):
    monkeypatch.setattr(mcp_server, "PROGRESS_S", 0.01)
    gate, tools = McpGate(), Tools()
    _, server = await gate.offer(tools)
    bridge = await Bridge.start(server)
    params = {"name": "wait", "arguments": {}, "_meta": {"progressToken": "p"}}
    await bridge.tell({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
    heard = await bridge.hear()
    assert (heard["method"], heard["params"]["progressToken"]) == ("notifications/progress", "p")
    await bridge.tell({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
    await tools.stopped.wait()
    await bridge.end()
    await gate.close()


async def test_end_of_the_agent_stops_its_calls(tmp_path):
    gate, tools = McpGate(), Tools()
    _, server = await gate.offer(tools)
    bridge = await Bridge.start(server)
    await bridge.tell({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait"}})
    await tools.started.wait()
    assert await bridge.end() == 0
    await tools.stopped.wait()
    await gate.close()


@pytest.mark.parametrize("token", ["", "wrong", "x" * 100_000])
async def test_without_the_token_nothing_opens(tmp_path, token):
    gate = McpGate()
    _, server = await gate.offer(Tools())
    bridge = await Bridge.start(server, **{TOKEN_VARIABLE: token[:30_000]})
    assert await bridge.process.stdout.read() == b""
    await bridge.process.wait()
    await gate.close()


async def test_token_opens_nothing_once_it_is_withdrawn_and_stands_in_no_command_line(tmp_path):
    gate = McpGate()
    token, server = await gate.offer(Tools())
    assert token not in " ".join([server["command"], *server["args"]])
    assert server["command"] == sys.executable
    gate.withdraw(token)
    bridge = await Bridge.start(server)
    assert await bridge.process.stdout.read() == b""
    await bridge.process.wait()
    await gate.close()


async def test_changed_tools_are_announced(tmp_path):
    gate = McpGate()
    token, server = await gate.offer(Tools())
    bridge = await Bridge.start(server)
    await bridge.ask("tools/list")
    await gate.until_listed(token, 1.0)
    await gate.announce(token)
    assert (await bridge.hear())["method"] == "notifications/tools/list_changed"
    await bridge.end()
    await gate.close()


async def test_bridge_that_reaches_nobody_says_so(tmp_path):
    gate = McpGate()
    _, server = await gate.offer(Tools())
    await gate.close()
    bridge = await Bridge.start(server)
    assert await bridge.process.wait() == 1
    assert b"Onyx cannot be reached" in await bridge.process.stderr.read()
    bridge = await Bridge.start(server, **{PORT_VARIABLE: ""})
    assert await bridge.process.wait() == 2
