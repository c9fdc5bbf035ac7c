"""Renders what went along with a user's message as text for a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from onyx_jupyter.security.external_content import escape_marks, unfenced
from onyx_jupyter.sessions.entry import Entry

FROM_SESSION = "not written by the user: this message comes from another session of yours, {key}"
FROM_CELL = "asked from a cell of {notebook}, whose kernel waits for the answer: no cell of it can run until then"


def format_attachments(entry: Entry) -> str:
    """Short facts first, then each text under a line that names it; empty if nothing went along."""
    if entry.role != "user":
        return ""
    items, notebooks = entry.context or (), entry.meta.get("notebooks")
    facts = (
        [FROM_SESSION.format(key=entry.origin.session.get("sessionKey"))] if entry.origin.session is not None else []
    )
    facts += [format_item(item) for item in items if not item.get("text")]
    if entry.origin.kernel is not None:
        notebook = entry.origin.kernel.get("path") or entry.origin.kernel.get("name") or "a notebook"
        facts.append(escape_marks(FROM_CELL.format(notebook=notebook)))
    if isinstance(notebooks, dict):
        facts += [escape_marks(f"the notebook in front is {notebooks['front']}")] if notebooks.get("front") else []
        others = notebooks.get("open")
        facts += (
            [escape_marks(f"also open: {', '.join(map(str, others))}")] if others and isinstance(others, list) else []
        )
    review = entry.meta.get("review")
    facts += [escape_marks(str(review["text"]))] if isinstance(review, Mapping) and review.get("text") else []
    texts = [f"{format_item(item)}\n" for item in items if item.get("text")]
    return "\n\n".join(part for part in ("; ".join(facts), *texts) if part)


def notebook_in_front(entry: Entry) -> str | None:
    """The notebook that was in front when the user sent the message; None if there was none or it is unknown."""
    notebooks = entry.meta.get("notebooks")
    front = notebooks.get("front") if isinstance(notebooks, Mapping) else None
    return front if isinstance(front, str) and front else None


def as_shown(entry: Entry) -> Entry:
    """The entry as shown to a person: fence markers are for a model only."""
    if entry.role == "tool":
        return replace(entry, content=unfenced(entry.content))
    if entry.context is None:
        return entry
    return replace(entry, meta={**entry.meta, "context": list(items_as_shown(entry.context))})


def items_as_shown(items: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The items without fence markers, except in a memory note, where they show what became of it since."""
    return tuple({**item, "text": unfenced(item["text"])} if _is_fenced(item) else {**item} for item in items)


def _is_fenced(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("text"), str) and item.get("type") != "memory"


def format_item(item: Mapping[str, Any]) -> str:
    """A description of the item, then its text if any: exactly what a model reads of it."""
    place = escape_marks(_place(item))
    return f"{place}:\n{item['text']}" if item.get("text") else place


def _place(item: Mapping[str, Any]) -> str:
    kind, path, cell_id = item.get("type"), item.get("path"), item.get("cellId")
    where = f"{path} cell {cell_id}" if cell_id else f"{path}"
    if kind == "variable":
        return f"variable {item.get('name')} of {path}"
    first, last = item.get("startLine"), item.get("endLine")
    lines = f" lines {first}–{last}" if first and last and last != first else f" line {first}" if first else ""
    return f"{kind} {'in ' if kind in ('selection', 'error') else ''}{where}{lines}"
