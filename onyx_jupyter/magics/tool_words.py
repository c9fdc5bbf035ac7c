"""A tool call as one line of Markdown, made from its label."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.action_words import verb_of
from onyx_jupyter.messages import first_line
from onyx_jupyter.security.visible_characters import with_marks

_CHARS = 80


@dataclass(frozen=True)
class ToolWords:
    """`Ran` and `ls -la`; code is set in the code font."""

    verb: str
    object: str
    is_code: bool

    @property
    def markdown(self) -> str:
        shown = code(self.object) if self.is_code and self.object else escaped(self.object)
        return f"{self.verb} {shown}".rstrip()


def describe_call(
    tool: str, label: Mapping[str, Any] | None, arguments: Mapping[str, Any], *, is_over: bool
) -> ToolWords:
    """What the call does, or did if it is over; a call without a known label is shown by its name."""
    verb = verb_of(label["action"], label.get("count"), is_over=is_over) if label else None
    if label is None or verb is None:
        value = next((value for value in arguments.values() if isinstance(value, str)), "")
        return ToolWords(_plain(tool), _shown(value), False)
    return ToolWords(verb, _shown(label.get("object", "")), label.get("objectKind") == "code")


def _shown(text: str) -> str:
    return with_marks(first_line(text, _CHARS))


def _plain(tool: str) -> str:
    return tool.replace("_", " ").capitalize()


def code(text: str) -> str:
    """Text as inline code, whatever backticks it contains."""
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    space = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def block(text: str, language: str = "") -> str:
    """Text as a fenced block, whatever fences it contains."""
    ticks = "`" * max(3, max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def escaped(text: str) -> str:
    """Text without special meaning in Markdown or HTML."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|$~])", r"\\\1", text)
