"""Where there is data, none is made up: neither in the place of a table that the person has, nor beside it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.cell_mode.made_up_data import fabricates_data, only_claims
from onyx_jupyter.cell_mode.notebook_facts import CellFact, Column, Frame, NotebookFacts

MADE = """
import numpy as np
import pandas as pd
rng = np.random.default_rng(seed=7)
n_customers = 1_200
df = pd.DataFrame({"a": rng.normal(62, 18, size=n_customers), "b": 1})
rates = df.groupby("b")["a"].mean()
def table(): return df
"""
CELLS = (CellFact("c1", 1, "code", MADE, has_run=True),)
FRAME = Frame("df", (Column("a", "float64"),), 1200)
FACTS = NotebookFacts("a.ipynb", cells=CELLS, frames=(FRAME,), variables=("n_customers (int): 1200",))


def makes_up(source: str, request_text: str = "What is the mean of a?") -> bool:
    return fabricates_data(source, FACTS, request_text)


@pytest.mark.parametrize(
    "source",
    [
        "df = pd.DataFrame({'a': [1]})",
        "x = 1\ndf = pandas.DataFrame.from_dict({'a': [1]})",
        "df = {'a': [1, 2]}",
        "df = other = []",
    ],
)
def test_table_literal_in_cell_is_made_up(source: str) -> None:
    assert makes_up(source)


@pytest.mark.parametrize(
    "source",
    [
        "np.random.seed(42)\na = np.random.uniform(15, 118.67, n_customers)\nprint(a.mean())",
        "print(rng.normal(62, 18, n_customers).mean())",
        "import random\nprint(sum(random.random() for _ in range(9)))",
        "from numpy.random import default_rng\nprint(default_rng().normal())",
        "fees = [12.5, 14, 9]\nprint(sum(fees) / len(fees))",
        "other = pd.DataFrame({'a': [1, 2, 3]})\nprint(other.a.mean())",
    ],
)
def test_computation_without_existing_data_is_made_up(source: str) -> None:
    assert makes_up(source)


@pytest.mark.parametrize(
    "source",
    [
        "df = df.dropna()",
        "df = pd.DataFrame(df.groupby('a').b.mean())",
        "df = sales",
        "df['a'] = 1",
        "def f():\n    df = []\n    return df",
        "df = ",
        "print(df.sample(10, random_state=1).a.mean())",
        "print(np.random.permutation(df.a)[:3])",
        "rates.plot.bar(color=[0.1, 0.2, 0.3])",
        "print(table().a.mean() + rng.normal())",
        "limits = [1, 2, 3]\nprint(pd.cut(df.a, limits))",
        "x = pd.read_csv('other.csv')\nlimits = [1, 2, 3]",
        "print(0.05 * 1200)",
        "size = (8, 6)",
    ],
)
def test_computation_from_existing_data_is_not_made_up(source: str) -> None:
    assert not makes_up(source)


@pytest.mark.parametrize(
    "request_text", ["Make a new df with one row", "Replace df by a toy table", "Create df", "Simulate 100 dice"]
)
def test_requested_example_data_is_allowed(request_text: str) -> None:
    assert not makes_up("df = pd.DataFrame({'a': [1]})", request_text)
    assert not makes_up("print(np.random.normal())", request_text)


def test_numbers_given_by_user_are_not_made_up() -> None:
    assert not makes_up("a = [3, 4, 5]\nprint(sum(a))", "What is the sum of 3, 4 and 5?")


def test_without_table_any_data_is_allowed() -> None:
    assert not fabricates_data("print(np.random.normal())", NotebookFacts("a.ipynb"), "What comes out?")


@given(st.text(), st.text())
def test_any_text_is_accepted(source: str, request_text: str) -> None:
    assert makes_up(source, request_text) in (True, False)


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
