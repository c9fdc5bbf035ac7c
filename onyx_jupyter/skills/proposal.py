"""Proposes how a notebook could become a skill: name, description, and parameters from its literal values.

It never runs or changes the notebook.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from onyx_jupyter.skills.parameter_types import ParameterType, from_value
from onyx_jupyter.skills.parameters import literal
from onyx_jupyter.skills.skill import MAX_NAME_CHARS, SkillProblem, checked_name

MAX_PROPOSED = 12
MAX_VALUE_CHARS = 200
DESCRIPTION_CHARS = 300
_MAGIC = re.compile(r"^([ \t]*)[%!?].*$", re.MULTILINE)
_CHANGES = frozenset({"append", "extend", "insert", "update", "setdefault", "pop", "remove", "clear", "add", "sort"})
_WORDS = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "path": "Path"}


@dataclass(frozen=True, slots=True)
class SourceCell:
    """The parts of a cell that matter here."""

    cell_type: str
    source: str
    tags: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """`parameters` is the source of a parameters cell, empty if nothing is proposed."""

    name: str
    description: str
    parameters: str


@dataclass(frozen=True, slots=True)
class LiteralAssignment:
    """A name that is assigned a literal once, on lines of its own (`first` to `last`, from 1)."""

    name: str
    value: ast.expr
    first: int
    last: int


def propose(cells: Sequence[SourceCell], stem: str) -> Proposal:
    """For a Python notebook called `stem`. An existing parameters cell is kept."""
    own = next((cell.source for cell in cells if cell.cell_type == "code" and "parameters" in cell.tags), None)
    parameters = own if own is not None else _parameters(cells)
    return Proposal(_name(stem), _description(cells), parameters)


def without_values(source: str, names: Sequence[str]) -> str:
    """The code without the literal assignments to these names, which would overwrite the given values."""
    tree = _parsed(source)
    if tree is None:
        return source
    gone = {
        number for given in _given(source, tree) if given.name in names for number in range(given.first, given.last + 1)
    }
    lines = source.split("\n")
    kept = [line for number, line in enumerate(lines, start=1) if number not in gone]
    return "\n".join(kept).strip("\n") if gone else source


def _parameters(cells: Sequence[SourceCell]) -> str:
    code = [(cell.source, tree) for cell in cells if cell.cell_type == "code" and (tree := _parsed(cell.source))]
    bound = Counter(name for _, tree in code for name in _bound(tree))
    changed = {name for _, tree in code for name in _changed(tree)}
    lines: list[str] = []
    imports = False
    for source, tree in code:
        for given in _given(source, tree):
            once = bound[given.name] == 1 and given.name not in changed
            if not once or given.name.startswith("_") or len(lines) >= MAX_PROPOSED:
                continue
            line, needs_path = _line(given, source)
            lines.append(line)
            imports = imports or needs_path
    head = ["from pathlib import Path", ""] if imports else []
    # IPython takes a one-line cell such as `time: int = 5` for the magic of that name; a second line prevents it.
    alone = ["# Parameters"] if len(lines) == 1 and not head and "\n" not in lines[0] else []
    return "\n".join([*head, *alone, *lines])


def _given(source: str, tree: ast.Module) -> Iterator[LiteralAssignment]:
    """Top-level assignments of a literal that are alone on their lines."""
    on_line = Counter(number for node in tree.body for number in {node.lineno, node.end_lineno or node.lineno})
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                last = node.end_lineno or node.lineno
                alone = on_line[node.lineno] == 1 and on_line[last] == 1
                if alone and node.col_offset == 0 and _is_worth_it(value, source):
                    yield LiteralAssignment(name, value, node.lineno, last)


def _is_worth_it(value: ast.expr, source: str) -> bool:
    """Whether the literal is worth a parameter: an empty list is where results will go."""
    written = ast.get_source_segment(source, value) or ""
    if len(written) > MAX_VALUE_CHARS:
        return False
    try:
        found = literal(value)
    except ValueError:
        return False
    return found is not None and found not in ([], {})


def _line(given: LiteralAssignment, source: str) -> tuple[str, bool]:
    """`rows: int = 10  # how many`, and whether it needs the import of Path."""
    written = ast.get_source_segment(source, given.value) or ""
    is_path = isinstance(given.value, ast.Call)
    kind = ParameterType("path") if is_path else from_value(literal(given.value))
    last_line = source.split("\n")[given.last - 1].encode()
    tail = last_line[given.value.end_col_offset or 0 :].decode().strip()
    comment = f"  # {tail.lstrip('# ')}" if tail.startswith("#") else ""
    return f"{given.name}: {_annotation(kind)} = {written}{comment}", is_path


def _annotation(kind: ParameterType) -> str:
    if kind.name == "array":
        return f"list[{_annotation(kind.item)}]" if kind.item is not None else "list"
    return "dict" if kind.name == "object" else _WORDS.get(kind.name, "Any")


def _bound(tree: ast.Module) -> Iterator[str]:
    """Every name that is bound, as often as it is."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0]
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names


def _changed(tree: ast.Module) -> Iterator[str]:
    """Names whose value is changed in place."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if attr in _CHANGES:
                yield name
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                yield name


def _parsed(source: str) -> ast.Module | None:
    """The parsed cell without IPython's lines; None if it is not Python, such as a cell of another language."""
    if source.lstrip().startswith("%%"):
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(_MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _name(stem: str) -> str:
    words = re.findall(r"[a-z0-9]+", stem.lower())
    name = "-".join(words)[:MAX_NAME_CHARS].strip("-") or "my-skill"
    try:
        return checked_name(name)
    except SkillProblem:
        return f"{name}-notebook"


def _description(cells: Sequence[SourceCell]) -> str:
    """The first text paragraph, else the first heading."""
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n|(?=^#)|(?<=\n)(?=#)", text) if part.strip()]
    headings = [part.lstrip("# ") for part in paragraphs if part.startswith("#")]
    words = [part for part in paragraphs if not part.startswith(("#", "!", "|", "<", "```"))]
    chosen = next(iter([*words, *headings]), "")
    return chosen if len(chosen) <= DESCRIPTION_CHARS else chosen[:DESCRIPTION_CHARS].rsplit(" ", 1)[0] + "…"
