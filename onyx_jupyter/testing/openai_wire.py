"""Turns the steps of a scripted reply into the output of an OpenAI-compatible server. It opens no sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onyx_jupyter.providers.json_actions import REPLY, action_text
from onyx_jupyter.providers.known_providers import CarriedKind
from onyx_jupyter.testing.script import Call, Finish, HttpError, Say, Step, Think, Tokens, split

_CREATED = 1_767_225_600
DONE = b"data: [DONE]\n\n"


class OpenAIAnswer:
    """One streamed answer; `timings_per_token` in the request adds timings, as in llama.cpp's server.

    `carried` is the field that the provider wants back.
    """

    def __init__(self, body: Mapping[str, Any], tokens: Tokens, carried: CarriedKind = "") -> None:
        self._carried = carried
        self._signature: str | None = None
        self._details = 0
        self._model = str(body.get("model"))
        self._tokens = tokens
        self._timings = timings(tokens) if body.get("timings_per_token") else None

    def text(self, piece: str) -> Iterator[bytes]:
        """A piece of text."""
        yield text_chunk(self._model, piece, self._timings)

    def thought(self, piece: str, name: str) -> Iterator[bytes]:
        """A piece of what the model thinks, in the field of that name."""
        delta: dict[str, Any] = {name: piece}
        if self._carried == "reasoning_details":
            delta["reasoning_details"] = [{"type": "reasoning.text", "text": piece, "index": self._details}]
        if self._carried != "thought_signature":  # Gemini thinks in silence
            yield _delta(self._model, delta, timings=self._timings)

    def sealed(self, seal: str) -> Iterator[bytes]:
        """The end of a thought, with its signature."""
        if self._carried == "reasoning_details":
            detail = {"type": "reasoning.text", "signature": seal, "index": self._details}
            yield _delta(self._model, {"reasoning_details": [detail]})
        self._signature = seal
        self._details += 1

    def call(self, call: Call, index: int) -> Iterator[bytes]:
        """A tool call, its arguments in fragments; where calls are signed, whole and with the index 0, as by Gemini."""
        if self._carried != "thought_signature":
            yield from call_chunks(self._model, call, index)
            return
        function = {"name": call.name, "arguments": call.raw_arguments}
        whole: dict[str, Any] = {"index": 0, "id": call_id(call, index), "type": "function", "function": function}
        if self._signature is not None:
            whole["extra_content"] = {"google": {"thought_signature": self._signature}}
            self._signature = None
        yield _delta(self._model, {"tool_calls": [whole]})

    def end(self, reason: str | None, *, with_usage: bool) -> Iterator[bytes]:
        """The proper end; omitted if the reason is None."""
        if reason is not None:
            yield finish_chunk(self._model, reason)
            if with_usage:
                yield usage_chunk(self._model, self._tokens)
            yield DONE


def error_body(error: HttpError) -> dict[str, Any]:
    """An error in the format of this API."""
    return {"error": {"message": error.message, "type": "scripted_error", "param": None, "code": error.code}}


def text_chunk(model: str, text: str, timings: Mapping[str, int] | None = None) -> bytes:
    """One `data:` line with a piece of text."""
    return _delta(model, {"content": text}, timings=timings)


def call_chunks(model: str, call: Call, index: int) -> Iterator[bytes]:
    """A tool call as OpenAI sends it: id and name first, then the arguments in fragments, by index."""
    head: dict[str, Any] = {"index": index, "type": "function", "function": {"name": call.name, "arguments": ""}}
    if call.id != "":
        head["id"] = call_id(call, index)
    yield _delta(model, {"tool_calls": [head]})
    for fragment in split(call.raw_arguments, call.chunk_chars):
        yield _delta(model, {"tool_calls": [{"index": index, "function": {"arguments": fragment}}]})


def finish_chunk(model: str, reason: str) -> bytes:
    """The chunk that says why the answer ends."""
    return _delta(model, {}, reason)


def usage_chunk(model: str, tokens: Tokens) -> bytes:
    """The last chunk, without choices, if the client asked for usage."""
    return _line({**_frame(model), "choices": [], "usage": usage(tokens)})


def completion(model: str, reply: Sequence[Step], tokens: Tokens) -> dict[str, Any]:
    """The whole answer in one body, for a request without `stream`."""
    calls = [step for step in reply if isinstance(step, Call)]
    text = "".join(step.text for step in reply if isinstance(step, Say))
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    for step in reply:
        if isinstance(step, Think):
            message[step.name] = message.get(step.name, "") + step.text
    if calls:
        message["tool_calls"] = [
            {
                "id": call_id(call, index),
                "type": "function",
                "function": {"name": call.name, "arguments": call.raw_arguments},
            }
            for index, call in enumerate(calls)
        ]
    return {
        **_frame(model),
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(reply)}],
        "usage": usage(tokens),
    }


def finish_reason(reply: Sequence[Step]) -> str | None:
    """The script's reason, else `tool_calls` or `stop`."""
    for step in reply:
        if isinstance(step, Finish):
            return step.reason
    return "tool_calls" if any(isinstance(step, Call) for step in reply) else "stop"


