"""Parses `NAME key=value …` into a skill's parameters. The server validates them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.arguments import closing, literal

_TEXTS = ("string", "path", "choice")
_KEY = re.compile(r"([A-Za-z_]\w*)\s*=\s*")


def parse_call(text: str) -> tuple[str, dict[str, str]]:
    """The skill's name, and each value as it was written. Raises: MagicError (usage)."""
    name, _, rest = text.strip().partition(" ")
    if not name:
        raise MagicError("usage", "%onyx skill needs the name of a skill.", hint=_HINT)
    given: dict[str, str] = {}
    place = 0
    while (place := place + len(rest[place:]) - len(rest[place:].lstrip())) < len(rest):
        found = _KEY.match(rest, place)
        if found is None:
            raise MagicError(
                "usage", f"{rest[place:].split()[0]!r} is not a key=value argument of the skill {name}.", hint=_HINT
            )
        if found[1] in given:
            raise MagicError("usage", f"{found[1]} is given twice.")
        end = _end(rest, found.end(), found[1])
        given[found[1]] = rest[found.end() : end]
        place = end
    return name, given


def values(
    given: Mapping[str, str], fields: Sequence[Mapping[str, Any]], evaluated: Callable[[str], Any]
) -> dict[str, Any]:
    """Each value by its field's type: a text unchanged, else JSON or a Python literal; `{name}` is a variable.

    `evaluated` returns a variable's value. Raises: MagicError (variable).
    """
    types = {field["name"]: field["type"] for field in fields}
    return {name: _value(text, types.get(name, "any"), evaluated) for name, text in given.items()}


def _value(text: str, kind: str, evaluated: Callable[[str], Any]) -> Any:
    if re.fullmatch(r"\{\s*[A-Za-z_][^:{}]*\}", text):
        return _plain(evaluated(text[1:-1].strip()))
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    if kind in _TEXTS:
        return text
    try:
        return literal({"True": "true", "False": "false", "None": "null"}.get(text, text))
    except ValueError:
        return text  # the server says what it expects there


def _plain(value: Any) -> Any:
    """The value for the wire: numpy's numbers and paths have no JSON form of their own."""
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


def _end(text: str, place: int, name: str) -> int:
    first = text[place : place + 1]
    if first in ("'", '"'):
        end = text.find(first, place + 1)
        if end < 0:
            raise MagicError("usage", f"The value of {name} starts with {first} but is never closed.")
        return end + 1
    if first in ("{", "["):
        return closing(text, place, name)
    return place + len(text[place:].split(None, 1)[0]) if text[place : place + 1].strip() else place


_HINT = 'For example: %onyx skill profile-table path=data.csv columns=["a", "b"] rows={n}'
