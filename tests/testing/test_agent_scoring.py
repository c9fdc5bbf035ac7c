"""When an answer to a question about data counts as right, as solved, and as computed."""

import pytest

from benchmarks.agent.scoring import is_computed, is_right, is_solved, numbers_in, shows_number, stands_in


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("The mean is 7.25.", [7.25]),
        ("5,120,400 cases", [5120400]),
        ("5\u202f120\u202f400 cases", [5120400]),
        ("1,2,3", [1, 2, 3]),
        ("(6,6)", [6, 6]),
        ("-0.71 and \u22120.36", [-0.71, -0.36]),
        ("between 1-2", [1, 2]),
        ("r=-0.92", [-0.92]),
        (".44", [0.44]),
        ("p = 1.2e-45", [1.2e-45]),
        ("columns x1, Q4, area2001 and mean_may_2020", []),
        ("on 2021-05-14 at 12:30:05", []),
        ("version 1.2.3", []),
        ("10k", []),
        ("3.50%", [3.5]),
        ("**8**", [8]),
        ("$1,234.50", [1234.5]),
        ("1234,5678", [1234, 5678]),
    ],
)
def test_numbers_are_parsed_with_sign_and_separators(text: str, numbers: list[float]) -> None:
    assert [number.value for number in numbers_in(text)] == pytest.approx(numbers)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("about 101", "100"),
        ("99.0", "100"),
        ("5,120,400", "5120400"),
        ("It rose by 37 %.", "0.37"),
        ("It rose by 37%.", "37"),
        ("The slope is −0.71.", "-0.71"),
        ("p < 0.000", "0.000"),
        ("p = 3.2e-19", "0.000"),
        ("The data is not sorted.", "not_sorted"),
        ("**Upward trend**, strongly", "Upward Trend"),
        ("no gaps were seen", "No gaps were seen."),
        ("It was on 2021-05-14.", "2021-05-14"),
        ("False: there are none", "false"),
        ("There are no towns like that.", ""),
        ("None.", ""),
    ],
)
def test_value_is_found_in_text(text: str, value: str) -> None:
    assert stands_in(text, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("about 102", "100"),
        ("It is 2006.", "6"),
        ("6,000 rows", "6"),
        ("60.6", "6"),
        ("0.6", "6"),
        ("column_6", "6"),
        ("2006-06-06", "6"),
        ("The slope is 0.71.", "-0.71"),
        ("The slope is -0.71.", "0.71"),
        ("0.001", "0"),
        ("The relation is nonuniform.", "uniform"),
        ("The relation is non-uniform.", "uniform"),
        ("not sorted", "sorted"),
        ("That is not a strong link.", "strong link"),
        ("unsorted", "sorted"),
        ("0.0672", "0.07"),
        ("Bern and Oslo", ""),
        ("I have no idea.", ""),
        ("", ""),
        ("", "6"),
    ],
)
def test_value_is_not_found_in_text(text: str, value: str) -> None:
    assert not stands_in(text, value)


def test_full_precision_output_counts_as_computed_not_said() -> None:
    labels = [("mean_gap", "0.07")]
    assert is_computed(["0.067234"], labels)
    assert not is_computed(["0.057234"], labels)
    assert not is_right("The ratio is 0.067234.", labels)


def test_every_value_must_be_in_some_output() -> None:
    labels = [("mean", "7.25"), ("spread", "0.80")]
    assert is_computed(["mean 7.2468", "std 0.7996"], labels)
    assert not is_computed(["mean 7.2468"], labels)
    assert not is_computed([], labels)


def test_text_makes_answer_right_and_only_format_solves_it() -> None:
    labels = [("mean", "7.25"), ("spread", "0.80")]
    words, form = "The mean is 7.25, with a deviation of 0.8.", "@mean[7.25] @spread[0.8]"
    assert (is_right(words, labels), is_solved(words, labels)) == (True, False)
    assert (is_right(form, labels), is_solved(form, labels)) == (True, True)
    assert not is_solved("@mean[7.25]", labels)
    assert not is_right("@mean[7.25]", labels)


def test_name_is_not_a_value() -> None:
    assert not is_right("@mean_may_2020[88.2]", [("mean_may_2020", "2020")])
    assert not is_right("@uniform[none]", [("relationship", "uniform")])


def test_swapped_values_are_wrong() -> None:
    labels = [("mean", "7.25"), ("spread", "0.80")]
    assert not is_right("@mean[0.80] @spread[7.25]", labels)


def test_last_of_two_formatted_answers_counts() -> None:
    labels = [("mean_legs", "3.5")]
    assert is_solved("@mean_legs[mean]\n@mean_legs[3.5]", labels)
    assert not is_solved("@mean_legs[3.5]\n@mean_legs[3.1]", labels)


@pytest.mark.parametrize(
    "form",
    ['@link["weak link"]', "@link[Weak Link]", "@link[weak_link]", "@@link[weak link]", "`@link[weak link]`"],
)
def test_spelling_and_punctuation_are_tolerated_in_format(form: str) -> None:
    assert is_solved(form, [("link", "weak link")])


@pytest.mark.parametrize(
    "form", ["@link[strong link]", "@link[weak link or strong link]", "@link weak link", "link[weak link]"]
)
def test_wrong_value_or_format_solves_nothing(form: str) -> None:
    assert not is_solved(form, [("link", "weak link")])


def test_number_with_extra_words_is_right_but_not_solved() -> None:
    labels = [("wait", "48")]
    assert is_right("@wait[48 days]", labels)
    assert not is_solved("@wait[48 days]", labels)
    assert is_solved("@wait[ 48.0 ]", labels)


def test_repeating_the_requested_format_is_no_answer() -> None:
    asked = '@link[kind] where "kind" is a string that is either "strong link" or "weak link"'
    assert not is_right(f"I would answer as asked: {asked}", [("link", "weak link")], asked)
    assert is_right(f"It is a weak link. {asked}", [("link", "weak link")], asked)


def test_empty_value_matches_empty_format() -> None:
    labels = [("odd_towns", "")]
    assert is_solved("@odd_towns[]", labels)
    assert is_solved("@odd_towns[None]", labels)
    assert not is_right("@odd_towns[Oslo, Rome]", labels)


def test_share_may_be_given_in_any_notation() -> None:
    for text in ("0.4312", "0.43", "43.1", "43.12 %", "43%"):
        assert shows_number(text, 0.4312, share=True), text
    for text in ("0.45", "44", "4.3", "431"):
        assert not shows_number(text, 0.4312, share=True), text
    assert not shows_number("43.1", 0.4312)
