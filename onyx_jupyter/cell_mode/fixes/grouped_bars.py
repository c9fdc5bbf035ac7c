"""Bars of equal height, the mean of the whole column, although the mean of each group is meant."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from onyx_jupyter.cell_mode.fixes.imports import bound_names, parsed
from onyx_jupyter.cell_mode.fixes.source_edits import rewritten, text_of

_BARS = ("bar", "barh")
_OF_ALL = ("mean", "median", "sum", "min", "max")
_NAME = "by_group"


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
