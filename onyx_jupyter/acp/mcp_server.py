"""Onyx's tools for one agent, by the Model Context Protocol: the few messages that tools need.

Source: https://modelcontextprotocol.io/specification/2025-06-18 (lifecycle, tools, ping, cancellation).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol

from onyx_jupyter._version import __version__
from onyx_jupyter.errors import OnyxError
from onyx_jupyter.messages import ToolDefinition, ToolResult

log = logging.getLogger(__name__)
SERVER_NAME = "onyx"
PROGRESS_S = 10.0
VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05", "2025-11-25")
_INVALID_REQUEST, _UNKNOWN_METHOD, _INVALID_PARAMS, _INTERNAL = -32600, -32601, -32602, -32603


class OfferedTools(Protocol):
    """The tools of the session that an agent answers."""

    def definitions(self) -> Sequence[ToolDefinition]:
        """Those that it may call now."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls one as part of the answer being made; a failure is a result. Cancelling stops it.

        Raises: OnyxError if no answer is being made.
        """
        ...


class McpServer:
    """One connection of a client. `send` takes a message; requests may overlap, and are answered as they end.

    `on_list` is called when it asks for the tools.
    """

    def __init__(
        self,
        tools: OfferedTools,
        send: Callable[[Mapping[str, Any]], Awaitable[None]],
        on_list: Callable[[], None] = lambda: None,
    ) -> None:
        self._tools = tools
        self._send = send
        self._on_list = on_list
        self._calls: dict[str | int, asyncio.Task[None]] = {}

    def take(self, message: Any) -> None:
        """Takes one message. Returns at once."""
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return
        message_id, params = message.get("id"), message.get("params")
        params = params if isinstance(params, dict) else {}
        if not isinstance(message_id, str | int):
            if message["method"] == "notifications/cancelled" and params.get("requestId") in self._calls:
                self._calls[params["requestId"]].cancel()
            return
        task = asyncio.create_task(self._answer(message_id, message["method"], params), name="onyx MCP request")
        self._calls[message_id] = task
        task.add_done_callback(lambda _: self._calls.pop(message_id, None))

    async def close(self) -> None:
        """Stops what is in progress."""
        tasks = list(self._calls.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def announce(self) -> None:
        """The tools have changed."""
        await self._send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    async def _answer(self, message_id: str | int, method: str, params: Mapping[str, Any]) -> None:
        said: dict[str, Any]
        try:
            said = {"result": await self._result(method, params)}
        except _Refused as error:
            said = {"error": {"code": error.code, "message": str(error)}}
        except OnyxError as error:
            said = {"error": {"code": _INVALID_REQUEST, "message": str(error)}}
        except Exception as error:
            log.exception("The MCP request %s failed", method)
            said = {"error": {"code": _INTERNAL, "message": type(error).__name__}}
        await self._send({"jsonrpc": "2.0", "id": message_id, **said})

    async def _result(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        match method:
            case "initialize":
                wished = params.get("protocolVersion")
                return {
                    "protocolVersion": wished if wished in VERSIONS else VERSIONS[0],
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": SERVER_NAME, "title": "Onyx for Jupyter", "version": __version__},
                }
            case "ping":
                return {}
            case "tools/list":
                self._on_list()
                return {"tools": [_tool(one) for one in self._tools.definitions()]}
            case "tools/call":
                name, arguments = params.get("name"), params.get("arguments") or {}
                if not isinstance(name, str) or not isinstance(arguments, dict):
                    raise _Refused(_INVALID_PARAMS, "`name` must be a text and `arguments` an object.")
                token = (params.get("_meta") or {}).get("progressToken")
                return _content(await self._patiently(self._tools.call(name, arguments), token))
        raise _Refused(_UNKNOWN_METHOD, f"There is no method {method!r}.")

    async def _patiently(self, call: Coroutine[Any, Any, ToolResult], token: Any) -> ToolResult:
        """Reports now and then that a call is in progress: a person may be asked, and clients give up on silence."""
        task, count = asyncio.create_task(call, name="onyx MCP tool call"), 0
        try:
            while not (await asyncio.wait({task}, timeout=PROGRESS_S))[0]:
                count += 1
                if token is not None:
                    about = {"progressToken": token, "progress": count}
                    await self._send({"jsonrpc": "2.0", "method": "notifications/progress", "params": about})
            return await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})


class _Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def _tool(definition: ToolDefinition) -> Mapping[str, Any]:
    schema = {"type": "object", "properties": {}, **definition.parameters}
    return {"name": definition.name, "description": definition.description, "inputSchema": schema}


def _content(result: ToolResult) -> Mapping[str, Any]:
    content: list[Mapping[str, Any]] = [{"type": "text", "text": result.output}]
    content += [
        {"type": "image", "data": one.data, "mimeType": one.mime_type}
        for one in result.attachments
        if one.type == "image"
    ]
    return {"content": content, "isError": not result.ok}
