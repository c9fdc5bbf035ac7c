"""One line of a transcript in the published format; fields of later versions are kept unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, cast

from onyx_jupyter.messages import Attachment, Role, ToolCall, Usage
from onyx_jupyter.sessions.origin import RunOrigin

SCHEMA_VERSION = 1
REFLECTION = "reflection"
COMPACTION = "compaction"
CONSOLIDATION = "consolidation"
CONSOLIDATION_FAILED = "consolidation_failed"
MEMORY_NOTE = "memory"
_KNOWN = frozenset({"v", "id", "parent", "ts", "role", "content", "tool_calls", "tool_call_id", "usage", "meta"})
_ROLES = frozenset({"user", "assistant", "tool", "system"})


@dataclass(frozen=True, slots=True)
class Entry:
    """`parent` is the entry before it; `meta.kind` says what a system entry means; `extra` keeps unknown fields."""

    id: str
    parent: str | None
    ts: str
    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    usage: Usage | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def run_id(self) -> str | None:
        run_id = self.meta.get("runId")
        return run_id if isinstance(run_id, str) else None

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The attachments of a tool's result; malformed ones are ignored."""
        items = self.meta.get("attachments")
        return tuple(map(_attachment, filter(_is_attachment, items))) if isinstance(items, list | tuple) else ()

    @property
    def thought(self) -> tuple[str, float] | None:
        """What the model thought before it said this, and for how many seconds; never sent to a model."""
        thought = self.meta.get("thought") if self.role == "assistant" else None
        if not isinstance(thought, Mapping) or not isinstance(text := thought.get("text"), str):
            return None
        seconds = thought.get("seconds")
        return text, float(seconds) if isinstance(seconds, int | float) and isfinite(seconds) else 0.0

    @property
    def is_steer(self) -> bool:
        """A user's message that came during a run and belongs to it, from where it joined on."""
        return self.role == "user" and self.meta.get("steer") is True

    @property
    def is_queued(self) -> bool:
        """A user's message whose run had to wait: the run began with its next line, not with this one."""
        return self.role == "user" and self.meta.get("queued") is True

    @property
    def context(self) -> tuple[Mapping[str, Any], ...] | None:
        """What went along with a user's message; None if nothing did."""
        items = self.meta.get("context") if self.role == "user" else None
        return tuple(item for item in items if isinstance(item, Mapping)) or None if isinstance(items, list) else None

    @property
    def origin(self) -> RunOrigin:
        """Who or what sent a user's message."""
        return RunOrigin.read(self.meta if self.role == "user" else {})

    @property
    def kind(self) -> str | None:
        """What a system entry means: session, run_start, steer_joined, requeued, note, compaction, run_end …"""
        return self.meta.get("kind") if self.role == "system" else None

    @property
    def is_background(self) -> bool:
        """Written without anyone at work in the session: what was kept of it in the memory."""
        noted = self.kind == "note" and self.meta.get("note") == MEMORY_NOTE
        return noted or self.kind in (CONSOLIDATION, CONSOLIDATION_FAILED)


def to_json(entry: Entry) -> dict[str, Any]:
    """The entry as a JSON object; absent fields are left out."""
    line: dict[str, Any] = {
        "v": SCHEMA_VERSION,
        "id": entry.id,
        "parent": entry.parent,
        "ts": entry.ts,
        "role": entry.role,
        "content": entry.content,
    }
    if entry.tool_calls:
        line["tool_calls"] = [_call_to_json(call) for call in entry.tool_calls]
    if entry.tool_call_id is not None:
        line["tool_call_id"] = entry.tool_call_id
    if entry.usage is not None:
        line["usage"] = _usage_to_json(entry.usage)
    if entry.meta:
        line["meta"] = dict(entry.meta)
    return line | dict(entry.extra)


def from_json(line: Mapping[str, Any]) -> Entry:
    """Raises: ValueError if the line is not an entry."""
    entry_id, role, content = line.get("id"), line.get("role"), line.get("content")
    if not isinstance(entry_id, str) or not isinstance(role, str) or not isinstance(content, str) or role not in _ROLES:
        raise ValueError("a transcript line needs id, role and content")
    calls, meta = line.get("tool_calls") or [], line.get("meta") or {}
    if not isinstance(calls, list) or not isinstance(meta, dict):
        raise ValueError("tool_calls must be a list and meta an object")
    parent, call_id = line.get("parent"), line.get("tool_call_id")
    if not isinstance(parent, str | None) or not isinstance(call_id, str | None):
        raise ValueError("parent and tool_call_id must be texts")
    return Entry(
        id=entry_id,
        parent=parent,
        ts=str(line.get("ts", "")),
        role=cast(Role, role),
        content=content,
        tool_calls=tuple(_call_from_json(call) for call in calls),
        tool_call_id=call_id,
        usage=_usage_from_json(line.get("usage")),
        meta=meta,
        extra={key: value for key, value in line.items() if key not in _KNOWN},
    )


def _is_attachment(item: Any) -> bool:
    texts = ("mimeType", "data")
    return (
        isinstance(item, dict)
        and item.get("type") in ("image", "file")
        and all(isinstance(item.get(name), str) for name in texts)
        and isinstance(item.get("name"), str | None)
    )


def _attachment(item: Mapping[str, Any]) -> Attachment:
    return Attachment(item["type"], item["mimeType"], item["data"], item.get("name"))


def _call_to_json(call: ToolCall) -> dict[str, Any]:
    line: dict[str, Any] = {"id": call.id, "name": call.name, "arguments": dict(call.arguments)}
    return line if call.malformed is None else line | {"malformed": call.malformed}


def _call_from_json(line: Any) -> ToolCall:
    if not isinstance(line, dict) or not isinstance(line.get("id"), str) or not isinstance(line.get("name"), str):
        raise ValueError("a tool call needs id and name")
    arguments, malformed = line.get("arguments"), line.get("malformed")
    if not isinstance(malformed, str | None):
        raise ValueError("malformed must be a text")
    return ToolCall(line["id"], line["name"], arguments if isinstance(arguments, dict) else {}, malformed)


def _usage_to_json(usage: Usage) -> dict[str, Any]:
    numbers = {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cachedTokens": usage.cached_tokens,
        "costUsd": usage.cost_usd,
        "reasoningTokens": usage.reasoning_tokens,
        "plan": usage.plan,
        "costIsPartial": usage.cost_is_partial,
        "estimated": usage.estimated,
    }
    return {key: value for key, value in numbers.items() if value is not None}


def _usage_from_json(line: Any) -> Usage | None:
    if not isinstance(line, dict):
        return None
    names = ("inputTokens", "outputTokens", "cachedTokens", "costUsd", "reasoningTokens")
    numbers = [line.get(name) for name in names]
    if not all(isinstance(number, int | float | None) and isfinite(number or 0) for number in numbers):
        raise ValueError("usage must hold numbers")
    flags = (line.get(name) is True or None for name in ("plan", "costIsPartial", "estimated"))
    return Usage(int(numbers[0] or 0), int(numbers[1] or 0), numbers[2], numbers[3], numbers[4], *flags)
