"""Works on a notebook through the browser tab that has it open."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.events import to_camel
from onyx_jupyter.notebook.browser_tabs import TabRequests
from onyx_jupyter.notebook.cell_changes import after_change, carried, check_cell, new_cell_id
from onyx_jupyter.notebook.cells import cell_hash, stale
from onyx_jupyter.protocols import (
    After,
    AppliedChange,
    Cell,
    CellChange,
    CellRun,
    CellSize,
    CellType,
    DeleteCell,
    EditCell,
    InsertCell,
    MoveCell,
    NotebookCells,
    NotebookView,
    Place,
    RestoreCell,
    SetOutputs,
)

_ANSWER_S = 15.0
_INTERRUPT_S = 1.0
_READINGS = 3
_AFTER_INTERRUPT_S = 0.5
# A run that ends with one of these codes may have begun; any other refusal means that it has not.
_MAY_HAVE_RUN = ("tab_gone", "tab_silent", "bad_response", "closed", "kernel_died", "internal", "too_large")
_WRITING = ("notebook.apply", "notebook.wait", "notebook.run")

_log = logging.getLogger(__name__)


class _Answer(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="ignore")


class _TabCell(_Answer):
    id: str
    cell_type: CellType
    source: str
    execution_count: int | None = None
    outputs: tuple[dict[str, Any], ...] = ()
    metadata: dict[str, Any] = {}
    outputs_shortened: bool = False


class _TabKernel(_Answer):
    name: str | None = None
    status: str | None = None


class _Read(_Answer):
    """A part of the cells: `next` is the index of the first one missing, `order` stands for all their ids.

    Where only some were asked for, `sizes` are all cells of that part: their ids, and how long their sources are. A
    page that was loaded before an upgrade may not know that some were asked for, and gives none. `running` are ids.
    """

    cells: tuple[_TabCell, ...]
    running: frozenset[str] = frozenset()
    sizes: tuple[tuple[str, int], ...] | None = None
    kernel: _TabKernel | None = None
    next: int | None = None
    order: str = ""


class _TabAfter(_Answer):
    after: str


class _TabChange(_Answer):
    cell_id: str
    before: dict[str, Any] | None = None
    before_place: _TabAfter | Literal["start"] | None = None
    outputs_left_out: bool = False


class _Applied(_Answer):
    changes: tuple[_TabChange, ...]


class _Run(_Answer):
    status: Literal["ok", "error", "aborted"]
    execution_count: int | None = None
    outputs: tuple[dict[str, Any], ...] = ()
    before: dict[str, Any] | None = None
    outputs_left_out: bool = False


T = TypeVar("T", bound=_Answer)


class BrowserBackend:
    """Notebooks that are open in a tab. For any other notebook, every call raises NotebookError (not_open)."""

    def __init__(
        self,
        tabs: TabRequests,
        *,
        answer_s: float = _ANSWER_S,
        progress_every_s: float = 5.0,
        interrupt: Callable[[str], Awaitable[None]] | None = None,
        is_shared: Callable[[str], bool] = lambda path: False,
    ) -> None:
        """`interrupt` interrupts a notebook's kernel when the tab that runs the cell is gone.

        `is_shared` says whether all tabs share one document of the notebook; else only one tab may write to it.
        """
        self._tabs = tabs
        self._interrupt_kernel = interrupt
        self._is_shared = is_shared
        self._answer_s = answer_s
        self._progress_every_s = progress_every_s

    async def read(self, path: str, in_full: Collection[str] = ()) -> NotebookView:
        parts = await self._read(path, {"inFull": list(in_full)})
        kernel = parts[0].kernel or _TabKernel()
        return NotebookView(path, _cells(parts), "browser", kernel.name, kernel.status)

    async def read_cells(
        self, path: str, ids: Collection[str], in_full: Collection[str] = (), *, last: int = 0
    ) -> NotebookCells:
        parts = await self._read(path, {"inFull": list(in_full), "only": list(ids), "last": last})
        kernel = parts[0].kernel or _TabKernel()
        order = tuple(CellSize(cell_id, chars) for part in parts for cell_id, chars in _sizes(path, part))
        return NotebookCells(path, order, _cells(parts), kernel.name)

    async def _read(self, path: str, params: Mapping[str, Any]) -> Sequence[_Read]:
        """Reads in several parts, since a frame is limited in size; starts again if cells moved meanwhile."""
        for _ in range(_READINGS):
            parts = [await self._ask(path, "notebook.read", {"from": 0, **params}, _Read)]
            while (at := parts[-1].next) is not None and parts[-1].order == parts[0].order:
                parts.append(await self._ask(path, "notebook.read", {"from": at, **params}, _Read))
            if parts[-1].order == parts[0].order:
                return parts
        raise NotebookError("stale", f"{path} is being changed by someone else right now. Read it again.")

    async def apply(self, path: str, changes: Sequence[CellChange]) -> tuple[AppliedChange, ...]:
        """The tab checks and applies the changes in one step; changed cells are not sent back but computed here."""
        params = {"changes": [_sent(change) for change in changes]}
        answer = await self._ask(path, "notebook.apply", params, _Applied)
        if len(answer.changes) != len(changes):
            raise NotebookError("bad_response", "The browser tab answered to another number of changes.")
        return tuple(_applied(change, made) for change, made in zip(changes, answer.changes, strict=True))

    async def run_cell(
        self,
        path: str,
        cell_id: str,
        progress: Callable[[str], None],
        *,
        base_hash: str | None = None,
        began: Callable[[], None] = lambda: None,
    ) -> CellRun:
        """Has no time limit: a cell may run for hours, and the wait ends if the tab goes away.

        Cancelling stops the cell, or its wait for the kernel; other users' code keeps running.
        """
        run_key, begun = uuid.uuid4().hex, asyncio.Event()
        asked = asyncio.ensure_future(self._run(path, cell_id, base_hash, run_key, begun))
        elapsed_s = 0.0
        try:
            while not (await asyncio.wait({asked}, timeout=self._progress_every_s))[0]:
                elapsed_s += self._progress_every_s
                doing = "Running" if begun.is_set() else "Waiting for the kernel"
                progress(f"{doing} for {elapsed_s:.0f} s")
            answer = await asked
        except asyncio.CancelledError:
            if begun.is_set():
                await self._interrupt(path, run_key)
                await asyncio.wait({asked}, timeout=_AFTER_INTERRUPT_S)  # so that the cell shows how it ended
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
            raise
        finally:
            if begun.is_set():
                began()
        return CellRun(
            answer.status,
            answer.execution_count,
            answer.outputs,
            note=_other_source(answer, base_hash),
            before=answer.before,
            outputs_left_out=answer.outputs_left_out,
            is_shown=True,
        )

    async def _run(self, path: str, cell_id: str, base_hash: str | None, run_key: str, begun: asyncio.Event) -> _Run:
        """Sets `begun` when the tab is asked to run the cell, and clears it if the tab refuses."""
        params = {"cellId": cell_id, "runKey": run_key, "baseHash": base_hash}
        while True:
            await self._kernel_free(path)
            begun.set()
            try:
                return await self._run_or_join(path, params)
            except NotebookError as error:
                if error.code in _MAY_HAVE_RUN:
                    raise
                begun.clear()
                if error.code != "kernel_busy":  # something else started first
                    raise

    async def _run_or_join(self, path: str, params: Mapping[str, Any]) -> _Run:
        """After an interruption (a laptop asleep), asks the returning tab how the run went; doesn't run it again."""
        try:
            return await self._ask(path, "notebook.run", params, _Run, timeout_s=None)
        except NotebookError as error:
            gone = error
        while gone.code == "tab_gone":
            await self._tabs.settled(path)
            try:
                return await self._ask(path, "notebook.join", {"runKey": params["runKey"]}, _Run, timeout_s=None)
            except NotebookError as error:
                if error.code in ("not_open", "no_run"):
                    break
                gone = error
        raise gone

    async def _kernel_free(self, path: str) -> None:
        """Returns when nothing else runs in the notebook's kernel; starts the kernel if there is none."""
        while True:
            try:
                await self._ask(path, "notebook.wait", {}, _Answer, timeout_s=None)
            except NotebookError as error:
                if error.code != "tab_gone":
                    raise
                await self._tabs.settled(path)
            else:
                return

    async def _interrupt(self, path: str, run_key: str) -> None:
        try:
            await self._request(path, "notebook.interrupt", {"runKey": run_key}, _INTERRUPT_S)
        except NotebookError as error:
            _log.info("The tab did not stop the cell of %s: %s", path, error)
            if self._interrupt_kernel is not None:
                await self._interrupt_kernel(path)

    async def _ask(
        self, path: str, action: str, params: Mapping[str, Any], shape: type[T], timeout_s: float | None = -1
    ) -> T:
        try:
            result = await self._request(path, action, params, self._answer_s if timeout_s == -1 else timeout_s)
        except NotebookError as error:
            if error.code != "stale":
                raise
            cell_id, source = (str(error.data.get(key, "")) for key in ("cellId", "source"))
            raise stale(path, cell_id, source) from error
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
        if action in _WRITING:
            place = self._tabs.write_place(path, is_shared=self._is_shared(path))
        else:
            place = self._tabs.tab_with(path)
        if place is None:
            raise NotebookError("not_open", f"{path} is open in no browser tab.")
        return await self._tabs.request(place.tab, action, {"path": place.path, **params}, timeout_s)


