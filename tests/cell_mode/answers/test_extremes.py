"""Which value is the highest is read from the output, not left to a small model."""

from onyx_jupyter.cell_mode import prompts
from onyx_jupyter.cell_mode.answers.extremes import extremes_of
from onyx_jupyter.cell_mode.turn import Turn

SERIES = """Churn:
tenure_months
(0.93, 18.5]    0.393939
(18.5, 36.0]   -2.5e-05
(36.0, 53.5]    0.161972
Name: churned, dtype: float64"""
TABLE = """           customers  rate
contract
monthly          666    0.35
one year         292    0.09"""


def test_highest_and_lowest_of_a_series_are_named() -> None:
    assert extremes_of(SERIES, "Which leave most often?") == (
        "Of tenure_months, (0.93, 18.5] has the highest value (0.393939), (18.5, 36.0] the lowest (-2.5e-05)."
    )


def test_series_is_named_by_last_words_before_it() -> None:
    named = SERIES.replace("Churn:\ntenure_months", "Churn by tenure: tenure_months")
    assert extremes_of(named, "the most?").startswith("Of tenure_months, ")


def test_each_series_is_described_and_ties_have_no_order() -> None:
    equal = "island\nDream     3\nBiscoe    3\ndtype: int64"
    assert extremes_of(f"{SERIES}\n\n{equal}", "the most?").splitlines()[1] == "Of island, all are 3."


def test_nothing_is_added_without_question_or_series() -> None:
    assert extremes_of(SERIES, "the churn by tenure") == ""
    assert extremes_of(TABLE, "Which leave most often?") == ""
    assert extremes_of("Biscoe    168", "Which island has the most?") == ""


def test_groups_of_numbers_are_described() -> None:
    text = prompts.answer_from(Turn("Which leave most often?", "", (), ()), SERIES)
    assert "0.93 to 18.5    0.393939" in text
    assert "0.93 to 18.5 has the highest value (0.393939)" in text
