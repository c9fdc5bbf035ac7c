"""A tool's result as data for the screens: which cells of which notebook, by number and id; bounded.

`notebook` is its path, `total` its number of cells. `cells` are those that the result shows and `ran` those that it
ran ({number?, id, status?}), `inserted` a new one with its place ({id, at: start | end | after, after?}); `moved` is
true if cells may have changed places in another way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

MAX_CELLS = 500
MAX_CHARS = 64_000


def cells_shown(
    notebook: str, cells: Iterable[tuple[int, str]], total: int | None = None, *, key: str = "cells"
) -> dict[str, Any]:
    """Cells by number (from 1) and id, at most `MAX_CELLS` of them."""
    listed = [{"number": number, "id": cell_id} for number, cell_id in islice(cells, MAX_CELLS)]
    return {"notebook": notebook, **({} if total is None else {"total": total}), key: listed}


def cell_ran(notebook: str, cell_id: str, status: str) -> dict[str, Any]:
    """One cell that ran: `status` is ok, error or aborted."""
    return {"notebook": notebook, "ran": [{"id": cell_id, "status": status}]}


def cell_inserted(notebook: str, cell_id: str, after: str | None, *, at_start: bool) -> dict[str, Any]:
    """A new cell and its place: after the cell `after`, else at the start or the end."""
    place = {"at": "start"} if at_start else {"at": "end"} if after is None else {"at": "after", "after": after}
    return {"notebook": notebook, "inserted": {"id": cell_id, **place}}


def cells_moved(notebook: str) -> dict[str, Any]:
    """Cells were deleted or moved: the places of the others have to be looked up."""
    return {"notebook": notebook, "moved": True}


def bounded(data: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The data if it is no longer than `MAX_CHARS` as JSON; None otherwise, and for anything that is not JSON."""
    if data is None:
        return None
    try:
        return data if len(json.dumps(data, ensure_ascii=False)) <= MAX_CHARS else None
    except (TypeError, ValueError):
        return None
