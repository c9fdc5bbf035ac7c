"""Splits a memory file into what it remembers: list items and paragraphs, with their lines.

Code, tables, quotes, comments and HTML in it are not items.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(?=\S)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_BREAK = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_OPAQUE = re.compile(r"[ \t]*(?:[|>]|<[A-Za-z!/?]|\[[^\]]+\]:)")
_COMMENT = "<!--"


@dataclass(frozen=True, slots=True)
class Item:
    """One remembered thing: lines `start` to `end` (counted from 0, end excluded).

    `lead` is what precedes its words (indent and marker), `text` its words on one line. If it `holds_others`, the lines
    below are nested in it.
    """

    start: int
    end: int
    section: str
    lead: str
    text: str
    holds_others: bool


@dataclass(frozen=True, slots=True)
class Section:
    """A heading in line `start` and the text directly below it, up to the next heading in line `end`."""

    title: str
    level: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MarkdownStructure:
    """`lines` keep their endings. `open_ended`: the last code block or comment of the file is never closed."""

    lines: tuple[str, ...]
    sections: tuple[Section, ...]
    items: tuple[Item, ...]
    open_ended: bool


def parse_structure(text: str) -> MarkdownStructure:
    """The file's parts, in order."""
    lines = tuple(io.StringIO(text, newline="\n"))
    hidden, open_ended = _hidden(lines)
    headings = [(number, match) for number, line in enumerate(lines) if (match := _heading(line, number in hidden))]
    starts = [number for number, _ in headings]
    ends = [*starts, len(lines)]
    before = Section("", 1, -1, ends[0])
    sections = tuple(
        Section((match[2] or "").strip(), len(match[1]), number, end)
        for (number, match), end in zip(headings, ends[1:], strict=True)
    )
    items = [item for section in (before, *sections) for item in _items(lines, section, hidden)]
    return MarkdownStructure(lines, sections, tuple(items), open_ended)


def _hidden(lines: Sequence[str]) -> tuple[set[int], bool]:
    """The lines of code blocks and comments, and whether the last of them is unclosed."""
    hidden: set[int] = set()
    fence, comment = "", False
    for number, line in enumerate(lines):
        mark = None if comment else _FENCE.match(line)
        if fence:
            hidden.add(number)
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
        elif mark:
            hidden.add(number)
            fence = mark[1]
        elif comment or _COMMENT in line:
            hidden.add(number)
            comment = line.rfind(_COMMENT) > line.rfind("-->") or (comment and "-->" not in line)
    return hidden, bool(fence) or comment


def _heading(line: str, is_hidden: bool) -> re.Match[str] | None:
    return None if is_hidden else _HEADING.fullmatch(line.rstrip("\r\n"))


def _items(lines: Sequence[str], section: Section, hidden: set[int]) -> list[Item]:
    """Before the first second-level heading a paragraph describes the file, so only list items count there."""
    found: list[Item] = []
    number = section.start + 1
    while number < section.end:
        kind = None if number in hidden else _begins(lines[number])
        if kind is None:
            number += 1
            continue
        end = _end(lines, number, section.end, hidden)
        lead = kind[0] if isinstance(kind, re.Match) else ""
        words = " ".join(" ".join([lines[number][len(lead) :], *lines[number + 1 : end]]).split())
        below = next((line for line in lines[end : section.end] if line.strip()), "")
        holds = bool(lead) and _indent(below) > _indent(lines[number])
        if (lead or section.level > 1) and not _is_underlined(lines, end, section.end):
            found.append(Item(number, end, section.title, lead, words, holds))
        number = end
    return found


def _begins(line: str) -> re.Match[str] | bool | None:
    """The match of a list item's marker, True for a paragraph, None for a line that begins nothing."""
    bare = line.rstrip("\r\n")
    if not bare.strip() or _BREAK.fullmatch(bare) or _UNDERLINE.fullmatch(bare) or _OPAQUE.match(bare):
        return None
    return _LIST_ITEM.match(bare) or (_indent(bare) < 4 or None)


def _end(lines: Sequence[str], start: int, last: int, hidden: set[int]) -> int:
    for number in range(start + 1, last):
        bare = lines[number].rstrip("\r\n")
        begins_other = number in hidden or not bare.strip() or _LIST_ITEM.match(bare) or _OPAQUE.match(bare)
        if begins_other or _BREAK.fullmatch(bare) or _UNDERLINE.fullmatch(bare):
            return number
    return last


def _is_underlined(lines: Sequence[str], end: int, last: int) -> bool:
    return end < last and _UNDERLINE.fullmatch(lines[end].rstrip("\r\n")) is not None


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())
