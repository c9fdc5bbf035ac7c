"""Changes to a memory file, one by one: what is allowed, the resulting text, and why the rest is refused.

It works on text alone. Lines that no operation names stay byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from onyx_jupyter.memory.items import Item, MarkdownStructure, Section, parse_structure
from onyx_jupyter.security.confusables import remove_invisible

_LIST_LEAD = re.compile(r"[-*+][ \t]+")
_STRUCTURE = re.compile(r"```|~~~|<[A-Za-z!/?]|-->|!\[")
_BEGINS_STRUCTURE = re.compile(r"[#>|=]|[-*+_]\s|\d{1,9}[.)]\s|\[[^\]]*\]:")
_LETTER = re.compile(r"[^\W_]")
_MIN_LETTERS = 3
_SECTION_CHARS = 80
_REASON_CHARS = 300

NO_SUCH_ITEM = "the file no longer has this entry"


@dataclass(frozen=True, slots=True)
class Operation:
    """One change. `item` is the entry's old text (change, drop), `content` its new text (add, change).

    `section` is the heading under which something is added, `sources` the transcript entries that it follows from.
    """

    op: Literal["add", "change", "drop"]
    reason: str
    sources: tuple[str, ...] = ()
    section: str = ""
    item: str = ""
    content: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused operation; `why` continues "left out: …"."""

    operation: Operation
    why: str


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for one set of operations.

    At most `drops` entries are dropped, and never more than `drop_share` of them all; `change_share` of them (at least
    one) may be reworded. Both together remove at most `lost_share` of the text, or `lost_chars` of a short one. The
    text grows by at most `added_chars`, and beyond `file_chars` not at all.
    """

    operations: int = 20
    drops: int = 3
    drop_share: float = 0.2
    change_share: float = 0.5
    lost_share: float = 0.25
    lost_chars: int = 200
    added_chars: int = 4000
    file_chars: int = 20_000
    content_chars: int = 500


@dataclass(frozen=True, slots=True)
class Applied:
    """The text with the operations that were `done`, and the refused ones."""

    text: str
    done: tuple[Operation, ...]
    refused: tuple[Refused, ...]


Check = Callable[[Operation], str | None]


def apply_operations(
    text: str, operations: Sequence[Operation], checks: Sequence[Check] = (), limits: Limits | None = None
) -> Applied:
    """The text with every allowed operation applied; the same text and operations always give the same result.

    A check returns why an operation is not allowed, or None.
    """
    work = _Work(text, limits or Limits())
    done: list[Operation] = []
    refused: list[Refused] = []
    for operation in map(_tidied, operations):
        why = _malformed(operation, work.limits) or next(filter(None, (check(operation) for check in checks)), None)
        why = why or work.take(operation)
        if why is None:
            done.append(operation)
        else:
            refused.append(Refused(operation, why))
    return Applied(work.text if done else text, tuple(done), tuple(refused))


def are_done(text: str, operations: Sequence[Operation]) -> bool:
    """Whether the text looks as if all operations were done: added text is there, dropped text is gone."""
    texts = {item.text for item in parse_structure(text).items}
    bare = {_bare(one) for one in texts}
    return all(
        (operation.op == "drop" or _bare(operation.content) in bare)
        and (operation.op == "add" or operation.item not in texts)
        for operation in operations
    )


@dataclass
class _Work:
    """The accepted operations. `edits`: an item's new line (None: dropped); `added`: new lines by section."""

    base: str
    limits: Limits
    text: str = field(default="", init=False)
    edits: dict[Item, str | None] = field(default_factory=dict, init=False)
    added: dict[str, list[str]] = field(default_factory=dict, init=False)
    taken: int = field(default=0, init=False)
    parts: MarkdownStructure = field(init=False)

    def __post_init__(self) -> None:
        self.parts = parse_structure(self.base)

    def take(self, operation: Operation) -> str | None:
        """Accepts the operation and returns None, or returns why not and changes nothing."""
        if self.taken >= self.limits.operations:
            return f"it is one of more than {self.limits.operations} changes at once"
        edits, added = dict(self.edits), {title: list(lines) for title, lines in self.added.items()}
        why = self._add(operation) if operation.op == "add" else self._edit(operation)
        text = "" if why else _rendered(self.parts, self.edits, self.added)
        why = why or self._too_much(len(text))
        if why:
            self.edits, self.added = edits, added
            return why
        self.text = text
        self.taken += 1
        return None

    def _add(self, operation: Operation) -> str | None:
        if self.parts.open_ended:
            return "a code block or comment in the file is never closed"
        known = [self.edits.get(item, item.text) for item in self.parts.items]
        if _bare(operation.content) in {_bare(text) for text in known if text} | self._added_texts():
            return "it is already remembered"
        section = _section(self.parts, operation.section)
        title = section.title if section else operation.section
        key = next((other for other in self.added if other.casefold() == title.casefold()), title)
        self.added.setdefault(key, []).append(operation.content)
        return None

    def _edit(self, operation: Operation) -> str | None:
        found = [item for item in self.parts.items if item.text == operation.item]
        if not found:
            return NO_SUCH_ITEM
        item = next((item for item in found if item not in self.edits), None)
        if item is None:
            return "another change is about the same entry"
        if operation.op == "drop" and item.holds_others:
            return "other entries are nested under it"
        others = {_bare(other.text) for other in self.parts.items if other is not item} | self._added_texts()
        if operation.op == "change" and _bare(operation.content) in others | {_bare(item.text)}:
            return "it is already remembered"
        self.edits[item] = operation.content if operation.op == "change" else None
        return None

    def _too_much(self, size: int) -> str | None:
        limits, items = self.limits, len(self.parts.items)
        drops = sum(new is None for new in self.edits.values())
        if drops > min(limits.drops, int(items * limits.drop_share)):
            return f"too many of its {items} entries would be removed at once"
        if len(self.edits) - drops > max(1, int(items * limits.change_share)):
            return f"too many of its {items} entries would be reworded at once"
        lost = sum(max(0, len(item.text) - len(new or "")) for item, new in self.edits.items())
        if lost > max(limits.lost_chars, int(len(self.base) * limits.lost_share)):
            return "too much of the file would be removed at once"
        if size > len(self.base) + limits.added_chars:
            return f"more than {limits.added_chars:,} characters would be added at once"
        if size > max(limits.file_chars, len(self.base)):
            return f"the file is full ({limits.file_chars:,} characters)"
        return None

    def _added_texts(self) -> set[str]:
        changed = [text for text in self.edits.values() if text]
        return {_bare(text) for texts in [changed, *self.added.values()] for text in texts}


