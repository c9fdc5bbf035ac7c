"""A kernel's contents as compact text for a model, within a budget. Anything left out is mentioned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onyx_jupyter.notebook.outputs import shorten
from onyx_jupyter.protocols import Inspection, InspectionTable, KernelVariables, Variable

_KB = 1000
_NOTE_CHARS = 300


def variables_text(found: KernelVariables, path: str, max_chars: int) -> tuple[str, bool]:
    """One line per variable, and whether some are left out."""
    counted = {"functions": found.functions, "classes": found.classes, "modules": found.modules}
    others = ", ".join(f"{count} {word}" for word, count in counted.items() if count)
    beside = f" Beside them: {others}." if others else ""
    if not found.variables:
        return f"The kernel of {path} has no such variables.{beside}", False
    lines: list[str] = []
    used, rest = 0, dict(found.left_out)
    for variable in found.variables:
        line = variable_line(variable)
        used += len(line) + 1
        if lines and used > max_chars - _NOTE_CHARS:
            rest[variable.type] = rest.get(variable.type, 0) + 1
        else:
            lines.append(line)
    notes = [f"[{others}: with functions: true]"] if others else []
    if rest:
        kinds = sorted(rest.items(), key=lambda pair: -pair[1])[:8]
        told = ", ".join(f"{count} {kind}" for kind, count in kinds)
        notes.append(f"[{sum(rest.values())} more are left out ({told}); a pattern finds them]")
    return "\n".join([*lines, *notes]), bool(rest)


def variable_line(variable: Variable) -> str:
    """`frame (pandas.DataFrame, 1.2 MB): 1,000 × 3: id int64, …`."""
    size = f", {_memory(variable.size_bytes)}" if variable.size_bytes else ""
    told = f": {variable.summary}" if variable.summary else ""
    return f"{variable.name} ({variable.type}{size}){told}"


def inspection_text(found: Inspection, name: str, max_chars: int) -> tuple[str, bool]:
    """Facts, tables, notes and text, and whether anything is left out."""
    parts = [f"{name}: {found.type}" + (f", {found.summary}" if found.summary and not found.facts else "")]
    parts += [f"{fact}: {value}" for fact, value in found.facts if value]
    for table in found.tables:
        parts += ["", f"{table.title}:", *_table(table)]
    parts += [f"[{note}]" for note in found.notes]
    text = "\n".join([*parts, *(["", found.text] if found.text else [])])
    return shorten(text, max_chars), len(text) > max_chars


def _table(table: InspectionTable) -> Iterator[str]:
    yield _row(table.columns)
    yield _row(["---"] * len(table.columns))
    yield from map(_row, table.rows)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def _memory(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < _KB:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= _KB
    return f"{size:.1f} GB"
