"""Repairs failed cells from the error alone, without asking the model. In doubt it changes nothing."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator

from onyx_jupyter.cell_mode.error_hints import accessor_of, error_of, missing_modules
from onyx_jupyter.cell_mode.fixes.imports import is_of_scipy, parsed, without_unused_imports
from onyx_jupyter.cell_mode.fixes.plots_of_groups import by_groups
from onyx_jupyter.cell_mode.fixes.source_edits import rewritten, text_of, without_argument
from onyx_jupyter.cell_mode.notebook_facts import NotebookFacts

_NO_KEY = re.compile(r"^KeyError: '(?P<name>[^']+)'$|\"\['(?P<list>[^']+)'\] not in index\"")
_NO_ATTRIBUTE = re.compile(r"^AttributeError: 'Series' object has no attribute '(?P<name>\w+)'")
_NO_TEXT = re.compile(r"Can only use \.str accessor with string values, not (?:floating|integer)")
_CONVERSIONS = frozenset(["extract", "replace", "strip", "rstrip", "lstrip", "astype"])
_FAILING_LINE = re.compile(r"^-+> *\d+ (?P<line>.*)$", re.MULTILINE)
_ROW_OF = re.compile(
    r"(?<![\w.])(?P<table>[A-Za-z_]\w*)(?P<label>\[(?P=table)(?:\[[^\[\]]+\]|\.\w+)\.idx(?:max|min)\(\)\])"
)
_NO_POSITION = re.compile(r"^KeyError: (?P<number>-?\d+)$")
_NO_NUMBERS = re.compile(
    r"dtype '\w+' does not support operation '(?P<name>\w+)'|agg function failed \[how->(?P<how>\w+)"
)
_NO_FORMAT = re.compile(r"^TypeError: unsupported format string passed to (?:Series|DataFrame)\.__format__")
_FORMATTED = re.compile(r"\{(?P<value>[^{}:!=]+):,?\.(?P<decimals>\d+)f\}")
_NO_NAME = re.compile(r"^NameError: name '(?P<name>\w+)' is not defined")
_NO_KEYWORD = re.compile(
    r"^TypeError: (?:\w+\.)*(?P<function>\w+)\(\) got an unexpected keyword argument '(?P<name>\w+)'"
)
_ANY_TABLE = ("df", "data")
_ACCESSORS = ("cat", "dt", "str")
_NEAR = 0.85
_INVALID = re.compile(r"^ValueError: Invalid frequency: (?P<written>[\w-]+)")
_INSTEAD = re.compile(
    r"'(?P<old>[\w-]+)' is no longer supported for offsets\. Please use '(?P<new>[\w-]+)'"
    r"|Invalid frequency: (?P<wrong>[\w-]+)\. Did you mean (?P<meant>[\w-]+)\?"
)
_FUNCTIONS = frozenset(["asfreq", "ceil", "date_range", "floor", "Grouper", "period_range", "resample", "round"])
_KEYWORDS = ("freq", "rule")


def fix_cell(source: str, result: str, facts: NotebookFacts) -> str | None:
    """The whole repaired cell; None if there is no obvious fix. `result` is the result of running the cell.

    The fix may need imports.
    """
    ways: tuple[Callable[[str, str, NotebookFacts], str], ...] = (
        _with_accessor,
        _with_function,
        _without_conversion,
        _with_near_column,
        _with_table,
        _by_label,
        _by_position,
        _of_numbers_only,
        _without_keyword,
        lambda source, result, facts: by_groups(source, error_of(result)),
        _with_new_frequency,
        _rounded,
        _without_unused_import,
    )
    return next((changed for way in ways if (changed := way(source, result, facts)) != source), None)


def _with_accessor(source: str, result: str, facts: NotebookFacts) -> str:
    """`x.total_seconds()` of a whole column becomes `x.dt.total_seconds()`, `x.lower()` becomes `x.str.lower()`."""
    found = _NO_ATTRIBUTE.match(error_of(result))
    accessor = accessor_of(found["name"]) if found else None
    if found is None or accessor is None:
        return source
    name = re.compile(rf"(?<!\.dt)(?<!\.str)\.{found['name']}\b")
    return _on_failing_lines(source, result, lambda line: name.sub(f".{accessor}.{found['name']}", line))


def _with_function(source: str, result: str, facts: NotebookFacts) -> str:
    """`x.shapiro()` becomes `shapiro(x)`, a scipy function."""
    found = _NO_ATTRIBUTE.match(error_of(result))
    if found is None or not is_of_scipy(found["name"]):
        return source
    for node in ast.walk(parsed(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=receiver, attr=name)) if name == found["name"]:
                arguments = [text_of(source, one) for one in (receiver, *node.args)]
                named = [f"{one.arg}={text_of(source, one.value)}" for one in node.keywords if one.arg]
                return rewritten(source, node, f"{name}({', '.join([*arguments, *named])})")
    return source


def _without_conversion(source: str, result: str, facts: NotebookFacts) -> str:
    """`x.str.extract(…)[0].astype(float)` of a column that already holds numbers becomes `x`."""
    if not _NO_TEXT.search(error_of(result)):
        return source
    for node in ast.walk(parsed(source)):
        column = _converted(node) if isinstance(node, ast.Call) else None
        if column is not None and isinstance(node, ast.expr):
            return rewritten(source, node, text_of(source, column))
    return source


def _converted(call: ast.Call) -> ast.expr | None:
    """The column whose texts the call converts to numbers; None for any other call."""
    node: ast.expr = call
    column: ast.expr | None = None
    methods: set[str] = set()
    while True:
        match node:
            case ast.Attribute(value=inner, attr="str"):
                if not methods <= _CONVERSIONS:
                    return column
                node = column = inner
            case ast.Attribute(value=inner, attr=name):
                methods.add(name)
                node = inner
            case ast.Call(func=inner) | ast.Subscript(value=inner):
                node = inner
            case _:
                return column


def _with_near_column(source: str, result: str, facts: NotebookFacts) -> str:
    """'JAME LOGAN' becomes 'JAMES LOGAN', if no other column is as similar."""
    found = _NO_KEY.search(error_of(result))
    if found is None:
        return source
    written = found["name"] or found["list"]
    columns = [column.name for frame in facts.frames for column in frame.columns]
    near = difflib.get_close_matches(written, columns, n=2, cutoff=_NEAR)
    if len(near) != 1:
        return source
    return source.replace(f"'{written}'", repr(near[0])).replace(f'"{written}"', repr(near[0]))


def _with_table(source: str, result: str, facts: NotebookFacts) -> str:
    """`customers[churned]` becomes `customers[customers["churned"]]`, and an undefined `df` the only table."""
    found = _NO_NAME.match(error_of(result))
    meant = _resolve_name(found["name"], facts) if found else None
    while found is not None and meant is not None:
        bare = (node for node in ast.walk(parsed(source)) if isinstance(node, ast.Name) and node.id == found["name"])
        if (node := next(bare, None)) is None or not isinstance(node.ctx, ast.Load):
            break
        source = rewritten(source, node, meant)
    return source


def _resolve_name(name: str, facts: NotebookFacts) -> str | None:
    """What an undefined name stands for: a column of only one table, or the only table; None if neither."""
    of = [frame.name for frame in facts.frames if any(column.name == name for column in frame.columns)]
    if len(of) == 1:
        return f'{of[0]}["{name}"]'
    return facts.frames[0].name if name in _ANY_TABLE and len(facts.frames) == 1 else None


def _by_label(source: str, result: str, facts: NotebookFacts) -> str:
    """`t[t["x"].idxmax()]["name"]` becomes the row `t.loc[t["x"].idxmax()]["name"]`."""
    if not error_of(result).startswith("KeyError: "):
        return source
    return _on_failing_lines(source, result, lambda line: _ROW_OF.sub(r"\g<table>.loc\g<label>", line))


def _by_position(source: str, result: str, facts: NotebookFacts) -> str:
    """`rates[0]` of a series with other labels becomes `rates.iloc[0]`."""
    found = _NO_POSITION.match(error_of(result))
    if found is None:
        return source
    indexed = re.compile(rf"\b(?P<name>[A-Za-z_]\w*)\[{found['number']}\]")
    return _on_failing_lines(source, result, lambda line: indexed.sub(rf"\g<name>.iloc[{found['number']}]", line))


def _of_numbers_only(source: str, result: str, facts: NotebookFacts) -> str:
    """`groups.mean()` of a table that also has text columns becomes `groups.mean(numeric_only=True)`."""
    found = _NO_NUMBERS.search(error_of(result))
    if found is None:
        return source
    call = f".{found['name'] or found['how']}("
    return _on_failing_lines(source, result, lambda line: line.replace(f"{call})", f"{call}numeric_only=True)"))


def _without_keyword(source: str, result: str, facts: NotebookFacts) -> str:
    """Removes a keyword that the function doesn't accept; a statement `x.f(inplace=True)` becomes `x = x.f()`."""
    found = _NO_KEYWORD.match(error_of(result))
    while found is not None:
        nodes = list(ast.walk(parsed(source)))
        calls = [node for node in nodes if isinstance(node, ast.Call) and _name_of(node) == found["function"]]
        taken = ((call, one) for call in calls for one in call.keywords if one.arg == found["name"])
        if (first := next(taken, None)) is None:
            break
        call, keyword = first
        is_statement = any(isinstance(node, ast.Expr) and node.value is call for node in nodes)
        changed = _changed_in_place(call) if is_statement and found["name"] == "inplace" else None
        assigned = f"{text_of(source, changed)} = " if changed is not None else ""
        source = rewritten(source, call, assigned + without_argument(source, call, keyword))
    return source


