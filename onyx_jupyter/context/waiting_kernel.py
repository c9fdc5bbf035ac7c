"""Finds the notebook that asked: a message from a cell names the kernel that waits for the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from onyx_jupyter.sessions.entry import Entry

NotebookOf = Callable[[str], Awaitable[str | None]]


async def asking_kernel(kernel: Mapping[str, str], notebook_of: NotebookOf) -> dict[str, Any]:
    """The kernel as stored with the message: with the notebook's path if this server has started it."""
    path = await notebook_of(kernel["kernelId"])
    return {**kernel, **({"path": path} if path else {})}


async def asking_notebook(message: Entry, notebook_of: NotebookOf) -> str | None:
    """The current path of the notebook whose cell asked, and whose kernel is busy until it has the answer."""
    kernel = message.origin.kernel
    return None if kernel is None else await notebook_of(str(kernel.get("kernelId"))) or kernel.get("path")
