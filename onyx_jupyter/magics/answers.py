"""The formats that an answer can be requested in: text, JSON by a schema, a table."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from onyx_jupyter.magics.tables import AnswerFormatError, as_frame, first_table

_FENCE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[^\s`]*)[^\n]*\n(?P<code>.*?)^ {0,3}(?P=fence)", re.M | re.S
)
_PYTHON = ("python", "py", "python3", "ipython", "ipython3")


@dataclass(frozen=True)
class AnswerFormat:
    """The type of value for the variable. `schema` is a JSON schema, or None for any JSON."""

    kind: Literal["str", "json", "frame"] = "str"
    schema: Mapping[str, Any] | None = None

    @property
    def instruction(self) -> str:
        """What the model is told in addition to the question; empty for text."""
        if self.kind == "frame":
            return "Answer with one Markdown table and nothing else: a header row, then a row for each record."
        if self.kind == "json":
            fits = f" that fits this JSON schema: {json.dumps(self.schema)}" if self.schema is not None else ""
            return f"Answer with JSON and nothing else{fits}"
        return ""

    def read(self, text: str) -> Any:
        """The value. Raises: AnswerFormatError if the answer has another shape."""
        if self.kind == "frame":
            return as_frame(first_table(text))
        return _json(text, self.schema) if self.kind == "json" else text.strip()

    def repair(self, error: AnswerFormatError) -> str:
        """The message sent once if an answer could not be read."""
        return f"Your answer could not be read: {error}. {self.instruction}"


def code_of(text: str) -> str:
    """The Python of an answer: its Python blocks, else those without a language, joined in order; may be empty."""
    blocks = [(found["language"].casefold(), found["code"].rstrip()) for found in _FENCE.finditer(text)]
    for wanted in (_PYTHON, ("",)):
        chosen = [code for language, code in blocks if language in wanted]
        if chosen:
            return "\n\n".join(chosen)
    return ""


def _json(text: str, schema: Mapping[str, Any] | None) -> Any:
    reasons: list[str] = []
    for candidate in _candidates(text):
        try:
            value = json.loads(candidate)
        except ValueError as error:
            reasons.append(f"it is not valid JSON ({error})")
            continue
        problem = _misfit(value, schema)
        if problem is None:
            return value
        reasons.append(problem)
    raise AnswerFormatError(reasons[0] if reasons else "it contains no JSON")


def _candidates(text: str) -> Sequence[str]:
    """Where the JSON may be: alone, in a fenced block, or after some words."""
    found = [text.strip(), *(match["code"] for match in _FENCE.finditer(text))]
    begin = re.search(r"[{\[]", text)
    if begin:
        try:
            _, end = json.JSONDecoder().raw_decode(text, begin.start())
            found.append(text[begin.start() : end])
        except ValueError:
            pass
    return found


def _misfit(value: Any, schema: Mapping[str, Any] | None) -> str | None:
    if schema is None:
        return None
    import fastjsonschema

    try:
        fastjsonschema.validate(dict(schema), value)
    except fastjsonschema.JsonSchemaValueException as error:
        return str(error.message).replace("data", "the value", 1)
    return None
