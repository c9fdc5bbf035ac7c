"""Turns the steps of a scripted reply into the stream of OpenAI's Responses API. It opens no sockets.

Source: OpenAI, "Streaming events" of the Responses API.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from onyx_jupyter.testing.script import Call, Tokens, split

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


def reasoning_item(thought: str, seal: str | None, index: int) -> dict[str, Any]:
    """A whole reasoning item; without a seal it can be read only where it is stored."""
    item = {"type": "reasoning", "id": f"rs_{index}", "summary": _summary(thought)}
    return item if seal is None else {**item, "encrypted_content": seal}


class ResponsesAnswer:
    """One streamed answer: numbered items; a text or a thought stays open until something else begins."""

    def __init__(self, body: Mapping[str, Any], tokens: Tokens) -> None:
        self._model = str(body.get("model"))
        self._tokens = tokens
        self._events = 0
        self._output: list[dict[str, Any]] = []
        self._open = ""
        self._text = ""

    def text(self, piece: str) -> Iterator[bytes]:
        """A piece of text."""
        if self._open != "message":
            yield from self._close()
            yield from self._begin("message", {"type": "message", "role": "assistant", "content": []})
            part = {"type": "output_text", "text": "", "annotations": []}
            yield self._event("response.content_part.added", content_index=0, part=part)
        self._text += piece
        yield self._event("response.output_text.delta", content_index=0, delta=piece)

    def thought(self, piece: str, name: str) -> Iterator[bytes]:
        """A piece of the summary of what the model thinks; this API has only one name for it."""
        if self._open != "reasoning":
            yield from self._close()
            yield from self._begin("reasoning", {"type": "reasoning", "summary": []})
            part = {"type": "summary_text", "text": ""}
            yield self._event("response.reasoning_summary_part.added", summary_index=0, part=part)
        self._text += piece
        yield self._event("response.reasoning_summary_text.delta", summary_index=0, delta=piece)

    def sealed(self, seal: str) -> Iterator[bytes]:
        """The end of a thought, with its encrypted content."""
        if self._open != "reasoning":
            yield from self._close()
            yield from self._begin("reasoning", {"type": "reasoning", "summary": []})
        yield from self._close(seal)

    def call(self, call: Call, index: int) -> Iterator[bytes]:
        """A tool call, its arguments in fragments."""
        yield from self._close()
        call_id = call.id or f"call_{index + 1}"
        item = {"type": "function_call", "id": f"fc_{index + 1}", "call_id": call_id, "name": call.name}
        yield from self._begin("", {**item, "arguments": "", "status": "in_progress"})
        for fragment in split(call.raw_arguments, call.chunk_chars):
            yield self._event("response.function_call_arguments.delta", delta=fragment)
        yield self._event("response.function_call_arguments.done", arguments=call.raw_arguments)
        yield self._done({**item, "arguments": call.raw_arguments, "status": "completed"})

    def end(self, reason: str | None, *, with_usage: bool) -> Iterator[bytes]:
        """The proper end; omitted if the reason is None. Usage is always included."""
        yield from self._close()
        if reason in _INCOMPLETE:
            details = {"reason": _INCOMPLETE[reason]}
            response = {**self._response("incomplete"), "incomplete_details": details, "usage": self._usage()}
            yield self._event("response.incomplete", response=response)
        elif reason is not None:
            yield self._event("response.completed", response={**self._response("completed"), "usage": self._usage()})

    def _begin(self, kind: str, item: Mapping[str, Any]) -> Iterator[bytes]:
        if not self._events:
            yield self._event("response.created", response=self._response("in_progress"))
            yield self._event("response.in_progress", response=self._response("in_progress"))
        self._open, self._text = kind, ""
        yield self._event("response.output_item.added", item=dict(item))

    def _close(self, seal: str | None = None) -> Iterator[bytes]:
        if self._open == "message":
            part = {"type": "output_text", "text": self._text, "annotations": []}
            yield self._event("response.output_text.done", content_index=0, text=self._text)
            yield self._done({"type": "message", "role": "assistant", "status": "completed", "content": [part]})
        elif self._open == "reasoning":
            yield self._done({**reasoning_item(self._text, seal, len(self._output)), "status": None})
        self._open = ""

    def _done(self, item: dict[str, Any]) -> bytes:
        event = self._event("response.output_item.done", item=item)
        self._output.append(item)
        return event

    def _response(self, status: str) -> dict[str, Any]:
        head = {"id": "resp_scripted", "object": "response", "model": self._model, "status": status, "error": None}
        return {**head, "incomplete_details": None, "output": list(self._output), "usage": None}

    def _usage(self) -> dict[str, Any]:
        tokens = self._tokens
        return {
            "input_tokens": tokens.input_tokens,
            "input_tokens_details": {"cached_tokens": tokens.cached_tokens or 0},
            "output_tokens": tokens.output_tokens,
            "output_tokens_details": {"reasoning_tokens": tokens.reasoning_tokens or 0},
            "total_tokens": tokens.input_tokens + tokens.output_tokens,
        }

    def _event(self, name: str, **fields: Any) -> bytes:
        data = {"type": name, "sequence_number": self._events, **fields}
        if "response" not in fields:
            data["output_index"] = len(self._output)
        self._events += 1
        return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def _summary(thought: str) -> list[dict[str, Any]]:
    return [{"type": "summary_text", "text": thought}] if thought else []
