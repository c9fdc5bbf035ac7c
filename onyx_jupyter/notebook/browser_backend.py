"""Works on a notebook through the browser tab that has it open. It never touches the file."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.events import to_camel
from onyx_jupyter.notebook.browser_tabs import BrowserTabs
from onyx_jupyter.notebook.cells import cell_hash, find_cell, stale
from onyx_jupyter.protocols import Cell, CellRun, CellType, NotebookView

_ANSWER_S = 15.0
_INTERRUPT_S = 1.0


class _Answer(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="ignore")


class _TabCell(_Answer):
    id: str
    cell_type: CellType
    source: str
    execution_count: int | None = None
    outputs: tuple[dict[str, Any], ...] = ()


class _TabKernel(_Answer):
    name: str | None = None
    status: str | None = None


class _Read(_Answer):
    cells: tuple[_TabCell, ...]
    kernel: _TabKernel | None = None


class _Inserted(_Answer):
    cell_id: str


class _Edited(_Answer):
    source: str


class _Run(_Answer):
    status: Literal["ok", "error", "aborted"]
    execution_count: int | None = None
    outputs: tuple[dict[str, Any], ...] = ()


T = TypeVar("T", bound=_Answer)


class BrowserBackend:
    """Notebooks that are open in a tab; where one is not, every call raises NotebookError (not_open)."""

    def __init__(self, tabs: BrowserTabs, *, answer_s: float = _ANSWER_S, progress_every_s: float = 5.0) -> None:
        self._tabs = tabs
        self._answer_s = answer_s
        self._progress_every_s = progress_every_s

    async def read(self, path: str) -> NotebookView:
        answer = await self._ask(path, "notebook.read", {}, _Read)
        kernel = answer.kernel or _TabKernel()
        return NotebookView(
            path=path,
            cells=tuple(
                Cell(c.id, c.cell_type, c.source, cell_hash(c.source), c.execution_count, c.outputs)
                for c in answer.cells
            ),
            backend="browser",
            kernel_name=kernel.name,
            kernel_status=kernel.status,
        )

    async def insert_cell(self, path: str, cell_type: CellType, source: str, after_cell_id: str | None) -> Cell:
        params = {"cellType": cell_type, "source": source, "afterCellId": after_cell_id}
        answer = await self._ask(path, "notebook.insert", params, _Inserted)
        return Cell(answer.cell_id, cell_type, source, cell_hash(source))

    async def edit_cell(self, path: str, cell_id: str, source: str, base_hash: str | None) -> Cell:
        """The tab compares the source that the hash stands for once more, in the same step as it changes it."""
        before = find_cell((await self.read(path)).cells, cell_id, path)
        if base_hash is not None and before.hash != base_hash:
            raise stale(path, cell_id, before.source)
        params = {"cellId": cell_id, "source": source, "baseSource": None if base_hash is None else before.source}
        try:
            answer = await self._ask(path, "notebook.edit", params, _Edited)
        except NotebookError as error:
            if error.code == "stale":
                raise stale(path, cell_id, str(error.data.get("source", ""))) from error
            raise
        return Cell(cell_id, before.cell_type, answer.source, cell_hash(answer.source), before.execution_count)

    async def run_cell(self, path: str, cell_id: str, progress: Callable[[str], None]) -> CellRun:
        """Without a time limit: a cell may run for hours, and the tab's going away ends the wait."""
        asked = asyncio.ensure_future(self._ask(path, "notebook.run", {"cellId": cell_id}, _Run, timeout_s=None))
        elapsed_s = 0.0
        try:
            while not (await asyncio.wait({asked}, timeout=self._progress_every_s))[0]:
                elapsed_s += self._progress_every_s
                progress(f"Running for {elapsed_s:.0f} s")
            answer = await asked
        except asyncio.CancelledError:
            asked.cancel()
            await self._interrupt(path)
            raise
        return CellRun(answer.status, answer.execution_count, answer.outputs)

    async def _interrupt(self, path: str) -> None:
        with contextlib.suppress(NotebookError):  # a tab that has gone cannot be stopped from here
            await self._request(path, "notebook.interrupt", {}, _INTERRUPT_S)

    async def _ask(
        self, path: str, action: str, params: Mapping[str, Any], shape: type[T], timeout_s: float | None = -1
    ) -> T:
        result = await self._request(path, action, params, self._answer_s if timeout_s == -1 else timeout_s)
        try:
            return shape.model_validate(result)
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            where = ".".join(map(str, problem["loc"]))
            raise NotebookError(
                "bad_response", f"The browser tab's answer to {action} is not usable: {where}: {problem['msg']}."
            ) from error

    async def _request(
        self, path: str, action: str, params: Mapping[str, Any], timeout_s: float | None
    ) -> dict[str, Any]:
        place = self._tabs.tab_with(path)
        if place is None:
            raise NotebookError("not_open", f"{path} is open in no browser tab.")
        return await self._tabs.request(place.tab, action, {"path": place.path, **params}, timeout_s)
