"""Names of columns are written as the table has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.cell_mode.facts import Column, Frame, NotebookFacts
from onyx_jupyter.cell_mode.fixes.column_names import with_exact_columns

NAMES = ("avg. wait time", "Größe (cm)", "No. of deaths_max", "a b", "A_B", "it's")
FACTS = NotebookFacts("a.ipynb", frames=(Frame("df", tuple(Column(name, "float64") for name in NAMES)),))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("df['avg.wait time'].mean()", "df['avg. wait time'].mean()"),
        ("df.groupby('avg wait time')", "df.groupby('avg. wait time')"),
        ('x = "ä"; df[["größe cm", "no_of_deaths_max"]]', "x = \"ä\"; df[['Größe (cm)', 'No. of deaths_max']]"),
        ("df['its']", 'df["it\'s"]'),
        ("df['Avg. Wait Time'] = 1\nprint(f\"avg.wait time {df['avg.wait time']}\")", None),
        ("df['a b'] + df['A_B']", "df['a b'] + df['A_B']"),
        ("df['a-b']", "df['a-b']"),
        ("df['other']", "df['other']"),
        ("print('avg wait time')", "print('avg. wait time')"),
        ("df['avg.wait time'", "df['avg.wait time'"),
    ],
)
def test_only_unambiguous_names_are_corrected(written: str, meant: str | None) -> None:
    mended = with_exact_columns(written, FACTS)
    assert meant is None or mended == meant
    if meant is None:  # an old Python tells no place within a formatted text
        assert mended.startswith("df['avg. wait time'] = 1\n")


@given(st.text(max_size=100), st.sampled_from(NAMES))
def test_correct_names_stay(text: str, name: str) -> None:
    source = f"x = {text!r}\ndf[{name!r}]"
    assert with_exact_columns(source, FACTS) == source
    with_exact_columns(text, FACTS)
