"""The cell in an answer, however the model wrote it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.cell_mode.cell_source import cell_of, problem_in

BEGUN = "import pandas as pd\ndf = pd.read_csv('a b.csv')"


@pytest.mark.parametrize(
    "answer",
    [
        "print(df.shape)",
        "print(df.shape)\n",
        "```python\nprint(df.shape)\n```",
        "```\nprint(df.shape)\n```\nThat prints the shape.",
        f"{BEGUN}\nprint(df.shape)",
        f"```python\n{BEGUN}\nprint(df.shape)",
        "Here it is:\n```py\nprint(df.shape)\n```\n```python\nprint(1)\n```",
    ],
)
def test_first_block_after_started_code(answer: str) -> None:
    assert cell_of(answer, BEGUN) == f"{BEGUN}\nprint(df.shape)"


@pytest.mark.parametrize("answer", ["", "\n", BEGUN, "```python\n```"])
def test_nothing_beyond_started_code_is_no_cell(answer: str) -> None:
    assert cell_of(answer, BEGUN) == ""


def test_code_that_cannot_run_is_reported_and_magics_are_accepted() -> None:
    assert problem_in("print(1)\n%matplotlib inline\n!ls") is None
    assert problem_in("%%bash\nls | wc -l") is None
    assert "SyntaxError" in (problem_in("@mean[1]") or "")
    assert "line 2" in (problem_in("x = 1\nprint(x") or "")
    assert problem_in("x = '\0'") is not None


@given(st.text(max_size=200))
def test_any_text_yields_a_cell_or_none(answer: str) -> None:
    cell = cell_of(answer, BEGUN)
    assert cell == "" or cell.startswith(BEGUN)
    problem_in(cell)
