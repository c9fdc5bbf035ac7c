"""Variables in a question: what is put in, what stays as it is, and what is refused."""

from types import SimpleNamespace
from typing import Any

import pytest

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.interpolation import interpolate

NAMES: dict[str, Any] = {"x": 3, "name": "Ada", "d": {"k": [1, 2]}, "o": SimpleNamespace(y=0.125), "rows": [1, 2, 3]}


def put(text: str) -> str:
    return interpolate(text, NAMES, str)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{x} and {name}", "3 and Ada"),
        ("{ x }", "3"),
        ("{d['k'][1]}", "2"),
        ("{o.y:.1%} {name!r} {name!r:>6}", "12.5% 'Ada'  'Ada'"),
        ("{len(rows)} {x != 3} {x if x else name}", "3 False 3"),
        ("{{x}} {{{x}}}", "{x} {3}"),
        ("a } b", "a } b"),
        ("{}", "{}"),
        ("{ }", "{ }"),
        (r"\frac{1}{2}", r"\frac{1}{2}"),
        ('{"a": 1, "b": {"c": [2]}}', '{"a": 1, "b": {"c": [2]}}'),
        ('{"a": b}', '{"a": b}'),
        ("$x", "$x"),
    ],
)
def test_braces_in_text(text: str, expected: str) -> None:
    assert put(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{rwos}", "there is no variable rwos. Did you mean rows?"),
        ("{o.zzz}", "AttributeError"),
        ("{d['zzz']}", "KeyError: 'zzz'"),
        ("{x", "never closed"),
        ("{return x}", "it is not an expression"),
        ("{[y for y in rows]}", "only simple expressions"),
        ("{(lambda: x)()}", "only simple expressions"),
        ("{x:zz}", "ValueError"),
        (r"\frac{a}{b}", "there is no variable a"),
    ],
)
def test_invalid_interpolation_is_reported_and_nothing_is_sent(text: str, words: str) -> None:
    with pytest.raises(MagicError) as caught:
        put(text)
    assert words in str(caught.value)
    assert "Nothing was sent" in str(caught.value)
    assert "{{" in (caught.value.hint or "")


def test_question_changes_no_variable() -> None:
    names = {"x": 1}
    interpolate("{x}", names, str)
    assert names == {"x": 1}
