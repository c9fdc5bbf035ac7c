"""A number is said only where it stands in something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.cell_mode.answers.numbers import Numbers

OUTPUT = "mean 62.7613\nrate 0.4312\nrows 1200\nloss -3.75\np 1.2e-05"


@pytest.mark.parametrize(
    "said",
    [
        "The mean is 62.76.",
        "About 62.8, or roughly 63.",
        "43.1 % leave, that is 0.431.",
        "43% leave",
        "1,200 rows",
        "A loss of 3.75",
        "\u22123.75",
        "There are three groups; step 2 follows in 2024.",
        "It is significant at 0.05.",
        "Use `df.head(77)` to see them.",
        "```python\nx = 777\n```",
        "version v77 and col_77",
    ],
)
def test_numbers_may_be_rounded_or_given_as_percentage(said: str) -> None:
    assert Numbers([OUTPUT]).unfounded(said) is None


@pytest.mark.parametrize(
    ("said", "which"),
    [
        ("The mean is 12.50.", "12.50"),
        ("62.77", "62.77"),
        ("44 % leave", "44 %"),
        ("1,300 rows", "1,300"),
        ("0.44", "0.44"),
        ("the total is 75,313.56 dollars", "75,313.56"),
    ],
)
def test_unsupported_number_is_found(said: str, which: str) -> None:
    assert Numbers([OUTPUT]).unfounded(said) == which


@given(st.floats(min_value=13, max_value=1e9, allow_nan=False), st.integers(0, 6))
def test_printed_number_may_always_be_rounded(value: float, places: int) -> None:
    assert Numbers([f"x = {value!r}"]).unfounded(f"It is {value:.{places}f}, that is {value:,.{places}f}.") is None


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_accepted(known: str, said: str) -> None:
    found = Numbers([known]).unfounded(said)
    assert found is None or found in said
    assert Numbers([said]).unfounded(said) is None
