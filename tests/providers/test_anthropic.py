"""Anthropic's Messages API without a library: requests, responses, costs."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from onyx_jupyter.messages import Message, ToolCall, ToolDefinition
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers import litellm_library
from onyx_jupyter.providers.anthropic_format import anthropic_messages
from onyx_jupyter.providers.anthropic_model import output_limit
from onyx_jupyter.providers.anthropic_stream import message_chunks
from onyx_jupyter.providers.chat_answer import ChatChunk
from onyx_jupyter.providers.litellm_library import read_price_table
from onyx_jupyter.providers.openai_format import openai_messages
from onyx_jupyter.providers.prices import Price, price_of
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.testing.collected import Collected, collect
from onyx_jupyter.testing.script import Call, Reply, Say, Tokens
from onyx_jupyter.testing.scripted_server import ScriptedServer

PRICE = Price({"input_cost_per_token": 1.0, "output_cost_per_token": 10.0, "cache_read_input_token_cost": 0.1})
READ = ToolDefinition("read", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})


async def ask(request: ModelRequest, reply: Reply = "Hello.", model: str = "claude-scripted") -> tuple[Collected, Any]:
    """The answer, and the request as the server got it."""
    with ScriptedServer([reply], api_key="the-key") as server:
        settings = ProviderSettings(base_url=server.base_url.removesuffix("/v1"), api_key="the-key")
        models = ProviderModels(ModelsSettings({"anthropic": settings}))
        answer = await collect(models.open(f"anthropic/{model}").stream(request))
        await models.close()
        return answer, server.requests[0]


def turns(*messages: Message) -> list[tuple[str, list[str]]]:
    """Roles, and the types of their blocks."""
    _, made = anthropic_messages(openai_messages(ModelRequest("", messages)))
    return [(turn["role"], [block["type"] for block in turn["content"]]) for turn in made]


async def test_provider_library_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise AssertionError("The library was loaded.")

    monkeypatch.setattr(litellm_library, "_load", refuse)
    answer, received = await ask(ModelRequest("Be brief.", [Message("user", "Hi")], [READ]))
    assert answer.text == "Hello."
    assert (received.path, received.headers["anthropic-version"]) == ("/v1/messages", "2023-06-01")
    assert "authorization" not in received.headers
    assert received.body["tools"][0]["input_schema"]["properties"] == {"path": {"type": "string"}}


@pytest.mark.parametrize(("asked", "sent"), [(None, 32_000), (7, 7)])
async def test_every_request_sets_max_tokens(asked: int | None, sent: int) -> None:
    _, received = await ask(ModelRequest("", [Message("user", "Hi")], max_tokens=asked))
    assert received.body["max_tokens"] == sent
    assert [output_limit({"max_output_tokens": most}) for most in (4_096, 64_000, None)] == [4_096, 32_000, 32_000]


async def test_calls_and_usage_are_complete() -> None:
    reply = [Say("I read. "), Call("read", {"path": "a.txt"}, chunk_chars=3), Call("read", {}), Tokens(1200, 7, 1000)]
    answer, _ = await ask(ModelRequest("", [Message("user", "Hi")], [READ]), reply)
    assert [(call.name, call.arguments) for call in answer.done.tool_calls] == [
        ("read", {"path": "a.txt"}),
        ("read", {}),
    ]
    assert answer.done.finish_reason == "tool_calls"
    usage = answer.done.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cost_usd) == (1200, 7, 1000, None)


async def test_cost_comes_from_price_table() -> None:
    answer, _ = await ask(
        ModelRequest("", [Message("user", "Hi")]), ["Hi.", Tokens(1200, 10, 1000)], "claude-sonnet-4-5"
    )
    assert answer.done.usage.cost_usd == pytest.approx(200 * 3e-6 + 1000 * 3e-7 + 10 * 15e-6)


def test_results_and_following_text_are_one_user_turn() -> None:
    calls = (ToolCall("a", "read", {}), ToolCall("b", "read", {}))
    results = [Message("tool", "1", tool_call_id="a"), Message("tool", "", tool_call_id="b")]
    assert turns(Message("user", "Go"), Message("assistant", "", calls), *results, Message("user", "And now?")) == [
        ("user", ["text"]),
        ("assistant", ["tool_use", "tool_use"]),
        ("user", ["tool_result", "tool_result", "text"]),
    ]


def test_empty_texts_are_dropped_and_adjacent_roles_merged() -> None:
    said = [Message("user", "Hi"), Message("assistant", " \n"), Message("user", "Are you there?")]
    assert turns(*said) == [("user", ["text", "text"])]


def test_foreign_call_id_is_mapped_with_its_result() -> None:
    call = ToolCall("call:1|é", "read", {"path": "a"}, malformed='{"path": ')
    messages = [
        Message("user", "Go"),
        Message("assistant", "Now.", (call,)),
        Message("tool", "1", tool_call_id=call.id),
    ]
    _, (_, reply, result) = anthropic_messages(openai_messages(ModelRequest("", messages)))
    assert reply["content"][1]["id"] == result["content"][0]["tool_use_id"] == "call_1__"


def test_cached_tokens_are_priced_separately_and_unlisted_models_have_no_price() -> None:
    assert PRICE.cost_usd(10, 2, cached=100, cache_written=5) == 10 + 20 + 10 + 5
    assert Price({"input_cost_per_token": 1.0}).cost_usd(10, 2) is None
    assert price_of(read_price_table(), "anthropic/claude-nobody").cost_usd(10, 2) is None
    long = Price({**PRICE.entry, "input_cost_per_token_above_200k_tokens": 2.0})
    assert (long.cost_usd(200_000, 0), long.cost_usd(200_001, 0)) == (200_000, 400_002)


def stream_of(*events: dict[str, Any]) -> bytes:
    return b"".join(b"event: %b\ndata: %b\n\n" % (e["type"].encode(), json.dumps(e).encode()) for e in events)


async def chunks(*pieces: bytes, kind: str = "text/event-stream") -> list[ChatChunk]:
    async def body(request: httpx.Request) -> httpx.Response:
        async def parts() -> Any:
            for piece in pieces:
                yield piece

        return httpx.Response(200, headers={"content-type": kind}, content=parts())

    async with (
        httpx.AsyncClient(transport=httpx.MockTransport(body)) as client,
        message_chunks(client, "http://x", "key", {}, 5.0, PRICE) as answer,
    ):
        return [chunk async for chunk in answer]


WHOLE = stream_of(
    {"type": "message_start", "message": {"usage": {"input_tokens": 3, "output_tokens": 1}}},
    {"type": "ping"},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Süß?"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "abc"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Grüße"}},
    {"type": "something_new", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "pause_turn"}, "usage": {"output_tokens": 4}},
    {"type": "message_stop"},
)


@pytest.mark.parametrize("cut", [1, 7, 64, len(WHOLE)])
async def test_stream_is_parsed_independently_of_chunking(cut: int) -> None:
    got = await chunks(*(WHOLE[start : start + cut] for start in range(0, len(WHOLE), cut)))
    assert "".join(chunk.thought for chunk in got) == "Süß?"
    assert "".join(chunk.text for chunk in got) == "Grüße"
    (reason,) = [chunk.finish_reason for chunk in got if chunk.finish_reason]
    *begun, usage = [chunk.usage for chunk in got if chunk.usage]
    assert all(one.estimated for one in begun), "their output is not known yet"
    assert (reason, usage.input_tokens, usage.output_tokens, usage.cost_usd) == ("pause_turn", 3, 4, 43)


async def test_non_streaming_server_is_supported() -> None:
    content = [
        {"type": "text", "text": "Hi."},
        {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}},
    ]
    message = {"type": "message", "content": content, "stop_reason": "tool_use", "usage": {"input_tokens": 1}}
    (chunk,) = await chunks(json.dumps(message).encode(), kind="application/json")
    assert (chunk.text, chunk.finish_reason) == ("Hi.", "tool_calls")
    assert [(call.name, call.arguments) for call in chunk.calls] == [("read", '{"path": "a"}')]
