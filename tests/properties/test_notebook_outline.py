import re

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.notebook.outline import outline
from onyx_jupyter.protocols import Cell, CellType, NotebookView
from onyx_jupyter.text_tokens import text_tokens

TOKENS, CHARS = 3_400, 15_000
RANGE = re.compile(r"^cells (\d+)–(\d+) ", re.MULTILINE)
ERROR = {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "", "traceback": []}
LINES = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["# Load", "## Fit the model", "###### deep", "x = 1", "", "cells 1–9 (1 code): no range", "表" * 99]
    ),
)
CELLS = st.tuples(
    st.sampled_from(["code", "markdown", "raw"]), st.lists(LINES, max_size=3).map("\n".join), st.booleans()
)


@st.composite
def notebooks(draw: st.DrawFn) -> NotebookView:
    """A few drawn cells, repeated to any length up to 3,000, with ids as long as nbformat has them."""
    pattern = draw(st.lists(CELLS, min_size=1, max_size=12))
    count = draw(st.one_of(st.integers(1, 30), st.integers(31, 3_000)))
    width = draw(st.sampled_from([8, 36, 64]))

    def cell(number: int) -> Cell:
        kind: CellType
        kind, source, failed = pattern[number % len(pattern)]
        return Cell(f"{number:0{width}x}", kind, source, cell_hash(source), None, (ERROR,) if failed else ())

    return NotebookView("a.ipynb", tuple(map(cell, range(count))), "contents")


@given(view=notebooks())
def test_outline_stays_within_budget_and_hints_reach_every_cell(view: NotebookView) -> None:
    found: set[str] = set()
    parts = [range(len(view.cells))]
    while parts:
        part = parts.pop()
        made = outline(view, part, max_tokens=TOKENS, max_chars=CHARS)
        assert text_tokens(made.text) <= TOKENS
        assert len(made.text) <= CHARS
        lines = made.text.splitlines()
        for cell in made.shown:
            number = view.cells.index(cell) + 1
            assert any(line.startswith(f"{number} {cell.id} ") for line in lines)
            found.add(cell.id)
        ranges = [range(int(a) - 1, int(b)) for a, b in RANGE.findall(made.text)] if made.collapsed else []
        assert all(len(one) < len(part) and set(one) <= set(part) for one in ranges)
        # What is closed here is small enough to be opened in a few steps; walking one of them all is enough.
        parts += ranges[:3] + ranges[-1:] if len(view.cells) > 300 else ranges
        if len(view.cells) > 300:
            found.update(view.cells[at].id for one in ranges[3:-1] for at in one)
    assert found == {cell.id for cell in view.cells}
