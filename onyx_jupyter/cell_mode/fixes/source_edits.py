"""Locates parts of a source by their AST nodes, and replaces them."""

from __future__ import annotations

import ast


def text_of(source: str, node: ast.expr) -> str:
    """The node's text in the source."""
    begin, end = _span(source, node)
    return source.encode()[begin:end].decode()


def rewritten(source: str, node: ast.expr, text: str) -> str:
    """The source with the node replaced by `text`."""
    begin, end = _span(source, node)
    encoded = source.encode()
    return (encoded[:begin] + text.encode() + encoded[end:]).decode()


def without_argument(source: str, call: ast.Call, keyword: ast.keyword) -> str:
    """The text of the call alone, without that argument."""
    begin, end = _span(source, call)
    encoded = source.encode()
    arguments: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    spans = sorted(_span(source, one) for one in arguments)
    at = spans.index(_span(source, keyword))
    if at > 0:
        left_out = (spans[at - 1][1], spans[at][1])
    else:
        left_out = (spans[0][0], spans[1][0] if len(spans) > 1 else spans[0][1])
    return (encoded[begin : left_out[0]] + encoded[left_out[1] : end]).decode()


def _span(source: str, node: ast.expr | ast.keyword) -> tuple[int, int]:
    """The node's span in UTF-8 bytes, as ast counts columns."""
    lines = source.encode().split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end_column
