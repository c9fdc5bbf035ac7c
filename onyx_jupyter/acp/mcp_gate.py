"""Where the bridges of agents connect: a port of this machine, each agent's connection known by its token."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onyx_jupyter.acp import mcp_bridge
from onyx_jupyter.acp.mcp_bridge import PORT_VARIABLE, TOKEN_VARIABLE
from onyx_jupyter.acp.mcp_server import SERVER_NAME, McpServer, OfferedTools

log = logging.getLogger(__name__)
MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_CONNECTIONS = 64
GREETING_S = 10.0
_TOKEN_CHARS = 128
_BRIDGE = str(Path(mcp_bridge.__file__).absolute())


class McpGate:
    """Listens from the first agent on. A token opens the tools of one agent's session until they are closed."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._starting = asyncio.Lock()
        self._tools: dict[str, OfferedTools] = {}
        self._listed: dict[str, asyncio.Event] = {}
        self._connected: dict[McpServer, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def offer(self, tools: OfferedTools) -> tuple[str, Mapping[str, Any]]:
        """Returns a new token, and what `session/new` says of the MCP server. Raises: OSError."""
        async with self._starting:
            if self._server is None:
                self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0, limit=MAX_LINE_BYTES)
        token = secrets.token_urlsafe(32)
        self._tools[token], self._listed[token] = tools, asyncio.Event()
        port = self._server.sockets[0].getsockname()[1]
        env = {PORT_VARIABLE: str(port), TOKEN_VARIABLE: token}
        return token, {
            "name": SERVER_NAME,
            "command": sys.executable,
            "args": ["-I", _BRIDGE],
            "env": [{"name": name, "value": value} for name, value in env.items()],
        }

    async def until_listed(self, token: str, limit_s: float) -> None:
        """Returns once the agent knows its tools, or after that time: some agents look for them in the background."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._listed[token].wait()

    async def announce(self, token: str) -> None:
        """Tells the agent's connections that their tools have changed."""
        for server in [one for one, of in self._connected.items() if of == token]:
            with contextlib.suppress(OSError):
                await server.announce()

    def withdraw(self, token: str) -> None:
        """The token opens nothing more."""
        self._tools.pop(token, None)
        self._listed.pop(token, None)

    async def close(self) -> None:
        self._tools.clear()
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError) as error:
            log.debug("A connection of an agent ended: %s", type(error).__name__)
        except asyncio.CancelledError:
            pass  # the server closes
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks) > MAX_CONNECTIONS:
            return
        async with asyncio.timeout(GREETING_S):
            line = await reader.readline()
        token = line[:_TOKEN_CHARS].decode("ascii", "replace").strip()
        tools = self._tools.get(token)
        if tools is None:
            log.warning("A program without a valid token tried to use an agent's tools")
            return
        writing = asyncio.Lock()

        async def send(message: Mapping[str, Any]) -> None:
            async with writing:
                writer.write(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
                await writer.drain()

        server = McpServer(tools, send, self._listed[token].set)
        self._connected[server] = token
        try:
            while line := await reader.readline():
                with contextlib.suppress(ValueError, RecursionError):
                    server.take(json.loads(line))
        finally:
            del self._connected[server]
            await server.close()
