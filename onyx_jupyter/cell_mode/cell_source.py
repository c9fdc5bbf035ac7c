"""The cell that stands in a model's answer: found, completed with the lines that read its table, and checked."""

from __future__ import annotations

import ast
import re

from onyx_jupyter.cell_mode.facts import NotebookFacts

_BLOCK = re.compile(r"```[ \t]*[\w+#.{}-]*[ \t]*\r?\n(.*?)(?:(?:^|\n)```|\Z)", re.I | re.M | re.S)
_MAGIC = re.compile(r"^\s*[%!?]")


def reading_lines(facts: NotebookFacts) -> str:
    """What each cell about a file begins with, so that its name and its columns' names are written rightly."""
    return "\n".join(frame.read for frame in facts.frames if frame.read)


def cell_of(answer: str, begun: str) -> str:
    """The cell, whether or not the model said once more what was said for it; empty where the answer has none."""
    blocks = _BLOCK.findall(answer)
    code = blocks[0] if blocks else answer
    lines = [line for line in begun.splitlines() if line.strip()]
    rest = code.strip("\n").splitlines()
    while rest and lines and rest[0].strip() in {line.strip() for line in lines}:
        rest.pop(0)
    body = "\n".join(rest).strip("\n").rstrip()
    return f"{begun}\n{body}".strip("\n") if body.strip() else ""


def problem_in(source: str) -> str | None:
    """Why the cell cannot run at all, as Python says it; lines of magics are left out. None where it can."""
    plain = "\n".join("pass" if _MAGIC.match(line) else line for line in source.splitlines())
    if source.lstrip().startswith("%%"):
        return None
    try:
        ast.parse(plain)
    except SyntaxError as error:
        return f"SyntaxError: {error.msg} (line {error.lineno})"
    except (ValueError, MemoryError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return None
