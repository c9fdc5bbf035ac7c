"""Pages through a text by line within a budget, holding one line in memory at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

LINE_CHARS = 2_000
COUNTED_BYTES = 20_000_000
_NUMBER_CHARS = 12


@dataclass(frozen=True, slots=True)
class Page:
    """`text` has each line after its number and a tab; `note` says what is not shown, and how to get it."""

    text: str
    first: int
    last: int
    note: str

    @property
    def whole(self) -> str:
        return "\n".join(part for part in (self.text, self.note) if part)


class LineOutOfRange(Exception):
    """The text ends before the requested line; `count` is its number of lines."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


def page(
    file: BinaryIO, encoding: str, size_bytes: int, *, first: int, count: int | None, column: int, max_chars: int
) -> Page:
    """Lines from `first` (counted from 1), until `count` or `max_chars` is reached.

    `column` (from 1) cuts off the beginning of the first line. A line of more than 2,000 characters is shortened,
    unless it is requested alone.
    Raises: LineOutOfRange.
    """
    text = io.TextIOWrapper(file, encoding, errors="replace", newline="")
    try:
        return _page(_lines(text, max_chars + column), size_bytes, first, count, column, max_chars)
    finally:
        text.detach()  # the caller closes the file


def _page(lines: Iterator[_Line], size_bytes: int, first: int, count: int | None, column: int, max_chars: int) -> Page:
    for number in range(1, first):
        if next(lines, None) is None:
            raise LineOutOfRange(number - 1)
    alone = count == 1 or column > 1
    shown: list[str] = []
    used, last, long_line, more = 0, first - 1, "", False
    for number, line in enumerate(lines, first):
        if count is not None and number >= first + count:
            more = True
            break
        text, cut_at = _cut(line, column if number == first else 1, max_chars if alone else LINE_CHARS)
        if shown and used + len(text) > max_chars:
            more = True
            break
        if cut_at and not long_line:
            long_line = f"Line {number} continues: read on with from={number}, lines=1, column={cut_at}."
        shown.append(f"{number}\t{text}")
        used, last = used + len(text) + _NUMBER_CHARS, number
    if last < first and first > 1:
        raise LineOutOfRange(first - 1)
    note = _note(first, last, more, _count(lines, last + 1) if more and size_bytes <= COUNTED_BYTES else None)
    return Page("\n".join(shown), first, last, "\n".join(part for part in (note, long_line) if part))


@dataclass(slots=True)
class _Line:
    """The kept beginning of a line, and the length of the whole line."""

    kept: str
    chars: int


def _lines(text: io.TextIOWrapper, kept_chars: int) -> Iterator[_Line]:
    """Each line without its line end. Only the beginning of a long line is kept in memory."""
    while piece := text.readline(LINE_CHARS * 4):
        line = _Line(piece, len(piece))
        while not piece.endswith(("\n", "\r")) and (piece := text.readline(LINE_CHARS * 4)):
            if len(line.kept) < kept_chars:
                line.kept += piece
            line.chars += len(piece)
        bare = line.kept.rstrip("\r\n") if len(line.kept) == line.chars else line.kept
        yield _Line(bare, line.chars - (len(line.kept) - len(bare)))


def _cut(line: _Line, column: int, max_chars: int) -> tuple[str, int | None]:
    """The line from that column on, and the column at which it continues if it was cut."""
    text = line.kept[column - 1 : column - 1 + max_chars]
    goes_on = column + len(text)
    if goes_on > line.chars:
        return text, None
    return f"{text} [… {line.chars - goes_on + 1} more characters]", goes_on


def _count(lines: Iterator[_Line], read: int) -> int:
    return read + sum(1 for _ in lines)


def _note(first: int, last: int, more: bool, total: int | None) -> str:
    if not more:
        return ""
    of = f" of {total}" if total is not None else ", and more follow"
    return f"[Lines {first} to {last}{of}. Continue with from={last + 1}.]"
