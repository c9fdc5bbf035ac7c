"""All local models of one Jupyter server: one process per file, shared by all sessions, ended when idle."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from onyx_jupyter.clock import Clock
from onyx_jupyter.providers.local_server import LocalServer
from onyx_jupyter.providers.local_weights import Weights

_LONGEST_WAIT_S = 30.0
_SHORTEST_WAIT_S = 1.0


class LocalServerPool:
    """Owns the processes and the task that ends idle ones."""

    def __init__(
        self, *, idle_timeout_s: float, threads: int | None, clock: Clock, saved_in: Path | None = None
    ) -> None:
        """`saved_in` is the folder for what the processes save for their next start; None: nothing is saved."""
        self._idle_timeout_s = idle_timeout_s
        self._threads = threads
        self._clock = clock
        self._saved_in = saved_in
        self._servers: dict[Path, LocalServer] = {}
        self._watch: asyncio.Task[None] | None = None

    def server(self, weights: Weights) -> LocalServer:
        """The one process for these weights, running or not."""
        if weights.path not in self._servers:
            self._servers[weights.path] = LocalServer(
                weights, threads=self._threads, clock=self._clock, saved_in=self._saved_in
            )
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._watch_idle(), name="onyx-idle-models")
        return self._servers[weights.path]

    async def stop_idle(self) -> list[str]:
        """Ends every process that has been idle for too long; returns their files."""
        return [str(path) for path, server in self._servers.items() if await server.stop_if_idle(self._idle_timeout_s)]

    async def release(self, path: Path) -> bool:
        """Ends the process of this file, unless it is answering; returns whether the file is unused now."""
        server = self._servers.get(path)
        if server is None or not server.running:
            return server is None or not server.is_used
        return await server.stop_if_idle(0.0)

    async def close(self) -> None:
        """Ends every process and the idle check."""
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
            self._watch = None
        for server in self._servers.values():
            await server.stop()

    async def _watch_idle(self) -> None:
        wait_s = min(max(self._idle_timeout_s / 4, _SHORTEST_WAIT_S), _LONGEST_WAIT_S)
        while True:
            await asyncio.sleep(wait_s)
            await self.stop_idle()