def _other_source(answer: _Run, base_hash: str | None) -> str | None:
    """A page loaded before an upgrade runs whatever the cell holds by then; the note says what ran."""
    source = (answer.before or {}).get("source")
    if base_hash is None or not isinstance(source, str) or cell_hash(source) == base_hash:
        return None
    return (
        "The cell had been changed since it was read, and the browser page, which is from before Onyx was upgraded, "
        f"ran it all the same. Ask the user to save the notebook and reload the page. What ran:\n{source}"
    )


def _sizes(path: str, part: _Read) -> Sequence[tuple[str, int]]:
    """Raises: NotebookError (old_front_end)."""
    if part.sizes is None:
        raise NotebookError(
            "old_front_end",
            f"The browser page that has {path} open is from before Onyx was upgraded, so nothing was done there. Ask "
            "the user to save the notebook and reload the page.",
        )
    return part.sizes


def _cells(parts: Sequence[_Read]) -> tuple[Cell, ...]:
    return tuple(_cell(cell, cell.id in part.running) for part in parts for cell in part.cells)


def _cell(read: _TabCell, is_running: bool) -> Cell:
    return Cell(
        id=read.id,
        cell_type=read.cell_type,
        source=read.source,
        hash=cell_hash(read.source),
        execution_count=read.execution_count,
        outputs=read.outputs,
        metadata=read.metadata,
        outputs_shortened=read.outputs_shortened,
        is_running=is_running,
    )


