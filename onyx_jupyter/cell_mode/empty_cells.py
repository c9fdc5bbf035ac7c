"""Cells that only look like an answer: they just print literal text, which is invented."""

from __future__ import annotations

import ast
import re

from onyx_jupyter.cell_mode.fixes.imports import parsed

_PRINTING = ("print", "display")
_PRINT = re.compile(r"\b(?:prints?|says?|write|hello)\b", re.IGNORECASE)


def only_claims(source: str, request: str) -> bool:
    """Whether the cell computes nothing, and printing text was not requested. False if it is not Python."""
    statements = parsed(source).body
    return bool(statements) and not _PRINT.search(request) and all(_is_claim(one) for one in statements)


def _is_claim(statement: ast.stmt) -> bool:
    """An import, or a print of literal text."""
    match statement:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str())])):
            return name in _PRINTING
    return False
