"""A cell that reads what is there already, and one that says yes or no for each row when asked how many."""

import pytest

from onyx_jupyter.cell_mode.fixes.finished_cell import counted, without_needless_loads
from onyx_jupyter.cell_mode.notebook_facts import Column, Frame, NotebookFacts

IN_KERNEL = NotebookFacts("a.ipynb", frames=(Frame("fees", (Column("fee", "float64"),)),), files=("fees.csv",))
HOW_MANY = "How many penguins were measured in 2007?"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("t['year'] == 2007", "(t['year'] == 2007).sum()"),
        ("x = 1\nprint(t.year >= 2007)", "x = 1\nprint((t.year >= 2007).sum())"),
        ("(t['a'] == 'ö') & (t['b'] > 2)", "((t['a'] == 'ö') & (t['b'] > 2)).sum()"),
    ],
)
def test_count_question_counts(written: str, meant: str) -> None:
    assert counted(written, HOW_MANY) == meant


@pytest.mark.parametrize(
    "source",
    ["(t['year'] == 2007).sum()", "t[t['year'] == 2007]", "2 == 3", "len(t) == 2", "print('n:', t.a == 1)", "x =", ""],
)
def test_other_cells_are_unchanged(source: str) -> None:
    assert counted(source, HOW_MANY) == source


def test_other_questions_need_no_count() -> None:
    assert counted("t['year'] == 2007", "Which rows are of 2007?") == "t['year'] == 2007"


def test_kernel_table_is_not_read_from_missing_file() -> None:
    source = "import pandas as pd\nfees = pd.read_csv(\n    'data/other.csv',\n)\nfees.mean()"
    assert without_needless_loads(source, IN_KERNEL) == "import pandas as pd\nfees.mean()"


def test_its_loading_is_not_mentioned_either() -> None:
    source = (
        "# Load the dataset (if not already loaded)\n# fees = pd.read_csv('other.csv')\n\n# Compute it\nfees.mean()"
    )
    assert without_needless_loads(source, IN_KERNEL) == "# Compute it\nfees.mean()"
    of_file = NotebookFacts("a.ipynb", frames=(Frame("fees", (), 1, "fees = pd.read_csv('a.csv')", "a.csv"),))
    assert without_needless_loads(source, of_file) == source


@pytest.mark.parametrize(
    "source", ["fees = pd.read_csv('fees.csv')", "new = pd.read_csv('other.csv')", "fees = pd.read_csv(name)", "x ="]
)
def test_ambiguous_reads_are_kept(source: str) -> None:
    assert without_needless_loads(source, IN_KERNEL) == source
