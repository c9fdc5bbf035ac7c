"""Updates the generated parts of a page, between two marks. It never touches the rest."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def main(page: Path, parts: Mapping[str, str], arguments: list[str]) -> int:
    """Writes the page, or with `--check` compares it: 1 when the page on disk is not current. `parts`: name → text."""
    old = page.read_text("utf-8")
    new = old
    for name, text in parts.items():
        new = _replaced(new, name, text)
    if "--check" not in arguments:
        page.write_text(new, "utf-8")
        return 0
    if old != new:
        print(f"{page.name} is not current: run python scripts/{Path(sys.argv[0]).name}")
    return int(old != new)


def row(*cells: str) -> str:
    """One line of a Markdown table; a bar within a cell is escaped."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table with its final line break."""
    return "\n".join([row(*head), "|" + "---|" * len(head), *(row(*cells) for cells in rows), ""])


def _replaced(page: str, name: str, text: str) -> str:
    begin, end = f"<!-- {name}: written by scripts/{Path(sys.argv[0]).name} -->\n", f"<!-- end of {name} -->\n"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise SystemExit(f"The page lacks the marks of {name!r}: {begin.strip()} and {end.strip()}")
    return f"{before}{begin}\n{text}\n{end}{after}"
