"""What a cell is looked at for before it is proposed: claims that nothing computed, files that are not there."""

import pytest

from onyx_jupyter.cell_mode.cell_source import is_code
from onyx_jupyter.cell_mode.empty_cells import only_claims
from onyx_jupyter.cell_mode.facts import Column, Frame, NotebookFacts
from onyx_jupyter.cell_mode.fixes.needless_loads import without_needless_loads

IN_KERNEL = NotebookFacts("a.ipynb", frames=(Frame("fees", (Column("fee", "float64"),)),), files=("fees.csv",))


@pytest.mark.parametrize(
    "source",
    [
        'print("The customers who leave most often are those with a short tenure.")',
        '# because of the fee\nimport pandas as pd\nprint("Mean fee is 12.5")',
        'print("Monthly")',
        'print("@mean[12.5]")',
    ],
)
def test_sentence_printed_by_cell_is_no_result(source: str) -> None:
    assert only_claims(source, "who leaves most often?")
    assert not only_claims(source, "print that in a cell")


@pytest.mark.parametrize(
    "source", ["", "print(1)", "fees.mean()", 'print(f"It is {fees.mean()}")', "print('a b c', x)", "x ="]
)
def test_computing_cell_runs(source: str) -> None:
    assert not only_claims(source, "the mean fee")


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


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("mean = fees.mean()", True),
        ("print(12)", True),
        ("Chinstrap", False),
        ("48.83", False),
        ("The mean fee is 12.5.", False),
        ("@mean_fee[12.5]", False),
    ],
)
def test_python_code_is_not_a_text_answer(answer: str, code: bool) -> None:
    assert is_code(answer) == code
