"""Turns the steps of a scripted reply into the stream of Anthropic's Messages API. It opens no sockets.

Source: Anthropic, "Streaming Messages".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from onyx_jupyter.testing.script import Call, HttpError, Tokens, split

_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}


class AnthropicAnswer:
    """One streamed answer: numbered blocks; a text or thought block stays open until something else begins."""

    def __init__(self, body: Mapping[str, Any], tokens: Tokens) -> None:
        self._model = str(body.get("model"))
        self._tokens = tokens
        self._blocks = 0
        self._open = ""
        self._begun = False

    def text(self, piece: str) -> Iterator[bytes]:
        """A piece of text."""
        yield from self._block("text")
        yield self._delta({"type": "text_delta", "text": piece})

    def thought(self, piece: str, name: str) -> Iterator[bytes]:
        """A piece of what the model thinks; this API has only one name for it."""
        yield from self._block("thinking")
        yield self._delta({"type": "thinking_delta", "thinking": piece})

    def sealed(self, seal: str) -> Iterator[bytes]:
        """The end of a thought, with its signature; a thought without words is one that only Anthropic can read."""
        if self._open == "thinking":
            yield self._delta({"type": "signature_delta", "signature": seal})
            yield from self._close()
        else:
            yield from self._begin()
            yield from self._close()
            yield self._start({"type": "redacted_thinking", "data": seal})
            yield self._stop()

    def call(self, call: Call, index: int) -> Iterator[bytes]:
        """A tool call, its arguments in fragments."""
        yield from self._begin()
        yield from self._close()
        call_id = call.id or f"toolu_{index + 1}"
        yield self._start({"type": "tool_use", "id": call_id, "name": call.name, "input": {}})
        for fragment in split(call.raw_arguments, call.chunk_chars):
            yield self._delta({"type": "input_json_delta", "partial_json": fragment})
        yield self._stop()

    def end(self, reason: str | None, *, with_usage: bool) -> Iterator[bytes]:
        """The proper end; omitted if the reason is None. Usage is always included."""
        yield from self._begin()
        yield from self._close()
        if reason is not None:
            delta = {"stop_reason": _REASONS.get(reason, reason), "stop_sequence": None}
            usage = {"output_tokens": self._tokens.output_tokens}
            yield _event("message_delta", {"delta": delta, "usage": usage})
            yield _event("message_stop", {})

    def _begin(self) -> Iterator[bytes]:
        if not self._begun:
            self._begun = True
            head = {"id": "msg_scripted", "type": "message", "role": "assistant", "model": self._model}
            yield _event("message_start", {"message": {**head, "content": [], "usage": self._usage()}})

    def _usage(self) -> dict[str, int]:
        cached = self._tokens.cached_tokens or 0
        new = self._tokens.input_tokens - cached
        return {
            "input_tokens": new,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "output_tokens": 1,
        }

    def _start(self, block: Mapping[str, Any]) -> bytes:
        return _event("content_block_start", {"index": self._blocks, "content_block": dict(block)})

    def _delta(self, delta: Mapping[str, Any]) -> bytes:
        return _event("content_block_delta", {"index": self._blocks, "delta": dict(delta)})

    def _stop(self) -> bytes:
        self._blocks += 1
        return _event("content_block_stop", {"index": self._blocks - 1})

    def _block(self, kind: str) -> Iterator[bytes]:
        yield from self._begin()
        if self._open != kind:
            yield from self._close()
            self._open = kind
            yield self._start({"type": kind, kind: ""})

    def _close(self) -> Iterator[bytes]:
        if self._open:
            self._open = ""
            yield self._stop()


def error_body(error: HttpError) -> dict[str, Any]:
    """An error in the format of this API."""
    return {"type": "error", "error": {"type": error.code or "api_error", "message": error.message}}


def _event(name: str, data: Mapping[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()
