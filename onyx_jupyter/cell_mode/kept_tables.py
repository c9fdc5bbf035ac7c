"""Cells that put something made up in the place of a table that the kernel has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from onyx_jupyter.cell_mode.imports import parsed

_WANTS_NEW = re.compile(
    r"\b(?:new|creat\w*|mak(?:e|es|ing)|generat\w*|simulat\w*|replac\w*|overwrit\w*|reset\w*|random\w*|example|"
    r"dummy|fake|synthetic|toy|load\w*|read\w*)\b",
    re.IGNORECASE,
)


def makes_anew(source: str, tables: Iterable[str], request: str) -> bool:
    """Whether a line gives a table of the kernel a value of nothing that is there, as `df = pd.DataFrame({…})` does.

    `df = df.dropna()` keeps the table, and so does `df = sales`, which is another that is there. Never where the
    request speaks of making or reading one.
    """
    if _WANTS_NEW.search(request):
        return False
    kept = set(tables)
    return any(_replaces(statement, kept) for statement in parsed(source).body)


def _replaces(statement: ast.stmt, tables: set[str]) -> bool:
    match statement:
        case ast.Assign(targets=targets, value=value):
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            return bool(names & tables) and not _read(value) & tables and _is_made_up(value)
    return False


def _is_made_up(value: ast.expr) -> bool:
    """Whether it is written out in the cell: a table of literals, or a literal itself."""
    match value:
        case ast.Call(func=ast.Attribute(attr="DataFrame" | "from_dict" | "from_records")):
            return True
        case ast.Dict() | ast.List() | ast.Tuple() | ast.Set() | ast.Constant():
            return True
    return False


def _read(value: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
