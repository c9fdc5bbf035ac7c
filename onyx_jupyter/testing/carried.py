"""What a scripted server has sealed in its answers, and how the real one refuses a request that lost or changed it.

The words are the providers' own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onyx_jupyter.providers.known_providers import CarriedKind
from onyx_jupyter.testing.responses_wire import reasoning_item
from onyx_jupyter.testing.script import Call, HttpError, Step, Think

_SKIPPED = "skip_thought_signature_validator"
_OPENROUTER = "Provider returned error"
_MISSING: Mapping[CarriedKind, str] = {
    "thinking_blocks": "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. "
    "When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost "
    "set of `tool_use` and `tool_result` blocks).",
    "reasoning_items": "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: "
    "'rs_0'.",
    "thought_signature": "Function call is missing a thought_signature in functionCall parts. This is required for "
    "tools to work correctly, and missing thought_signature may lead to degraded model performance.",
    "reasoning_content": "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "reasoning_details": _OPENROUTER,
}
_CHANGED: Mapping[CarriedKind, str] = {
    "thinking_blocks": "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message "
    "cannot be modified. These blocks must remain as they were in the original response.",
    "reasoning_items": "The encrypted content for item rs_0 could not be verified. Reason: Encrypted content could not "
    "be decrypted or parsed.",
    "thought_signature": "Thought signature is not valid.",
    "reasoning_content": "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "reasoning_details": _OPENROUTER,
}


class Issued:
    """The sealed thoughts of all answers so far, by the id of the first call after them."""

    def __init__(self) -> None:
        self._sealed: dict[str, Any] = {}

    def note(self, kind: CarriedKind, reply: Sequence[Step]) -> None:
        """Remembers what the server seals in this reply."""
        calls = [step for step in reply if isinstance(step, Call) and step.id]
        thoughts = [step for step in reply if isinstance(step, Think) and step.seal is not None]
        if kind and calls and thoughts:
            self._sealed[str(calls[0].id)] = _sealed(kind, thoughts, reply)

    def refusal(self, kind: CarriedKind, body: Mapping[str, Any]) -> HttpError | None:
        """The error for a request that does not hand back what was sealed; None if it does."""
        for call_id, found in _handed_back(kind, body):
            expected = self._sealed.get(call_id)
            if not found and found != "" and _is_needed(kind, body, expected):
                return HttpError(400, _MISSING[kind], "invalid_request_error")
            if found and found not in (expected, _SKIPPED):
                return HttpError(400, _CHANGED[kind], "invalid_request_error")
        return None


def _sealed(kind: CarriedKind, thoughts: Sequence[Think], reply: Sequence[Step]) -> Any:
    if kind == "thought_signature":
        return thoughts[0].seal
    if kind == "reasoning_content":
        return "".join(thought.text for thought in thoughts)
    if kind == "reasoning_details":
        return [
            {"type": "reasoning.text", "text": thought.text, "index": index, "signature": thought.seal}
            for index, thought in enumerate(thoughts)
        ]
    if kind == "reasoning_items":
        return [reasoning_item(thought.text, thought.seal, reply.index(thought)) for thought in thoughts]
    return [
        {"type": "thinking", "thinking": thought.text, "signature": thought.seal}
        if thought.text
        else {"type": "redacted_thinking", "data": thought.seal}
        for thought in thoughts
    ]


def _handed_back(kind: CarriedKind, body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The id of the first call of each reply, and what came back with it."""
    if kind == "reasoning_items":
        items = body.get("input") or ()
        yield from _items_handed_back(items[_turn(items) :])
        return
    messages = body.get("messages") or ()
    for message in messages if kind == "reasoning_content" else messages[_turn(messages) :]:
        if message["role"] != "assistant":
            continue
        if kind == "thinking_blocks":
            blocks = message["content"]
            calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
            thinking = [block for block in blocks if block["type"] in ("thinking", "redacted_thinking")]
            yield from [(calls[0], thinking)] if calls else []
        elif calls := message.get("tool_calls"):
            extra = calls[0].get("extra_content", {}).get("google", {}).get("thought_signature")
            yield calls[0]["id"], extra if kind == "thought_signature" else message.get(kind)


def _turn(messages: Sequence[Mapping[str, Any]]) -> int:
    """Where the current turn begins: after the last words of the user."""
    said = [index for index, message in enumerate(messages) if message.get("role") == "user" and _speaks(message)]
    return said[-1] + 1 if said else 0


def _speaks(message: Mapping[str, Any]) -> bool:
    content = message["content"]
    return isinstance(content, str) or not any(part["type"] == "tool_result" for part in content)


def _items_handed_back(items: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    reasoning: list[Mapping[str, Any]] = []
    for before, item in zip([{}, *items], items, strict=False):
        if item.get("type") == "reasoning":
            reasoning.append(item)
        elif item.get("type") == "function_call" and before.get("type") != "function_call":
            yield item["call_id"], reasoning
            reasoning = []
    if reasoning:
        yield "", reasoning  # without the item that has to follow it


def _is_needed(kind: CarriedKind, body: Mapping[str, Any], expected: Any) -> bool:
    """Anthropic needs it only beside a budget, DeepSeek with every call (if need be, empty), the others where they sent
    one.
    """
    if kind == "thinking_blocks":
        return (body.get("thinking") or {}).get("type") == "enabled"
    if kind == "reasoning_content":
        return (body.get("thinking") or {}).get("type") != "disabled"
    return expected is not None
