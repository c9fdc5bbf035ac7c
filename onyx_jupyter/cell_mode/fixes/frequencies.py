"""Frequency names that pandas no longer accepts: `resample("M")` becomes `resample("ME")`, as its error suggests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from onyx_jupyter.cell_mode.fixes.imports import parsed
from onyx_jupyter.cell_mode.fixes.source_edits import rewritten

_INVALID = re.compile(r"^ValueError: Invalid frequency: (?P<written>[\w-]+)")
_INSTEAD = re.compile(
    r"'(?P<old>[\w-]+)' is no longer supported for offsets\. Please use '(?P<new>[\w-]+)'"
    r"|Invalid frequency: (?P<wrong>[\w-]+)\. Did you mean (?P<meant>[\w-]+)\?"
)
_FUNCTIONS = frozenset(["asfreq", "ceil", "date_range", "floor", "Grouper", "period_range", "resample", "round"])
_KEYWORDS = ("freq", "rule")


def with_new_frequency(source: str, error: str) -> str:
    """The cell with the new name wherever the old one is a frequency; unchanged if the error names none."""
    written, instead = _INVALID.match(error), _INSTEAD.search(error)
    if written is None or instead is None:
        return source
    before = written["written"]
    old, new = (instead["old"], instead["new"]) if instead["old"] else (instead["wrong"], instead["meant"])
    after = before.removesuffix(old) + new
    while after != before and (found := next(_frequencies(source, before), None)) is not None:
        source = rewritten(source, found, repr(after))
    return source


def _frequencies(source: str, written: str) -> Iterator[ast.Constant]:
    for node in ast.walk(parsed(source)):
        match node:
            case ast.Call(
                func=ast.Attribute(attr=name) | ast.Name(id=name), args=[ast.Constant(value=value) as given, *_]
            ) if name in _FUNCTIONS and value == written:
                yield given
            case ast.keyword(arg=name, value=ast.Constant(value=value) as given) if (
                name in _KEYWORDS and value == written
            ):
                yield given
