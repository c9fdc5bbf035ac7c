"""What a parameters cell says, read without running it."""

from textwrap import dedent
from typing import Any

import pytest

from onyx_jupyter.skills.parameters import Parameter, ParametersProblem, parse_parameters


def parsed(source: str) -> dict[str, Parameter]:
    return {item.name: item for item in parse_parameters(dedent(source)).items}


def one(source: str) -> Parameter:
    (item,) = parsed(source).values()
    return item


TYPES = {
    "n: int = 1": "integer",
    "n: float = 1": "number",
    "n: str = 'a'": "string",
    "n: bool = True": "boolean",
    "n: list[int] = [1]": "array",
    "n: tuple[int, ...] = (1, 2)": "array",
    "n: dict[str, float] = {'a': 1}": "object",
    "n: Literal['a', 'b'] = 'a'": "choice",
    "n: Path = Path('a.csv')": "path",
    "n: pathlib.Path = 'a.csv'": "path",
    "n: 'int' = 1": "integer",
    "n: int | float = 1": "number",
    "n: str | list[str] = 'a'": "union",
    "n: Any = 1": "any",
    "n: Annotated[int, 'count'] = 1": "integer",
    "n = 1": "integer",
    "n = -1.5": "number",
    "n = 'a'": "string",
    "n = False": "boolean",
    "n = [1, 2.5]": "array",
    "n = {'a': 1}": "object",
    "n = Path('a')": "path",
    "n = None": "any",
    "n = compute()": "any",
}


@pytest.mark.parametrize(("source", "name"), TYPES.items())
def test_type_comes_from_annotation_else_literal(source: str, name: str) -> None:
    assert one(source).type.name == name


@pytest.mark.parametrize("source", ["n: int | None = 3", "n: Optional[int] = 3", "n: int = None", "n: None | int = 3"])
def test_none_can_be_allowed(source: str) -> None:
    kind = one(source).type
    assert (kind.name, kind.nullable) == ("integer", True)


def test_items_and_choices_are_recognized() -> None:
    found = parsed("""
        a: list[list[int]] = [[1]]
        b = ["x", "y"]
        c: Literal["low", 2, None] = "low"
    """)
    inner = found["a"].type.item
    assert inner is not None
    assert inner.item is not None
    assert (inner.name, inner.item.name) == ("array", "integer")
    assert found["b"].type.item is not None
    assert found["b"].type.item.name == "string"
    assert (found["c"].type.choices, found["c"].type.nullable) == (("low", 2), True)


def test_name_without_value_is_required() -> None:
    item = one("path: str  # where the table is")
    assert (item.required, item.has_default, item.description) == (True, False, "where the table is")


def test_computed_default_is_shown_as_written_and_never_evaluated() -> None:
    item = one("n: int = __import__('os').getpid()")
    assert (item.required, item.has_default, item.source) == (False, False, "__import__('os').getpid()")


def test_comments_describe_parameters_before_or_below_them() -> None:
    found = parsed("""
        # Parameters
        path = "a.csv"  # the table

        # how many rows
        # are looked at
        rows = 10
        # not about `seed`

        seed = 1
        names = [
            "a",  # the first
        ]  # of columns
        text = "# no comment"
    """)
    assert {name: item.description for name, item in found.items()} == {
        "path": "the table",
        "rows": "how many rows are looked at",
        "seed": "",
        "names": "of columns",
        "text": "",
    }


def test_imports_strings_and_private_names_are_no_parameters() -> None:
    assert list(
        parsed('''
        """What it takes."""
        from pathlib import Path
        import typing
        _private = 1
        n = 2
        pass
    ''')
    ) == ["n"]


def test_empty_cell_has_none() -> None:
    assert parse_parameters("").items == ()


PROBLEMS: dict[str, tuple[str, str]] = {
    "syntax": ("n = 1\nm = = 2", "line 2"),
    "magic": ("%matplotlib inline\nn = 1", "line 1"),
    "several at once": ("a, b = 1, 2", "`a, b = 1, 2` is not a parameter"),
    "a loop": ("n = 1\nfor i in range(3):\n    n += i", "line 2"),
    "a call": ("print('x')", "`print('x')` is not a parameter"),
    "an unknown type": ("n: DataFrame = None", "`DataFrame`"),
    "a tuple of fixed length": ("n: tuple[int, str] = (1, 'a')", "tuple[int, str]"),
    "a default of another type": ("n: int = 'a'", "the default of `n`, 'a', is not a valid int"),
    "a choice that is none": ("n: Literal['a'] = 'b'", "is not a valid Literal['a']"),
    "true is no number": ("n: int = True", "is not a valid int"),
    "a NUL": ("n = 1\0", "does not parse"),
    "too long": ("#" * 100_001, "longer than"),
    "too many": ("\n".join(f"n{index} = 1" for index in range(101)), "101 parameters"),
    "too deep": ("n = " + "(" * 5000 + ")" * 5000, "does not parse"),
}


@pytest.mark.parametrize(("source", "message"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_invalid_parameters_cell_says_where_and_why(source: str, message: str) -> None:
    with pytest.raises(ParametersProblem) as problem:
        parse_parameters(source)
    assert message in str(problem.value)


JSONLESS: dict[str, Any] = {"a set": "{1, 2}", "bytes": "b'a'", "keys": "{1: 2}", "infinite": "1e999", "dots": "..."}


@pytest.mark.parametrize("value", JSONLESS.values(), ids=JSONLESS.keys())
def test_default_outside_json_stays_in_cell(value: str) -> None:
    item = one(f"n = {value}")
    assert (item.has_default, item.required, item.source) == (False, False, value)
