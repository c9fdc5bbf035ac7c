"""Puts fields that a provider wants back into the reply that they came with, in OpenAI's form.

The fields of a reply are `{"message": {...}, "calls": [{...}, ...]}`: those of the message, and those of each call in
order. A message's items that have a place among its text and calls (thoughts that the provider signed or encrypted)
are a list in which `{"type": ...}` alone stands for the text or for the next call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onyx_jupyter.messages import Message
from onyx_jupyter.providers.known_providers import CarriedKind

# Google's own word for a call without a signature, such as one that another model made.
_NO_SIGNATURE = {"extra_content": {"google": {"thought_signature": "skip_thought_signature_validator"}}}
_TEXT = ("text", "message")
_WITHOUT_SIGNATURES = re.compile(r"gemini-[12]\b|gemma")


def carried_of(message: Message, model_id: str) -> Mapping[str, Any]:
    """The fields of this reply for that model; empty for any other model."""
    return message.carried.fields if message.carried is not None and message.carried.model_id == model_id else {}


def put_back(made: dict[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """A reply with calls, in OpenAI's form, with its fields."""
    calls = made["tool_calls"]
    of_calls = fields.get("calls") or ()
    if len(of_calls) == len(calls):
        calls = [{**call, **more} for call, more in zip(calls, of_calls, strict=True)]
    return {**made, "tool_calls": calls, **fields.get("message", {})}


def stand_ins(messages: Sequence[Mapping[str, Any]], kind: CarriedKind, model: str) -> list[dict[str, Any]]:
    """The messages, with what a provider accepts instead of a field that is not known: after a restart, in a later run,
    or if another model made the call. Without it, the request would be refused.

    Source: Google, "Thought signatures" (the current turn needs them); DeepSeek, "Thinking Mode" (all turns do).
    """
    made = [dict(message) for message in messages]
    if kind == "reasoning_content":
        return [{"reasoning_content": "", **message} if message.get("tool_calls") else message for message in made]
    if kind == "thought_signature" and not _WITHOUT_SIGNATURES.search(model):
        for message in made[_turn(made) :]:
            if message.get("tool_calls") and not any("extra_content" in call for call in message["tool_calls"]):
                first, *others = message["tool_calls"]
                message["tool_calls"] = [{**first, **_NO_SIGNATURE}, *others]
    return made


def last_reply_lacks(messages: Sequence[Mapping[str, Any]], field: str) -> bool:
    """Whether the newest reply made calls and lacks this field."""
    last = next((message for message in reversed(messages) if message["role"] == "assistant"), None)
    return last is not None and bool(last.get("tool_calls")) and not last.get(field)


def in_order(
    items: Sequence[Mapping[str, Any]], said: Mapping[str, Any] | None, calls: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The items of a reply, with its text and its calls in their places; those that have none come last."""
    waiting = list(calls)
    for item in items:
        if item.keys() - {"type", "phase"}:
            yield dict(item)
        elif item["type"] in _TEXT:
            if said is not None:
                yield {**said, **{name: value for name, value in item.items() if name != "type"}}
            said = None
        elif waiting:
            yield dict(waiting.pop(0))
    if said is not None:
        yield dict(said)
    yield from map(dict, waiting)


def _turn(messages: Sequence[Mapping[str, Any]]) -> int:
    """Where the current turn begins: after the last message of the user."""
    return max((index + 1 for index, message in enumerate(messages) if message["role"] == "user"), default=0)
