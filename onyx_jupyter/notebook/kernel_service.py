"""The kernels of one Jupyter server's notebooks, by the notebook's path. Looking at a kernel never starts one."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from jupyter_core.utils import ensure_async
from pydantic import TypeAdapter, ValidationError

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.browser_tabs import TabRequests
from onyx_jupyter.notebook.kernel_inspection import KernelInspection
from onyx_jupyter.notebook.kernel_run import KernelRun
from onyx_jupyter.notebook.kernel_sessions import KernelSession, KernelSessions
from onyx_jupyter.protocols import CellRun, Inspection, KernelVariables

T = TypeVar("T")
_log = logging.getLogger(__name__)

_RESTART_S = 60.0
_TAB_RESTART_S = 20.0
_VARIABLES_S = 2.0
_INSPECT_S = 4.0
_VARIABLES = TypeAdapter(KernelVariables)
_INSPECTION = TypeAdapter(Inspection)
_SOURCES = TypeAdapter(dict[int, str])
_NAMES = TypeAdapter(frozenset[str])


class KernelService:
    """Implements `Kernels` over a server's own kernel manager."""

    def __init__(self, kernel_manager: Any, sessions: KernelSessions, tabs: TabRequests) -> None:
        self._kernels = kernel_manager
        self._sessions = sessions
        self._tabs = tabs
        self._questions = KernelInspection(kernel_manager)

    async def variables(
        self, path: str, pattern: str | None = None, *, functions: bool = False, most: int = 300
    ) -> KernelVariables:
        asked = {"pattern": pattern, "functions": functions, "most": most}
        return _parsed(_VARIABLES, await self._ask(path, "variables", _VARIABLES_S, **asked))

    async def inspect(self, path: str, name: str) -> Inspection:
        return _parsed(_INSPECTION, await self._ask(path, "inspect", _INSPECT_S, name=name))

    async def language(self, path: str, kernel_name: str | None) -> str:
        return ((await self._sessions.kernelspec(path, kernel_name))["language"] or "python").lower()

    async def executed(self, path: str) -> Mapping[int, str]:
        return _parsed(_SOURCES, (await self._ask(path, "executed", _VARIABLES_S)).get("sources"))

    async def lacking(self, path: str, packages: Sequence[str]) -> frozenset[str]:
        return _parsed(_NAMES, (await self._ask(path, "lacking", _VARIABLES_S, names=list(packages))).get("names"))

    async def execute(self, path: str, code: str, progress: Callable[[str], None]) -> CellRun:
        session = await self._running(path)
        return await KernelRun(self._kernels, session.kernel_id, progress, store_history=False).run(code)

    async def restart(self, path: str) -> None:
        session = await self._session(path)
        if await self._tab_restarts(path):
            return
        try:
            async with asyncio.timeout(_RESTART_S):
                answered = await ensure_async(self._kernels.restart_kernel(session.kernel_id))
                if inspect.isawaitable(answered):  # the new process's first answer, which Jupyter returns
                    await answered
        except (RuntimeError, TimeoutError, OSError) as error:
            raise NotebookError(
                "kernel_dead", f"The kernel of {path} did not start again: {str(error) or 'it does not answer'}."
            ) from error

    async def is_same_kernel(self, path: str, other: str) -> bool:
        one, another = await self._sessions.find(path), await self._sessions.find(other)
        return one is not None and another is not None and one.kernel_id == another.kernel_id

    async def _tab_restarts(self, path: str) -> bool:
        """Whether the tab with the notebook open restarted it: otherwise a cell running there would wait forever."""
        place = self._tabs.tab_with(path)
        if place is None:
            return False
        try:
            await self._tabs.request(place.tab, "notebook.restart", {"path": place.path}, _TAB_RESTART_S)
        except NotebookError as error:  # the tab is gone or asleep, or uses another kernel
            _log.info("The tab did not restart the kernel of %s: %s", path, error)
            return False
        return True

    async def _ask(self, path: str, about: str, seconds: float, **more: Any) -> dict[str, Any]:
        session = await self._running(path)
        return await self._questions.ask(session.kernel_id, about, seconds, **more)

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
                "kernel_dead",
                f"The kernel of {path} has died, so its variables are lost. Restarting it starts a new one.",
            )
        return session

    async def _session(self, path: str) -> KernelSession:
        session = await self._sessions.find(path)
        if session is None:
            raise NotebookError("no_kernel", f"{path} has no running kernel. Running one of its cells starts one.")
        return session


def _parsed(adapter: TypeAdapter[T], found: Any) -> T:
    """The kernel's answer, validated: code that runs there can change it."""
    try:
        return adapter.validate_python(found)
    except ValidationError as error:
        raise NotebookError("not_readable", "The kernel's answer about its variables cannot be read.") from error
