"""The table that a request names, read as pandas would read it, and columns of numbers that stand as text."""

import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.cell_mode.tables import conversion_hint, frame_of, named_file
from onyx_jupyter.storage.delimited_columns import delimited_columns

FILES = ["sales.csv", "sales 2023 (final).csv", "notes.txt", "DES=+2006261.csv"]
_HOW = re.compile(r"`(.+)`")


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("the mean of sales.csv", "sales.csv"),
        ("in Sales 2023 (final).csv", "sales 2023 (final).csv"),
        ("what is in sales 2023 (final)?", "sales 2023 (final).csv"),
        ("The table is in DES=+2006261.csv.", "DES=+2006261.csv"),
        ("what is the mean?", None),
    ],
)
def test_file_is_found_by_name(request_: str, name: str | None) -> None:
    assert named_file(request_, FILES, alone=True) == name


def test_only_table_is_used_if_no_other_data_exists() -> None:
    assert named_file("what is the mean?", ["a.csv", "b.txt"], alone=True) == "a.csv"
    assert named_file("what is the mean?", ["a.csv", "b.txt"], alone=False) is None


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c,d\n1,2.5,x,true\n2,,y,false\n",
        "a;b\n1;2\n3;4\n",
        "a\tb\n1\tx\n",
        "day,value\n2024-01-31,5\n2024-02-01,6\n",
        'a,b\n"x, y",1\n"two\nlines",2\n',
        "a,b\n,\n1,\n",
    ],
)
def test_types_and_missing_values_match_pandas(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    found = delimited_columns(path.read_bytes())
    frame = pd.read_csv(path, sep=found.separator)
    assert [(one.name, one.dtype, one.missing) for one in found.columns] == [
        (name, "object" if str(kind) in ("str", "string") else str(kind), int(frame[name].isna().sum()))
        for name, kind in frame.dtypes.items()
    ]
    assert found.rows == len(frame)


def test_loading_lines_read_file_correctly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "it's a (table).csv").write_bytes("Straße; speed\nÄ;5.7\n".encode("latin-1"))
    frame = frame_of((tmp_path / "it's a (table).csv").read_bytes(), "it's a (table).csv")
    assert [column.name for column in frame.columns] == ["Straße", "speed"]
    names: dict[str, pd.DataFrame] = {}
    monkeypatch.chdir(tmp_path)
    exec(frame.read, names)  # noqa: S102 # what a cell would run
    assert list(names["df"].columns) == ["Straße", "speed"]
    assert names["df"].speed[0] == 5.7


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\x00\x01\x02"])
def test_unsupported_file_is_rejected(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"empty|table"):
        delimited_columns(data)


@pytest.mark.parametrize(
    ("examples", "numbers"),
    [
        (["37,410", "12,202", "999"], [37410, 12202, 999]),
        (["15.17%", "49.48 %"], [15.17, 49.48]),
        (["$1,200.50", "€ 3"], [1200.5, 3]),
        (["630308[495000-801000]", "52 (40-60)", "7"], [630308, 52, 7]),
        (["12 kg", "-3.5kg"], [12, -3.5]),
    ],
)
def test_described_text_columns_become_numbers(examples: list[str], numbers: list[float]) -> None:
    how = _HOW.search(conversion_hint(examples))
    assert how is not None
    column = pd.Series(examples)
    assert eval(f"column{how[1]}", {"column": column}).tolist() == pytest.approx(numbers)


@pytest.mark.parametrize(
    "examples",
    [
        [],
        ["1", "2.5"],
        ["2017-04-13", "2017-04-14"],
        ["00:00:51"],
        ["Apr 13 2017"],
        ["A12", "B7"],
        ["12 kg", "heavy"],
        ["1.2.3"],
        ["month-to-month"],
    ],
)
def test_non_numeric_text_is_unchanged(examples: list[str]) -> None:
    assert conversion_hint(examples) == ""


@given(st.lists(st.text(max_size=40), max_size=4))
def test_any_examples_are_accepted(examples: list[str]) -> None:
    assert isinstance(conversion_hint(examples), str)
