"""A browser tab's half of the `client.*` frames, in this process: it holds notebooks and answers what it is asked."""

import asyncio
import contextlib
import copy
import io
import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.features.tabs.wire import ClientRequest, ClientRespondParams, ClientUpdateParams
from onyx_jupyter.notebook.browser_tabs import OpenNotebook, TabRequests
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.notebook.output_limits import OutputLimits


class FakeTab:
    """Speaks JSON frames; `asked` keeps every request, and `silent` makes it answer none.

    While `free` is not set, a person's own cell runs in the kernel; `running` are the ids of such. One that `is_old`
    was loaded before some cells alone could be asked for, one that `runs_anything` before a run said which source it
    meant.
    """

    def __init__(self, tabs: TabRequests, *, page: str | None = None) -> None:
        self.tabs = tabs
        self.page = page
        self.asked: list[ClientRequest] = []
        self.notebooks: dict[str, list[dict[str, Any]]] = {}
        self.runs: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self.cells_in_a_frame = 1_000
        self.is_old = False
        self.running: set[str] = set()
        self.read_only = False
        self.runs_anything = False
        self.before_reading: Callable[[], None] = lambda: None
        self.silent = False
        self.answers: list[asyncio.Task[None]] = []
        self.was_asked = asyncio.Event()
        self.started = asyncio.Event()
        self.free = asyncio.Event()
        self.free.set()
        self._interrupted = asyncio.Event()
        self._count = 0
        self.tab = tabs.opened(self._receive)

    def show(self, path: str, cells: list[dict[str, Any]], *, active: bool = True) -> None:
        """Opens a notebook and tells the server."""
        self.notebooks[path] = cells
        notebooks = [{"path": name, "active": active} for name in self.notebooks]
        params = ClientUpdateParams.model_validate_json(json.dumps({"notebooks": notebooks, "pageId": self.page}))
        shown = [OpenNotebook(notebook.path, notebook.active) for notebook in params.notebooks]
        self.tabs.updated(self.tab, shown, params.page_id)

    def close(self) -> None:
        self.tabs.closed(self.tab)

    def end(self) -> None:
        """Ends the cell that sleeps."""
        self._interrupted.set()

    def respond(self, frame: str) -> bool:
        params = ClientRespondParams.model_validate_json(frame)
        error = params.error and NotebookError(params.error.code, params.error.message, data=params.error.data)
        return self.tabs.responded(self.tab, params.request_id, params.result, error)

    async def _receive(self, request_id: str, action: str, params: Mapping[str, Any]) -> None:
        frame = json.dumps({"requestId": request_id, "action": action, "params": dict(params)})
        request = ClientRequest.model_validate_json(frame)
        self.asked.append(request)
        self.was_asked.set()
        if not self.silent:
            self.answers.append(asyncio.ensure_future(self._answer(request)))

    async def _answer(self, request: ClientRequest) -> None:
        try:
            result = await self._do(request.action, request.params)
            answer: dict[str, Any] = {"result": result}
        except NotebookError as error:
            answer = {"error": {"code": error.code, "message": str(error), "data": error.data or None}}
        self.respond(json.dumps({"requestId": request.request_id, **answer}))

    async def _do(self, action: str, params: dict[str, Any]) -> dict[str, Any]:
        cells = self.notebooks.get(params["path"])
        if cells is None:
            raise NotebookError("not_open", "not open here")
        match action:
            case "notebook.read":
                return self._read(cells, params)
            case "notebook.apply" if self.read_only and any(one["kind"] != "outputs" for one in params["changes"]):
                raise NotebookError("not_saved", f"{params['path']} is read-only")
            case "notebook.apply":
                changed = copy.deepcopy(cells)
                done = [_apply(changed, change, self.running) for change in params["changes"]]
                if cells and not changed:
                    raise NotebookError("would_empty", "no cell would be left")
                cells[:] = changed
                return {"changes": done}
            case "notebook.wait":
                await self.free.wait()
                return {"ok": True}
            case "notebook.run" if not self.free.is_set():
                raise NotebookError("kernel_busy", "another cell runs")
            case "notebook.run":
                if not self.runs_anything:
                    _check_base(cells[_index(cells, params["cellId"])], params["baseHash"])
                self.runs[params["runKey"]] = asyncio.ensure_future(self._run(cells[_index(cells, params["cellId"])]))
                return await asyncio.shield(self.runs[params["runKey"]])
            case "notebook.join":
                if params["runKey"] not in self.runs:
                    raise NotebookError("no_run", "this page has not run it")
                return await asyncio.shield(self.runs[params["runKey"]])
            case "notebook.restart":
                return {"ok": True}
            case _:
                self._interrupted.set()
                return {"ok": True}

    def _read(self, cells: list[dict[str, Any]], params: dict[str, Any]) -> dict[str, Any]:
        self.before_reading()
        start, end = params["from"], params["from"] + self.cells_in_a_frame
        order = " ".join(cell["id"] for cell in cells)
        kernel = {"name": "python3", "status": "idle"}
        part = {"order": order, "next": end if end < len(cells) else None, "kernel": kernel}
        part["running"] = sorted(self.running)
        limits = OutputLimits()
        if "only" not in params or self.is_old:
            return {**part, "cells": [_shown(cell, limits, params["inFull"]) for cell in cells[start:end]]}
        wanted = [*params["only"], *[cell["id"] for cell in cells][len(cells) - params["last"] :]]
        shown = [_shown(cell, limits, params["inFull"]) for cell in cells[start:end] if cell["id"] in wanted]
        sizes = [[cell["id"], len(cell["source"]) if cell["source"].strip() else 0] for cell in cells[start:end]]
        return {**part, "cells": shown, "sizes": sizes}

    async def _run(self, cell: dict[str, Any]) -> dict[str, Any]:
        if cell["cellType"] != "code":
            raise NotebookError("not_code", "nothing to run")
        before = _nb_cell(cell)
        if "sleep" in cell["source"]:
            self.started.set()
            await self._interrupted.wait()
            return {"status": "error", "executionCount": None, "outputs": []}
        self._count += 1
        status, outputs = _execute(cell["source"])
        cell |= {"outputs": outputs, "executionCount": self._count}
        return {"status": status, "executionCount": self._count, "outputs": outputs, "before": before}


