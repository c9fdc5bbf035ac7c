"""Anthropic's Messages API, streamed.

Source: Anthropic, "Streaming Messages", "Errors", "Handling stop reasons".
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from onyx_jupyter.messages import Usage
from onyx_jupyter.providers.anthropic_format import THINKING_BLOCKS
from onyx_jupyter.providers.chat_answer import CallPiece, ChatChunk
from onyx_jupyter.providers.event_stream import HttpFailure, event_batches
from onyx_jupyter.providers.prices import Price

if TYPE_CHECKING:
    import httpx

_VERSION = "2023-06-01"
_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
# The status that an error in the middle of a stream would have had before it began.
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


@asynccontextmanager
async def message_chunks(
    client: httpx.AsyncClient, address: str, api_key: str, body: Mapping[str, Any], timeout_s: float, price: Price
) -> AsyncIterator[AsyncIterator[ChatChunk]]:
    """The answer's chunks; leaving closes the connection at once. Raises: HttpFailure, httpx.HTTPError."""
    headers = {"x-api-key": api_key, "anthropic-version": _VERSION}
    url = f"{address.rstrip('/')}/v1/messages"
    async with (
        event_batches(client, url, headers, body, timeout_s) as batches,
        aclosing(_chunks(batches, price)) as chunks,
    ):
        yield chunks


async def _chunks(batches: AsyncIterator[list[dict[str, Any]]], price: Price) -> AsyncGenerator[ChatChunk, None]:
    answer = _Answer(price)
    try:
        async for events in batches:
            yield answer.merged(events)
    except HttpFailure as failure:
        status = failure.status_code or _STATUS.get(str(failure.body.get("type")))
        raise HttpFailure(status, failure.body, failure.headers) from None


class _Answer:
    """What has come of one answer: its tokens, which come at the beginning and at the end, and its blocks in order."""

    def __init__(self, price: Price) -> None:
        self._price = price
        self._counted: dict[str, int] = {}
        self._blocks: dict[int, dict[str, Any]] = {}

    def merged(self, events: Sequence[Mapping[str, Any]]) -> ChatChunk:
        """Several events as one chunk."""
        texts, thoughts, calls = [], [], []
        reason: str | None = None
        usage: Usage | None = None
        ended = False
        for event in events:
            kind = event.get("type")
            if kind == "message_start":
                self._counted |= _counts(event["message"])
                usage = replace(_usage(self._counted, self._price), estimated=True)  # its output is still to come
            elif kind == "content_block_start":
                block = event["content_block"]
                self._blocks[event["index"]] = _carried_block(block)
                if block.get("type") == "tool_use":
                    calls.append(CallPiece(event["index"], block.get("id"), block.get("name"), None))
            elif kind == "content_block_delta":
                delta = event["delta"]
                texts.append(delta.get("text") or "")
                thoughts.append(delta.get("thinking") or "")
                self._grow(event["index"], delta)
                if delta.get("type") == "input_json_delta":
                    calls.append(CallPiece(event["index"], None, None, delta.get("partial_json")))
            elif kind == "message_delta":
                self._counted |= _counts(event)
                usage = _usage(self._counted, self._price)
                stopped = event["delta"].get("stop_reason")
                reason, ended = _REASONS.get(stopped, stopped), True
            elif kind == "message":
                return _whole(event, self._price)
        carried = _carried(list(self._blocks.values())) if ended else None
        return ChatChunk("".join(texts), calls, reason, usage, "".join(thoughts), carried)

    def _grow(self, index: int, delta: Mapping[str, Any]) -> None:
        block = self._blocks.get(index, {})
        for name in ("thinking", "signature"):
            if block.get("type") == "thinking" and delta.get(name):
                block[name] = block.get(name, "") + delta[name]


def _carried_block(block: Mapping[str, Any]) -> dict[str, Any]:
    """A thinking block as it is; a mark for a text or a call."""
    kind = block.get("type")
    return dict(block) if kind in ("thinking", "redacted_thinking") else {"type": kind}


def _carried(blocks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {THINKING_BLOCKS: blocks} if any(block.keys() - {"type"} for block in blocks) else {}


def _whole(message: Mapping[str, Any], price: Price) -> ChatChunk:
    """The answer of a server that does not stream."""
    blocks = list(enumerate(message.get("content") or ()))
    calls = [
        CallPiece(index, block.get("id"), block.get("name"), json.dumps(block.get("input") or {}))
        for index, block in blocks
        if block.get("type") == "tool_use"
    ]
    return ChatChunk(
        "".join(block.get("text") or "" for _, block in blocks),
        calls,
        _REASONS.get(message.get("stop_reason") or "", message.get("stop_reason")),
        _usage(_counts(message), price),
        "".join(block.get("thinking") or "" for _, block in blocks),
        _carried([_carried_block(block) for _, block in blocks]),
    )


def _counts(event: Mapping[str, Any]) -> dict[str, int]:
    return {name: count for name, count in (event.get("usage") or {}).items() if isinstance(count, int)}


def _usage(counted: Mapping[str, int], price: Price) -> Usage:
    new, output = counted.get("input_tokens", 0), counted.get("output_tokens", 0)
    cached, written = counted.get("cache_read_input_tokens", 0), counted.get("cache_creation_input_tokens", 0)
    cost_usd = price.cost_usd(new, output, cached=cached, cache_written=written)
    return Usage(new + cached + written, output, cached, cost_usd)
