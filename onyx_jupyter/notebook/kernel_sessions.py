"""Finds or starts the kernel of a notebook, through the server's sessions."""

from __future__ import annotations

import asyncio
import logging
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from jupyter_core.utils import ensure_async

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.paths import NotebookPaths

_INTERRUPT_S = 1.0
# A kernel's status reaches its server on a separate channel, a little later than a cell's outputs.
_BUSY_POLLS = 6
_BUSY_POLL_S = 0.05

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KernelSession:
    """A notebook's running kernel; `connections` counts the front ends that are attached to it."""

    kernel_id: str
    kernel_name: str
    status: str
    connections: int


class KernelSessions:
    """The kernel sessions of one Jupyter server."""

    def __init__(self, session_manager: Any, kernel_manager: Any, kernel_specs: Any, paths: NotebookPaths) -> None:
        self._sessions = session_manager
        self._kernels = kernel_manager
        self._specs = kernel_specs
        self._paths = paths
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def find(self, path: str) -> KernelSession | None:
        """The session of that notebook; prefers one with a front end attached."""
        wanted = self._paths.canonical(path)
        found = [
            KernelSession(
                kernel_id=model["kernel"]["id"],
                kernel_name=model["kernel"]["name"],
                status=model["kernel"].get("execution_state") or "unknown",
                connections=model["kernel"].get("connections") or 0,
            )
            for model in await ensure_async(self._sessions.list_sessions())
            if model.get("type") == "notebook" and self._paths.canonical(model.get("path") or "") == wanted
        ]
        return max(found, key=lambda session: session.connections, default=None)

    async def notebook_of(self, kernel_id: str) -> str | None:
        """The current path of the notebook that runs in that kernel; None if the kernel belongs to no notebook."""
        for model in await ensure_async(self._sessions.list_sessions()):
            if model.get("type") == "notebook" and model["kernel"]["id"] == kernel_id:
                return self._paths.canonical(model.get("path") or "")
        return None

    async def find_or_start(self, path: str, kernel_name: str | None) -> str:
        """The id of the notebook's kernel, started if there is none. Raises: NotebookError (no_kernel)."""
        lock = self._locks.setdefault(path, asyncio.Lock())
        async with lock:
            session = await self.find(path)
            if session is not None:
                return session.kernel_id
            return await self._start(path, kernel_name)

    async def interrupt(self, path: str) -> None:
        """Interrupts the notebook's kernel if it is busy; logs a failure."""
        try:
            async with asyncio.timeout(_INTERRUPT_S):
                session = await self._at_work(path)
                if session is not None:
                    await ensure_async(self._kernels.interrupt_kernel(session.kernel_id))
        except Exception as error:  # a kernel's provisioner may raise anything
            _log.warning("The kernel of %s could not be interrupted: %s", path, str(error) or type(error).__name__)

    async def kernelspec(self, path: str, kernel_name: str | None) -> dict[str, str]:
        """A notebook's `kernelspec` metadata; None means the server's default. Raises: NotebookError (no_kernel)."""
        name = kernel_name or getattr(self._kernels, "default_kernel_name", None)
        specs = await ensure_async(self._specs.get_all_specs())
        if name not in specs:
            raise _not_installed(path, name, specs)
        spec = specs[name]["spec"]
        return {"name": name, "display_name": spec["display_name"], "language": spec.get("language", "")}

    async def _at_work(self, path: str) -> KernelSession | None:
        """The notebook's session if its kernel is busy; waits long enough to notice code that has just started."""
        for _ in range(_BUSY_POLLS):
            session = await self.find(path)
            if session is None or session.status not in ("idle", "dead"):
                return session
            await asyncio.sleep(_BUSY_POLL_S)
        return None

    async def _start(self, path: str, kernel_name: str | None) -> str:
        installed = await ensure_async(self._specs.get_all_specs())
        if kernel_name is not None and kernel_name not in installed:
            raise _not_installed(path, kernel_name, installed)
        try:
            model = await ensure_async(
                self._sessions.create_session(
                    path=path, name=posixpath.basename(path), type="notebook", kernel_name=kernel_name
                )
            )
        except Exception as error:  # a kernel's launcher may raise anything
            raise NotebookError("no_kernel", f"No kernel could be started for {path}: {error}") from error
        kernel_id: str = model["kernel"]["id"]
        return kernel_id


def _not_installed(path: str, kernel_name: str | None, installed: Iterable[str]) -> NotebookError:
    return NotebookError(
        "no_kernel",
        f"{path} asks for the kernel {kernel_name!r}, which is not installed here. "
        f"Installed: {', '.join(sorted(installed)) or 'none'}.",
    )
