"""Decides where a new memory goes: today's file, or a section of MEMORY.md."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from datetime import date, datetime

from onyx_jupyter.errors import ToolError

MEMORY_FILE = "MEMORY.md"
DAILY_FOLDER = "memory"
USER_FOLDER = "USER"
"""Files about the person that are read on demand."""
FACTS_FILE = f"{DAILY_FOLDER}/facts.jsonl"
SHARED_PREFIX = "shared/"
_DAILY = re.compile(r"(?:memory/)?(\d{4}-\d{2}-\d{2})\.md")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class MemoryTarget:
    """A file by its path inside the workspace, and the section of MEMORY.md (None: the end of the file)."""

    path: str
    section: str | None = None

    @property
    def is_daily(self) -> bool:
        return self.path != MEMORY_FILE


def memory_target(target: str | None, moment: datetime) -> MemoryTarget:
    """The file that a target means; `moment` is the local time. Raises: ToolError.

    None is today's file; others are `MEMORY.md`, `MEMORY.md#Section` and `memory/YYYY-MM-DD.md`.
    """
    if target is None or not target.strip():
        return MemoryTarget(f"{DAILY_FOLDER}/{moment:%Y-%m-%d}.md")
    name, _, section = target.strip().removeprefix("onyx:").partition("#")
    if "\n" in section or "\r" in section:
        raise ToolError(f"The section {section!r} must be one line.")
    if name == MEMORY_FILE:
        return MemoryTarget(MEMORY_FILE, section.strip() or None)
    if (daily := _DAILY.fullmatch(name)) and not section and _is_date(daily[1]):
        return MemoryTarget(f"{DAILY_FOLDER}/{daily[1]}.md")
    raise ToolError(
        f"{target!r} is not a place for a memory. Omit target for today's notes, or use 'MEMORY.md', "
        "'MEMORY.md#Section' or 'memory/YYYY-MM-DD.md'."
    )


def day_of(path: str) -> date | None:
    """The day of a daily file; None for other files."""
    daily = _DAILY.fullmatch(path) if path.startswith(f"{DAILY_FOLDER}/") else None
    return date.fromisoformat(daily[1]) if daily and _is_date(daily[1]) else None


def add_daily_entry(text: str, target: MemoryTarget, moment: datetime, content: str) -> str:
    """The daily file's text with the entry appended under the time of day. Existing text keeps its line endings."""
    day = target.path.removeprefix(DAILY_FOLDER + "/").removesuffix(".md")
    title = "" if text.strip() else f"# {day}\n\n"
    return _with_at_end(text, f"{title}## {moment:%H:%M}\n\n{content}")


def add_to_section(text: str, section: str | None, content: str) -> str:
    """The file's text with the content at the end of the section, which is created if missing.

    Existing text keeps its line endings; new lines get the most common one.
    """
    if section is None:
        return _with_at_end(text, content)
    lines = _lines(text)
    bounds = _section_bounds(lines, section)
    if bounds is None:
        return _with_at_end(text, f"## {section}\n\n{content}")
    start, end = bounds
    last = next(number for number in reversed(range(start, end)) if lines[number].strip())
    if end == len(lines):
        lines = lines[: last + 1]  # trailing blank lines of a file belong to no section
    follows = "\n" if last + 1 < len(lines) and lines[last + 1].strip() else ""
    before = "" if last > start and _continues_list(lines[last], content) else "\n"
    return _inserted(lines, last + 1, f"{before}{content}\n{follows}", _line_end(text))


def _section_bounds(lines: list[str], section: str) -> tuple[int, int] | None:
    """Line numbers from 0: that of the heading, and that of the next heading of the same or a higher level."""
    found: tuple[int, int] | None = None
    fence = ""
    for number, line in enumerate(lines):
        if mark := _FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
            continue
        heading = None if fence else _HEADING.fullmatch(line.rstrip("\r\n"))
        if heading is None:
            continue
        level = len(heading[1])
        if found is None:
            if heading[2].casefold() == section.casefold():
                found = (number, level)
        elif level <= found[1]:
            return found[0], number
    return None if found is None else (found[0], len(lines))


def _continues_list(last: str, content: str) -> bool:
    return last.lstrip().startswith(("- ", "* ")) and content.startswith(("- ", "* "))


def _with_at_end(text: str, content: str) -> str:
    lines = _lines(text)
    while lines and not lines[-1].strip():
        lines.pop()
    return _inserted(lines, len(lines), f"{chr(10) if lines else ''}{content}\n", _line_end(text))


def _inserted(lines: list[str], place: int, new: str, end: str) -> str:
    before = "".join(lines[:place])
    joint = "" if before.endswith("\n") or not before else end
    return f"{before}{joint}{new.replace(chr(10), end)}{''.join(lines[place:])}"


def _lines(text: str) -> list[str]:
    """The lines with their endings."""
    return list(io.StringIO(text))


def _line_end(text: str) -> str:
    """The most common line ending."""
    return "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"


def _is_date(text: str) -> bool:
    try:
        datetime.strptime(text, "%Y-%m-%d")  # noqa: DTZ007 (only whether there is such a day)
    except ValueError:
        return False
    return True
