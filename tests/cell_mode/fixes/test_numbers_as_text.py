"""Numbers that stand as text are known by their form, and what is told of them works in pandas."""

import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.cell_mode.fixes.numbers_as_text import conversion_hint

_HOW = re.compile(r"`(.+)`")


@pytest.mark.parametrize(
    ("examples", "numbers"),
    [
        (["37,410", "12,202", "999"], [37410, 12202, 999]),
        (["15.17%", "49.48 %"], [15.17, 49.48]),
        (["$1,200.50", "€ 3"], [1200.5, 3]),
        (["630308[495000-801000]", "52 (40-60)", "7"], [630308, 52, 7]),
        (["12 kg", "-3.5kg"], [12, -3.5]),
    ],
)
def test_described_text_columns_become_numbers(examples: list[str], numbers: list[float]) -> None:
    how = _HOW.search(conversion_hint(examples))
    assert how is not None
    column = pd.Series(examples)
    assert eval(f"column{how[1]}", {"column": column}).tolist() == pytest.approx(numbers)


@pytest.mark.parametrize(
    "examples",
    [
        [],
        ["1", "2.5"],
        ["2017-04-13", "2017-04-14"],
        ["00:00:51"],
        ["Apr 13 2017"],
        ["A12", "B7"],
        ["12 kg", "heavy"],
        ["1.2.3"],
        ["month-to-month"],
    ],
)
def test_non_numeric_text_is_unchanged(examples: list[str]) -> None:
    assert conversion_hint(examples) == ""


@given(st.lists(st.text(max_size=40), max_size=4))
def test_any_examples_are_accepted(examples: list[str]) -> None:
    assert isinstance(conversion_hint(examples), str)