def _shown(cell: dict[str, Any], limits: OutputLimits, in_full: list[str]) -> dict[str, Any]:
    is_full = cell["id"] in in_full
    outputs = limits.limited(cell.get("outputs", ()), in_full=is_full)
    return {**cell, "outputs": list(outputs), "outputsShortened": is_full and limits.has_shortened}


def tab_cell(cell_id: str, source: str, cell_type: str = "code") -> dict[str, Any]:
    cell = {"id": cell_id, "cellType": cell_type, "source": source, "executionCount": None, "outputs": []}
    return cell | {"metadata": {}}


def _apply(cells: list[dict[str, Any]], change: dict[str, Any], running: Collection[str]) -> dict[str, Any]:
    """As the tab does it, one change at a time."""
    kind = change["kind"]
    if kind == "insert":
        cell = _from_nb(change["cell"])
        if cell["id"] in [other["id"] for other in cells]:
            raise NotebookError("cell_exists", f"there is a cell {cell['id']}")
        cells.insert(_at(cells, change["place"]), cell)
        return {"cellId": cell["id"], "before": None, "beforePlace": None, "outputsLeftOut": False}
    at = _index(cells, change["cellId"] if "cellId" in change else change["cell"]["id"])
    cell = cells[at]
    _check_base(cell, change.get("baseHash"))
    lock = {"edit": "editable", "delete": "deletable"}.get(kind, "")
    if cell["metadata"].get(lock) is False and not change["evenLocked"]:
        raise NotebookError("locked", f"it is not {lock}")
    is_of_other_type = kind == "restore" and change["cell"]["cell_type"] != cell["cellType"]
    if cell["id"] in running and (kind in ("move", "delete") or is_of_other_type):
        raise NotebookError("running", "runs now")
    place = {"after": cells[at - 1]["id"]} if at else "start"
    made = {"cellId": cell["id"], "before": _nb_cell(cell), "beforePlace": place, "outputsLeftOut": False}
    match kind:
        case "edit":
            cell["source"] = change["source"]
        case "outputs":
            cell |= {"outputs": change["outputs"], "executionCount": change["executionCount"]}
            cell["metadata"]["trusted"] = True
        case "restore":
            cells[at] = _from_nb({**_nb_cell(cell), **change["cell"]})
        case _:
            del cells[at]
            if kind == "move":
                cells.insert(_at(cells, change["place"]), cell)
    return made


def _check_base(cell: dict[str, Any], base: str | None) -> None:
    if base is not None and cell_hash(cell["source"]) != base:
        raise NotebookError("stale", "changed", data={"cellId": cell["id"], "source": cell["source"]})


def _at(cells: list[dict[str, Any]], place: Any) -> int:
    if place == "start":
        return 0
    return len(cells) if place == "end" else _index(cells, place["after"]) + 1


def _index(cells: list[dict[str, Any]], cell_id: str) -> int:
    found = [index for index, cell in enumerate(cells) if cell["id"] == cell_id]
    if not found:
        raise NotebookError("no_cell", f"no cell {cell_id}")
    return found[0]


def _nb_cell(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell of this tab as nbformat has it."""
    code = {"outputs": cell["outputs"], "execution_count": cell["executionCount"]}
    attached = {"attachments": cell["attachments"]} if "attachments" in cell else {}
    common = {"id": cell["id"], "cell_type": cell["cellType"], "metadata": cell["metadata"], "source": cell["source"]}
    return copy.deepcopy(common | (code if cell["cellType"] == "code" else attached))


def _from_nb(cell: dict[str, Any]) -> dict[str, Any]:
    made = tab_cell(cell["id"], "".join(cell["source"]), cell["cell_type"]) | {"metadata": cell.get("metadata", {})}
    if cell["cell_type"] == "code":
        return made | {"outputs": cell.get("outputs", []), "executionCount": cell.get("execution_count")}
    return made | ({"attachments": cell["attachments"]} if "attachments" in cell else {})


def _execute(source: str) -> tuple[str, list[dict[str, Any]]]:
    printed = io.StringIO()
    outputs: list[dict[str, Any]] = []
    status = "ok"
    with contextlib.redirect_stdout(printed):
        try:
            exec(source, {})  # noqa: S102 (a test's own source)
        except Exception as error:
            status = "error"
            outputs.append(
                {"output_type": "error", "ename": type(error).__name__, "evalue": str(error), "traceback": []}
            )
    if printed.getvalue():
        outputs.insert(0, {"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    return status, outputs
