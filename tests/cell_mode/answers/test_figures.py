"""What a cell has drawn, said from what its figures hold."""

import pytest

from onyx_jupyter.cell_mode.answers.figures import describe_figures, figures_of

BARS = (
    'title "Churn"; x "contract": monthly, one year; y "rate" from 0 to 0.4485; bars: monthly 0.4271, one year 0.1127'
)


@pytest.mark.parametrize(
    ("figure", "sentence"),
    [
        (BARS, "The bar chart “Churn” shows rate by contract: monthly 0.4271, one year 0.1127."),
        (
            'x "fee" from 15 to 125; y "Count" from 0 to 300; histogram: 6 bins from 20 to 120, the highest 53 to 70',
            "The histogram shows Count by fee: 6 bins from 20 to 120, the highest 53 to 70.",
        ),
        (
            'x "mm" from 1 to 9; y "g" from 2 to 8; points: 150 points, x from 1 to 9, y from 2 to 8',
            "The scatter plot shows g against mm: 150 points, x from 1 to 9, y from 2 to 8.",
        ),
        (
            'title "Churn Rate by Contract"; x "Contract": a, b; y "Churn rate" from 0 to 1; bars: a 1, b 0.5',
            "The bar chart “Churn Rate by Contract” shows a 1, b 0.5.",
        ),
        ("pie with shares: u 0.25, v 0.75", "The pie chart shows u 0.25, v 0.75."),
        ("x: a, b; y: a, b; heat map of 2 × 2, values from 0 to 1", "The heat map shows 2 × 2, values from 0 to 1."),
        (
            'axes 1 of 2; title "right"; x from 0 to 1; y from 0 to 1; nothing is drawn in it',
            "The chart “right” is empty: nothing is drawn in it.",
        ),
        ("in three dimensions", "The chart."),
    ],
)
def test_figure_is_described_in_a_sentence(figure: str, sentence: str) -> None:
    assert describe_figures([figure]) == sentence


def test_several_series_are_listed_with_differences() -> None:
    two = 'x "g": p, q; y from 0 to 4; bars "a": p 1, q 2; bars "b": p 3, q 4; legend: a, b'
    assert describe_figures([two]) == "The bar chart shows g:\n- “a”: p 1, q 2\n- “b”: p 3, q 4"
    mixed = 'x from 0 to 4; y "n" from 0 to 4; histogram: 3 bins; line "goal": 2 points'
    assert describe_figures([mixed]) == "The chart shows n:\n- histogram: 3 bins\n- line “goal”: 2 points"


def test_many_axes_are_truncated_and_counted() -> None:
    assert describe_figures([BARS] * 6).count("The bar chart") == 4
    assert describe_figures([BARS] * 6).endswith("\n\nAnd 2 more.")


def test_only_whole_output_lines_are_figures() -> None:
    assert figures_of(f"1 [figure: no]\n[image/png: <Figure>]\n[figure: {BARS}]\n2") == [BARS]
    assert describe_figures(figures_of("nothing")) == ""
