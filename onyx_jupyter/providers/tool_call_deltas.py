"""Assembles tool calls from the fragments of a stream, within limits."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onyx_jupyter.errors import ModelError
from onyx_jupyter.messages import ToolCall

# A model that went astray repeats itself until it is stopped; no honest answer comes near these limits.
MAX_CALLS = 100
MAX_ARGUMENT_CHARS = 2_000_000
_MAX_DEPTH = 64
_SHOWN_CHARS = 60


@dataclass(slots=True)
class _Fragment:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    carried: Mapping[str, Any] = field(default_factory=dict)

    def add(self, piece: str) -> None:
        self.size += len(piece)
        if self.size <= MAX_ARGUMENT_CHARS:
            self.pieces.append(piece)

    def call(self) -> ToolCall:
        text = "".join(self.pieces)
        if self.size <= MAX_ARGUMENT_CHARS:
            return tool_call(self.id, self.name, text)
        start = text[:_SHOWN_CHARS] or "the arguments"
        note = f"{start}… cut off: {self.size} characters came, at most {MAX_ARGUMENT_CHARS} are taken"
        return ToolCall(self.id or new_call_id(), self.name, {}, malformed=note)


class ToolCallDeltas:
    """Collects fragments by index; `calls()` returns the finished calls in the order of their first fragments."""

    def __init__(self) -> None:
        self._fragments: dict[int, _Fragment] = {}

    def __bool__(self) -> bool:
        return bool(self._fragments)

    def add(
        self,
        index: int | None,
        call_id: str | None,
        name: str | None,
        arguments: str | None,
        carried: Mapping[str, Any] | None = None,
    ) -> None:
        """Adds a fragment. Without an index, a new id begins a new call and anything else continues the last one.

        `carried` are fields that go back with the call.

        Raises: ModelError (bad_response) if there are more calls than `MAX_CALLS`.
        """
        known = index is not None and not (name and self._is_another(index, call_id))
        key = index if index is not None and known else self._implied_index(call_id)
        if key not in self._fragments and len(self._fragments) >= MAX_CALLS:
            message = f"The model requested more than {MAX_CALLS} tool calls in one answer. None of them was run."
            raise ModelError("bad_response", message, hint="Rephrase the question, or choose another model.")
        fragment = self._fragments.setdefault(key, _Fragment())
        fragment.id = fragment.id or call_id or ""
        # Some servers repeat the name in every fragment, so it is set once and not appended.
        fragment.name = fragment.name or name or ""
        fragment.carried = fragment.carried or carried or {}
        fragment.add(arguments or "")

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls, each with an id; fragments that never got a name are dropped."""
        return tuple(fragment.call() for fragment in self._fragments.values() if fragment.name)

    def carried(self) -> list[dict[str, Any]]:
        """The fields that go back with each of the calls; empty if none has any."""
        found = [dict(fragment.carried) for fragment in self._fragments.values() if fragment.name]
        return found if any(found) else []

    def _is_another(self, index: int, call_id: str | None) -> bool:
        """Gemini gives all calls of an answer the index 0; elsewhere only the id may be a new one in each fragment."""
        return index in self._fragments and bool(call_id) and self._fragments[index].id not in ("", call_id)

    def _implied_index(self, call_id: str | None) -> int:
        last = max(self._fragments, default=-1)
        begins = last < 0 or (call_id and self._fragments[last].id not in ("", call_id))
        return last + 1 if begins else last


def tool_call(call_id: str, name: str, raw_arguments: str) -> ToolCall:
    """A call from raw arguments: no text means none; anything that is not a JSON object is kept as `malformed`."""
    call_id = call_id or new_call_id()
    if not raw_arguments.strip():
        return ToolCall(call_id, name, {})
    try:
        arguments = json.loads(raw_arguments, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict) or _is_too_deep(arguments):
        return ToolCall(call_id, name, {}, malformed=raw_arguments)
    return ToolCall(call_id, name, arguments)


def _is_too_deep(arguments: dict[str, Any]) -> bool:
    """Whether they are nested too deeply for code that recurses into them."""
    level: list[Any] = [arguments]
    for _ in range(_MAX_DEPTH):
        level = [
            inner
            for item in level
            for inner in (item.values() if isinstance(item, dict) else item)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _refuse_constant(name: str) -> None:
    """NaN and Infinity are not JSON: other programs could not read the transcript's line."""
    raise ValueError(f"{name} is no JSON")


def new_call_id() -> str:
    """An id, unique in any conversation, for a call whose provider gave none."""
    return f"call_{uuid.uuid4().hex[:24]}"
