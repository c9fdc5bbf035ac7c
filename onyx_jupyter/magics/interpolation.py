"""Inserts variables into a question: `{name}` and simple expressions, `{{` for a brace."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Mapping
from typing import Any

from onyx_jupyter.errors import MagicError

_FORMAT = re.compile(r"(![rsa])?(:.*)?", re.DOTALL)
_CONVERSIONS: Mapping[str, Callable[[Any], str]] = {"!r": repr, "!s": str, "!a": ascii}
_NOT_SIMPLE = (
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Await,
    ast.Yield,
    ast.NamedExpr,
)
_LITERAL_HINT = "To write a literal brace, use {{ or }}."


def interpolate(text: str, names: Mapping[str, Any], shown: Callable[[Any], str]) -> str:
    """The text with values instead of braces; `shown` turns a value into words.

    Braces around something without a name (`{}`, `{"a": 1}`, `{2}`) stay as they are.
    Raises: MagicError (variable), and then nothing must be sent.
    """
    parts: list[str] = []
    place = 0
    while place < len(text):
        sign = text[place]
        if text[place : place + 2] in ("{{", "}}"):
            parts.append(sign)
            place += 2
        elif sign == "{":
            end = _closing(text, place)
            inside = text[place + 1 : end - 1]
            value = _value(inside, names, shown)
            parts.append(text[place:end] if value is None else value)
            place = end
        else:
            parts.append(sign)
            place += 1
    return "".join(parts)


def evaluated(expression: str, names: Mapping[str, Any]) -> Any:
    """The value of a simple expression. Raises: MagicError (variable)."""
    tree = _tree(expression)
    if tree is None or any(isinstance(node, _NOT_SIMPLE) for node in ast.walk(tree)):
        raise _problem(expression, "it is not a simple expression")
    return _evaluated(tree, expression, names)


def _closing(text: str, place: int) -> int:
    """The position after the brace that closes the one at `place`; inner braces come in pairs."""
    depth = 0
    for number in range(place, len(text)):
        depth += {"{": 1, "}": -1}.get(text[number], 0)
        if not depth:
            return number + 1
    raise _problem(text[place : place + 40], "the brace is never closed")


def _value(inside: str, names: Mapping[str, Any], shown: Callable[[Any], str]) -> str | None:
    """The replacement; None if the braces are literal."""
    if not inside.strip():
        return None
    expression, conversion, spec = _parts(inside)
    tree = _tree(expression)
    if tree is None:
        if re.match(r"\s*[\"'\d\[\](){}]", inside):
            return None  # data, such as {"a": b}
        raise _problem(inside, "it is not an expression")
    if not any(isinstance(node, ast.Name) for node in ast.walk(tree)):
        return None
    if any(isinstance(node, _NOT_SIMPLE) for node in ast.walk(tree)):
        raise _problem(inside, "only simple expressions can be inserted; assign it to a variable first")
    value = _evaluated(tree, inside, names)
    if conversion or spec:
        return _formatted(value, conversion, spec, inside)
    return shown(value)


def _parts(inside: str) -> tuple[str, str, str]:
    """Expression, conversion and format; a colon inside brackets or quotes belongs to the expression."""
    if _tree(inside) is None:
        for place in (number for number, sign in enumerate(inside) if sign in "!:"):
            found = _FORMAT.fullmatch(inside, place)
            if found and _tree(inside[:place]) is not None:
                return inside[:place], found[1] or "", found[2] or ""
    return inside, "", ""


def _tree(expression: str) -> ast.Expression | None:
    try:
        return ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _evaluated(tree: ast.Expression, inside: str, names: Mapping[str, Any]) -> Any:
    try:
        # The user's own words in the user's own kernel: the braces contain an expression of that cell.
        return eval(compile(tree, "<question>", "eval"), dict(names))  # nosec B307
    except NameError as error:
        name = getattr(error, "name", None) or inside.strip()
        close = difflib.get_close_matches(str(name), [one for one in names if not one.startswith("_")], n=1)
        meant = f" Did you mean {close[0]}?" if close else ""
        raise _problem(inside, f"there is no variable {name}.{meant}".rstrip(".")) from None
    except Exception as error:  # anything that the user's own objects raise
        raise _problem(inside, f"{type(error).__name__}: {error}") from error


def _formatted(value: Any, conversion: str, spec: str, inside: str) -> str:
    try:
        converted = _CONVERSIONS[conversion](value) if conversion else value
        return format(converted, spec[1:])
    except Exception as error:  # a format that does not fit the value
        raise _problem(inside, f"{type(error).__name__}: {error}") from error


def _problem(inside: str, reason: str) -> MagicError:
    return MagicError(
        "variable", f"{{{inside.strip()}}} cannot be inserted: {reason}. Nothing was sent.", hint=_LITERAL_HINT
    )
