"""Streams the cell that a model is writing. The draft is not stored; the tool call that results from it is."""

from __future__ import annotations

from onyx_jupyter.agent.run import Run
from onyx_jupyter.events import ToolDraft
from onyx_jupyter.protocols import CellDraft


class DraftedCell:
    """The draft of one model call, passed through the same filters as its answer."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._filter = run.processors.text_filter()

    def add(self, piece: CellDraft) -> None:
        """Part of it may be held back until it is known to contain no secret."""
        if piece.begins:
            self._filter = self._run.processors.text_filter()
        shown = self._filter.feed(piece.text)
        if shown or piece.begins:
            self._run.emit(ToolDraft(self._run.run_id, shown, piece.begins or None))
