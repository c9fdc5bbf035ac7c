"""Finds the highest and lowest value of a printed series: small models misread that."""

from __future__ import annotations

import re
from decimal import Decimal

_ROW = re.compile(r"^(?P<name>\S.*?)\s{2,}(?P<value>-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)$")
_FOOT = re.compile(r"^(?:Name: .*, )?(?:Length: \d+, )?dtype: \w+$")
_ASKED = re.compile(
    r"\b(?:most|least|highest|lowest|largest|smallest|longest|shortest|heaviest|lightest|biggest|greatest|maximum|minimum"
    r"|max|min|top|best|worst|fewest)\b",
    re.IGNORECASE,
)
_FEWEST = 2
_MAX_COUNT = 200


def extremes_of(output: str, request: str) -> str:
    """A sentence for each series in the output, if the request asks for an extreme; else empty."""
    if not _ASKED.search(request):
        return ""
    said = []
    title = ""
    rows: list[tuple[str, Decimal, str]] = []
    for line in [*output.splitlines(), ""]:
        row = _ROW.match(line)
        if row is not None:
            rows.append((row["name"], Decimal(row["value"]), row["value"]))
            continue
        if _FOOT.match(line) and _FEWEST <= len(rows) <= _MAX_COUNT:
            said.append(_sentence(title, rows))
        title, rows = line.rpartition(":")[2].strip(), []
    return "\n".join(said)


def _sentence(title: str, rows: list[tuple[str, Decimal, str]]) -> str:
    highest, lowest = max(rows, key=lambda row: row[1]), min(rows, key=lambda row: row[1])
    of = f"Of {title}, " if title else ""
    if highest[1] == lowest[1]:
        return f"{of}all are {highest[2]}."
    return f"{of}{highest[0]} has the highest value ({highest[2]}), {lowest[0]} the lowest ({lowest[2]})."
