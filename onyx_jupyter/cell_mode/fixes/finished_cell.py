"""Corrects a Python cell before it is proposed, without asking the model again."""

from __future__ import annotations

import ast
import posixpath
import re

from onyx_jupyter.cell_mode.fixes.imports import missing_imports, parsed, without_unused_imports
from onyx_jupyter.cell_mode.fixes.names import with_exact_columns, with_values, without_signs
from onyx_jupyter.cell_mode.fixes.plots_of_groups import of_each_group
from onyx_jupyter.cell_mode.fixes.source_edits import rewritten, text_of
from onyx_jupyter.cell_mode.notebook_facts import NotebookFacts
from onyx_jupyter.cell_mode.plots import draw_on_current_figure
from onyx_jupyter.cell_mode.turn import Turn

_COMMENT = re.compile(
    r"^# *(?:\w+ = pd\.read_\w+\(|(?:load|read|assum)(?:e|ing)?\b.*(?:data|table|load|file|kernel))", re.I
)
_GAP = re.compile(r"\n{3,}")
_HOW_MANY = re.compile(r"\bhow many\b", re.IGNORECASE)


def finished(source: str, turn: Turn, facts: NotebookFacts, *, begun: str) -> str:
    """The cell, which continues `begun`, with corrected column names and missing imports."""
    known = facts.known_names()
    asked = "\n".join([*(one.request for one in turn.earlier[-1:]), turn.request])
    source = without_unused_imports(without_signs(source), facts.lacking)
    source = without_needless_loads(source, facts)
    source = draw_on_current_figure(of_each_group(counted(source, asked), known))
    source = with_exact_columns(with_values(source, known), facts)
    lines = [begun, *missing_imports(source, known), source.removeprefix(begun).lstrip("\n")]
    return "\n".join(line for line in lines if line)


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


def counted(source: str, requests: str) -> str:
    """The cell with `(t["x"] == 2).sum()` if its last line only shows `t["x"] == 2`.

    `requests` are the user's words, including those before a short "and in 2008?".
    """
    body = parsed(source).body
    if not body or not _HOW_MANY.search(requests):
        return source
    match body[-1]:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[shown], keywords=[])):
            condition = shown
        case ast.Expr(value=condition):
            pass
        case _:
            return source
    if not _is_of_rows(condition):
        return source
    return rewritten(source, condition, f"({text_of(source, condition)}).sum()")


def _is_of_rows(node: ast.expr) -> bool:
    """Whether it is a comparison of a table's column, or several of them combined."""
    match node:
        case ast.Compare(left=ast.Subscript(slice=ast.Constant(value=str())) | ast.Attribute(), ops=[op]):
            return not isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
            return _is_of_rows(left) and _is_of_rows(right)
    return False
