"""Notebooks on the socket: the changes of turns and the user's decisions about them, and what a kernel holds."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from onyx_jupyter.operations.wire import Wire


class NotebookChangesParams(Wire):
    """Exactly one of the two: the marks in a notebook, or what each turn of a session did."""

    path: str | None = Field(default=None, min_length=1)
    session_key: str | None = None


class CellText(Wire):
    cell_type: Literal["code", "markdown", "raw"]
    source: str


class ReviewedTurn(Wire):
    session_key: str
    run_id: str


class CellMark(Wire):
    """What turns did to a cell that nobody has decided about yet.

    `before` is absent for an added cell, `after` for a deleted one and where the text was not touched. `above` are the
    ids over the place where a moved or deleted cell stood, the nearest first. `working` says that a turn still goes on.
    """

    cell_id: str
    kinds: list[Literal["added", "edited", "deleted", "moved", "ran"]]
    before: CellText | None = None
    after: CellText | None = None
    above: list[str] | None = None
    turns: list[ReviewedTurn]
    working: bool = False


class TurnNotebook(Wire):
    """`cells` counts those that were added, edited, moved or deleted there."""

    path: str
    cells: int


class TurnInfo(Wire):
    """What a turn did to notebooks.

    `ran` counts cells that were only run, `pending` those that wait for a word, `standing` those that can be undone.
    """

    run_id: str
    cells: int
    ran: int
    pending: int
    standing: int
    notebooks: list[TurnNotebook]
    created: list[str]
    undone: bool


class NotebookChanges(Wire):
    marks: list[CellMark]
    turns: list[TurnInfo]


class NotebookMarksParams(Wire):
    """These cells' marks, or all of the notebook's.

    `shown` is what the person saw of them: cell id and the hash of `after`, "" where there is none. A mark that is
    another one by now, or was not shown, is left to be seen; without it, marks are taken as they are.
    """

    path: str = Field(min_length=1)
    cell_ids: list[str] | None = Field(default=None, min_length=1, max_length=100_000)
    shown: dict[str, str] | None = Field(default=None, max_length=100_000)


class NotebookAccepted(Wire):
    cells: int


class NotebookTurnParams(Wire):
    session_key: str
    run_id: str


class LeftAlone(Wire):
    """Something that was not put back. Reasons for a cell: `changed` since, `changed_later` by another turn, `deleted`,
    `moved`, `ran` since, `running` now, `outputs_not_kept`, `not_found`; for a whole notebook (no `cellId`) the error's
    code, with its message.
    """

    path: str
    cell_id: str | None = None
    reason: str
    message: str | None = None


class NotebookReverted(Wire):
    """`removed` notebooks are gone (into the bin, where the server has one), `made` ones are there again."""

    cells: int
    paths: list[str]
    left_alone: list[LeftAlone]
    removed: list[str]
    made: list[str]


class NotebookChangesUpdatedData(Wire):
    """Something changed in these notebooks, or was decided: ask again. `removed` ones have no file any more.

    `removed_cells`: of each removed one, its cells and their hashes; a tab that holds anything else has to stay open.
    """

    paths: list[str] | None = None
    session_key: str | None = None
    run_id: str | None = None
    removed: list[str] | None = None
    removed_cells: dict[str, dict[str, str]] | None = None


class KernelVariablesParams(Wire):
    path: str = Field(min_length=1, description="as in the file browser")
    pattern: str | None = Field(
        default=None, min_length=1, max_length=200, description="part of a name, or a pattern with * and ?"
    )
    limit: int = Field(default=200, ge=1, le=1000)


class KernelVariable(Wire):
    """A variable in one line; `sizeBytes` is what its data takes, where that is known."""

    name: str
    kind: Literal["frame", "array", "object", "container", "text", "value", "function", "class", "module"]
    type: str
    summary: str
    size_bytes: int | None = None


class KernelVariableList(Wire):
    """Frames and arrays first, the newest first among equals.

    `state` is `ok`, or why there are none: no_kernel, kernel_dead, kernel_restarting, kernel_busy, not_python,
    too_slow, not_readable. `message` then says it in words. `leftOut` counts those beyond the limit.
    """

    state: str
    message: str = ""
    variables: list[KernelVariable]
    left_out: int = 0
