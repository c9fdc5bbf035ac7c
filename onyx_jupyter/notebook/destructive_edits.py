"""Says when a change would take most of a notebook away, counted over all changes of a run. It refuses nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from onyx_jupyter.notebook.seen_cells import Beginning, chars_of
from onyx_jupyter.protocols import CellSize, NotebookCells, NotebookView

# A notebook of a line or two is halved by any edit.
_LEAST_CHARS = 40


def loss(beginning: Beginning, view: NotebookView | NotebookCells, changed: Mapping[str, str | None]) -> str:
    """Why a person must be asked, in words that go on after "because"; empty where they need not be.

    `changed` is cell id → new source, None for a cell that goes.
    """
    now = chars_of(view.order)
    left = [CellSize.of(cell.id, changed[cell.id] or "") if cell.id in changed else cell for cell in view.order]
    then = chars_of(left)
    name = posixpath.basename(view.path)
    total, kept, kept_now = len(beginning.chars), len(beginning.chars.keys() & then), len(beginning.chars.keys() & now)
    if kept < kept_now and 2 * kept <= total:
        what = f"{kept} of the {total} cells that" if kept else "nothing of what"
        return f"it would leave {what} {name} had"
    chars, chars_now = _left(beginning, then), _left(beginning, now)
    if beginning.total_chars >= _LEAST_CHARS and chars < chars_now and 2 * chars < beginning.total_chars:
        return f"it would leave less than half of the text that {name} had"
    return ""


def _left(beginning: Beginning, chars: Mapping[str, int]) -> int:
    """How much of the beginning's text can still be there: no cell holds more of it than it had."""
    return sum(min(had, chars.get(cell_id, 0)) for cell_id, had in beginning.chars.items())
