"""Puts tool calls together from the fragments in which a stream brings them. It never judges whether a tool exists."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass

from onyx_jupyter.messages import ToolCall


@dataclass(slots=True)
class _Fragment:
    id: str = ""
    name: str = ""
    arguments: str = ""


class CallFragments:
    """Collects fragments by their index; `calls()` gives the finished calls in the order of their first fragments."""

    def __init__(self) -> None:
        self._fragments: dict[int, _Fragment] = {}

    def add(self, index: int | None, call_id: str | None, name: str | None, arguments: str | None) -> None:
        """One fragment. Without an index, a new id begins a new call and everything else continues the last one."""
        key = index if index is not None else self._implied_index(call_id)
        fragment = self._fragments.setdefault(key, _Fragment())
        fragment.id = fragment.id or call_id or ""
        # Some servers repeat the name in every fragment, so it is taken once and not appended.
        fragment.name = fragment.name or name or ""
        fragment.arguments += arguments or ""

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls, each with an id; fragments that never got a name are dropped."""
        return tuple(
            tool_call(fragment.id, fragment.name, fragment.arguments)
            for fragment in self._fragments.values()
            if fragment.name
        )

    def _implied_index(self, call_id: str | None) -> int:
        last = max(self._fragments, default=-1)
        begins = last < 0 or (call_id and self._fragments[last].id not in ("", call_id))
        return last + 1 if begins else last


def tool_call(call_id: str, name: str, raw_arguments: str) -> ToolCall:
    """A call from raw arguments: no text means none; what is no JSON object is kept as `malformed`."""
    call_id = call_id or new_call_id()
    if not raw_arguments.strip():
        return ToolCall(call_id, name, {})
    try:
        arguments = json.loads(raw_arguments, parse_constant=_refuse_constant)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        return ToolCall(call_id, name, {}, malformed=raw_arguments)
    return ToolCall(call_id, name, arguments)


def _refuse_constant(name: str) -> None:
    """NaN and Infinity are no JSON: written down they would make the transcript's line unreadable for others."""
    raise ValueError(f"{name} is no JSON")


def new_call_id() -> str:
    """An id for a call whose provider gave none; unique in any conversation."""
    return f"call_{uuid.uuid4().hex[:24]}"
