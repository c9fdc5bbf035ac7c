"""Corrects column names in a cell to those of the table: small models get blanks, capitals and signs wrong.

It changes only a text that differs from exactly one column by such characters, and no names that the cell introduces.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from onyx_jupyter.cell_mode.facts import NotebookFacts

_SIGNS = re.compile(r"[\W_]+")


def with_exact_columns(source: str, facts: NotebookFacts) -> str:
    """The cell with corrected names; unchanged if it is not Python."""
    columns = [column.name for frame in facts.frames for column in frame.columns]
    plain: dict[str, set[str]] = {}
    for name in columns:
        plain.setdefault(_plain(name), set()).add(name)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return source
    lines = source.encode().splitlines(keepends=True)  # ast counts columns in UTF-8 bytes
    for text in sorted(set(_texts(tree)), key=lambda one: (one.lineno, one.col_offset), reverse=True):
        written = str(text.value)
        meant = plain.get(_plain(written), set()) if written not in columns else set()
        if len(meant) == 1 and text.lineno == text.end_lineno:
            line = lines[text.lineno - 1]
            lines[text.lineno - 1] = line[: text.col_offset] + repr(*meant).encode() + line[text.end_col_offset :]
    return b"".join(lines).decode()


def _texts(tree: ast.AST) -> Iterator[ast.Constant]:
    """Every string in brackets or in a call, except for parts of f-strings, which have no position of their own."""
    formatted = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript | ast.Call):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in formatted:
                    yield part


def _plain(name: str) -> str:
    return _SIGNS.sub("", name).lower()
