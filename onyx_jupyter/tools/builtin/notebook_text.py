"""A notebook as compact text for a model, within a budget. It never leaves something out without a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onyx_jupyter.notebook.outputs import render_outputs, shorten
from onyx_jupyter.protocols import Cell, NotebookView

_UNLIMITED = 10**9


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much of each cell is shown, in characters."""

    source: int
    output: int


_LEVELS = (
    _Detail(_UNLIMITED, _UNLIMITED),
    _Detail(_UNLIMITED, 2_000),
    _Detail(_UNLIMITED, 400),
    _Detail(1_200, 200),
    _Detail(300, 0),
    _Detail(80, 0),
)


def notebook_text(view: NotebookView, cell_ids: Sequence[str] | None, max_chars: int) -> tuple[str, bool]:
    """The text, and whether something was left out. It exceeds `max_chars` only by its own notes."""
    places = {"browser": "open in a browser tab", "room": "open in a collaboration room", "contents": "not open"}
    where = places.get(view.backend, view.backend)
    kernel = f"kernel {view.kernel_name or 'none'} ({view.kernel_status or 'not started'})"
    header = f"{view.path}: {len(view.cells)} cells, {kernel}, {where}"
    numbered = [(n, cell) for n, cell in enumerate(view.cells, 1) if cell_ids is None or cell.id in cell_ids]
    for detail in _LEVELS:
        parts = [_cell_text(number, cell, detail) for number, cell in numbered]
        if sum(map(len, parts)) <= max_chars:
            complete = detail is _LEVELS[0]
            note = "" if complete else _shortened_note(cell_ids)
            return "\n\n".join([header, *parts, *([note] if note else [])]), not complete
    shown = _fitting(parts, max_chars)
    left_out = [cell.id for _, cell in numbered[len(shown) :]]
    note = f"[{len(left_out)} more cells are left out; the first is {left_out[0]}. Ask for them with cellIds.]"
    return "\n\n".join([header, *shown, note, _shortened_note(cell_ids)]), True


def _cell_text(number: int, cell: Cell, detail: _Detail) -> str:
    count = f" run [{cell.execution_count}]" if cell.execution_count is not None else ""
    head = f"--- cell {number} ({cell.cell_type}) id={cell.id} hash={cell.hash}{count}"
    parts = [head, shorten(cell.source, detail.source)]
    outputs = render_outputs(cell.outputs, detail.output).text
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
    return f"[Shortened to fit. To see what is left out, ask with {way}.]"
