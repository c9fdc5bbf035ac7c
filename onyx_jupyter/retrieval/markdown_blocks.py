"""Splits a Markdown text into blocks with the headings above them, by character offsets.

Source: CommonMark 0.31 (headings, fences, lists) and GitHub Flavored Markdown (tables), as far as cutting needs them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from onyx_jupyter.retrieval.boundaries import line_starts

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"\s*(?:[-*+]\s+|\d{1,9}[.)]\s+|>\s?)*(`{3,}|~{3,})(.*)$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_TABLE_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_LONGEST_UNDERLINED = 120


@dataclass(frozen=True, slots=True)
class Block:
    """The characters `start` to `end`, which belong together.

    `headings` are those above it, outermost first, including a heading's own. If too long, `prose` is cut at sentences,
    `lines` at lines. `table_head` holds the column names above a table row.
    """

    start: int
    end: int
    headings: tuple[str, ...] = ()
    kind: Literal["heading", "prose", "lines"] = "prose"
    table_head: str = ""


def markdown_blocks(text: str) -> Sequence[Block]:
    """The blocks in order; together they cover everything but the empty lines between them."""
    return list(_Reader(text).blocks())


def plain_blocks(text: str) -> Sequence[Block]:
    """Paragraphs: text between empty lines."""
    return [Block(match.start(), match.end()) for match in re.finditer(r"\S[^\n]*(?:\n[^\S\n]*\S[^\n]*)*", text)]


class _Reader:
    """Reads the lines in one pass."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *line_starts(text)]
        self._lines = text.split("\n")
        self._path: list[tuple[int, str]] = []

    def blocks(self) -> Iterator[Block]:
        number = self._front_matter_end()
        if number:
            yield self._block(0, number, "lines")
        while number < len(self._lines):
            line = self._lines[number]
            if not line.strip():
                number += 1
            elif title := _HEADING.match(line):
                self._enter(len(title[1]), title[2] or "")
                yield self._block(number, number + 1, "heading")
                number += 1
            elif fence := _opening(line):
                end = self._fence_end(number + 1, fence)
                yield self._block(number, end, "lines")
                number = end
            elif self._begins_table(number):
                end = self._table_end(number + 2)
                yield from self._rows(number, end)
                number = end
            elif self._is_underlined(number):
                self._enter(1 if "=" in self._lines[number + 1] else 2, line.strip())
                yield self._block(number, number + 2, "heading")
                number += 2
            else:
                end = self._paragraph_end(number + 1)
                yield self._block(number, end, "prose")
                number = end

    def _block(self, first: int, end: int, kind: Literal["heading", "prose", "lines"], table_head: str = "") -> Block:
        """The block of the lines `first` to `end`, counted from 0, end excluded."""
        stop = self._starts[end - 1] + len(self._lines[end - 1])
        return Block(self._starts[first], stop, tuple(title for _, title in self._path), kind, table_head)

    def _enter(self, level: int, title: str) -> None:
        self._path = [(above, name) for above, name in self._path if above < level]
        if title.strip():
            self._path.append((level, title.strip()))

    def _front_matter_end(self) -> int:
        if self._lines[0].rstrip() != "---":
            return 0
        ends = (number for number, line in enumerate(self._lines[1:], 2) if line.rstrip() in ("---", "..."))
        return next(ends, 0)

    def _fence_end(self, number: int, fence: str) -> int:
        closing = re.compile(rf"[\s>]*{re.escape(fence[0])}{{{len(fence)},}}\s*$")
        while number < len(self._lines):
            number += 1
            if closing.match(self._lines[number - 1]):
                return number
        return number

    def _begins_table(self, number: int) -> bool:
        below = self._lines[number + 1] if number + 1 < len(self._lines) else ""
        return "|" in self._lines[number] and "|" in below and bool(_TABLE_RULE.match(below))

    def _table_end(self, number: int) -> int:
        while number < len(self._lines) and "|" in self._lines[number]:
            number += 1
        return number

    def _rows(self, head: int, end: int) -> Iterator[Block]:
        """The head, the rule and the first row as one block, then each row."""
        first = min(head + 3, end)
        yield self._block(head, first, "lines")
        for number in range(first, end):
            yield self._block(number, number + 1, "lines", self._lines[head].strip())

    def _is_underlined(self, number: int) -> bool:
        line = self._lines[number]
        below = self._lines[number + 1] if number + 1 < len(self._lines) else ""
        return len(line) <= _LONGEST_UNDERLINED and not _ITEM.match(line) and bool(_UNDERLINE.match(below))

    def _paragraph_end(self, number: int) -> int:
        while number < len(self._lines) and not self._begins_another(number):
            number += 1
        return number

    def _begins_another(self, number: int) -> bool:
        line = self._lines[number]
        return (
            not line.strip()
            or bool(_HEADING.match(line))
            or bool(_opening(line))
            or bool(_ITEM.match(line))
            or self._begins_table(number)
        )


def _opening(line: str) -> str | None:
    fence = _FENCE.match(line)
    if fence is None or (fence[1][0] == "`" and "`" in fence[2]):  # the latter is inline code
        return None
    return fence[1]
