"""Removes code and comments that load a missing file into a name that already exists in the kernel."""

from __future__ import annotations

import ast
import posixpath
import re

from onyx_jupyter.cell_mode.facts import NotebookFacts
from onyx_jupyter.cell_mode.fixes.imports import parsed

_COMMENT = re.compile(
    r"^# *(?:\w+ = pd\.read_\w+\(|(?:load|read|assum)(?:e|ing)?\b.*(?:data|table|load|file|kernel))", re.I
)
_GAP = re.compile(r"\n{3,}")


def without_needless_loads(source: str, facts: NotebookFacts) -> str:
    """The table in the kernel is the one that is meant; an existing file beside the notebook is still read."""
    tables = {frame.name for frame in facts.frames if not frame.read}
    left_out = {
        number
        for statement in parsed(source).body
        if _loads(statement, tables, facts.files)
        for number in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    }
    if tables and not any(quotes in source for quotes in ('"""', "'''")):  # in a long string this is no comment
        comments = enumerate(source.split("\n"), 1)
        left_out |= {number for number, line in comments if _COMMENT.match(line)}
    kept = [line for number, line in enumerate(source.split("\n"), 1) if number not in left_out]
    return _GAP.sub("\n\n", "\n".join(kept)).strip("\n") if left_out else source


def _loads(statement: ast.stmt, tables: set[str], files: tuple[str, ...]) -> bool:
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Attribute(attr=reader), args=[ast.Constant(value=str(path)), *_]),
        ):
            return name in tables and reader.startswith("read_") and posixpath.basename(path) not in files
    return False
