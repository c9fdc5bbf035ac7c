"""Words or a cell: sixty requests as people write them, over a notebook with a table."""

import pytest

from onyx_jupyter.cell_mode.kind_of_request import kind_of, remembered
from onyx_jupyter.cell_mode.notebook_facts import CellFact, Column, Frame, NotebookFacts

CUSTOMERS = Frame("customers", tuple(Column(name, "float64") for name in ("contract", "monthly_fee", "churned")), 1200)
FACTS = NotebookFacts("welcome.ipynb", frames=(CUSTOMERS,))
EMPTY = NotebookFacts()

WORDS = """
hello
hi there
Thanks!
thank you very much
good morning
who are you?
What can you do?
what can you do with this notebook?
What does this notebook do?
Explain this notebook
explain cell 3
please explain the code in cell 2
Can you describe this notebook in two sentences?
summarise this notebook
Why does this cell fail?
what does this error mean
how does this function work
Explain what a confidence interval is
What is a p-value?
what is an outlier
What's the difference between a list and a tuple in python?
how do I rename a column in pandas
how can I make a scatter plot in matplotlib?
What is the difference between mean() and median() in pandas?
""".strip().splitlines()

CELL = """
what is the mean of column monthly_fee
What is the average monthly_fee by contract?
Add a cell that shows the churn rate by contract type
Which customers leave most often, and why do you think so?
plot churn by month
Plot a histogram of the fees
how many rows are there
How many customers churned?
show the first ten rows
count missing values
Is there a correlation between fee and tenure?
Train a logistic regression that predicts churned
draw a bar chart of contract types
compute the median fee
what share of customers has a yearly contract
sort the table by monthly_fee
group by contract and show the mean
Are there any outliers in monthly_fee?
load data.csv
read the file sales.csv and show its columns
What are the highest fees?
what is the standard deviation of monthly_fee?
Explain how monthly_fee depends on contract
Create a new column with the yearly fee
Filter customers with more than 3 calls
save the result to result.csv
Find duplicates
does churned differ between the contract types?
Make a scatter plot of fee and tenure
what percentage churned
list the columns
check whether the fees are normally distributed
remove rows with missing values
""".strip().splitlines()


@pytest.mark.parametrize("request_", WORDS)
def test_greetings_explanations_and_general_questions_need_text(request_: str) -> None:
    assert kind_of(request_, FACTS) == "words"


@pytest.mark.parametrize("request_", CELL)
def test_anything_about_the_data_needs_a_cell(request_: str) -> None:
    assert kind_of(request_, FACTS) == "cell"


@pytest.mark.parametrize(
    "request_",
    [
        "What is the mean of monthly_fee?",
        "What is the mean of the fees?",
        "What is the average fee of a customer?",
        "What is the median tenure in a yearly contract?",
        "Explain how monthly_fee depends on contract",
        "Describe tenure_months",
    ],
)
def test_before_first_run_code_tells_the_names_of_the_data(request_: str) -> None:
    """Words would be guessed: the notebook that was only opened is run first, which a cell sees to."""
    source = "customers = pd.DataFrame({'contract': rng.choice(3), \"monthly_fee\": 1.0, 'tenure_months': 3})"
    unrun = NotebookFacts("welcome.ipynb", cells=(CellFact("load", 2, "code", source),))
    assert kind_of(request_, unrun) == "cell"


def test_request_to_remember_is_neither() -> None:
    assert kind_of("Remember that our fiscal year starts in April.", FACTS) == "remember"
    assert remembered("please note: fees are in euros") == "fees are in euros"
    assert remembered("Do you remember when our fiscal year starts?") is None
    assert remembered("remember my name?") is None


@pytest.mark.parametrize("request_", ["now by contract", "as a bar chart", "and in 2023?", "in blue"])
def test_short_follow_up_continues_previous_kind(request_: str) -> None:
    assert kind_of(request_, FACTS, follows=True) == "cell"


def test_in_other_languages_greetings_are_text_and_work_is_a_cell() -> None:
    assert kind_of("Guten Tag", FACTS) == "words"
    assert kind_of("Wie hoch ist die mittlere Gebühr je Vertrag?", FACTS) == "cell"


def test_without_notebook_small_talk_is_text_and_work_is_a_cell() -> None:
    assert kind_of("tell me a joke", EMPTY) == "words"
    assert kind_of("compute the first twenty primes", EMPTY) == "cell"
