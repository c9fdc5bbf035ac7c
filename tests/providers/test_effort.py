"""How much a model thinks: what is asked for, in the form of each provider, and what it costs of the answer's limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from onyx_jupyter.messages import Message, Usage
from onyx_jupyter.protocols import EFFORTS, ModelRequest
from onyx_jupyter.providers.anthropic_model import output_limit, thinking_fields
from onyx_jupyter.providers.effort import THINKING_TOKENS, listed_efforts, nearest
from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.testing.collected import collect
from onyx_jupyter.testing.script import HttpError, Reply, Tokens
from onyx_jupyter.testing.scripted_server import Received, ScriptedServer

ASKED = ("reasoning", "reasoning_effort", "thinking", "output_config")


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Asks models of one provider at a scripted address; returns what was received."""

    async def ask(
        model_id: str, *requests: ModelRequest, configured: str | None = None, replies: Any = None
    ) -> list[dict[str, Any]]:
        name = model_id.partition("/")[0]
        with ScriptedServer(replies or (lambda _: "Hello.")) as server:
            own = ProviderSettings(api_key="any-key", effort=configured)
            if name in KNOWN_PROVIDERS:
                address = server.base_url.removesuffix("/v1") if name == "anthropic" else server.base_url
                monkeypatch.setitem(KNOWN_PROVIDERS, name, replace(KNOWN_PROVIDERS[name], address=address))
            else:
                own = replace(own, base_url=server.base_url)
            opened = ProviderModels(ModelsSettings({name: own}))
            for request in requests:
                answer = await collect(opened.open(model_id).stream(request))
                assert answer.error is None, answer.error
            await opened.close()
            return [dict(received.body) for received in server.requests]

    return ask


def asking(effort: str | None = None, **more: Any) -> ModelRequest:
    return ModelRequest("", [Message("user", "Hi")], effort=effort, **more)


@pytest.mark.parametrize(
    ("model_id", "effort", "sent"),
    [
        ("openai/gpt-5.2", "xhigh", {"reasoning": {"effort": "xhigh", "summary": "auto"}}),
        ("openai/gpt-5.2", "minimal", {"reasoning": {"effort": "low", "summary": "auto"}}),
        (
            "anthropic/claude-opus-5",
            "high",
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "high"}},
        ),
        ("anthropic/claude-of-tomorrow", "none", {"thinking": {"type": "disabled"}}),
        ("anthropic/claude-opus-4-7", "none", {"thinking": {"type": "disabled"}}),
        ("anthropic/claude-sonnet-4-5", "none", {}),
        ("anthropic/claude-sonnet-4-5", "medium", {"thinking": {"type": "enabled", "budget_tokens": 8_192}}),
        ("gemini/gemini-of-tomorrow", "max", {"reasoning_effort": "high"}),
        ("openrouter/anthropic/claude-opus-4.6", "max", {"reasoning": {"effort": "max"}}),
        ("deepseek/deepseek-reasoner", "max", {"reasoning_effort": "max"}),
        ("deepseek/deepseek-chat", "none", {"thinking": {"type": "disabled"}}),
        ("groq/model-of-tomorrow", "low", {"reasoning_effort": "low"}),
        ("xai/grok-of-tomorrow", "none", {"reasoning_effort": "none"}),
        ("mine/gpt-oss", "minimal", {"reasoning_effort": "low"}),
        ("mine/gpt-oss", None, {}),
        ("anthropic/claude-opus-5", None, {}),
    ],
)
async def test_each_provider_is_asked_in_its_own_form(
    bodies: Any, model_id: str, effort: str | None, sent: dict[str, Any]
) -> None:
    (body,) = await bodies(model_id, asking(effort))
    assert {name: body[name] for name in ASKED if name in body} == sent


async def test_a_request_says_more_than_the_settings(bodies: Any) -> None:
    received = await bodies("mine/gpt-oss", asking(), asking("low"), configured="high")
    assert [body["reasoning_effort"] for body in received] == ["high", "low"]


async def test_thoughts_get_room_beside_the_answer(bodies: Any) -> None:
    (chat,) = await bodies("mine/gpt-oss", asking("low", max_tokens=500))
    (response,) = await bodies("openai/gpt-5.2", asking("high", max_tokens=500))
    (claude,) = await bodies("anthropic/claude-sonnet-4-5", asking("medium", max_tokens=500))
    assert chat["max_tokens"] == 500 + THINKING_TOKENS["low"]
    assert response["max_output_tokens"] == 500 + THINKING_TOKENS["high"]
    assert claude["max_tokens"] == 500 + THINKING_TOKENS["medium"]
    assert claude["thinking"]["budget_tokens"] < claude["max_tokens"]
    (plain,) = await bodies("mine/gpt-oss", asking(max_tokens=500))
    assert plain["max_tokens"] == 500


async def test_claude_gets_no_temperature_while_it_thinks(bodies: Any) -> None:
    thinking, plain = await bodies(
        "anthropic/claude-sonnet-4-5", asking("low", temperature=0.2), asking(temperature=0.2)
    )
    assert "temperature" not in thinking
    assert plain["temperature"] == 0.2


