"""What of an output is said again below the answer, and what of an answer says nothing more than the output."""

from onyx_jupyter.cell_mode.answers.output_text import only_repeats, without_pictures

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


WARNED = "stderr:\n/tmp/ipykernel_1/2.py:6: UserWarning: No artists with labels found.\n  plt.legend()\n"
CHAINED = (
    "stderr:\n/tmp/ipykernel_1/2.py:7: ChainedAssignmentError: A value is being set.\n"
    "/tmp/ipykernel_1/2.py:7: FutureWarning: A value is being set on a copy.\nWhen using copy-on-write\n\n"
    "See the documentation: https://example.org\n  df['a'].fillna(0, inplace=True)\n"
)


def test_what_was_printed_behind_a_warning_stays() -> None:
    assert without_pictures(f"{WARNED}[image/png: <Figure size 640x480 with 1 Axes>]\nr: 0.99") == "r: 0.99"
    assert without_pictures(f"r: 0.99\n{WARNED}[image/png: x]") == "r: 0.99"
    assert without_pictures(f"{WARNED}  a  b\n0 1  2") == "  a  b\n0 1  2"
    assert without_pictures(f"r: 0.99\n{WARNED}{WARNED.removeprefix('stderr:')[1:]}") == "r: 0.99"


def test_a_warning_of_several_lines_goes_to_its_line_of_code() -> None:
    said = without_pictures(f"n: 3\n{CHAINED}m: 4")
    assert said.startswith("n: 3\n")
    assert said.endswith("m: 4")
    assert "copy-on-write" not in said
    assert "fillna" not in said


def test_what_speaks_of_a_warning_is_none() -> None:
    assert without_pictures("Warning: low\nstderr:\nhello") == "Warning: low\nstderr:\nhello"


def test_a_warning_without_its_line_of_code_takes_no_table_along() -> None:
    assert without_pictures("stderr:\n<string>:1: UserWarning: low\nn: 3\n  a  b\n0 1  2") == "n: 3\n  a  b\n0 1  2"
