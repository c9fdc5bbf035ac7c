"""One widget for each parameter of a skill, and the value that the user entered."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.magics.arguments import literal
from onyx_jupyter.magics.widget_library import note, widgets

_TEXTS = ("string", "path")
_LEFT_OUT = object()


class FieldProblem(Exception):
    """An invalid value; the message names the field."""


@dataclass(frozen=True)
class FormField:
    """`widget` is for the input, `words` is the skill's description of it; the value may be the skill's own default."""

    name: str
    widget: Any
    words: str
    _read: Callable[[], Any]

    @property
    def row(self) -> Any:
        """The widget with its description next to it."""
        library = widgets()
        return library.HBox([self.widget, library.HTML(note(self.words))])

    def value(self) -> dict[str, Any]:
        """`{name: value}`, or `{}`. Raises: FieldProblem."""
        value = self._read()
        return {} if value is _LEFT_OUT else {self.name: value}


def form_field(field: Mapping[str, Any]) -> FormField:
    """The widget for the field's type: a checkbox, a list of choices, or a line of text."""
    library = widgets()
    name, kind, words = field["name"], field["type"], field["description"]
    layout = {
        "description": name,
        "tooltip": words or name,
        "style": {"description_width": "110px"},
        "layout": library.Layout(width="420px"),
    }
    plain = not field["nullable"] and field["hasDefault"]
    if kind == "boolean" and plain and isinstance(field["default"], bool):
        tick = library.Checkbox(value=field["default"], **layout)
        return FormField(name, tick, words, lambda: tick.value)
    if kind == "choice" and field["choices"] and not field["nullable"]:
        first = field["default"] if field["default"] in field["choices"] else field["choices"][0]
        menu = library.Dropdown(options=field["choices"], value=first, **layout)
        return FormField(name, menu, words, lambda: menu.value)
    begins = _as_text(field)
    hint = "required" if field["required"] else ""
    line = library.Text(value=begins, placeholder=hint, continuous_update=False, **layout)
    return FormField(name, line, words, lambda: _from_text(line.value, begins, field))


def _as_text(field: Mapping[str, Any]) -> str:
    default = field["default"]
    if not field["hasDefault"] or default is None:
        return ""
    return default if isinstance(default, str) and field["type"] in _TEXTS else json.dumps(default, ensure_ascii=False)


def _from_text(text: str, begins: str, field: Mapping[str, Any]) -> Any:
    if text == begins and not field["required"]:
        return _LEFT_OUT
    if not text and field["required"]:
        raise FieldProblem(f"{field['name']} is required.")
    if not text and field["nullable"]:
        return None
    if field["type"] in _TEXTS:
        return text
    try:
        return literal(text)
    except ValueError as error:
        if field["type"] in ("integer", "number", "array", "object"):
            raise FieldProblem(f"{field['name']}: {text!r} is not a valid {field['type']}.") from error
        return text
