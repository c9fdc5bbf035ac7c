"""Whether a request wants a plot, and whether a cell draws one in the right figure."""

from __future__ import annotations

import ast
import builtins
import re

from onyx_jupyter.cell_mode.fixes.imports import parsed
from onyx_jupyter.cell_mode.fixes.source_edits import rewritten, text_of

PLOT_IMPORT = "import matplotlib.pyplot as plt"
_DRAWING_WORDS = "plt pyplot matplotlib sns seaborn px go plotly alt altair hv holoviews bokeh ax axes axs fig figure"
_DRAWING = frozenset(_DRAWING_WORDS.split())
_DRAWN_BY_TABLES = frozenset(["plot", "hist", "boxplot"])
_MATPLOTLIB = ("plt", "ax", "axes", "axs", "figure", "fig")
_WANTED = re.compile(
    r"\b(?:plots?|draw|visuali[sz]e|histograms?|(?:bar|line|pie|scatter|box)[ -]?(?:charts?|plots?|graphs?)|charts?"
    r"|scatter|heat ?map|colou?r (?:the|them|it|by)|legend|(?:x|y)[- ]axis|axis label)\b",
    re.IGNORECASE,
)


def wants_plot(request: str) -> bool:
    """Decided by its words; a question about an existing plot ("explain the plot") never asks for a cell."""
    return _WANTED.search(request) is not None


def draws(source: str) -> bool:
    """Whether anything in the cell may draw; calls of user-defined functions may."""
    for node in ast.walk(parsed(source)):
        match node:
            case ast.Name(id=name) if name in _DRAWING:
                return True
            case ast.Attribute(attr=name) if name in _DRAWN_BY_TABLES:
                return True
            case ast.Call(func=ast.Name(id=name)) if not hasattr(builtins, name):
                return True
    return False


def draw_on_current_figure(source: str) -> str:
    """After `plt.figure(...)`, makes a table's own plot use it; otherwise pandas opens another and leaves it empty."""
    tree = parsed(source)
    made = [
        one.lineno
        for one in tree.body
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and _dotted(one.value.func) == "plt.figure"
    ]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not _is_table_plot(node) or any(one.arg == "ax" for one in node.keywords):
            continue
        if made and made[0] < node.lineno:
            given = [text_of(source, one) for one in node.args]
            named = [f"{one.arg}={text_of(source, one.value)}" for one in node.keywords if one.arg]
            call = f"{text_of(source, node.func)}({', '.join([*given, *named, 'ax=plt.gca()'])})"
            return rewritten(source, node, call)
    return source


def _is_table_plot(call: ast.Call) -> bool:
    """Whether it is `x.plot(...)` or `x.plot.bar(...)`, and x is not matplotlib's."""
    match call.func:
        case ast.Attribute(attr="plot", value=receiver):
            return _root(receiver) not in _MATPLOTLIB
        case ast.Attribute(value=ast.Attribute(attr="plot", value=receiver)):
            return _root(receiver) not in _MATPLOTLIB
    return False


def _root(node: ast.expr) -> str:
    """The name at the start of an expression: `axes` of `axes[0].plot`."""
    while True:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return ""


def _dotted(node: ast.expr) -> str:
    """`plt.figure`; empty for anything but names and dots."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inner, attr=name):
            return f"{_dotted(inner)}.{name}" if _dotted(inner) else ""
    return ""