def _sent(change: CellChange) -> dict[str, Any]:
    match change:
        case InsertCell():
            cell = {"id": new_cell_id(), **change.cell}
            check_cell(cell)
            return {"kind": "insert", "cell": cell, "place": _place(change.place)}
        case EditCell():
            check_cell({"cell_type": "code", "source": change.source})
            sent = {"kind": "edit", "cellId": change.cell_id, "source": change.source, "baseHash": change.base_hash}
            return {**sent, "evenLocked": change.even_locked}
        case DeleteCell():
            sent = {"kind": "delete", "cellId": change.cell_id, "baseHash": change.base_hash}
            return {**sent, "evenLocked": change.even_locked}
        case MoveCell():
            moved = {"place": _place(change.place), "baseHash": change.base_hash}
            return {"kind": "move", "cellId": change.cell_id, **moved}
        case SetOutputs():
            shown = {"outputs": list(change.outputs), "executionCount": change.execution_count}
            return {"kind": "outputs", "cellId": change.cell_id, **shown}
        case RestoreCell():
            check_cell(change.cell)
            return {"kind": "restore", "cell": dict(change.cell), "baseHash": change.base_hash}


def _place(place: Place) -> str | dict[str, str]:
    return {"after": place.cell_id} if isinstance(place, After) else place


def _applied(change: CellChange, made: _TabChange) -> AppliedChange:
    place = After(made.before_place.after) if isinstance(made.before_place, _TabAfter) else made.before_place
    after = after_change(change, made.cell_id, made.before)
    return AppliedChange(made.cell_id, made.before, place, after and carried(after)[0], made.outputs_left_out)
