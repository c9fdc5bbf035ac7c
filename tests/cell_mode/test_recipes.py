"""A recipe comes with the requests that need it, and with the name of their table."""

import pytest

from onyx_jupyter.cell_mode.notebook_facts import Column, Frame, NotebookFacts
from onyx_jupyter.cell_mode.recipes import recipes_for

FACTS = NotebookFacts("a.ipynb", frames=(Frame("fees", (Column("fee", "float64"),)),))


@pytest.mark.parametrize(
    ("request_text", "told"),
    [
        ("Add a cell that shows the churn rate by contract type.", "fees.groupby(g)[x].mean()"),
        ("And now by contract.", "fees.groupby(g)[x].mean()"),
        ("Split that by sex, too.", "fees.groupby([g, h])[x].mean()"),
        ("Plot the churn rate by number of support calls.", "plot.bar(ylabel=...)"),
        ("Which customers leave most often, and why?", "groupby(groups)[y].mean()"),
        ("Which species has the longest bill on average?", "means.idxmax()"),
        ("Which penguins have missing values?", "isna().any(axis=1)"),
        ("Where do the sexes differ most?", "(t.max(axis=1) - t.min(axis=1)).idxmax()"),
        ("How many customers have a contract of one year?", "== value).sum()"),
        ("Plot flipper length against body mass.", "plt.scatter(fees[x], fees[y])"),
        ("Is the correlation significant?", "pearsonr"),
        ("Drop outliers by the IQR.", "quantile(0.25)"),
    ],
)
def test_request_selects_its_recipe(request_text: str, told: str) -> None:
    assert told in recipes_for(request_text, FACTS)


@pytest.mark.parametrize("request_text", ["What is the mean fee?", "Train a model.", "Drop the missing values."])
def test_most_requests_need_no_recipe(request_text: str) -> None:
    assert recipes_for(request_text, FACTS) == ""


def test_without_table_name_is_df() -> None:
    assert "df.groupby" in recipes_for("the mean by sex", NotebookFacts())


def test_only_boolean_column_is_named() -> None:
    customers = Frame("customers", (Column("contract", "str"), Column("churned", "bool")))
    told = recipes_for("Which leave most often, and why?", NotebookFacts("a.ipynb", frames=(customers,)))
    assert "customers.columns.drop('churned')" in told
    assert "[y]" in recipes_for("Which leave most often, and why?", FACTS)


def test_per_capita_is_not_a_grouping() -> None:
    assert recipes_for("the mean of the product per capita", FACTS) == ""
    assert "groupby" in recipes_for("the mean product per country", FACTS)


CUSTOMERS = Frame(
    "customers",
    (
        Column("contract", "str"),
        Column("monthly_fee", "float64"),
        Column("support_calls", "int64"),
        Column("churned", "bool"),
        Column("sex", "str"),
    ),
)


@pytest.mark.parametrize(
    ("request_text", "told"),
    [
        ("Add a cell with the churn rate by contract type.", "customers.groupby('contract')['churned'].mean()"),
        ("the rate of leaving by contract", "customers.groupby('contract')['churned'].mean()"),
        ("Plot the churn rate by number of support calls.", "groupby('support_calls')['churned'].mean().plot.bar("),
        (
            "Plot the monthly fee by contract and sex, please.",
            "customers.groupby(['contract', 'sex'])['monthly_fee'].mean().unstack().plot.bar(",
        ),
        (
            "Mean monthly fee by contract and sex; where do they differ most?",
            "t = customers.groupby(['contract', 'sex'])['monthly_fee'].mean().unstack()",
        ),
        ("Which sex has the highest monthly fee on average?", "means = customers.groupby('sex')[x].mean()"),
        ("Split that by sex, too.", "customers.groupby([g, h])[x].mean()"),
        ("the mean by sex of the shoe", "customers.groupby(g)[x].mean()"),
        ("the mean by shoe size", "customers.groupby(g)[x].mean()"),
    ],
)
def test_unambiguous_columns_are_filled_in(request_text: str, told: str) -> None:
    assert told in recipes_for(request_text, NotebookFacts("a.ipynb", frames=(CUSTOMERS,)))
