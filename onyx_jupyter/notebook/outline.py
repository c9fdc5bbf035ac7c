"""A short overview of a notebook of any length: one line per cell, or ranges of cells that can be asked for.

It exceeds its budget only if no shorter form exists, and omits no cell: each is in a line or in a range.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from onyx_jupyter.notebook.output_kinds import output_words
from onyx_jupyter.protocols import Cell, NotebookView
from onyx_jupyter.text_tokens import text_tokens

_WIDTHS = (90, 50, 24, 0)
_RANGES = (60, 40, 25, 15, 8, 4, 2)
_RANGE_CHARS = 60
_LEVELS = (6, 5, 4, 3, 2, 1)
_ERRORS = 8
_FENCE = re.compile(r"^\s*(```|~~~)")
_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$")
_TYPES = {"markdown": "md"}
MORE = "Use from and cells for a range (cells 41–80: from 41, cells 40), or heading."


@dataclass(frozen=True, slots=True)
class Outline:
    """`shown` are the cells with their own line; `collapsed` says that other cells have none."""

    text: str
    shown: Sequence[Cell]
    collapsed: bool


@dataclass(frozen=True, slots=True)
class Heading:
    """`at` is the cell's position, from 0."""

    at: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class _Group:
    """Consecutive cells from `begin` up to `end`, as in slices."""

    begin: int
    end: int
    heading: Heading | None


def outline(
    view: NotebookView,
    part: range,
    *,
    max_tokens: int,
    max_chars: int,
    states: Mapping[str, str] | None = None,
) -> Outline:
    """The cells of `part` (from 0) in the most detailed form that fits.

    `states` is cell id → a word about the state of its outputs ("edited").
    """
    states = states or {}

    def fits(text: str) -> bool:
        return len(text) <= max_chars and text_tokens(text) <= max_tokens

    cells = view.cells
    for width in _WIDTHS:
        text = "\n".join(_line(cells, at, width, states) for at in part)
        if fits(text):
            return Outline(text, [cells[at] for at in part], collapsed=False)
    text, shown = _grouped(cells, part, states, fits)
    return Outline(text, shown, collapsed=True)


def headings(cells: Sequence[Cell]) -> list[Heading]:
    """The first heading of each Markdown cell that has one."""
    found = []
    for at, cell in enumerate(cells):
        heading = _heading(at, cell) if cell.cell_type == "markdown" else None
        if heading is not None:
            found.append(heading)
    return found


def section(cells: Sequence[Cell], words: str) -> range | None:
    """The cells under the heading that equals or else contains these words; None if there is none."""
    every = headings(cells)
    wanted = words.lstrip("# ").casefold()
    found = [heading for heading in every if heading.title.casefold() == wanted]
    found += [heading for heading in every if wanted in heading.title.casefold()]
    if not found:
        return None
    begin = found[0]
    end = next((one.at for one in every if one.at > begin.at and one.level <= begin.level), len(cells))
    return range(begin.at, end)


def _heading(at: int, cell: Cell) -> Heading | None:
    fenced = False
    for line in cell.source.splitlines():
        fenced ^= _FENCE.match(line) is not None
        match = None if fenced else _HEADING.match(line)
        if match is not None:
            return Heading(at, len(match[1]), match[2])
    return None


def _line(cells: Sequence[Cell], at: int, width: int, states: Mapping[str, str]) -> str:
    """`12 a1b2c3d4 code [5] 14 lines → table: df = …`"""
    cell = cells[at]
    count = "" if cell.cell_type != "code" else f" [{cell.execution_count or ' '}]"
    lines = cell.source.count("\n") + 1
    parts = [
        f"{at + 1} {cell.id} {_TYPES.get(cell.cell_type, cell.cell_type)}{count}",
        states.get(cell.id, ""),
        f"{lines} lines" if lines > 1 else "",
        f"→ {words}" if (words := output_words(cell.outputs)) else "",
    ]
    first = _first_line(cell.source, width)
    return " ".join(part for part in parts if part) + (f": {first}" if first else "")


def _first_line(source: str, width: int) -> str:
    line = next((line.strip() for line in source.splitlines() if line.strip()), "")
    return line if len(line) <= width else f"{line[: width - 1]}…" if width else ""


def _grouped(
    cells: Sequence[Cell], part: range, states: Mapping[str, str], fits: Callable[[str], bool]
) -> tuple[str, Sequence[Cell]]:
    """Groups by headings, as deep as fits, else by ranges of equal length."""
    inside = [heading for heading in headings(cells) if heading.at in part]
    ways = [_by_headings(part, [one for one in inside if one.level <= level]) for level in _LEVELS]
    ways += [_by_length(part, inside, count) for count in _RANGES if count <= len(part)]
    text, shown = "", list[Cell]()
    for groups in dict.fromkeys(way for way in ways if len(way) > 1):
        alone = [group.begin for group in groups if group.end - group.begin == 1]
        lines = [_group_line(cells, group, states) for group in groups]
        errors = _errors(cells, part)
        text, shown = "\n".join([*lines, *errors]), [cells[at] for at in alone]
        if fits(text):
            break
    return text, shown


def _by_headings(part: range, inside: Sequence[Heading]) -> tuple[_Group, ...]:
    starts = [heading.at for heading in inside]
    bounds = [*([part.start] if part.start not in starts else []), *starts, part.stop]
    by_place = {heading.at: heading for heading in inside}
    return tuple(_Group(a, b, by_place.get(a)) for a, b in pairwise(bounds))


def _by_length(part: range, inside: Sequence[Heading], count: int) -> tuple[_Group, ...]:
    length = -(-len(part) // count)
    starts = list(range(part.start, part.stop, length))
    by_place = {heading.at: heading for heading in inside}
    return tuple(_Group(at, min(at + length, part.stop), by_place.get(at)) for at in starts)


def _group_line(cells: Sequence[Cell], group: _Group, states: Mapping[str, str]) -> str:
    if group.end - group.begin == 1:
        return _line(cells, group.begin, _RANGE_CHARS, states)
    inside = cells[group.begin : group.end]
    code = sum(cell.cell_type == "code" for cell in inside)
    if group.heading is not None:
        title = f"{'#' * group.heading.level} {group.heading.title}"
    else:
        title = next((line for cell in inside if (line := _first_line(cell.source, _RANGE_CHARS))), "")
    title = _first_line(title, _RANGE_CHARS)
    return f"cells {group.begin + 1}–{group.end} ({code} code): {title}"


def _errors(cells: Sequence[Cell], part: range) -> list[str]:
    """Which cells have errors, since a range doesn't show that."""
    failed = [at for at in part if any(output.get("output_type") == "error" for output in cells[at].outputs)]
    if not failed:
        return []
    named = ", ".join(f"{at + 1} ({cells[at].id})" for at in failed[:_ERRORS])
    more = f" and {len(failed) - _ERRORS} more" if len(failed) > _ERRORS else ""
    return [f"errors in cells {named}{more}"]
