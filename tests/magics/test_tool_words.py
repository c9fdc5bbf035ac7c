"""A call as one line in a cell's answer: what it does, or did, and why it did not."""

import pytest

from onyx_jupyter.magics.tool_words import failure_of, never_happened, tool_words

INSERTED = "Inserted code cell c1 (hash 0123) into a.ipynb.\n"


@pytest.mark.parametrize(
    ("tool", "doing", "done"),
    [
        ("notebook_insert_cell", "Insert and run a cell in", "Inserted and ran a cell in"),
        ("notebook_edit_cell", "Edit and run a cell of", "Edited and ran a cell of"),
    ],
)
def test_a_cell_that_is_written_and_run_is_told_as_both(tool, doing, done):
    both = {"path": "a.ipynb", "run": True}
    assert tool_words(tool, both, is_over=False).verb == doing
    assert tool_words(tool, both, is_over=True).verb == done
    assert "run" not in tool_words(tool, {**both, "run": False}, is_over=False).verb


def test_the_reason_of_a_failure_is_what_came_of_the_run():
    raised = f"{INSERTED}Cell c1 [1] raised an error.\nNameError: x"
    assert (failure_of(raised), never_happened(raised)) == ("Cell c1 [1] raised an error.", False)
    stayed = f"{INSERTED}The cell stays; running it failed (no_kernel): It did not start."
    assert failure_of(stayed) == "The cell stays; running it failed (no_kernel): It did not start."
    assert never_happened(stayed)
