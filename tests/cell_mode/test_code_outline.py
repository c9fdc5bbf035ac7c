"""Code of the notebook goes along where it is asked about; else its functions do."""

import pytest

from onyx_jupyter.cell_mode import prompts
from onyx_jupyter.cell_mode.code_outline import functions_of, is_about_code
from onyx_jupyter.cell_mode.facts import CellFact, Column, Frame, NotebookFacts
from onyx_jupyter.cell_mode.turn import Turn

CODE = "def share(table, by, *, top=3):\n    return table.groupby(by).size().head(top)\n\nshare(customers, 'x').plot()"
CELL = CellFact("c1", 1, "code", CODE, has_run=True)
KERNEL = Frame("customers", (Column("contract", "str"), Column("churned", "bool")), 1200)
FILE = Frame("df", (Column("contract", "object"),), 1200, "df = pd.read_csv('a.csv')", "a.csv")


def prompt(request: str, *frames: Frame) -> str:
    return prompts.write_cell(NotebookFacts("a.ipynb", cells=(CELL,), frames=frames), Turn(request, "", (), ()))


@pytest.mark.parametrize(
    "request_",
    [
        "Why does this cell fail?",
        "Make the plot above wider",
        "fix cell 3",
        "the same way, but by tenure",
        "rewrite that loop",
        "like the last chart, in red",
        "use the function share",
    ],
)
def test_a_request_about_code_gets_it(request_: str) -> None:
    assert is_about_code(request_)
    assert "groupby(by)" in prompt(request_, KERNEL)


@pytest.mark.parametrize(
    "request_",
    [
        "Add a cell that shows the churn rate by contract type.",
        "Plot the churn rate by number of support calls.",
        "How many customers are there?",
        "which contract has the highest churn",
    ],
)
def test_a_request_about_data_gets_the_functions_alone(request_: str) -> None:
    assert not is_about_code(request_)
    text = prompt(request_, KERNEL)
    assert "groupby(by)" not in text
    assert "Defined in the notebook: `share(table, by, *, top=3)`" in text


def test_where_no_table_is_in_the_kernel_the_code_tells_what_there_is() -> None:
    assert "groupby(by)" in prompt("plot the churn rate", FILE)
    assert "groupby(by)" in prompt("plot the churn rate")


def test_the_newest_definitions_are_told_and_no_others() -> None:
    sources = [f"def f{at}(x): pass\nclass C{at}: pass" for at in range(20)]
    told = functions_of([*sources, "x = 1", "not python ("])
    assert "`f19(x)`, `class C19`" in told
    assert "`f3(x)`" not in told
    assert functions_of(["x = 1"]) == ""
