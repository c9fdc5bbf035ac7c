"""How a tool call reads as one line of Markdown. It names no tool that it does not know better than it names itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.security.visible_characters import with_marks

_CHARS = 80
# How a call's result begins where the call itself failed, and not the code or command that it ran.
_FAILURE = re.compile(r"\A\w+ failed \((\w+)\): ")
# tool → (while it goes on, when it is done, the argument to name, set as code)
_WORDS: dict[str, tuple[str, str, str, bool]] = {
    "exec": ("Run", "Ran", "command", True),
    "notebook_read": ("Read", "Read", "path", False),
    "notebook_insert_cell": ("Insert a cell into", "Inserted a cell into", "path", False),
    "notebook_edit_cell": ("Edit a cell of", "Edited a cell of", "path", False),
    "notebook_run_cell": ("Run a cell of", "Ran a cell of", "path", False),
    "read": ("Read", "Read", "path", False),
    "write": ("Write", "Wrote", "path", False),
    "edit": ("Edit", "Edited", "path", False),
    "list": ("List", "Listed", "path", False),
    "search": ("Search for", "Searched for", "pattern", True),
    "web_search": ("Search the web for", "Searched the web for", "query", False),
    "web_fetch": ("Read the page", "Read the page", "url", False),
    "http_fetch": ("Request", "Requested", "url", False),
    "ask_user": ("Ask", "Asked", "question", False),
    "memory_get": ("Read", "Read", "path", False),
    "memory_write": ("Write to", "Wrote to", "path", False),
    "remember": ("Remember:", "Remembered:", "fact", False),
    "forget": ("Forget facts with", "Forgot facts with", "pattern", False),
    "sessions_search": ("Search sessions for", "Searched sessions for", "query", False),
    "plan_update": ("Plan", "Planned", "", False),
    "more_tools": ("Use", "Used", "tool", False),
}
# The same of a call that also runs the cell that it writes.
_AND_RUN: dict[str, tuple[str, str, str, bool]] = {
    "notebook_insert_cell": ("Insert and run a cell in", "Inserted and ran a cell in", "path", False),
    "notebook_edit_cell": ("Edit and run a cell of", "Edited and ran a cell of", "path", False),
}
# What such a call says first, and what it says of a cell that stays without having run.
_WRITTEN = re.compile(r"\A(?:Inserted \w+|Edited) cell \S+ .*\n")
_NOT_RUN = re.compile(_WRITTEN.pattern + r"The cell stays; running it failed \((\w+)\): ")


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


def tool_words(tool: str, arguments: Mapping[str, Any], *, is_over: bool) -> ToolWords:
    """What the call does, or did where it is over."""
    words = _AND_RUN if arguments.get("run") is True and tool in _AND_RUN else _WORDS
    doing, done, name, is_code = words.get(tool, (_plain(tool), _plain(tool), "", False))
    value = arguments.get(name) if name else next((v for v in arguments.values() if isinstance(v, str)), "")
    shown = with_marks(first_line(value if isinstance(value, str) else ""))
    return ToolWords(done if is_over else doing, shown, is_code)


def first_line(text: str) -> str:
    """The first line that says something, cut to what fits."""
    lines = (line.strip() for line in text[:4_000].split("\n"))
    line = next((line for line in lines if line and line not in ("stdout:", "stderr:")), "")
    return line if len(line) <= _CHARS else f"{line[: _CHARS - 1]}…"


def failure_of(output: str) -> str:
    """Why a call failed, in one line, without what only the model is told."""
    return first_line(_WRITTEN.sub("", _FAILURE.sub("", output)))


def never_happened(output: str) -> bool:
    """Whether a failed call was not possible, or not all of it."""
    failure = _FAILURE.match(output) or _NOT_RUN.match(output)
    return failure is not None and failure[1] != "timeout"


def code(text: str) -> str:
    """Text as inline code, whatever backticks it holds."""
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    space = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def block(text: str, language: str = "") -> str:
    """Text as a fenced block, whatever fences it holds."""
    ticks = "`" * max(3, max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def escaped(text: str) -> str:
    """Text that means nothing in Markdown or HTML."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|$~])", r"\\\1", text)


def _plain(tool: str) -> str:
    return tool.replace("_", " ").capitalize()