def tokens_of(body: Mapping[str, Any], reply: Sequence[Step]) -> Tokens:
    """The script's own numbers, else a count of words."""
    for step in reply:
        if isinstance(step, Tokens):
            return step
    messages = body.get("messages") or body.get("input") or ()
    asked = sum(len(str(message.get("content") or "").split()) for message in messages)
    said = sum(len(step.text.split()) for step in reply if isinstance(step, Say | Think))
    called = sum(1 for step in reply if isinstance(step, Call))
    return Tokens(asked, said + called)


def wants_json_action(body: Mapping[str, Any]) -> bool:
    """Whether the request constrains the answer to Onyx's schema of actions."""
    of_chat = (body.get("response_format") or {}).get("json_schema") or {}
    of_responses = (body.get("text") or {}).get("format") or {}
    return "action" in (of_chat.get("name"), of_responses.get("name"))


def as_json_action(reply: Sequence[Step]) -> list[Step]:
    """The reply of a model that can only answer with one action: the first call, else the text."""
    called = next((step for step in reply if isinstance(step, Call)), None)
    said = [step for step in reply if isinstance(step, Say)]
    if called is not None:
        arguments = called.raw_arguments
        action = Say(f'{{"name": {json.dumps(called.name)}, "arguments": {arguments}}}', called.chunk_chars)
    else:
        action = Say(
            action_text(REPLY, {"text": "".join(step.text for step in said)}), said[0].chunk_chars if said else 1
        )
    rest: list[Step] = [step for step in reply if not isinstance(step, Say | Call)]
    first = next((index for index, step in enumerate(reply) if isinstance(step, Say | Call)), None)
    if first is None:
        return rest
    before = sum(1 for step in reply[:first] if not isinstance(step, Say | Call))
    return [*rest[:before], action, *rest[before:]]


def usage(tokens: Tokens) -> dict[str, Any]:
    """The `usage` object."""
    numbers: dict[str, Any] = {
        "prompt_tokens": tokens.input_tokens,
        "completion_tokens": tokens.output_tokens,
        "total_tokens": tokens.input_tokens + tokens.output_tokens,
    }
    if tokens.cached_tokens is not None:
        numbers["prompt_tokens_details"] = {"cached_tokens": tokens.cached_tokens}
    if tokens.reasoning_tokens is not None:
        numbers["completion_tokens_details"] = {"reasoning_tokens": tokens.reasoning_tokens}
    return numbers


def timings(tokens: Tokens) -> dict[str, int]:
    """The `timings` object of llama.cpp's server, as at the end of an answer; the times are left out."""
    cached = tokens.cached_tokens or 0
    return {"cache_n": cached, "prompt_n": tokens.input_tokens - cached, "predicted_n": tokens.output_tokens}


def call_id(call: Call, index: int) -> str:
    """The call's id, derived from its position if the script has none."""
    return call.id if call.id is not None else f"call_{index + 1}"


def _delta(
    model: str, delta: Mapping[str, Any], finish: str | None = None, timings: Mapping[str, int] | None = None
) -> bytes:
    more = {"timings": timings} if timings else {}
    return _line({**_frame(model), "choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish}], **more})


def _frame(model: str) -> dict[str, Any]:
    return {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": _CREATED, "model": model}


def _line(data: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"
