"""What of an output is said again below the answer, and what of an answer says nothing more than the output."""

from onyx_jupyter.cell_mode.output_text import only_repeats, without_pictures

RATES = """Churn rate by contract type:
contract
monthly      0.355856
two years    0.037190
Name: churned, dtype: float64"""


def test_an_answer_that_is_the_output_in_one_line_says_nothing_more() -> None:
    assert only_repeats("Churn rate by contract type: contract monthly 0.355856 two years 0.037190", RATES)
    assert not only_repeats("Of monthly contracts 0.355856 left, of two years 0.037190.", RATES)


def test_a_word_of_the_output_is_an_answer() -> None:
    assert not only_repeats("monthly", RATES)
    assert not only_repeats("", RATES)


def test_a_warning_is_no_result_and_an_error_text_is_one() -> None:
    warned = f"{RATES}\nstderr:\na.py:1: FutureWarning: it will go\n  x.sum()"
    assert without_pictures(warned) == RATES
    assert without_pictures(f"{RATES}\nstderr:\n3 rows were left out").endswith("3 rows were left out")


def test_neither_pictures_nor_empty_figures_are_words() -> None:
    assert without_pictures("<Figure size 1000x600 with 0 Axes>\n[image/png: <Figure>]\nGentoo") == "Gentoo"
