"""Search filters as LanceDB SQL. It quotes every value, whatever its characters are."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from onyx_jupyter.protocols.retrieval import SearchFilter
from onyx_jupyter.storage.index_rows import stored_text

_NOTHING = "false"


def where(only: SearchFilter) -> str | None:
    """None if nothing is filtered. Rows without a day never match a range of days."""
    parts = [
        *_among("agent", only.agents),
        *_among("kind", only.kinds),
        *_prefixes(only.paths),
        *_day(">=", only.since),
        *_day("<=", only.until),
    ]
    return " AND ".join(parts) or None


def among(column: str, values: Iterable[str]) -> str:
    """A condition for rows that have one of the values."""
    listed = ", ".join(quoted(value) for value in sorted(values))
    return f"{column} IN ({listed})" if listed else _NOTHING


def quoted(text: str) -> str:
    """An SQL literal, in which only the quote character is special."""
    return "'" + stored_text(text).replace("'", "''") + "'"


def _among(column: str, values: Iterable[str] | None) -> list[str]:
    return [] if values is None else [among(column, values)]


def _prefixes(paths: Iterable[str] | None) -> list[str]:
    if paths is None:
        return []
    parts = [f"starts_with(path, {quoted(path)})" for path in paths]
    return [f"({' OR '.join(parts)})" if parts else _NOTHING]


def _day(comparison: str, day: date | None) -> list[str]:
    return [] if day is None else [f"day {comparison} date '{day.isoformat()}'"]
