"""What cell mode learns of a kernel: the tables that a request is about, and the other variables. No cell is run."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Sequence

from onyx_jupyter.cell_mode.named_columns import named_columns
from onyx_jupyter.cell_mode.notebook_facts import MAX_FRAMES, Column, Frame
from onyx_jupyter.errors import OnyxError
from onyx_jupyter.protocols import Inspection, Kernels, Variable

TIMEOUT_S = 5.0
_OTHER_VARIABLES = 8
_VARIABLE_CHARS = 110
_COMMON_PACKAGES = (
    "altair", "bokeh", "matplotlib", "numpy", "pandas", "plotly",
    "polars", "scipy", "seaborn", "sklearn", "statsmodels",
)  # fmt: skip
_NO_TABLES = ("Series", "Index", "Array")
# Plots and random generators; a new cell makes its own.
_IGNORED_TYPES = re.compile(r"^(?:matplotlib\.|numpy\.Generator|numpy\.random)")
_IGNORED_KINDS = ("function", "class", "module")
_PLAIN_INDEX = re.compile(r"^-?\d+(?: to -?\d+|, -?\d+ apart)$")
_NUMBERS = re.compile(r"^min (?P<low>\S+), (?:quartiles .+, )?max (?P<high>\S+), mean \S+, std \S+$")
_COUNTED = re.compile(r"^(?P<distinct>[\d,]+) distinct, most (?P<values>.+)$")
_VALUE = re.compile(r"(?:^|, )(.+?) \(([\d,]+)\)(?=, |$)")
_SHAPE = re.compile(r"^(?P<rows>[\d,]+) × [\d,]+: (?P<columns>.*)")


async def kernel_facts(kernels: Kernels, path: str, request: str) -> tuple[tuple[Frame, ...], tuple[str, ...]]:
    """The tables that the request is most likely about, the likeliest first, and a line for each other variable.

    What cannot be inspected in time is left out: the kernel is busy, or a table is very large.
    """
    variables: Sequence[Variable] = ()
    frames: list[Frame] = []
    with contextlib.suppress(OnyxError, TimeoutError):  # what was found until then counts
        async with asyncio.timeout(TIMEOUT_S):
            variables = (await kernels.variables(path)).variables
            for table in _about(variables, request):
                found = await kernels.inspect(path, table.name)
                frames.append(_frame(table, found))
    told = {frame.name for frame in frames}
    others = [one for one in variables if one.name not in told and _is_listed(one, request)]
    return tuple(frames), tuple(_line(one) for one in _mentioned_first(others, request)[:_OTHER_VARIABLES])


async def missing_common_packages(kernels: Kernels, path: str) -> frozenset[str]:
    """Packages that models like to use but the kernel lacks; empty if it cannot be asked."""
    with contextlib.suppress(OnyxError, TimeoutError):
        async with asyncio.timeout(TIMEOUT_S):
            return await kernels.lacking(path, _COMMON_PACKAGES)
    return frozenset()


def _about(variables: Sequence[Variable], request: str) -> list[Variable]:
    """First the table whose columns the request mentions most, then the others that it names."""
    tables = sorted(
        (one for one in variables if _is_table(one)), key=lambda one: _match_score(one, request), reverse=True
    )
    return [table for at, table in enumerate(tables) if at == 0 or _is_named(table, request)][:MAX_FRAMES]


def _match_score(table: Variable, request: str) -> tuple[int, int]:
    """How many words of the request match the table's name or columns; then its number of rows."""
    shape = _SHAPE.match(table.summary)
    if shape is None:
        return int(_is_named(table, request)), 0
    columns = [column.rpartition(" ")[0] for column in shape["columns"].split(", ")]
    matching = len(named_columns([table.name, *columns], request)) + _is_named(table, request)
    return matching, int(shape["rows"].replace(",", ""))


def _is_table(variable: Variable) -> bool:
    return variable.kind == "frame" and not variable.type.endswith(_NO_TABLES)


def _is_named(variable: Variable, request: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(variable.name)}(?!\w)", request, re.IGNORECASE) is not None


def _is_listed(variable: Variable, request: str) -> bool:
    """Another table or series is listed only if named: given several, the model picks the wrong one."""
    if variable.kind in ("frame", "array"):
        return _is_named(variable, request)
    return variable.kind not in _IGNORED_KINDS and not _IGNORED_TYPES.match(variable.type)


def _mentioned_first(variables: Sequence[Variable], request: str) -> list[Variable]:
    return sorted(variables, key=lambda one: not _is_named(one, request))


def _line(variable: Variable) -> str:
    """Omits a summary that only lists fields: those are internals of the object's library."""
    says = variable.summary if not variable.summary.startswith("fields ") else ""
    return f"{variable.name} ({variable.type}){f': {says}' if says else ''}"[:_VARIABLE_CHARS]


def _frame(variable: Variable, found: Inspection) -> Frame:
    schema = next((table for table in found.tables if table.title == "columns"), None)
    columns = [Column(row[0], row[1], _about_column(row)) for row in schema.rows] if schema else []
    index = next((value for fact, value in found.facts if fact == "index"), "")
    rows = variable.summary.partition(" × ")[0].replace(",", "")
    return Frame(
        variable.name,
        tuple(columns),
        int(rows) if rows.isdigit() else None,
        index="" if _PLAIN_INDEX.match(index) else index,
    )


def _about_column(row: Sequence[str]) -> str:
    """For numbers only the range: models tend to report a given mean for a different one. Text values as written."""
    dtype, nulls, statistics = row[1], row[2], row[3]
    if (between := _NUMBERS.match(statistics)) is not None:
        statistics = f"{between['low']} to {between['high']}"
    elif (counted := _COUNTED.match(statistics)) is not None:
        told = _VALUE.findall(counted["values"])
        which = "values" if counted["distinct"] == str(len(told)) else "values, most often"
        statistics = f"{counted['distinct']} {which} {', '.join(f'{value!r} ({count})' for value, count in told)}"
    elif dtype == "bool":
        statistics += ", its mean() is their share"
    missing = f"{nulls} missing" if nulls and nulls not in ("0", "none") else ""
    return ", ".join(filter(None, (statistics, missing)))
