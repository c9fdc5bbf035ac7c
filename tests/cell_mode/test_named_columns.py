"""Of a wide table the columns that are spoken of are described, the others only named."""

import pytest

from onyx_jupyter.cell_mode.named_columns import named_columns
from onyx_jupyter.cell_mode.notebook_facts import Column, Frame, NotebookFacts
from onyx_jupyter.cell_mode.notebook_text import for_code

NAMES = ("TOTUSJH", "TOTUSJZ", "avg. wait time", "num. agents talking", "MedianHouseValue", "Fare", "X", "contract")


def test_fully_named_columns_come_first() -> None:
    assert named_columns(["fee_1", "fee_2", "fee_3"], "the fee, above all fee 3") == ("fee_3", "fee_1", "fee_2")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Is TOTUSJH correlated with totusjz?", {"TOTUSJH", "TOTUSJZ"}),
        ("the average waiting time while agents talk", {"avg. wait time", "num. agents talking"}),
        ("median house values", {"MedianHouseValue"}),
        ("the skewness of the fares", {"Fare"}),
        ("the X coordinate", {"X"}),
        ("extra columns", set()),
        ("churn by contract type", {"contract"}),
        ("the total number", set()),
        ("", set()),
    ],
)
def test_column_is_matched_by_its_words_in_any_form(text: str, named: set[str]) -> None:
    assert set(named_columns(NAMES, text)) == named


def table(*names: str) -> NotebookFacts:
    columns = tuple(Column(name, "float64", "e.g. 1, 2") for name in names)
    return NotebookFacts("a.ipynb", frames=(Frame("df", columns),))


def test_other_columns_are_listed_by_name_only() -> None:
    text = for_code(table(*NAMES), "the mean of TOTUSJH")
    assert "- 'TOTUSJH': float64, e.g. 1, 2\n- others: 'TOTUSJZ', 'avg. wait time'" in text


def test_all_columns_are_described_if_few_or_none_named() -> None:
    assert for_code(table(*NAMES), "what is in it?").count("e.g. 1, 2") == len(NAMES)
    assert for_code(table("a1", "b2"), "the mean of a1").count("e.g. 1, 2") == 2


def test_thousand_columns_stay_within_budget() -> None:
    text = for_code(table(*(f"measure_{at}" for at in range(1000))), "the mean of measure_999")
    assert "measure_999" in text
    assert "more" in text
    assert len(text) < 4_000
