"""Detects cells that make something up: data although there is some, or a result that is only printed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from onyx_jupyter.cell_mode.fixes.imports import parsed, used_names
from onyx_jupyter.cell_mode.named_columns import named_columns
from onyx_jupyter.cell_mode.notebook_facts import NotebookFacts

_WANTS_NEW = re.compile(
    r"\b(?:new|creat\w*|mak(?:e|es|ing)|generat\w*|simulat\w*|replac\w*|overwrit\w*|reset\w*|random\w*|example|"
    r"dummy|fake|synthetic|toy|load\w*|read\w*|dice|coins?|monte carlo)\b",
    re.IGNORECASE,
)
# As in the list of a kernel's variables: `n_customers (int): 1200`. None of these holds rows.
_SCALAR = re.compile(r"^(?P<name>\w+) \((?:int|float|str|bool|numpy\.\w+?\d+)\)")
_RANDOM_NAMES = frozenset(["random", "default_rng", "RandomState"])
# At least this many numbers in a cell are data rather than bounds or settings.
_FEW = 3
_PRINTING = ("print", "display")
_PRINT = re.compile(r"\b(?:prints?|says?|write|hello)\b", re.IGNORECASE)


def fabricates_data(source: str, facts: NotebookFacts, request: str) -> bool:
    """Whether the cell replaces a table with made-up data, or computes only from such.

    Never if the request is about making or reading data, or contains the numbers itself.
    """
    if not facts.frames or _WANTS_NEW.search(request):
        return False
    tree = parsed(source)
    kept = {frame.name for frame in facts.frames if not frame.read}
    if any(_replaces(statement, kept) for statement in tree.body):
        return True
    if {*used_names(tree)} & _with_rows(facts) or _reads_a_file(tree):
        return False
    return _is_random(tree) or (_is_written_out(tree) and len(re.findall(r"\d+", request)) < _FEW)


def mentions_table(facts: NotebookFacts, request: str) -> bool:
    """Whether the request mentions a known table or column, in any spelling (`monthly fee`)."""
    names = (name for frame in facts.frames for name in (frame.name, *(column.name for column in frame.columns)))
    return bool(named_columns(tuple(names), request))


def _replaces(statement: ast.stmt, tables: set[str]) -> bool:
    """True for `df = pd.DataFrame({…})`; `df = df.dropna()` and `df = sales` keep the table."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            return bool(names & tables) and tables.isdisjoint(used_names(value)) and _is_made_up(value)
    return False


def _is_made_up(value: ast.AST) -> bool:
    """Whether it is written out in the cell: a table of literals, or a literal itself."""
    match value:
        case ast.Call(func=ast.Attribute(attr="DataFrame" | "from_dict" | "from_records")):
            return True
        case ast.Dict() | ast.List() | ast.Tuple() | ast.Set() | ast.Constant():
            return True
    return False


def _with_rows(facts: NotebookFacts) -> set[str]:
    """The names that may hold data: all in the kernel except single values, modules and random generators."""
    scalars = {found["name"] for line in facts.variables if (found := _SCALAR.match(line))}
    made: set[str] = set()
    for cell in facts.cells:
        if cell.has_run and cell.type == "code":
            made |= {name for statement in ast.walk(parsed(cell.source)) for name in _named_with_rows(statement)}
    return ({frame.name for frame in facts.frames} | made | _names_of(facts.variables)) - scalars


def _named_with_rows(statement: ast.AST) -> Iterable[str]:
    match statement:
        case ast.FunctionDef(name=name):
            return [name]
        case ast.Assign(targets=targets, value=value) if not isinstance(value, ast.Constant) and not _creates_generator(
            value
        ):
            return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return []


def _creates_generator(value: ast.AST) -> bool:
    """`np.random.default_rng(7)` itself; the numbers drawn from it are the user's data."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _RANDOM_NAMES


def _names_of(variables: Iterable[str]) -> set[str]:
    return {line.partition(" ")[0].rstrip(":") for line in variables}


def _is_random(tree: ast.AST) -> bool:
    return any(
        (isinstance(node, ast.Attribute) and node.attr in _RANDOM_NAMES)
        or (isinstance(node, ast.Name) and node.id in (*_RANDOM_NAMES, "rng") and isinstance(node.ctx, ast.Load))
        for node in ast.walk(tree)
    )


def _is_written_out(tree: ast.Module) -> bool:
    """Whether a table of literals, or a row of numbers, is assigned."""
    return any(
        isinstance(node, ast.Assign)
        and _is_made_up(node.value)
        and sum(isinstance(one, ast.Constant) and isinstance(one.value, int | float) for one in ast.walk(node.value))
        >= _FEW
        for node in ast.walk(tree)
    )


def _reads_a_file(tree: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Attribute) and node.func.attr.startswith(("read", "load")))
            or (isinstance(node.func, ast.Name) and node.func.id == "open")
        )
        for node in ast.walk(tree)
    )


def only_claims(source: str, request: str) -> bool:
    """Whether the cell computes nothing, and printing text was not requested. False if it is not Python."""
    statements = parsed(source).body
    return bool(statements) and not _PRINT.search(request) and all(_is_claim(one) for one in statements)


def _is_claim(statement: ast.stmt) -> bool:
    """An import, or a print of literal text."""
    match statement:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str())])):
            return name in _PRINTING
    return False
