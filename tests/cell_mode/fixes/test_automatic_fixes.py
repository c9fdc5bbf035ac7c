"""What an error alone tells is mended without the model, on the failing line alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.cell_mode.fixes.automatic_fixes import fix_cell
from onyx_jupyter.cell_mode.notebook_facts import Column, Frame, NotebookFacts

COLUMNS = ("JAMES LOGAN", "avg. wait time", "fee_2007", "fee_2008")
FACTS = NotebookFacts("a.ipynb", frames=(Frame("df", tuple(Column(name, "object") for name in COLUMNS)),))
TRACEBACK = "Traceback (most recent call last)\nCell In[1], line 2\n      1 x = 1\n----> 2 {line}\n\n{error}"


def result(line: str, error: str) -> str:
    return TRACEBACK.format(line=line, error=error)


def test_method_of_values_gets_its_accessor() -> None:
    line = "s = pd.to_timedelta(df['avg. wait time']).total_seconds()"
    error = "AttributeError: 'Series' object has no attribute 'total_seconds'"
    source = f"t = one.total_seconds()\n{line}"
    assert fix_cell(source, result(line, error), FACTS) == (
        "t = one.total_seconds()\ns = pd.to_timedelta(df['avg. wait time']).dt.total_seconds()"
    )


def test_text_method_gets_str_accessor() -> None:
    line = "    df['JAMES LOGAN'].lower().strip()"
    error = "AttributeError: 'Series' object has no attribute 'lower'"
    assert fix_cell(line, result(line, error), FACTS) == "    df['JAMES LOGAN'].str.lower().strip()"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("result = df['JAMES LOGAN'].shapiro()", "result = shapiro(df['JAMES LOGAN'])"),
        ("z = abs(df['Größe'].dropna().zscore(ddof=1)) > 3", "z = abs(zscore(df['Größe'].dropna(), ddof=1)) > 3"),
        ("zscore\nr = (df['a']\n     .zscore( ))", "zscore\nr = (zscore(df['a']))"),
    ],
)
def test_scipy_function_is_called_as_function(written: str, meant: str) -> None:
    name = "shapiro" if "shapiro" in written else "zscore"
    error = f"AttributeError: 'Series' object has no attribute {name!r}"
    assert fix_cell(written, result(written, error), FACTS) == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"x = df['Größe'].str.extract(r'(\d+)')[0].astype(float)", "x = df['Größe']"),
        ("x = pd.to_numeric(df['a'].str.replace(',', '').str.strip()).mean()", "x = pd.to_numeric(df['a']).mean()"),
        ("df[df['a'].str.contains('b')]", None),
        ("df['a'].str.len()", None),
    ],
)
def test_numeric_column_is_not_converted(written: str, meant: str | None) -> None:
    error = "AttributeError: Can only use .str accessor with string values, not floating"
    assert fix_cell(written, result(written, error), FACTS) == meant


@pytest.mark.parametrize("quote", ["'", '"'])
@pytest.mark.parametrize("error", ["KeyError: 'JAME LOGAN'", "KeyError: \"['JAME LOGAN'] not in index\""])
def test_similar_column_name_is_corrected(quote: str, error: str) -> None:
    line = f"df[[{quote}JAME LOGAN{quote}]]"
    assert fix_cell(line, result(line, error), FACTS) == "df[['JAMES LOGAN']]"


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("df['fee_2009']", "KeyError: 'fee_2009'"),  # near to two
        ("df['other']", "KeyError: 'other'"),
        ("df['x'].churn()", "AttributeError: 'Series' object has no attribute 'churn'"),
        ("df.total_seconds()", "AttributeError: 'DataFrame' object has no attribute 'total_seconds'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("df['JAMES LOGAN']", "KeyError: 'JAMES LOGAN'"),
    ],
)
def test_ambiguous_code_is_not_changed(line: str, error: str) -> None:
    assert fix_cell(line, result(line, error), FACTS) is None


@given(st.text(max_size=100), st.text(max_size=100))
def test_any_text_is_accepted(source: str, output: str) -> None:
    assert fix_cell(source, output, FACTS) != source


@pytest.mark.parametrize(
    ("source", "name", "meant"),
    [
        (
            "left = fees[churned]\nstayed = fees[~churned]",
            "churned",
            'left = fees[fees["churned"]]\nstayed = fees[~fees["churned"]]',
        ),
        ("m = df.groupby('a')", "df", "m = fees.groupby('a')"),
        ("x = nowhere + 1", "nowhere", None),
        ("churned = churned + 1", "churned", None),
    ],
)
def test_undefined_name_becomes_column_or_table(source: str, name: str, meant: str | None) -> None:
    facts = NotebookFacts("a.ipynb", frames=(Frame("fees", (Column("churned", "bool"),)),))
    assert fix_cell(source, result(source, f"NameError: name {name!r} is not defined"), facts) == meant


def test_positional_lookup_in_series_uses_iloc() -> None:
    source = "print(rates.index[0])\nprint(rates[0], other['a'])"
    line = "print(rates[0], other['a'])"
    assert (
        fix_cell(source, result(line, "KeyError: 0"), FACTS)
        == "print(rates.index[0])\nprint(rates.iloc[0], other['a'])"
    )
    assert fix_cell(source, result(line, "KeyError: 'a'"), FACTS) is None


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("best = df[df['fee_2007'].idxmax()]['JAMES LOGAN']", "best = df.loc[df['fee_2007'].idxmax()]['JAMES LOGAN']"),
        ("print(df[df.fee_2007.idxmin()])", "print(df.loc[df.fee_2007.idxmin()])"),
        ("print(df.loc[df.fee_2007.idxmin()])", None),
        ("print(x[df.fee_2007.idxmin()])", None),
    ],
)
def test_row_of_maximum_is_looked_up_by_label(line: str, meant: str | None) -> None:
    assert fix_cell(line, result(line, "KeyError: 15"), FACTS) == meant
    assert fix_cell(line, result(line, "ValueError: 15"), FACTS) is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("s.resample('M').mean()", "s.resample('ME').mean()"),
        ("df[df.sex == 'M'].resample(rule='2M', on='at').n", "df[df.sex == 'M'].resample(rule='2ME', on='at').n"),
        ("df.groupby(pd.Grouper(key='at', freq='H')).size()", "df.groupby(pd.Grouper(key='at', freq='h')).size()"),
        ("a = t.dt.floor('15T')\nb = u.dt.round(\"15T\")", "a = t.dt.floor('15min')\nb = u.dt.round('15min')"),
        ("pd.date_range('2026', periods=3, freq='Q-DEC')", "pd.date_range('2026', periods=3, freq='QE-DEC')"),
    ],
)
def test_outdated_frequency_alias_is_replaced(written: str, meant: str) -> None:
    setting = "import pandas as pd\nat = pd.date_range('2026', periods=400)\n"
    setting += "df = pd.DataFrame({'at': at, 'sex': 'M', 'n': 1})\ns, t, u = df.n.set_axis(at), df['at'], df['at']\n"
    with pytest.raises(ValueError, match="Invalid frequency") as raised:
        exec(setting + written)  # noqa: S102 (pandas itself has to say it)
    assert fix_cell(written, result(written, f"ValueError: {raised.value}"), FACTS) == meant
    exec(setting + meant)  # noqa: S102


def test_other_invalid_frequency_stays() -> None:
    line = "s.resample('M').mean()"
    assert fix_cell(line, result(line, "ValueError: Invalid frequency: M."), FACTS) is None


@pytest.mark.parametrize(
    "error",
    [
        "TypeError: dtype 'str' does not support operation 'mean'",
        "TypeError: agg function failed [how->mean,dtype->object]",
    ],
)
def test_mean_of_mixed_table_uses_numeric_columns(error: str) -> None:
    line = "rates = customers.groupby('churned').mean()"
    assert fix_cell(line, result(line, error), FACTS) == "rates = customers.groupby('churned').mean(numeric_only=True)"


UNEXPECTED = "TypeError: {name}() got an unexpected keyword argument '{keyword}'"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (
            "df['part'].cat.set_categories(['a', 'b'], inplace=True)\ndf.head()",
            "df['part'] = df['part'].cat.set_categories(['a', 'b'])\ndf.head()",
        ),
        ("part.set_categories(inplace=True)", "part = part.set_categories()"),
        ("x = part.set_categories(\n    names,\n    inplace=False,\n)", "x = part.set_categories(\n    names,\n)"),
        ("f(df).set_categories('ö', inplace=True)", "f(df).set_categories('ö')"),
        ("part.other(inplace=True)", None),
    ],
)
def test_unknown_keyword_is_removed(written: str, meant: str | None) -> None:
    error = UNEXPECTED.format(name="Categorical.set_categories", keyword="inplace")
    assert fix_cell(written, result(written, error), FACTS) == meant


def test_any_keyword_is_removed_wherever_function_is_called() -> None:
    error = UNEXPECTED.format(name="read", keyword="squeeze")
    source = "a = read('a.csv', squeeze=True, sep=';')\nb = read(squeeze=True)"
    assert fix_cell(source, result(source, error), FACTS) == "a = read('a.csv', sep=';')\nb = read()"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('print(f"{rates:.2f}")', 'print(f"{round(rates, 2)}")'),
        ("""print(f"{fees['a']:,.1f} and {n}")""", """print(f"{round(fees['a'], 1)} and {n}")"""),
        ('print(f"{rates:>10}")', None),
    ],
)
def test_column_formatted_as_number_is_rounded(written: str, meant: str | None) -> None:
    error = "TypeError: unsupported format string passed to Series.__format__"
    before = 'print(f"{fee:.2f}")\n'
    expected = None if meant is None else before + meant
    assert fix_cell(before + written, result(written, error), FACTS) == expected
