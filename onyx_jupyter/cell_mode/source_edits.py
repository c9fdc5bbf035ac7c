"""Where the parts of a source stand in it, and the source with one of them written otherwise."""

from __future__ import annotations

import ast


def text_of(source: str, node: ast.expr) -> str:
    """As it is written there."""
    begin, end = _span(source, node)
    return source.encode()[begin:end].decode()


def rewritten(source: str, node: ast.expr, text: str) -> str:
    """With `text` in the place of the node."""
    begin, end = _span(source, node)
    encoded = source.encode()
    return (encoded[:begin] + text.encode() + encoded[end:]).decode()


def _span(source: str, node: ast.expr) -> tuple[int, int]:
    """In bytes of UTF-8, as ast counts columns."""
    lines = source.encode().split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end_column
