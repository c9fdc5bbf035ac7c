"""Cuts a notebook's outputs to what is useful for reading: long text shortened, pictures left out.

The browser tab does the same for the notebooks that it has open (`output_limits.ts`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

TEXT_CHARS = 20_000
TOTAL_CHARS = 2_000_000
FULL_TEXT_CHARS = 200_000
FULL_DATA_CHARS = 7_000_000


def count_chars(value: Any, enough: int) -> int:
    """The approximate length of a JSON value; counting stops once it exceeds `enough`."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        parts: Sequence[Any] = (*value.keys(), *value.values())
    elif isinstance(value, (list, tuple)):
        parts = value
    else:
        return 8
    count = 0
    for part in parts:
        count += count_chars(part, enough - count)
        if count > enough:
            break
    return count


class OutputLimits:
    """The remaining budget for all outputs of one reading; `has_shortened`: whether the last ones were shortened."""

    def __init__(self) -> None:
        self.has_shortened = False
        self._chars_left = TOTAL_CHARS

    def limited(self, outputs: Sequence[Mapping[str, Any]], *, in_full: bool) -> tuple[Mapping[str, Any], ...]:
        """Copies within the limits; outputs `in_full` keep their pictures and don't count towards the total."""
        self.has_shortened = False
        return tuple(self._object(output, in_full) for output in outputs)

    def _object(self, value: Mapping[str, Any], in_full: bool) -> dict[str, Any]:
        pairs = ((str(key), self._value(item, str(key), in_full)) for key, item in value.items())
        return {key: item for key, item in pairs if not ("/" in key and item == "")}

    def _value(self, value: Any, name: str, in_full: bool) -> Any:
        if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
            if name == "traceback":
                return [self._text("\n".join(value), name, in_full)]
            value = "".join(value)
        if isinstance(value, str):
            return self._text(value, name, in_full)
        if "/" in name:
            most = self._most(name, in_full)
            if count_chars(value, most) <= most:
                return value
            self.has_shortened = True
            return ""
        if isinstance(value, Mapping):
            return self._object(value, in_full)
        return [self._value(item, name, in_full) for item in value] if isinstance(value, list) else value

    def _text(self, text: str, name: str, in_full: bool) -> str:
        most = self._most(name, in_full)
        if not in_full:
            self._chars_left -= min(len(text), most)
        if len(text) <= most:
            return text
        self.has_shortened = True
        if _is_data(name) or not most:
            return ""
        return f"{text[:most]}\n… {len(text) - most} more characters"

    def _most(self, name: str, in_full: bool) -> int:
        if in_full:
            return FULL_DATA_CHARS if _is_data(name) else FULL_TEXT_CHARS
        return 0 if _is_data(name) else min(TEXT_CHARS, self._chars_left)


def _is_data(name: str) -> bool:
    """Whether a MIME type is a picture or program data rather than readable text."""
    return "/" in name and not name.startswith(("text/", "application/json"))
