"""What is said of common errors when a cell is asked for again."""

import pytest

from onyx_jupyter.cell_mode.error_hints import error_of, hint_for, missing_modules
from onyx_jupyter.cell_mode.notebook_facts import Column, Frame, NotebookFacts

FACTS = NotebookFacts("a.ipynb", frames=(Frame("df", (Column("fee", "float64"), Column("contract", "object"))),))


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        ("KeyError: 'fees'", "Did you mean 'fee'?"),
        ("KeyError: 'fee'", "check what the line before returned"),
        ("NameError: name 'churn' is not defined", "The table is `df`."),
        ("AttributeError: 'Series' object has no attribute 'lower'", "`.str.lower`"),
        ("AttributeError: 'DataFrame' object has no attribute 'churn'", "do it another way"),
        ("AttributeError: Can only use .str accessor with string values, not floating", "is numeric already"),
        ("ValueError: not enough values to unpack (expected 3, got 2)", "a different number of values"),
        ("TypeError: cannot unpack non-iterable numpy.float64 object", "a different number of values"),
        ("ValueError: could not convert string to float: 'Wins'", "pd.to_numeric"),
        ("ModuleNotFoundError: No module named 'polars'", "is not installed"),
        ("ZeroDivisionError: division by zero", ""),
    ],
)
def test_common_errors_have_a_hint(error: str, hint: str) -> None:
    said = hint_for(error, FACTS)
    assert hint in said
    assert bool(said) == bool(hint)


def test_error_is_last_line_naming_one() -> None:
    assert error_of("KeyError: 1\n\nDuring handling …\n\nValueError: no\nlater text") == "ValueError: no"
    assert error_of("it just ended") == "it just ended"


def test_missing_package_is_remembered_by_top_level_name() -> None:
    results = ["ModuleNotFoundError: No module named 'seaborn.objects'", "ok", "No module named 'seaborn'"]
    assert missing_modules(results) == ("seaborn",)
