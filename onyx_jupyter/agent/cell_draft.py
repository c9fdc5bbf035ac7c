"""The cell that a model is writing, told while it comes. It is kept nowhere: the call that comes of it is."""

from __future__ import annotations

from onyx_jupyter.agent.run import Run
from onyx_jupyter.events import ToolDraft
from onyx_jupyter.protocols import CellDraft


class DraftedCell:
    """The draft of one model call, through the filters that its answer goes through, too."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._filter = run.processors.text_filter()

    def add(self, piece: CellDraft) -> None:
        """A part of it may be held back until it is sure to hold no secret."""
        if piece.begins:
            self._filter = self._run.processors.text_filter()
        shown = self._filter.feed(piece.text)
        if shown or piece.begins:
            self._run.emit(ToolDraft(self._run.run_id, shown, piece.begins or None))
