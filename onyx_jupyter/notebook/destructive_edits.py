"""Detects when a change would remove most of a notebook, counted over all changes of a run."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from onyx_jupyter.notebook.seen_cells import InitialNotebook, chars_of
from onyx_jupyter.protocols import CellSize, NotebookCells, NotebookView

# Any edit halves a notebook of a line or two.
_MIN_CHARS = 40


def loss(beginning: InitialNotebook, view: NotebookView | NotebookCells, changed: Mapping[str, str | None]) -> str:
    """Why the user must be asked, as a clause that follows "because"; empty if no question is needed.

    `changed` is cell id → new source, None for a deleted cell.
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
    if beginning.total_chars >= _MIN_CHARS and chars < chars_now and 2 * chars < beginning.total_chars:
        return f"it would leave less than half of the text that {name} had"
    return ""


def _left(beginning: InitialNotebook, chars: Mapping[str, int]) -> int:
    """How much of the original text can still be there: no cell counts for more than it had."""
    return sum(min(had, chars.get(cell_id, 0)) for cell_id, had in beginning.chars.items())
