"""A measured figure beside its limit, and the ways to print it. It measures nothing."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One thing that was measured, once a run. Smaller is better where there is a `limit`; else it is only stated."""

    name: str
    samples: Sequence[float]
    unit: str
    limit: float | None = None
    peer: str = ""
    digits: int = 2

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def verdict(self) -> str:
        """`ok` or `missed` by the median, `` without a limit."""
        if self.limit is None:
            return ""
        return "ok" if self.median <= self.limit else "missed"

    @property
    def measured(self) -> str:
        """`1.20 (1.10–1.31) ms`; the median alone where there was one run."""
        spread = f" ({self._number(min(self.samples))}–{self._number(max(self.samples))})"
        return f"{self._number(self.median)}{spread * (len(self.samples) > 1)} {self.unit}".rstrip()

    @property
    def limit_text(self) -> str:
        return "" if self.limit is None else f"≤ {self.limit:,g} {self.unit}".rstrip()

    def _number(self, value: float) -> str:
        return f"{value:,.{self.digits}f}"


@dataclass(frozen=True)
class Group:
    """The figures of one file; `method` says in a few sentences how they were taken, `table` (Markdown) shows more."""

    title: str
    method: str
    figures: Sequence[Figure]
    notes: Sequence[str] = field(default_factory=list)
    table: str = ""


_HEAD = ("figure", "measured: median (min–max)", "limit", "peer", "")


def as_table(groups: Sequence[Group]) -> str:
    """One table for a terminal."""
    rows = [_row(figure) for group in groups for figure in group.figures]
    widths = [max(len(row[column]) for row in [_HEAD, *rows]) for column in range(len(_HEAD))]
    lines = [_padded(_HEAD, widths), _padded(["─" * width for width in widths], widths)]
    for group in groups:
        lines += [_padded(_row(figure), widths) for figure in group.figures]
        lines += [f"  {note}" for note in (*group.notes, *group.table.splitlines())]
    return "\n".join(lines)


def as_markdown(group: Group, machine: str) -> str:
    """The section of the page for the documentation, with the machine on which it was measured."""
    table = [_HEAD, ("---",) * len(_HEAD), *(_row(figure) for figure in group.figures)]
    parts = [f"## {group.title}", group.method]
    parts += ["\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in table)]
    parts += [*(f"- {note}" for note in group.notes), *([group.table] if group.table else [])]
    return "\n\n".join([*parts, f"Measured {machine}"])


def as_json(groups: Sequence[Group], machine: str) -> str:
    """Everything, every sample too, for programs."""
    data: dict[str, Any] = {"machine": machine, "groups": []}
    for group in groups:
        figures = [
            {
                "name": figure.name,
                "unit": figure.unit,
                "median": figure.median,
                "samples": list(figure.samples),
                "limit": figure.limit,
                "peer": figure.peer,
                "verdict": figure.verdict,
            }
            for figure in group.figures
        ]
        data["groups"].append(
            {"title": group.title, "figures": figures, "notes": list(group.notes), "table": group.table}
        )
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of them do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def _row(figure: Figure) -> tuple[str, ...]:
    return figure.name, figure.measured, figure.limit_text, figure.peer, figure.verdict


def _padded(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
