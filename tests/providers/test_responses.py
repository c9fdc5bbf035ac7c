"""OpenAI's Responses API without a library: what is sent, what is read, and what it costs."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from onyx_jupyter.messages import Attachment, Message, ToolDefinition
from onyx_jupyter.protocols import Guidance, ModelRequest
from onyx_jupyter.providers.chat_answer import ChatChunk
from onyx_jupyter.providers.endpoint import Endpoint
from onyx_jupyter.providers.error_map import Provider
from onyx_jupyter.providers.event_stream import HttpFailure, new_client
from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS
from onyx_jupyter.providers.prices import Price
from onyx_jupyter.providers.responses_format import responses_input
from onyx_jupyter.providers.responses_model import ResponsesModel
from onyx_jupyter.providers.responses_stream import response_chunks
from onyx_jupyter.testing.collected import Collected, collect
from onyx_jupyter.testing.script import Call, Finish, HttpError, Reply, Say, Think, Tokens
from onyx_jupyter.testing.scripted_server import Received, ScriptedServer

PRICE = Price({"input_cost_per_token": 1.0, "output_cost_per_token": 10.0, "cache_read_input_token_cost": 0.1})
READ = ToolDefinition("read", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
HI = ModelRequest("Be brief.", [Message("user", "Hi")])


async def ask(
    request: ModelRequest, *replies: Reply, model: str = "gpt-5.2", **more: Any
) -> tuple[Collected, list[Received]]:
    """The last answer, and the requests as the server got them; the request is made once for each reply."""
    with ScriptedServer(list(replies) or ["Hello."], api_key="the-key") as server:
        endpoint = Endpoint(
            model_id=f"openai/{model}",
            litellm_name=f"openai/{model}",
            provider=Provider("OpenAI", "openai", model),
            api_key="the-key",
            timeout_s=5.0,
            dialect=KNOWN_PROVIDERS["openai"].dialect,
            address=server.base_url,
            **{"json_actions": False, **more},
        )
        client = await new_client()
        answer = await collect(ResponsesModel(endpoint, lambda: _given(client)).stream(request))
        await client.aclose()
        return answer, list(server.requests)


async def _given(client: httpx.AsyncClient) -> httpx.AsyncClient:
    return client


async def test_a_request_stores_nothing_and_asks_for_what_has_to_come_back() -> None:
    request = ModelRequest("Be brief.", [Message("user", "Hi")], [READ], max_tokens=5)
    answer, (received,) = await ask(request)
    body = received.body
    assert answer.text == "Hello."
    assert (received.path, received.headers["authorization"]) == ("/v1/responses", "Bearer the-key")
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    assert (body["instructions"], body["input"]) == ("Be brief.", [{"role": "user", "content": "Hi"}])
    assert body["reasoning"] == {"summary": "auto"}
    assert body["max_output_tokens"] == 16, "the least that the API takes"
    assert body["tools"] == [
        {"type": "function", "name": "read", "description": "Reads a file.", "strict": False}
        | {"parameters": READ.parameters}
    ]
    assert "messages" not in body


async def test_a_model_that_does_not_think_is_asked_for_no_thoughts() -> None:
    _, (received,) = await ask(HI, model="gpt-4o", effort="high")
    assert {"reasoning", "include"} & received.body.keys() == set()


def test_pictures_calls_and_results_are_items_of_their_own() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": [{"type": "text", "text": "See"}, _picture("data:image/png;base64,QQ==")]},
        {"role": "assistant", "content": "Now.", "tool_calls": [_call("c" * 70 + "1"), _call("c" * 70 + "2")]},
        {"role": "tool", "tool_call_id": "c" * 70 + "1", "content": ""},
    ]
    system, (picture, said, first, second, result) = responses_input(messages)
    assert system == "S"
    assert [part["type"] for part in picture["content"]] == ["input_text", "input_image"]
    assert picture["content"][1]["image_url"] == "data:image/png;base64,QQ=="
    assert said == {"role": "assistant", "content": "Now."}
    assert first["call_id"] == result["call_id"] != second["call_id"]
    assert len(first["call_id"]) == 64
    assert result["output"] == "(empty)"


def _picture(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def _call(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "read", "arguments": "{}"}}


async def test_pictures_are_sent_to_a_model_that_sees_them() -> None:
    picture = Attachment("image", "image/png", "QQ==")
    request = ModelRequest("", [Message("user", "See", attachments=(picture,))])
    _, (received,) = await ask(request, vision=True)
    assert received.body["input"][0]["content"][1] == {
        "type": "input_image",
        "image_url": "data:image/png;base64,QQ==",
    }


async def test_thoughts_words_calls_and_usage_come_whole() -> None:
    reply = [
        Think("I add. ", 2),
        Say("I read. ", 3),
        Call("read", {"path": "ä.txt"}, chunk_chars=3),
        Call("read", {}),
        Tokens(1200, 50, 1000, reasoning_tokens=30),
    ]
    request = ModelRequest("", [Message("user", "Hi")], [READ])
    answer, _ = await ask(request, reply)
    assert (answer.thought, answer.text) == ("I add. ", "I read. ")
    assert [(call.id, call.name, call.arguments) for call in answer.tool_calls] == [
        ("call_1", "read", {"path": "ä.txt"}),
        ("call_2", "read", {}),
    ]
    usage = answer.done.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens) == (
        1200,
        50,
        1000,
        30,
    )
    assert usage.cost_usd == pytest.approx(200 * 1.75e-6 + 1000 * 1.75e-7 + 50 * 14e-6)
    assert answer.done.carried is None, "what is neither encrypted nor stored could not be read again"


@pytest.mark.parametrize(("reason", "finish", "code"), [("length", "length", None), ("content_filter", "", "refused")])
async def test_an_incomplete_answer_says_why(reason: str, finish: str, code: str | None) -> None:
    answer, _ = await ask(HI, ["Half", Finish(reason)])
    assert answer.text == "Half"
    assert (answer.error.code if answer.error else None) == code
    assert code or answer.done.finish_reason == finish


async def test_a_json_action_is_a_format_of_the_text() -> None:
    with_tools = ModelRequest("", [Message("user", "Hi")], [READ], guidance=Guidance(begun="x"))
    answer, (received,) = await ask(with_tools, [Call("read", {"path": "a"})], json_actions=True)
    assert received.body["text"]["format"]["type"] == "json_schema"
    assert received.body["text"]["format"]["name"] == "action"
    assert "tools" not in received.body
    assert [call.arguments for call in answer.tool_calls] == [{"path": "a"}]
    assert answer.done.restarted


async def test_a_summary_that_is_refused_leaves_the_effort() -> None:
    words = "Your organization must be verified to generate reasoning summaries."
    refusal = [HttpError(400, f"{words} (param: reasoning.summary)", "unsupported_value")]
    _, received = await ask(ModelRequest("", [Message("user", "Hi")], effort="high"), refusal, "Hello.")
    assert [request.body["reasoning"] for request in received] == [
        {"effort": "high", "summary": "auto"},
        {"effort": "high"},
    ]


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
        response_chunks(client, "http://x", "key", {}, 5.0, PRICE) as answer,
    ):
        return [chunk async for chunk in answer]


def _item(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": "x", "status": "completed", **more}


USAGE = {
    "input_tokens": 3,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 4,
    "output_tokens_details": {"reasoning_tokens": 2},
}
OUTPUT = [
    _item("reasoning", summary=[], encrypted_content="sealed"),
    _item("message", role="assistant", content=[{"type": "output_text", "text": "Grüße"}], phase="commentary"),
    _item("function_call", call_id="c1", name="read", arguments='{"path": "a"}'),
]
WHOLE = stream_of(
    {"type": "response.created", "response": {"status": "in_progress", "error": None}},
    {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0},
    {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Süß?"},
    {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1},
    {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Ja."},
    {"type": "response.output_item.done", "output_index": 0, "item": OUTPUT[0]},
    {"type": "response.output_text.delta", "output_index": 1, "delta": "Grüße"},
    {"type": "response.output_item.done", "output_index": 1, "item": OUTPUT[1]},
    {"type": "response.something_new", "output_index": 1},
    {"type": "response.output_item.added", "output_index": 2, "item": {**OUTPUT[2], "arguments": ""}},
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"path": '},
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '"a"}'},
    {"type": "response.output_item.done", "output_index": 2, "item": OUTPUT[2]},
    {"type": "response.completed", "response": {"status": "completed", "error": None, "usage": USAGE}},
)
CARRIED = [
    {"type": "reasoning", "id": "x", "summary": [], "encrypted_content": "sealed"},
    {"type": "message", "phase": "commentary"},
    {"type": "function_call"},
]


@pytest.mark.parametrize("cut", [1, 7, 64, len(WHOLE)])
async def test_a_stream_is_read_the_same_wherever_it_is_cut(cut: int) -> None:
    got = await chunks(*(WHOLE[start : start + cut] for start in range(0, len(WHOLE), cut)))
    assert "".join(chunk.thought for chunk in got) == "Süß?\n\nJa."
    assert "".join(chunk.text for chunk in got) == "Grüße"
    assert "".join(call.arguments or "" for chunk in got for call in chunk.calls) == '{"path": "a"}'
    (usage,) = [chunk.usage for chunk in got if chunk.usage]
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens, usage.cost_usd) == (3, 4, 2, 43)
    assert [chunk.carried for chunk in got if chunk.carried] == [{"reasoning_items": CARRIED}]
    assert [chunk.finish_reason for chunk in got if chunk.finish_reason] == ["stop"]


async def test_a_server_that_does_not_stream_is_understood() -> None:
    whole = {"object": "response", "status": "completed", "error": None, "output": OUTPUT, "usage": USAGE}
    (chunk,) = await chunks(json.dumps(whole).encode(), kind="application/json")
    assert (chunk.text, chunk.finish_reason, chunk.carried) == ("Grüße", "stop", {"reasoning_items": CARRIED})
    assert [(call.name, call.arguments) for call in chunk.calls] == [("read", '{"path": "a"}')]


@pytest.mark.parametrize(
    ("event", "status"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "Slow down", "param": None}, 429),
        ({"type": "error", "error": {"type": "invalid_request_error", "code": None, "message": "No"}}, 400),
        ({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "Sorry"}}}, 500),
        ({"type": "response.failed", "response": {"error": None}}, None),
    ],
)
async def test_an_error_in_the_stream_has_the_status_it_would_have_had_before(
    event: dict[str, Any], status: int | None
) -> None:
    begun = stream_of({"type": "response.output_text.delta", "output_index": 0, "delta": "Half"})
    with pytest.raises(HttpFailure) as caught:
        await chunks(begun + stream_of(event))
    assert caught.value.status_code == status
    assert str(caught.value)