def _with_new_frequency(source: str, result: str, facts: NotebookFacts) -> str:
    """`resample("M")`, which pandas no longer accepts, becomes `resample("ME")`, as its error suggests."""
    error = error_of(result)
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


def _rounded(source: str, result: str, facts: NotebookFacts) -> str:
    """`f"{rates:.2f}"` of a whole column becomes `f"{round(rates, 2)}"`."""
    if not _NO_FORMAT.match(error_of(result)):
        return source
    return _on_failing_lines(source, result, lambda line: _FORMATTED.sub(r"{round(\g<value>, \g<decimals>)}", line))


def _without_unused_import(source: str, result: str, facts: NotebookFacts) -> str:
    """Removes an import of a package that is not installed, if the cell doesn't use it."""
    return without_unused_imports(source, missing_modules([error_of(result)]))


def _name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _changed_in_place(call: ast.Call) -> ast.expr | None:
    """`df["a"]` of `df["a"].cat.f()`; None if it cannot be assigned to."""
    match call.func:
        case ast.Attribute(value=ast.Attribute(value=inner, attr=accessor)) if accessor in _ACCESSORS:
            receiver = inner
        case ast.Attribute(value=inner):
            receiver = inner
        case _:
            return None
    return receiver if isinstance(receiver, ast.Name | ast.Subscript | ast.Attribute) else None


def _on_failing_lines(source: str, result: str, change: Callable[[str], str]) -> str:
    """Changes the lines that the traceback points at."""
    failing = {line["line"].strip() for line in _FAILING_LINE.finditer(result)}
    return "\n".join(change(line) if line.strip() in failing else line for line in source.split("\n"))
