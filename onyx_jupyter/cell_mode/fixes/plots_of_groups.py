"""Plots that mean the groups of a table: as bars, which the cell draws of equal height, and as coloured points."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from onyx_jupyter.cell_mode.fixes.imports import bound_names, parsed
from onyx_jupyter.cell_mode.fixes.source_edits import rewritten, text_of

_BARS = ("bar", "barh")
_OF_ALL = ("mean", "median", "sum", "min", "max")
_NAME = "by_group"
_REFUSED = re.compile(r"^ValueError: 'c' argument must be a color")
_OF_COLOURS = ("cmap", "label", "norm", "vmin", "vmax")


def of_each_group(source: str, known: Iterable[str]) -> str:
    """Turns `plt.bar(t["g"], t["x"].mean())` into bars of `t.groupby("g")["x"].mean()`.

    A bar for each row is never meant. Doesn't overwrite a variable of the cell, or of the kernel (`known`).
    """
    if _NAME in {*bound_names(source), *known}:
        return source
    for statement in parsed(source).body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=kind), args=[groups, height, *_]) as call) if (
                kind in _BARS
            ):
                if grouped := _grouped(source, groups, height):
                    bars = text_of(source, call)
                    bars = bars.replace(text_of(source, height), _NAME, 1)
                    bars = bars.replace(text_of(source, groups), f"{_NAME}.index", 1)
                    return rewritten(source, call, f"{_NAME} = {grouped}\n{bars}")
    return source


def _grouped(source: str, groups: ast.expr, height: ast.expr) -> str:
    """Empty unless the height is a single value of a column in the table of the groups."""
    match (groups, height):
        case (
            ast.Subscript(value=ast.Name(id=table), slice=group),
            ast.Call(func=ast.Attribute(value=ast.Subscript(value=ast.Name(id=same), slice=column), attr=how), args=[]),
        ) if table == same and how in _OF_ALL:
            return f"{table}.groupby({text_of(source, group)})[{text_of(source, column)}].{how}()"
    return ""


def by_groups(source: str, error: str) -> str:
    """`plt.scatter(t[x], t[y], c=t[g])` as a loop over the groups of g; the source unchanged if that doesn't fit."""
    if not _REFUSED.match(error):
        return source
    for statement in parsed(source).body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="scatter"), args=[x, y]) as call):
                loop = _loop(source, call, x, y)
                if loop:
                    return _with_legend(rewritten(source, call, loop), text_of(source, call.func))
    return source


def _loop(source: str, call: ast.Call, x: ast.expr, y: ast.expr) -> str:
    """Empty unless the coordinates and the colour are columns of one table."""
    given = {one.arg: one.value for one in call.keywords if one.arg}
    match (x, y, given.pop("c", None)):
        case (
            ast.Subscript(value=ast.Name(id=table), slice=of_x),
            ast.Subscript(value=ast.Name(id=same), slice=of_y),
            ast.Subscript(value=ast.Name(id=again), slice=group),
        ) if table == same == again:
            kept = [f"{name}={text_of(source, value)}" for name, value in given.items() if name not in _OF_COLOURS]
            points = [f"rows[{text_of(source, one)}]" for one in (of_x, of_y)]
            return (
                f"for name, rows in {table}.groupby({text_of(source, group)}):\n"
                f"    {text_of(source, call.func)}({', '.join([*points, *kept, 'label=name'])})"
            )
    return ""


def _with_legend(source: str, scatter: str) -> str:
    """Adds the line that shows the legend, before the one that shows the plot."""
    legend = f"{scatter.removesuffix('.scatter')}.legend()"
    if legend in source:
        return source
    before, show, after = source.partition("plt.show()")
    return f"{before}{legend}\n{show}{after}" if show else f"{source.rstrip()}\n{legend}"
