"""What of an output is said again below the answer, and what of an answer says nothing more than the output."""

from onyx_jupyter.cell_mode.answers.output_text import only_repeats, without_pictures

RATES = """Churn rate by contract type:
contract
monthly      0.355856
two years    0.037190
Name: churned, dtype: float64"""


def test_answer_equal_to_one_line_output_adds_nothing() -> None:
    assert only_repeats("Churn rate by contract type: contract monthly 0.355856 two years 0.037190", RATES)
    assert not only_repeats("Of monthly contracts 0.355856 left, of two years 0.037190.", RATES)


def test_single_word_of_output_is_an_answer() -> None:
    assert not only_repeats("monthly", RATES)
    assert not only_repeats("", RATES)


def test_warning_is_no_result_but_error_text_is() -> None:
    warned = f"{RATES}\nstderr:\na.py:1: FutureWarning: it will go\n  x.sum()"
    assert without_pictures(warned) == RATES
    assert without_pictures(f"{RATES}\nstderr:\n3 rows were left out").endswith("3 rows were left out")


def test_images_and_empty_figures_are_not_text() -> None:
    assert without_pictures("<Figure size 1000x600 with 0 Axes>\n[image/png: <Figure>]\nGentoo") == "Gentoo"


WARNED = "stderr:\n/tmp/ipykernel_1/2.py:6: UserWarning: No artists with labels found.\n  plt.legend()\n"
CHAINED = (
    "stderr:\n/tmp/ipykernel_1/2.py:7: ChainedAssignmentError: A value is being set.\n"
    "/tmp/ipykernel_1/2.py:7: FutureWarning: A value is being set on a copy.\nWhen using copy-on-write\n\n"
    "See the documentation: https://example.org\n  df['a'].fillna(0, inplace=True)\n"
)


def test_text_printed_after_a_warning_is_kept() -> None:
    assert without_pictures(f"{WARNED}[image/png: <Figure size 640x480 with 1 Axes>]\nr: 0.99") == "r: 0.99"
    assert without_pictures(f"r: 0.99\n{WARNED}[image/png: x]") == "r: 0.99"
    assert without_pictures(f"{WARNED}  a  b\n0 1  2") == "  a  b\n0 1  2"
    assert without_pictures(f"r: 0.99\n{WARNED}{WARNED.removeprefix('stderr:')[1:]}") == "r: 0.99"


def test_multi_line_warning_is_removed_up_to_its_code_line() -> None:
    said = without_pictures(f"n: 3\n{CHAINED}m: 4")
    assert said.startswith("n: 3\n")
    assert said.endswith("m: 4")
    assert "copy-on-write" not in said
    assert "fillna" not in said


def test_line_that_mentions_a_warning_is_kept() -> None:
    assert without_pictures("Warning: low\nstderr:\nhello") == "Warning: low\nstderr:\nhello"


def test_warning_without_code_line_does_not_remove_following_table() -> None:
    assert without_pictures("stderr:\n<string>:1: UserWarning: low\nn: 3\n  a  b\n0 1  2") == "n: 3\n  a  b\n0 1  2"
