"""Notebook cells as result data, with the number and id that the user sees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from onyx_jupyter.protocols import Cell, NotebookView
from onyx_jupyter.result_data import cells_shown


def shown_cells(view: NotebookView, cells: Iterable[Cell]) -> dict[str, Any]:
    """These cells in notebook order, and how many cells the notebook has."""
    wanted = {cell.id for cell in cells}
    numbered = ((number, cell.id) for number, cell in enumerate(view.cells, 1) if cell.id in wanted)
    return cells_shown(view.path, numbered, len(view.cells))
