"""Shared cells changed in place: what is written, and how much work it is."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from onyx_jupyter.notebook.cell_runs import show_every_s
from onyx_jupyter.notebook.shared_cells import edit_source, restore_cell

ydoc = pytest.importorskip("jupyter_ydoc", reason="comes with jupyter-collaboration")
STREAM = {"output_type": "stream", "name": "stdout"}


def shared_cell(**named: Any) -> Any:
    """A code cell in a shared document of its own."""
    notebook = ydoc.YNotebook()
    code = {"cell_type": "code", "source": "", "metadata": {}, "outputs": [], "execution_count": None}
    notebook.set({"cells": [{"id": "a", **code, **named}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    return notebook.ycells[0]


def shown(text: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "source": "",
        "metadata": {},
        "outputs": [{**STREAM, "text": text}],
        "execution_count": 1,
    }


def steps_of(work: Callable[[], None]) -> int:
    """How many lines of Python ran meanwhile, each round of a loop counted."""
    count = 0
    tracing = sys.gettrace()

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(tracing)
    return count


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "new"),
        ("gone", ""),
        ("same", "same"),
        ("aaa", "aaaa"),
        ("é = 1\n😀 = 2", "é = 1\n😀😀 = 20"),
        ("one two three", "one three"),
        ("abcabc", "abc"),
    ],
)
def test_source_becomes_requested_one(before: str, after: str) -> None:
    cell = shared_cell(source=before)
    edit_source(cell, after)
    assert str(cell["source"]) == after


def test_only_part_between_common_prefix_and_suffix_is_replaced() -> None:
    cell = shared_cell(source="é = 1\ny = 2\nz = 3")
    source, changes = cell["source"], []
    watching = source.observe(lambda event: changes.append(event.delta))
    edit_source(cell, "é = 1\nyy = 2\nz = 3")
    assert changes == [[{"retain": len("é = 1\ny".encode())}, {"insert": "y"}]]
    source.unobserve(watching)


def test_growing_stream_is_appended_in_constant_work() -> None:
    cell = shared_cell(outputs=[{**STREAM, "text": "é" * 300_000}])
    stream = cell["outputs"][0]["text"]
    grown: list[Any] = []
    watching = stream.observe(lambda event: grown.append(event.delta))
    assert steps_of(lambda: restore_cell(cell, shown("é" * 300_000 + "new"))) < 10_000
    assert grown == [[{"retain": 600_000}, {"insert": "new"}]]
    stream.unobserve(watching)


def test_editing_long_source_is_cheap() -> None:
    cell = shared_cell(source="x" * 300_000)
    assert steps_of(lambda: edit_source(cell, "x" * 150_000 + "y" + "x" * 150_000)) < 10_000
    assert str(cell["source"])[149_999:150_002] == "xyx"


def test_large_outputs_are_updated_less_often_while_streaming() -> None:
    small = show_every_s([{**STREAM, "text": "on"}])
    assert small == show_every_s([]) == 0.5
    large = show_every_s([{**STREAM, "text": "x" * 5_000_000}])
    assert 10 * small <= large < 11 * small
    picture = {"output_type": "display_data", "data": {"image/png": "p" * 20_000_000}}
    assert show_every_s([picture]) == 10.0
