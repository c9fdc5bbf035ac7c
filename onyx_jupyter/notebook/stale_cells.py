"""Detects cells whose outputs may not match what their source would produce now. It asks no kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.protocols import Cell

Staleness = Literal["edited", "other_kernel", "out_of_order"]


def stale_cells(cells: Sequence[Cell], executed: Mapping[int, str]) -> Mapping[str, Staleness]:
    """Cell id → why its outputs may be stale, judged by execution counts; cells that never ran are omitted.

    `executed` is what the kernel ran under which count (`Kernels.executed`). The variables that a cell needs are not
    known: a cell that is not listed may still depend on a value that has changed since.
    """
    ran = [cell for cell in cells if cell.cell_type == "code" and cell.execution_count is not None]
    found: dict[str, Staleness] = {}
    highest_above = 0
    fitting = {cell.execution_count for cell in ran if _fits(cell, executed)}
    for cell in ran:
        count = cell.execution_count or 0
        if not _fits(cell, executed):
            # A count that belongs to another cell, or that this kernel has not reached, is from an earlier kernel.
            is_other = count not in executed or count in fitting
            found[cell.id] = "other_kernel" if is_other else "edited"
        elif count < highest_above:
            found[cell.id] = "out_of_order"
        else:
            highest_above = count
    return found


def _fits(cell: Cell, executed: Mapping[int, str]) -> bool:
    return executed.get(cell.execution_count or 0) == cell_hash(cell.source.rstrip("\n"))
