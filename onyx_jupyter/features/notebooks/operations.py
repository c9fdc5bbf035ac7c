"""`notebook.*`: what turns changed, and the user's decisions about it. `kernel.*`: what a kernel holds."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.errors import InvalidRequest, NotebookError
from onyx_jupyter.events import camel_data
from onyx_jupyter.features.notebooks.review_service import NOTEBOOK_REVIEW
from onyx_jupyter.features.notebooks.wire import (
    CellMark,
    CellText,
    KernelVariableList,
    KernelVariablesParams,
    LeftAlone,
    NotebookAccepted,
    NotebookChanges,
    NotebookChangesParams,
    NotebookMarksParams,
    NotebookReverted,
    NotebookTurnParams,
    ReviewedTurn,
    TurnInfo,
    TurnNotebook,
)
from onyx_jupyter.notebook.review.review_actions import Outcome
from onyx_jupyter.notebook.review.reviewed_cells import ReviewedCell
from onyx_jupyter.notebook.review.turns import TurnChanges
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import CONFIGURED, HOST, RUNS
from onyx_jupyter.operations.operation import Operation


async def changes(params: NotebookChangesParams, caller: Caller) -> dict[str, Any]:
    if (params.path is None) == (params.session_key is None):
        raise InvalidRequest("`path`: give either a path or a sessionKey.", field="path")
    review = caller.get(NOTEBOOK_REVIEW)
    marks = await review.marks(params.path) if params.path is not None else ()
    turns = await review.turns(params.session_key) if params.session_key is not None else ()
    return {
        "marks": [_json(_mark(mark, caller)) for mark in marks],
        "turns": [_json(_turn(turn)) for turn in turns],
    }


async def accept(params: NotebookMarksParams, caller: Caller) -> dict[str, Any]:
    return {"cells": await caller.get(NOTEBOOK_REVIEW).accept(params.path, params.cell_ids, caller.user, params.shown)}


async def reject(params: NotebookMarksParams, caller: Caller) -> dict[str, Any]:
    return _reverted(await caller.get(NOTEBOOK_REVIEW).reject(params.path, params.cell_ids, caller.user, params.shown))


async def undo(params: NotebookTurnParams, caller: Caller) -> dict[str, Any]:
    return _reverted(await caller.get(NOTEBOOK_REVIEW).undo(params.session_key, params.run_id, caller.user))


async def put_back(params: NotebookTurnParams, caller: Caller) -> dict[str, Any]:
    return _reverted(await caller.get(NOTEBOOK_REVIEW).put_back(params.session_key, params.run_id, caller.user))


def _mark(mark: ReviewedCell, caller: Caller) -> CellMark:
    return CellMark(
        cell_id=mark.cell_id,
        kinds=list(mark.kinds),
        before=_text(mark.before),
        after=_text(mark.after),
        above=list(mark.above) if mark.above is not None else None,
        turns=[ReviewedTurn(session_key=session_key, run_id=run_id) for session_key, run_id in mark.runs],
        working=any(caller.get(RUNS).is_under_way(run_id) for _, run_id in mark.runs),
    )


def _text(cell: Any) -> CellText | None:
    if not cell or "source" not in cell:
        return None
    return CellText(cell_type=cell.get("cell_type", "code"), source=cell["source"])


def _turn(turn: TurnChanges) -> TurnInfo:
    return TurnInfo(
        run_id=turn.run_id,
        cells=turn.cells,
        ran=turn.ran,
        pending=turn.pending,
        standing=turn.standing,
        notebooks=[TurnNotebook(path=path, cells=cells) for path, cells in turn.paths],
        created=list(turn.created),
        undone=turn.revert_id is not None,
    )


def _reverted(outcome: Outcome) -> dict[str, Any]:
    left = [
        LeftAlone(path=item.path, cell_id=item.cell_id, reason=item.reason, message=item.message or None)
        for item in outcome.left
    ]
    return _json(
        NotebookReverted(
            cells=outcome.cells, paths=outcome.paths, left_alone=left, removed=outcome.removed, made=outcome.made
        )
    )


def _json(model: Any) -> dict[str, Any]:
    data: dict[str, Any] = model.model_dump(by_alias=True, exclude_none=True)
    return data


async def variables(params: KernelVariablesParams, caller: Caller) -> dict[str, Any]:
    kernels = caller.get(HOST).kernels
    if kernels is None:
        return {"state": "no_kernel", "message": "This server does not run kernels.", "variables": []}
    try:
        found = await kernels.variables(params.path, params.pattern, functions=True, most=params.limit)
    except NotebookError as error:  # a notebook without a kernel is normal when names are completed
        return {"state": error.code, "message": caller.get(CONFIGURED).redact(str(error)), "variables": []}
    variables = caller.get(CONFIGURED).redact_data([camel_data(variable) for variable in found.variables])
    return {"state": "ok", "variables": variables, "leftOut": sum(found.left_out.values())}


OPERATIONS = (
    Operation("notebook.changes", NotebookChangesParams, NotebookChanges, changes, "read", dispatch="beside"),
    Operation("notebook.accept", NotebookMarksParams, NotebookAccepted, accept, "chat"),
    Operation("notebook.reject", NotebookMarksParams, NotebookReverted, reject, "chat", dispatch="beside"),
    Operation("notebook.undo", NotebookTurnParams, NotebookReverted, undo, "chat", dispatch="beside"),
    Operation("notebook.put_back", NotebookTurnParams, NotebookReverted, put_back, "chat", dispatch="beside"),
    Operation("kernel.variables", KernelVariablesParams, KernelVariableList, variables, "read", dispatch="beside"),
)
