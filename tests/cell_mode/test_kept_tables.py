"""A table that the person has is not overwritten by one that a model made up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.cell_mode.kept_tables import makes_anew


@pytest.mark.parametrize(
    "source",
    [
        "df = pd.DataFrame({'a': [1]})",
        "x = 1\ndf = pandas.DataFrame.from_dict({'a': [1]})",
        "df = {'a': [1, 2]}",
        "df = other = []",
    ],
)
def test_a_table_written_out_in_the_cell_is_made_up(source: str) -> None:
    assert makes_anew(source, ["df"], "What is the mean of a?")


@pytest.mark.parametrize(
    "source",
    [
        "df = df.dropna()",
        "df = pd.DataFrame(df.groupby('a').b.mean())",
        "df = sales",
        "rates = pd.DataFrame({'a': [1]})",
        "df['a'] = 1",
        "def f():\n    df = []\n    return df",
        "df = ",
    ],
)
def test_a_table_made_of_one_that_is_there_is_kept(source: str) -> None:
    assert not makes_anew(source, ["df"], "What is the mean of a?")


@pytest.mark.parametrize("request_text", ["Make a new df with one row", "Replace df by a toy table", "Create df"])
def test_where_one_is_asked_for_it_may_be_made(request_text: str) -> None:
    assert not makes_anew("df = pd.DataFrame({'a': [1]})", ["df"], request_text)


@given(st.text(), st.text())
def test_any_text_is_taken(source: str, request_text: str) -> None:
    assert makes_anew(source, ["df"], request_text) in (True, False)
