"""Corrects a Python cell before it is proposed, without asking the model again."""

from __future__ import annotations

from onyx_jupyter.cell_mode.facts import NotebookFacts
from onyx_jupyter.cell_mode.fixes.column_names import with_exact_columns
from onyx_jupyter.cell_mode.fixes.count_questions import counted
from onyx_jupyter.cell_mode.fixes.grouped_bars import of_each_group
from onyx_jupyter.cell_mode.fixes.imports import missing_imports
from onyx_jupyter.cell_mode.fixes.needless_loads import without_needless_loads
from onyx_jupyter.cell_mode.fixes.prefixed_names import without_signs
from onyx_jupyter.cell_mode.fixes.printed_names import with_values
from onyx_jupyter.cell_mode.fixes.unused_imports import without_unused_imports
from onyx_jupyter.cell_mode.plots import draw_on_current_figure
from onyx_jupyter.cell_mode.turn import Turn


def finished(source: str, turn: Turn, facts: NotebookFacts, *, begun: str) -> str:
    """The cell, which continues `begun`, with corrected column names and missing imports."""
    known = facts.known_names()
    asked = "\n".join([*(one.request for one in turn.earlier[-1:]), turn.request])
    source = without_unused_imports(without_signs(source), facts.lacking)
    source = without_needless_loads(source, facts)
    source = draw_on_current_figure(of_each_group(counted(source, asked), known))
    source = with_exact_columns(with_values(source, known), facts)
    lines = [begun, *missing_imports(source, known), source.removeprefix(begun).lstrip("\n")]
    return "\n".join(line for line in lines if line)
