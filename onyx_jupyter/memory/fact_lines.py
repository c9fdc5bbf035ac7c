"""`facts.jsonl` as text: parses it into facts, appends states, compacts it.

Each line is a state of one fact, and the last one for an id counts. Unknown fields stay with their fact, and lines that
are not facts stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, get_args

from onyx_jupyter.clock import timestamp
from onyx_jupyter.memory.facts import MAX_CATEGORY_CHARS, Fact, number_of
from onyx_jupyter.protocols import Chunk, MemoryAuthor
from onyx_jupyter.storage.jsonl import decode_line, encode_line

SCHEMA_VERSION = 1
GENERAL = "general"
# Above these the file is compacted: each fact once.
_SPARE_LINES = 50
_LINES_A_FACT = 2
_ID = re.compile(r"[\w.-]{1,40}")
_AUTHORS: tuple[MemoryAuthor, ...] = get_args(MemoryAuthor)


@dataclass(frozen=True, slots=True)
class FactLines:
    """A file's facts by id, in the order of their first lines, and the number (from 1) of each one's last line.

    `lines_of_fact`: the numbers of all lines about a fact, in order; `raw`: the objects in the lines; `others`: the
    lines that are not facts; `last_number`: the highest ever used in an id.
    """

    facts: Mapping[str, Fact]
    numbers: Mapping[str, int]
    lines_of_fact: Mapping[str, Sequence[int]]
    raw: Mapping[str, Mapping[str, Any]]
    others: tuple[str, ...]
    lines: int
    last_number: int

    @property
    def is_spread_out(self) -> bool:
        """Whether most of its lines are former states."""
        return self.lines - len(self.others) > _LINES_A_FACT * len(self.facts) + _SPARE_LINES


def read_facts(text: str) -> FactLines:
    """Parses any text; a byte order mark is not part of the first line."""
    facts: dict[str, Fact] = {}
    numbers: dict[str, int] = {}
    lines_of_fact: dict[str, list[int]] = {}
    raw: dict[str, Mapping[str, Any]] = {}
    others: list[str] = []
    lines, last_number = 0, 0
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        lines += 1
        item = decode_line(line.encode("utf-8", "surrogatepass"))
        name = item.get("id") if item else None
        merged = {**raw.get(name, {}), **item} if item and isinstance(name, str) else {}
        fact = _fact(merged)
        if fact is not None:
            facts[fact.id], numbers[fact.id], raw[fact.id] = fact, number, merged
            lines_of_fact.setdefault(fact.id, []).append(number)
            last_number = max(last_number, number_of(fact.id)[0])
        elif item and isinstance(item.get("last_number"), int):
            last_number = max(last_number, item["last_number"])
        else:
            others.append(line.rstrip("\r"))
    return FactLines(facts, numbers, lines_of_fact, raw, tuple(others), lines, last_number)


def fact_chunks(text: str) -> list[Chunk]:
    """The searchable part of the file: each fact that is still true, under its id, at its line."""
    found = read_facts(text)
    chunks = []
    for name, fact in found.facts.items():
        if fact.is_current:
            number, context = found.numbers[name], "" if fact.category == GENERAL else fact.category
            chunks.append(Chunk(fact.text, number, number, heading=name, context=context))
    return chunks


def with_states(text: str, found: FactLines, changed: Iterable[Fact]) -> str:
    """The text with the facts' new states appended."""
    lines = [_line({**found.raw.get(fact.id, {}), **_to_json(fact)}) for fact in changed]
    begin = text if not text or text.endswith("\n") else text + "\n"
    return begin + "".join(line + "\n" for line in lines)


def compact(found: FactLines, without: Iterable[str] = ()) -> str:
    """Each fact once, except `without`; keeps the last number, so that no id is used twice."""
    gone = set(without)
    head = _line({"schema_version": SCHEMA_VERSION, "last_number": found.last_number})
    kept = [_line({**raw, **_to_json(found.facts[name])}) for name, raw in found.raw.items() if name not in gone]
    return "".join(line + "\n" for line in [head, *found.others, *kept])


def _line(item: Mapping[str, Any]) -> str:
    return encode_line(item).decode()


def _to_json(fact: Fact) -> dict[str, Any]:
    source = {"author": fact.author, "session": fact.session_key, "turn": fact.turn}
    line = {
        "schema_version": SCHEMA_VERSION,
        "id": fact.id,
        "fact": fact.text,
        "category": fact.category,
        "confidence": round(fact.confidence, 6),
        "created": timestamp(fact.created_at),
        "reinforced": timestamp(fact.reinforced_at),
        "valid_from": timestamp(fact.valid_from),
        "valid_until": timestamp(fact.valid_until) if fact.valid_until else None,
        "superseded_by": fact.superseded_by,
        "source": {name: value for name, value in source.items() if value is not None},
    }
    return {name: value for name, value in line.items() if value is not None}


def _fact(line: Mapping[str, Any]) -> Fact | None:
    """None if the line is not a fact; fills in what a person left out."""
    name, text, created = line.get("id"), line.get("fact"), _moment(line.get("created"))
    if not (isinstance(name, str) and _ID.fullmatch(name) and isinstance(text, str) and text.strip() and created):
        return None
    confidence, category, source = line.get("confidence", 1.0), line.get("category"), line.get("source")
    source = source if isinstance(source, Mapping) else {}
    is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    return Fact(
        id=name,
        text=" ".join(text.split()),
        category=category[:MAX_CATEGORY_CHARS] if isinstance(category, str) and category else GENERAL,
        confidence=_number(confidence) if is_number else 1.0,
        created_at=created,
        reinforced_at=_moment(line.get("reinforced")) or created,
        valid_from=_moment(line.get("valid_from")) or created,
        valid_until=_moment(line.get("valid_until")),
        superseded_by=_text(line.get("superseded_by")),
        author=next((author for author in _AUTHORS if author == source.get("author")), "user"),
        session_key=_text(source.get("session")),
        turn=_text(source.get("turn")),
    )


def _number(value: Any) -> float:
    """Clamped to 0..1: JSON integers may be larger than any float."""
    return min(max(value, 0.0), 1.0) if value == value else 0.0  # only NaN differs from itself


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        if moment is None:
            return None
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
