"""Turns a cell that shows yes or no for each row into a count, if the question is how many."""

from __future__ import annotations

import ast
import re

from onyx_jupyter.cell_mode.fixes.imports import parsed
from onyx_jupyter.cell_mode.fixes.source_edits import rewritten, text_of

_HOW_MANY = re.compile(r"\bhow many\b", re.IGNORECASE)


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
