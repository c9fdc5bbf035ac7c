"""Names of columns, names with a sign, and names that are printed instead of their value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.cell_mode.cell_source import problem_in
from onyx_jupyter.cell_mode.fixes.imports import parsed
from onyx_jupyter.cell_mode.fixes.names import with_exact_columns, with_values, without_signs
from onyx_jupyter.cell_mode.notebook_facts import Column, Frame, NotebookFacts

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


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("@mean_2007[float] = round(m, 2)\nprint(@mean_2007)", "mean_2007 = round(m, 2)\nprint(mean_2007)"),
        ("@mean[] = 2\nprint(f'@mean[{@mean:.2f}]')", "mean = 2\nprint(f'@mean[{mean:.2f}]')"),
        ("@a[float], @b[x] = m, s\nprint(f'@a[{@a:.2f}], @b[{@b}]')", "a, b = m, s\nprint(f'@a[{a:.2f}], @b[{b}]')"),
        ("$total = 3\nprint(f'{$total}')", "total = 3\nprint(f'{total}')"),
        ("if ok:\n    @mean = 2\nprint(@mean, mean @ b)", "if ok:\n    mean = 2\nprint(mean, mean @ b)"),
    ],
)
def test_prefix_is_removed_from_name(written: str, meant: str) -> None:
    assert problem_in(written) is not None
    assert without_signs(written) == meant
    assert problem_in(meant) is None


@pytest.mark.parametrize(
    "source",
    [
        "@cache\ndef f(x): return x",
        "a @ b\nprint('@mean[2]')",
        "print('@mean = 2'",
        "x = (\n@mean = ",
        "%timeit f()\nx = 1",
        "",
    ],
)
def test_other_code_is_unchanged(source: str) -> None:
    assert without_signs(source) == source


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('mean = 2\nprint("Mean: {mean}")', 'mean = 2\nprint(f"Mean: {mean}")'),
        ("mean = 2\nprint('Mean: {mean:.2f}')", "mean = 2\nprint(f'Mean: {mean:.2f}')"),
        ("mean = 2\nprint('@mean[mean]')", "mean = 2\nprint(f'@mean[{mean}]')"),
        ("m = 2\nprint('@mean[m]', '@mean[]')", "m = 2\nprint(f'@mean[{m}]', '@mean[]')"),
        ("mean = 2\nprint('@mean[value]')", "mean = 2\nprint(f'@mean[{mean}]')"),
        ("mean = 2\nprint('@mean[]')\nprint('{mean}')", "mean = 2\nprint(f'@mean[{mean}]')\nprint(f'{mean}')"),
        ("mean = 2\nprint(f'@mean[mean_value]')", "mean = 2\nprint(f'@mean[{mean}]')"),
        ("mean_fee = 2\nprint(f'@mean[x]@sd[sd]')", "mean_fee = 2\nprint(f'@mean[{mean_fee}]@sd[sd]')"),
        ("print('{fees.mean()}')", "print(f'{fees.mean()}')"),
    ],
)
def test_value_is_printed_instead_of_its_name(written: str, meant: str) -> None:
    assert with_values(written, {"fees"}) == meant
    assert parsed(meant).body


@pytest.mark.parametrize(
    "source",
    [
        "mean = 2\nprint(f'{mean}')",
        "mean = 2\nprint('{mean}'.format(mean=mean))",
        "mean = 2\nprint('{} {mean}')",
        "mean = 2\nprint('{other}')",
        "mean = 2\nprint('{mean} {other}')",
        "mean = 2\nprint('{\"mean\": 1}')",
        "mean = 2\nprint(r'{mean}', b'{mean}')",
        "mean = 2\nprint('{{mean}}')",
        "mean = 2\nprint('@mean[2]')",
        "print('@mean[value]')",
        "print(f'@mean[value]')",
        "mean_a = mean_b = 2\nprint('@mean[value]')",
        "mean = 2\nprint(f'@mean[{mean}], @sd[mean]')",
        "mean = 2\nlabel('{mean}')",
        "print('{mean'",
        "",
    ],
)
def test_other_prints_are_unchanged(source: str) -> None:
    assert with_values(source, {"fees"}) == source