def test_a_budget_leaves_room_for_the_answer_and_never_exceeds_the_model() -> None:
    small = {"supports_reasoning": True, "max_output_tokens": 8_192}
    limit = output_limit(small, None, "high")
    assert limit == 8_192
    assert thinking_fields("high", limit, small) == {"thinking": {"type": "enabled", "budget_tokens": 7_168}}
    assert thinking_fields("high", 1_500, small) == {}
    assert thinking_fields("high", limit, small, may_budget=False) == {}
    assert output_limit(small, 9_000) == 9_000, "what was asked for is not shortened in silence"


def test_a_model_that_lacks_an_effort_gets_the_nearest_one_of_two_the_lower() -> None:
    assert [nearest(effort, ("low", "medium", "high")) for effort in EFFORTS] == [
        *["low"] * 3,
        "medium",
        *["high"] * 3,
    ]
    assert nearest("medium", ("low", "high")) == "low"
    assert [nearest(effort, ("none", "low")) for effort in ("none", "minimal")] == ["none", "low"]
    assert (nearest(None, ("low",)), nearest("low", ()), nearest("nonsense", ("low",))) == (None, None, None)
    assert listed_efforts({"max_output_tokens": 9}, ("low",)) == (), "a listed model that does not think"


async def test_a_refused_effort_is_left_out_and_another_one_still_asked_for(bodies: Any) -> None:
    def reply(request: Received) -> Reply:
        if request.body.get("reasoning_effort") == "low":
            return [
                HttpError(400, "Unsupported value: 'reasoning_effort' does not support 'low'.", "unsupported_value")
            ]
        return ["Hello."]

    received = await bodies("mine/gpt-oss", asking("low"), asking("low"), asking("high"), replies=reply)
    assert [body.get("reasoning_effort") for body in received] == ["low", None, None, "high"]


async def test_a_model_without_thoughts_is_asked_once_and_then_left_alone(bodies: Any) -> None:
    def reply(request: Received) -> Reply:
        if "thinking" in request.body:
            return [
                HttpError(400, "thinking: adaptive thinking is not supported on this model", "invalid_request_error")
            ]
        return ["Hello."]

    received = await bodies("anthropic/claude-of-tomorrow", asking("low"), asking("low"), replies=reply)
    assert ["thinking" in body for body in received] == [True, False, False]


async def test_a_limit_that_claude_refuses_is_said_and_not_sent_by_another_name() -> None:
    words = "max_tokens: 48384 > 8192, which is the maximum allowed number of output tokens for claude-small"
    with ScriptedServer([[HttpError(400, words, "invalid_request_error")]]) as server:
        own = ProviderSettings(api_key="any-key", base_url=server.base_url.removesuffix("/v1"))
        opened = ProviderModels(ModelsSettings({"anthropic": own}))
        answer = await collect(opened.open("anthropic/claude-small").stream(asking("high")))
        await opened.close()
        assert len(server.requests) == 1
    assert answer.error is not None
    assert "8192" in str(answer.error)


@pytest.mark.parametrize(
    ("model_id", "reply", "expected"),
    [
        ("mine/m", ["Hi.", Tokens(10, 7, reasoning_tokens=5)], Usage(10, 7, None, None, 5)),
        ("openai/gpt-none", ["Hi.", Tokens(10, 7, 4, reasoning_tokens=5)], Usage(10, 7, 4, None, 5)),
        ("anthropic/claude-none", ["Hi.", Tokens(10, 7)], Usage(10, 7, 0, None, None)),
    ],
)
async def test_tokens_of_thoughts_are_counted_where_the_provider_says(
    monkeypatch: pytest.MonkeyPatch, model_id: str, reply: Reply, expected: Usage
) -> None:
    name = model_id.partition("/")[0]
    with ScriptedServer([reply]) as server:
        address = server.base_url.removesuffix("/v1") if name == "anthropic" else server.base_url
        own = ProviderSettings(api_key="any-key", base_url=None if name == "openai" else address)
        monkeypatch.setitem(KNOWN_PROVIDERS, "openai", replace(KNOWN_PROVIDERS["openai"], address=address))
        opened = ProviderModels(ModelsSettings({name: own}))
        usage = (await collect(opened.open(model_id).stream(asking()))).done.usage
        await opened.close()
    assert usage == expected
    assert (usage + usage).reasoning_tokens == (10 if expected.reasoning_tokens else None)


@pytest.mark.parametrize(
    ("model_id", "own", "offered"),
    [
        ("openai/gpt-5.2", {}, ("none", "low", "medium", "high", "xhigh")),
        ("openai/gpt-4o", {}, ()),
        ("openai/gpt-5.2", {"base_url": "http://127.0.0.1:9/v1"}, ("low", "medium", "high")),
        ("anthropic/claude-sonnet-4-5", {}, ("none", "low", "medium", "high")),
        ("deepseek/deepseek-chat", {}, ("none", "low", "high", "max")),
        ("lab/qwen3", {"base_url": "http://127.0.0.1:9/v1"}, ("low", "medium", "high")),
        ("perplexity/sonar", {}, ()),
    ],
)
async def test_each_model_is_listed_with_the_efforts_to_choose_from(
    model_id: str, own: dict[str, Any], offered: tuple[str, ...]
) -> None:
    name, _, model = model_id.partition("/")
    settings = ModelsSettings({name: ProviderSettings(api_key="any-key", models=(model,), **own)})
    listed = {one.id: one.efforts for one in await ProviderModels(settings).list()}
    assert listed[model_id] == offered
