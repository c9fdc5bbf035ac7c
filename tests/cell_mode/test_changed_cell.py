"""A cell that is to be changed is changed in its place; everything else is a new one."""

import pytest

from onyx_jupyter.cell_mode.cell_step import cell_to_change
from onyx_jupyter.cell_mode.notebook_facts import CellFact, NotebookFacts
from onyx_jupyter.cell_mode.turn import AnsweredRequest, Turn

FACTS = NotebookFacts(
    "a.ipynb",
    cells=(
        CellFact("text", 1, "markdown", "# Fees"),
        CellFact("old", 2, "code", "x = 1"),
        CellFact("made", 3, "code", "fees.mean()\n"),
    ),
)
EARLIER = (AnsweredRequest("the mean fee", "fees.mean()", "12.5"), AnsweredRequest("thanks", "", "You are welcome."))


def changed(request: str, earlier: tuple[AnsweredRequest, ...] = EARLIER) -> str | None:
    cell = cell_to_change(Turn(request, "", (), earlier), FACTS)
    return cell.id if cell else None


@pytest.mark.parametrize(
    "request_text", ["Sort it in that cell, the longest first.", "Fix the last cell", "change the same cell to medians"]
)
def test_cell_just_created(request_text: str) -> None:
    assert changed(request_text) == "made"


def test_cell_by_number() -> None:
    assert changed("Please edit cell 2") == "old"
    assert changed("Please edit cell 1") is None
    assert changed("Please edit cell 9") is None


@pytest.mark.parametrize("request_text", ["Add a cell with the median", "What does that cell do?", "sort it"])
def test_new_cell(request_text: str) -> None:
    assert changed(request_text) is None


def test_missing_or_never_created_cell() -> None:
    assert changed("fix that cell", ()) is None
    assert changed("fix that cell", (AnsweredRequest("a", "gone()", ""),)) is None
