"""How many, and a cell that says yes or no for each row."""

import pytest

from onyx_jupyter.cell_mode.fixes.count_questions import counted

HOW_MANY = "How many penguins were measured in 2007?"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("t['year'] == 2007", "(t['year'] == 2007).sum()"),
        ("x = 1\nprint(t.year >= 2007)", "x = 1\nprint((t.year >= 2007).sum())"),
        ("(t['a'] == 'ö') & (t['b'] > 2)", "((t['a'] == 'ö') & (t['b'] > 2)).sum()"),
    ],
)
def test_count_question_counts(written: str, meant: str) -> None:
    assert counted(written, HOW_MANY) == meant


@pytest.mark.parametrize(
    "source",
    ["(t['year'] == 2007).sum()", "t[t['year'] == 2007]", "2 == 3", "len(t) == 2", "print('n:', t.a == 1)", "x =", ""],
)
def test_other_cells_are_unchanged(source: str) -> None:
    assert counted(source, HOW_MANY) == source


def test_other_questions_need_no_count() -> None:
    assert counted("t['year'] == 2007", "Which rows are of 2007?") == "t['year'] == 2007"
