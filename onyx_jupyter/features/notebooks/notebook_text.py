"""A notebook as its tools show it: as compact text for a model, with every omission marked, and as data for people."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.notebook.output_kinds import output_kind
from onyx_jupyter.notebook.outputs import render_outputs, shorten
from onyx_jupyter.protocols import Cell, NotebookView
from onyx_jupyter.result_data import cells_shown

_UNLIMITED = 10**9


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much of each cell is shown, in characters."""

    source: int
    output: int


@dataclass(frozen=True, slots=True)
class ShownCells:
    """The text, whether something was left out, and the cells whose source it contains whole or in part.

    `notes` is the end of the text that does not come from the notebook.
    """

    text: str
    notes: str
    truncated: bool
    whole: Sequence[Cell]
    in_part: Sequence[Cell]


_LEVELS = (
    _Detail(_UNLIMITED, _UNLIMITED),
    _Detail(_UNLIMITED, 2_000),
    _Detail(_UNLIMITED, 400),
    _Detail(1_200, 200),
    _Detail(300, 0),
    _Detail(80, 0),
)


def headline(view: NotebookView) -> str:
    """The notebook, its kernel and where it is open, in one line."""
    places = {"browser": "open in a browser tab", "room": "open in a collaboration room", "contents": "not open"}
    kernel = f"kernel {view.kernel_name or 'none'} ({view.kernel_status or 'not started'})"
    return f"{view.path}: {len(view.cells)} cells, {kernel}, {places.get(view.backend, view.backend)}"


def notebook_text(
    view: NotebookView,
    part: range,
    cell_ids: Sequence[str] | None,
    kinds: Collection[str] | None,
    max_chars: int,
) -> ShownCells:
    """The cells of `part` with these ids, with outputs of these kinds; None means all.

    Only its own notes may exceed `max_chars`.
    """
    numbered = [(at + 1, view.cells[at]) for at in part if cell_ids is None or view.cells[at].id in cell_ids]
    for detail in _LEVELS:
        parts = [_cell_text(number, cell, detail, kinds) for number, cell in numbered]
        if sum(map(len, parts)) <= max_chars:
            complete = detail is _LEVELS[0]
            note = [] if complete else [_shortened_note(cell_ids)]
            return _shown([headline(view), *parts], note, detail, numbered)
    kept = _fitting(parts, max_chars)
    left_out = numbered[len(kept) :]
    number, cell = left_out[0] if left_out else (0, None)
    parts = [headline(view), *kept]
    if cell is not None:
        parts.append(f"[{len(left_out)} more cells are left out. Continue with from={number} ({cell.id}).]")
    return _shown(parts, [_shortened_note(cell_ids)], detail, numbered[: len(kept)])


def _shown(
    parts: Sequence[str], notes: Sequence[str], detail: _Detail, numbered: Sequence[tuple[int, Cell]]
) -> ShownCells:
    whole = [cell for _, cell in numbered if len(cell.source) <= detail.source]
    in_part = [cell for _, cell in numbered if len(cell.source) > detail.source]
    text = "\n\n".join([*parts, *notes])
    return ShownCells(text, "".join(f"\n\n{note}" for note in notes), bool(notes), whole, in_part)


def _cell_text(number: int, cell: Cell, detail: _Detail, kinds: Collection[str] | None) -> str:
    count = f" run [{cell.execution_count}]" if cell.execution_count is not None else ""
    head = f"--- cell {number} ({cell.cell_type}) id={cell.id} hash={cell.hash}{count}"
    parts = [head, shorten(cell.source, detail.source)]
    wanted = [output for output in cell.outputs if kinds is None or output_kind(output) in kinds]
    outputs = render_outputs(wanted, detail.output).text
    if outputs:
        parts += ["--- output:", outputs]
    return "\n".join(part for part in parts if part)


def _fitting(parts: Sequence[str], max_chars: int) -> Sequence[str]:
    used = 0
    for count, part in enumerate(parts):
        used += len(part)
        if used > max_chars and count:
            return parts[:count]
    return parts


def _shortened_note(cell_ids: Sequence[str] | None) -> str:
    way = "a larger maxChars" if cell_ids else "cellIds for single cells, or a larger maxChars"
    return f"[Shortened to fit. To see what is left out, use {way}.]"


def shown_cells(view: NotebookView, cells: Iterable[Cell]) -> dict[str, Any]:
    """These cells in notebook order, and how many cells the notebook has."""
    wanted = {cell.id for cell in cells}
    numbered = ((number, cell.id) for number, cell in enumerate(view.cells, 1) if cell.id in wanted)
    return cells_shown(view.path, numbered, len(view.cells))
