"""The cell that stands in a model's answer: found, completed with the lines that read its table, and checked."""

from __future__ import annotations

import ast
import re

from onyx_jupyter.cell_mode.facts import PYTHON, NotebookFacts
from onyx_jupyter.cell_mode.imports import parsed
from onyx_jupyter.cell_mode.plots import PLOT_IMPORT, wants_plot

_BLOCK = re.compile(r"```[ \t]*[\w+#.{}-]*[ \t]*\r?\n(.*?)(?:(?:^|\n)```|\Z)", re.I | re.M | re.S)
_WHOLE_BLOCK = re.compile(r"```[^\n`]*\n(?:.*?\n)?```", re.S)
# Of a whole cell (`%%`) only where it begins it: further down it is no Python, and nothing else.
_MAGIC = re.compile(r"^\s*(?:%(?!%)|[!?])")


def opening_lines(facts: NotebookFacts, request: str) -> str:
    """What a cell begins with: the lines that read its file, so that all names are right, and the import for a plot."""
    lines = [frame.read for frame in facts.frames if frame.read]
    if facts.language == PYTHON and wants_plot(request):
        lines.append(PLOT_IMPORT)
    return "\n".join(lines)


def has_block(answer: str) -> bool:
    """Whether there is a block of code in the answer, be it one that has not ended."""
    return _BLOCK.search(answer) is not None


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


def has_whole_block(answer: str) -> bool:
    """Whether its block ends, so that what was cut off behind it is no part of the cell."""
    return _WHOLE_BLOCK.search(answer) is not None


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


def is_code(answer: str) -> bool:
    """Whether words were asked for and Python came: an assignment or a call. A name or a number alone is an answer."""
    return any(isinstance(node, ast.Assign | ast.Call | ast.Import) for node in ast.walk(parsed(answer.strip())))
