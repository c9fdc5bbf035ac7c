"""The kernels of one Jupyter server's notebooks: scratch code, interrupt and restart. It never starts a kernel."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from jupyter_core.utils import ensure_async

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.kernel_run import KernelRun
from onyx_jupyter.notebook.kernel_sessions import KernelSession, KernelSessions
from onyx_jupyter.protocols import CellRun

_INTERRUPT_S = 5.0
_RESTART_S = 60.0


class KernelService:
    """Implements `Kernels` over a server's own kernel manager."""

    def __init__(self, kernel_manager: Any, sessions: KernelSessions) -> None:
        self._kernels = kernel_manager
        self._sessions = sessions

    async def execute(self, path: str, code: str, progress: Callable[[str], None]) -> CellRun:
        session = await self._running(path)
        return await KernelRun(self._kernels, session.kernel_id, progress, store_history=False).run(code)

    async def interrupt(self, path: str) -> None:
        session = await self._running(path)
        async with asyncio.timeout(_INTERRUPT_S):
            await ensure_async(self._kernels.interrupt_kernel(session.kernel_id))

    async def restart(self, path: str) -> None:
        session = await self._session(path)
        try:
            async with asyncio.timeout(_RESTART_S):
                answered = await ensure_async(self._kernels.restart_kernel(session.kernel_id))
                if inspect.isawaitable(answered):  # the new process's first answer, which Jupyter hands back
                    await answered
        except (RuntimeError, TimeoutError, OSError) as error:
            raise NotebookError(
                "kernel_dead", f"The kernel of {path} did not come up again: {str(error) or 'it does not answer'}."
            ) from error

    async def _running(self, path: str) -> KernelSession:
        """Raises: NotebookError (no_kernel, kernel_dead, kernel_restarting)."""
        session = await self._session(path)
        if session.status in ("restarting", "autorestarting"):
            raise NotebookError("kernel_restarting", f"The kernel of {path} is restarting. Try again in a moment.")
        alive = session.kernel_id in self._kernels and await ensure_async(
            self._kernels.get_kernel(session.kernel_id).is_alive()
        )
        if session.status == "dead" or not alive:
            raise NotebookError(
                "kernel_dead", f"The kernel of {path} has died, so its variables are lost. A restart brings a new one."
            )
        return session

    async def _session(self, path: str) -> KernelSession:
        session = await self._sessions.find(path)
        if session is None:
            raise NotebookError("no_kernel", f"{path} has no running kernel. Running one of its cells starts one.")
        return session
