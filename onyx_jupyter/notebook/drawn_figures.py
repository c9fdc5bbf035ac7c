"""Describes in words what the cells that Onyx runs have drawn, as reported by their kernel. Nothing is stored."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.kernel_inspection import KernelInspection
from onyx_jupyter.protocols import CellRun

_PROBE_TIMEOUT_S = 1.5
_FIGURES_TIMEOUT_S = 2.0
_MAX_CHARS = 4_000
_log = logging.getLogger(__name__)


class DrawnFigures:
    """Figures of one server's kernels. If a kernel cannot report them, the cell only lacks their description."""

    def __init__(self, questions: KernelInspection) -> None:
        self._questions = questions

    async def with_figures(self, kernel_id: str | None, run: Callable[[], Awaitable[CellRun]]) -> CellRun:
        """Runs the cell and adds what it drew; adds nothing if the kernel is only started by this run."""
        watching = kernel_id is not None and await self._ask(kernel_id, "watch_figures") is not None
        result = await run()
        if not watching or kernel_id is None:
            return result
        answer = await self._ask(kernel_id, "drawn_figures", number=result.execution_count)
        found = (answer or {}).get("figures")
        return replace(result, figures=_within_bounds(found if isinstance(found, list) else []))

    async def _ask(self, kernel_id: str, about: str, **more: Any) -> dict[str, Any] | None:
        with contextlib.suppress(TimeoutError):
            try:
                async with asyncio.timeout(_FIGURES_TIMEOUT_S):
                    return await self._questions.ask(kernel_id, about, _PROBE_TIMEOUT_S, **more)
            except NotebookError as error:
                _log.debug("A figure could not be described: %s", error)
        return None


def _within_bounds(found: list[Any]) -> tuple[str, ...]:
    told: list[str] = []
    for text in found:
        if not isinstance(text, str) or sum(map(len, told)) + len(text) > _MAX_CHARS:
            break
        told.append(text)
    left = len(found) - len(told)
    return (*told, f"and {left} more, not described") if left else tuple(told)