def _rendered(parts: MarkdownStructure, edits: dict[Item, str | None], added: dict[str, list[str]]) -> str:
    end = "\r\n" if any(line.endswith("\r\n") for line in parts.lines) else "\n"
    places: list[tuple[int, int, list[str]]] = []
    for item, new in edits.items():
        last = parts.lines[item.end - 1]
        tail = last[len(last.rstrip("\r\n")) :]
        places.append((item.start, item.end, [] if new is None else [f"{item.lead}{new}{tail}"]))
    at_end: list[str] = []
    for title, contents in added.items():
        section = _section(parts, title)
        if section is None:
            at_end += [f"{end}## {title}{end}{end}", *(f"- {content}{end}" for content in contents)]
        else:
            places.append(_insertion(parts, section, contents, end))
    lines = list(parts.lines)
    for start, stop, new_lines in sorted(places, key=lambda place: place[:2], reverse=True):
        lines[start:stop] = new_lines
    text = "".join(lines)
    if not at_end:
        return text
    text = text if text.endswith("\n") or not text else text + end
    return text + "".join(at_end).removeprefix("" if text.strip() and not text.endswith(end * 2) else end)


def _insertion(
    parts: MarkdownStructure, section: Section, contents: Sequence[str], end: str
) -> tuple[int, int, list[str]]:
    """The insertion after the last line directly below the heading."""
    filled = (number for number in range(section.end - 1, section.start, -1) if parts.lines[number].strip())
    last = next(filled, section.start)
    items = [item for item in parts.items if section.start < item.start < section.end and item.lead]
    lead = next((item.lead for item in items if _LIST_LEAD.fullmatch(item.lead)), "- ")
    new = [f"{lead}{content}{end}" for content in contents]
    if last == section.start or not any(item.end == last + 1 for item in items):
        new.insert(0, end)
    if not parts.lines[last].endswith("\n"):
        new.insert(0, end)
    if last + 1 < len(parts.lines) and parts.lines[last + 1].strip():
        new.append(end)
    return last + 1, last + 1, new


def _section(parts: MarkdownStructure, title: str) -> Section | None:
    return next((section for section in parts.sections if section.title.casefold() == title.casefold()), None)


def _tidied(operation: Operation) -> Operation:
    """The operation with each text on one line, without invisible characters and list markers."""
    content = _one_line(operation.content)
    lead = _LIST_LEAD.match(content)
    return replace(
        operation,
        content=content[lead.end() :] if lead else content,
        section=_one_line(operation.section).lstrip("#").strip(),
        reason=_one_line(operation.reason)[:_REASON_CHARS],
    )


def _malformed(operation: Operation, limits: Limits) -> str | None:
    if operation.op != "drop":
        content = operation.content
        if len(_LETTER.findall(content)) < _MIN_LETTERS:
            return "it is empty"
        if len(content) > limits.content_chars:
            return f"it is longer than {limits.content_chars} characters"
        if _STRUCTURE.search(content) or _BEGINS_STRUCTURE.match(content):
            return "it is not one line of plain text"
    if operation.op == "add":
        title = operation.section
        if not _LETTER.search(title) or len(title) > _SECTION_CHARS or _STRUCTURE.search(title):
            return "its section is not a short heading"
    return None


def _one_line(text: str) -> str:
    return " ".join(remove_invisible(text)[0].split())


def _bare(text: str) -> str:
    """A normal form: equal for texts that say the same."""
    return " ".join(re.findall(r"\w+", text.casefold()))
