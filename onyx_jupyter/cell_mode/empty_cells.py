"""Cells that look like an answer and are none: they only print words that stand in them, which are invented."""

from __future__ import annotations

import ast
import re

from onyx_jupyter.cell_mode.imports import parsed

_SAYS = ("print", "display")
_PRINT = re.compile(r"\b(?:prints?|says?|write|hello)\b", re.IGNORECASE)


def only_claims(source: str, request: str) -> bool:
    """Whether nothing in the cell computes, and nobody asked for words to be printed. False where it is no Python."""
    statements = parsed(source).body
    return bool(statements) and not _PRINT.search(request) and all(_is_claim(one) for one in statements)


def _is_claim(statement: ast.stmt) -> bool:
    """An import, or a print of words."""
    match statement:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str())])):
            return name in _SAYS
    return False
