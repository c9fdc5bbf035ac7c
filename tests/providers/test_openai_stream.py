"""OpenAI's stream from arbitrary byte chunks, and servers that do not stream."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from itertools import pairwise

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.errors import ModelError
from onyx_jupyter.protocols import ModelEvent, TextDelta
from onyx_jupyter.providers.chat_answer import ChatChunk, chat_events
from onyx_jupyter.providers.error_map import Provider
from onyx_jupyter.providers.event_stream import HttpFailure
from onyx_jupyter.providers.openai_stream import chat_chunks

PROVIDER = Provider("Mine", "mine", "m", base_url="http://mine/v1")
EVENT_STREAM = {"content-type": "text/event-stream"}


def frame(**chunk: object) -> bytes:
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def words(text: str, reason: str | None = None) -> bytes:
    return frame(choices=[{"delta": {"content": text}, "finish_reason": reason}])


async def read(pieces: Sequence[bytes], status: int = 200, headers: dict[str, str] = EVENT_STREAM) -> list[ChatChunk]:
    async def body() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, headers=headers, content=body())

    found: list[ChatChunk] = []
    async with (
        httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client,
        chat_chunks(client, "http://mine/v1/", "key", {"model": "m"}, 5.0) as chunks,
    ):
        found.extend([chunk async for chunk in chunks])
    return found


async def test_thoughts_in_content_parts_are_separated_from_answer() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "I add."}]}, {"type": "text", "text": "4"}]
    (chunk,) = await read([frame(choices=[{"delta": {"content": parts}, "finish_reason": "stop"}])])
    assert (chunk.text, chunk.thought) == ("4", "I add.")


async def test_data_arriving_together_is_one_chunk() -> None:
    one, other = await read([words("a") + words("b") + words("c"), words("d", "stop")])
    assert (one.text, one.finish_reason) == ("abc", None)
    assert (other.text, other.finish_reason) == ("d", "stop")


@given(text=st.text(max_size=40), cuts=st.lists(st.integers(0, 400), max_size=12))
def test_text_does_not_depend_on_byte_boundaries(text: str, cuts: list[int]) -> None:
    raw = b": a comment\n\n" + b"".join(words(char) for char in text) + words("", "stop") + b"data: [DONE]\n\n"
    places = [0, *sorted(min(cut, len(raw)) for cut in cuts), len(raw)]
    chunks = asyncio.run(read([raw[start:end] for start, end in pairwise(places)]))
    assert "".join(chunk.text for chunk in chunks) == text
    assert [chunk.finish_reason for chunk in chunks if chunk.finish_reason] == ["stop"]


async def test_non_streaming_server_is_supported() -> None:
    message = {"content": "All at once.", "tool_calls": [{"id": "1", "function": {"name": "x", "arguments": "{}"}}]}
    answer = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}
    (chunk,) = await read([json.dumps(answer).encode()], headers={"content-type": "application/json; charset=utf-8"})
    assert (chunk.text, chunk.finish_reason) == ("All at once.", "stop")
    assert (chunk.calls[0].id, chunk.calls[0].name) == ("1", "x")
    assert chunk.usage is not None
    assert chunk.usage.input_tokens == 3


async def test_error_response_has_status_message_and_headers() -> None:
    body = json.dumps({"error": {"message": "Slow down.", "code": "rate"}}).encode()
    with pytest.raises(HttpFailure) as caught:
        await read([body], 429, {"retry-after": "7"})
    assert (caught.value.status_code, caught.value.body["message"]) == (429, "Slow down.")
    assert caught.value.headers["retry-after"] == "7"


@pytest.mark.parametrize("body", [b"<html>Not here</html>", b"", b'{"detail": "no"}', b'"no"', b'{"error": "no"}'])
async def test_error_response_in_any_form_has_a_message(body: bytes) -> None:
    with pytest.raises(HttpFailure) as caught:
        await read([body], 500)
    assert str(caught.value)


async def test_text_before_broken_line_counts_and_break_is_reported() -> None:
    async def chunks() -> AsyncIterator[ChatChunk]:
        async def body() -> AsyncIterator[bytes]:
            yield words("half ") + b'data: {"choices": [{\n'

        transport = httpx.MockTransport(lambda _: httpx.Response(200, headers=EVENT_STREAM, content=body()))
        async with (
            httpx.AsyncClient(transport=transport) as client,
            chat_chunks(client, "http://mine/v1", "key", {}, 5.0) as found,
        ):
            async for chunk in found:
                yield chunk

    said: list[ModelEvent] = []

    async def listen() -> None:
        async with aclosing(chat_events(chunks(), PROVIDER, as_action=False)) as events:
            async for event in events:
                said.append(event)  # noqa: PERF401 - an error ends the loop, and what came before it is looked at

    with pytest.raises(ModelError) as caught:
        await listen()
    assert said == [TextDelta("half ")]
    assert caught.value.code == "bad_response"


async def test_error_within_stream_is_an_error() -> None:
    with pytest.raises(HttpFailure, match="overloaded"):
        await read([words("a"), frame(error={"message": "overloaded", "code": 503})])


@pytest.mark.parametrize(
    ("delta", "thought"),
    [
        ({"reasoning_content": "I add."}, "I add."),
        ({"reasoning": "I add."}, "I add."),
        ({"reasoning_content": "I add.", "reasoning": "I add."}, "I add."),
        ({"reasoning_content": None, "content": "x"}, ""),
        ({"reasoning": {"effort": "low"}}, ""),
    ],
)
async def test_reasoning_field_is_read_from_stream_and_whole_answer(delta: dict[str, object], thought: str) -> None:
    (chunk,) = await read([frame(choices=[{"delta": delta, "finish_reason": "stop"}])])
    assert chunk.thought == thought
    whole = json.dumps({"choices": [{"message": delta, "finish_reason": "stop"}]}).encode()
    (chunk,) = await read([whole], headers={"content-type": "application/json"})
    assert chunk.thought == thought


async def test_the_thoughts_of_a_total_are_counted_as_output() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 40}
    (chunk,) = await read([frame(choices=[{"delta": {}, "finish_reason": "stop"}], usage=usage)])
    assert chunk.usage is not None
    assert (chunk.usage.input_tokens, chunk.usage.output_tokens) == (10, 30)


async def test_googles_list_of_errors_has_its_words() -> None:
    body = json.dumps([{"error": {"code": 400, "message": "Thought signature is not valid.", "status": "INVALID"}}])
    with pytest.raises(HttpFailure, match="Thought signature is not valid"):
        await read([body.encode()], 400)
