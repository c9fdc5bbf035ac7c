"""Determines which cell a request wants changed, if it wants no new one."""

from __future__ import annotations

import re

from onyx_jupyter.cell_mode.facts import CellFact, NotebookFacts
from onyx_jupyter.cell_mode.turn import Turn

_CHANGES = r"(?:change|edit|fix|update|rewrite|modify|correct|extend|improve|simplify|refactor|in)"
_SAME = re.compile(rf"\b{_CHANGES}\b[^.?!\n]*\b(?:the same|that|this|the last|the previous|your) cell\b", re.IGNORECASE)
_NUMBERED = re.compile(rf"\b{_CHANGES} (?:the )?cell (?P<number>\d+)\b", re.IGNORECASE)


def cell_to_change(turn: Turn, facts: NotebookFacts) -> CellFact | None:
    """The cell with that number, or the last one that was run for the user; None if a new cell is wanted."""
    code = [cell for cell in facts.cells if cell.type == "code"]
    if (numbered := _NUMBERED.search(turn.request)) is not None:
        return next((cell for cell in code if cell.number == int(numbered["number"])), None)
    if not _SAME.search(turn.request):
        return None
    made = next((one.cell for one in reversed(turn.earlier) if one.cell), None)
    return next((cell for cell in reversed(code) if cell.source.strip() == (made or "").strip()), None)
