"""Parses the cell tagged `parameters`: names, types, defaults and descriptions from comments. It never runs it."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from onyx_jupyter.skills.parameter_types import (
    ANY,
    KNOWN,
    ParameterType,
    UnknownType,
    accepts,
    from_annotation,
    from_value,
    json_value,
)

MAX_CHARS = 100_000
MAX_PARAMETERS = 100
_HEADINGS = frozenset({"parameters", "parameter"})


class ParametersProblem(Exception):
    """Why a parameters cell cannot be read, worded for its author."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `default` is JSON and valid if `has_default`; `source` is the default as written in the cell.

    If neither `required` nor with a default, the cell computes it, and does so when no value is given.
    """

    name: str
    type: ParameterType
    required: bool
    has_default: bool = False
    default: Any = None
    source: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters in cell order. `free_form` says why they are unknown, so that any name is accepted."""

    items: tuple[Parameter, ...] = ()
    free_form: str | None = None


def parse_parameters(source: str) -> Parameters:
    """Parses Python, one assignment per line. Raises: ParametersProblem with the line."""
    if len(source) > MAX_CHARS:
        raise ParametersProblem(f"The parameters cell is longer than {MAX_CHARS:,} characters.")
    try:
        with warnings.catch_warnings(action="ignore"):  # an odd escape in the cell is up to its author
            tree = ast.parse(source)
    except SyntaxError as error:
        raise ParametersProblem(f"The parameters cell does not parse: {_where(error)}{error.msg}.") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ParametersProblem(f"The parameters cell does not parse: {error}.") from error
    comments = _comments(source)
    found: dict[str, Parameter] = {}
    for statement in tree.body:
        parameter = _parameter(statement, source)
        if parameter is not None and not parameter.name.startswith("_"):
            found.pop(parameter.name, None)
            found[parameter.name] = replace(parameter, description=_description(statement, comments))
    if len(found) > MAX_PARAMETERS:
        raise ParametersProblem(f"The parameters cell has {len(found)} parameters; the limit is {MAX_PARAMETERS}.")
    return Parameters(tuple(found.values()))


def literal(node: ast.expr) -> Any:
    """The JSON value of a literal or of `Path("…")`. Raises: ValueError if it is neither."""
    text = _path_text(node)
    if text is not None:
        return text
    try:
        return json_value(ast.literal_eval(node))
    except (SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError("not a literal") from error


def _parameter(statement: ast.stmt, source: str) -> Parameter | None:
    """None for harmless statements that are no parameter: an import, a string, `pass`."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return _made(name, None, value, source, statement)
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
            return _made(name, annotation, value, source, statement)
        case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Expr(value=ast.Constant()):
            return None
    first = (ast.get_source_segment(source, statement) or "").splitlines()[:1]
    raise ParametersProblem(
        f"The parameters cell, line {statement.lineno}: `{''.join(first)[:80]}` is not a parameter. Write each one on "
        "a line `name: type = default`; put what is computed from them into the next cell."
    )


def _made(
    name: str, annotation: ast.expr | None, value: ast.expr | None, source: str, statement: ast.stmt
) -> Parameter:
    kind = None if annotation is None else _annotated(name, annotation, statement)
    if value is None:
        return Parameter(name, kind or ANY, required=True)
    written = ast.get_source_segment(source, value) or ""
    try:
        default = literal(value)
    except ValueError:
        return Parameter(name, kind or ANY, required=False, source=written)
    if kind is None:
        kind = ParameterType("path") if _path_text(value) is not None else from_value(default)
    elif default is None:
        kind = replace(kind, nullable=True)
    elif not accepts(kind, default):
        shown = ast.unparse(annotation) if annotation is not None else kind.name
        raise ParametersProblem(
            f"The parameters cell, line {statement.lineno}: the default of `{name}`, {written[:80]}, is not a valid "
            f"{shown}."
        )
    return Parameter(name, kind, required=False, has_default=True, default=default, source=written)


def _annotated(name: str, annotation: ast.expr, statement: ast.stmt) -> ParameterType:
    try:
        return from_annotation(annotation)
    except UnknownType as error:
        raise ParametersProblem(
            f"The parameters cell, line {statement.lineno}: `{name}` has the type `{error}`, which a form cannot show. "
            f"Supported types: {KNOWN}."
        ) from error


def _path_text(node: ast.expr) -> str | None:
    """`data.csv` for `Path("data.csv")`."""
    match node:
        case ast.Call(
            func=ast.Name(id="Path") | ast.Attribute(attr="Path"), args=[ast.Constant(value=str() as text)], keywords=[]
        ):
            return text
    return None


def _comments(source: str) -> Mapping[int, tuple[str, bool]]:
    """Line → its comment, and whether the comment is alone on the line."""
    comments: dict[int, tuple[str, bool]] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                alone = not token.line[: token.start[1]].strip()
                comments[token.start[0]] = (token.string.lstrip("#").strip(), alone)
    except (tokenize.TokenError, SyntaxError):  # valid code has all its comments up to here
        return comments
    return comments


def _description(statement: ast.stmt, comments: Mapping[int, tuple[str, bool]]) -> str:
    """The comment after the statement, else those directly above."""
    for line in (statement.end_lineno or statement.lineno, statement.lineno):
        text, alone = comments.get(line, ("", True))
        if text and not alone:
            return text
    above: list[str] = []
    line = statement.lineno - 1
    while line in comments and comments[line][1]:
        above.insert(0, comments[line][0])
        line -= 1
    text = " ".join(filter(None, above))
    return "" if text.casefold().rstrip(":") in _HEADINGS else text


def _where(error: SyntaxError) -> str:
    return f"line {error.lineno}: " if error.lineno else ""
