"""Corrects names in a cell: of columns, with a sign in front, or printed instead of their value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set

from onyx_jupyter.cell_mode.cell_source import problem_in
from onyx_jupyter.cell_mode.fixes.imports import bound_names, parsed
from onyx_jupyter.cell_mode.fixes.source_edits import rewritten, text_of
from onyx_jupyter.cell_mode.named_columns import plain_name
from onyx_jupyter.cell_mode.notebook_facts import NotebookFacts

_SIGNED = r"[@$](?P<name>[A-Za-z_]\w*)(?:\[\w*\])?"
_ANY = re.compile(_SIGNED)
# One or several names, and the assignment.
_ASSIGNED = re.compile(rf"^[ \t]*(?:{_SIGNED.replace('?P<name>', '?:')}[ \t]*,?[ \t]*)+=(?!=)", re.MULTILINE)
_PRINTING = ("print", "display")
# The form of an answer; the word in the brackets says what belongs there.
_FORM = re.compile(r"@(?P<name>[A-Za-z_]\w*)\[(?P<word>[A-Za-z_]\w*)?\]")
_BRACED = re.compile(r"\{(?P<inner>[^{}]+)\}")
_PLAIN_QUOTE = re.compile(r"['\"]")


def with_exact_columns(source: str, facts: NotebookFacts) -> str:
    """The cell with the table's own column names: small models get blanks, capitals and signs wrong.

    It changes only a text that differs from exactly one column by these, and no names that the cell introduces.
    """
    columns = [column.name for frame in facts.frames for column in frame.columns]
    plain: dict[str, set[str]] = {}
    for name in columns:
        plain.setdefault(plain_name(name), set()).add(name)
    for text in sorted(set(_texts(parsed(source))), key=lambda one: (one.lineno, one.col_offset), reverse=True):
        written = str(text.value)
        meant = plain.get(plain_name(written), set()) if written not in columns else set()
        if len(meant) == 1 and text.lineno == text.end_lineno:
            source = rewritten(source, text, repr(*meant))
    return source


def _texts(tree: ast.AST) -> Iterator[ast.Constant]:
    """Every string in brackets or in a call, except for parts of f-strings, which have no position of their own."""
    formatted = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript | ast.Call):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in formatted:
                    yield part


def without_signs(source: str) -> str:
    """Turns `@mean[float] = x` into `mean = x`, and `@mean` into `mean` elsewhere; only if the result is valid Python.

    Strings keep the sign: `"@mean[2]"` is the requested form. In `f"{@mean}"` it is removed.
    """
    names = {found["name"] for line in _ASSIGNED.findall(source) for found in _ANY.finditer(line)}
    if not names or problem_in(source) is None:
        return source
    plain = _ASSIGNED.sub(lambda line: _ANY.sub(r"\g<name>", line[0]), source)
    any_name = "|".join(sorted(names, key=len, reverse=True))
    plain = re.sub(rf"([({{,=][ \t]*)[@$]({any_name})\b(?!\[)", r"\1\2", plain)
    return plain if problem_in(plain) is None else source


def with_values(source: str, known: Set[str]) -> str:
    """The cell with values instead of the names that it prints; `known` are names that the kernel has.

    Only if every name in braces has a value. A text that has another prefix, or is formatted, is not changed.
    """
    made = bound_names(source)
    names = made | known
    for _ in range(source.count("print") + source.count("display")):
        found = next(_changes(source, names, made), None)
        if found is None:
            break
        source = rewritten(source, *found)
    return source


def _changes(source: str, names: Set[str], made: Set[str]) -> Iterator[tuple[ast.expr, str]]:
    """The texts to change, each with its replacement."""
    for node in ast.walk(parsed(source)):
        match node:
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in _PRINTING:
                for argument in arguments:
                    if _is_fixed_text(argument):
                        written = text_of(source, argument)
                        changed = _with_values(written, names, made)
                        if changed != written and parsed(changed).body:
                            yield argument, changed


def _is_fixed_text(node: ast.expr) -> bool:
    """Whether it is a string without any values, possibly an f-string."""
    match node:
        case ast.Constant(value=str()):
            return True
        case ast.JoinedStr(values=values):
            return all(isinstance(one, ast.Constant) for one in values)
    return False


def _with_values(text: str, names: Set[str], made: Set[str]) -> str:
    plain = text.removeprefix("f")
    if not _PLAIN_QUOTE.match(plain) or "{{" in text:
        return text
    braced = _BRACED.findall(text)
    if braced:
        return f"f{text}" if all(_has_value(one, names) for one in braced) else text
    if "{" in text or "}" in text:
        return text
    filled = _FORM.sub(lambda form: _filled(form, names, made), plain)
    return text if filled == plain else f"f{filled}"


def _filled(form: re.Match[str], names: Set[str], made: Set[str]) -> str:
    """With the value of that name, or else of the only name defined in the cell that begins with it."""
    longer = [one for one in made if one.startswith(f"{form['name']}_")]
    meant = (form["word"], form["name"], *(longer if len(longer) == 1 else ()))
    value = next((one for one in meant if one in names), None)
    return form[0] if value is None else f"@{form['name']}[{{{value}}}]"


def _has_value(braced: str, names: Set[str]) -> bool:
    """Whether the braces contain an expression of known names, as in `mean:.2f`."""
    tree = parsed(f"f'''{{{braced}}}'''")
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return bool(used) and used <= names
