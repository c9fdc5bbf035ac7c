"""Converts an HTML table, as data frames display themselves, to Markdown. Other HTML is ignored."""

from __future__ import annotations

from html.parser import HTMLParser

_MAX_ROWS = 200


def markdown_table(html: str) -> str | None:
    """The HTML's first table; None if there is none or it is unsuitable (no rows, spans, too many rows)."""
    reader = _TableReader()
    reader.feed(html)
    rows = [row for row in reader.rows if row]
    if reader.irregular or not 1 < len(rows) <= _MAX_ROWS:
        return None
    width = max(len(row) for row in rows)
    padded = [row + [""] * (width - len(row)) for row in rows]
    lines = [_line(padded[0]), _line(["---"] * width), *map(_line, padded[1:])]
    return "\n".join([*lines, *([reader.after] if reader.after else [])])


class _TableReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self.irregular = False
        self.after = ""
        self._cell: list[str] | None = None
        self._tables = 0
        self._ended = False
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("style", "script"):
            self._hidden += 1
        elif tag == "table":
            self._tables += 1
            self.irregular = self.irregular or self._tables > 1
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self._cell = []
            spans = {value for name, value in attrs if name in ("rowspan", "colspan")}
            self.irregular = self.irregular or bool(spans - {None, "1"})
        elif tag == "br" and self._cell is not None:
            self._cell.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("style", "script"):
            self._hidden -= 1
        elif tag == "table":
            self._ended = True
        elif tag in ("td", "th") and self._cell is not None:
            self.rows[-1].append(" ".join("".join(self._cell).split()))
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._hidden > 0:
            return
        if self._cell is not None:
            self._cell.append(data)
        elif self._ended:  # the total number of rows and columns of the frame
            self.after = f"{self.after} {data.strip()}".strip()


def _line(row: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
