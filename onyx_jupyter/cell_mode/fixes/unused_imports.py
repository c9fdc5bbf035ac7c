"""Removes unused imports of missing packages, so that the cell runs."""

from __future__ import annotations

import ast
from collections.abc import Collection

from onyx_jupyter.cell_mode.fixes.imports import parsed


def without_unused_imports(source: str, packages: Collection[str]) -> str:
    """Removes top-level lines that only import unused names from these packages."""
    tree = parsed(source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    needless = [one for one in tree.body if _is_of(one, packages) and not _names(one) & used]
    shared = {one.lineno for one in tree.body if one not in needless}
    gone = {line for one in needless for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)} - shared
    return "\n".join(line for number, line in enumerate(source.split("\n"), 1) if number not in gone)


def _is_of(statement: ast.stmt, packages: Collection[str]) -> bool:
    match statement:
        case ast.Import(names=names):
            return all(one.name.partition(".")[0] in packages for one in names)
        case ast.ImportFrom(module=str(module), names=names, level=0):
            return module.partition(".")[0] in packages and names[0].name != "*"
    return False


def _names(statement: ast.stmt) -> set[str]:
    """The names that it binds."""
    match statement:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {(one.asname or one.name).partition(".")[0] for one in names}
    return set()
