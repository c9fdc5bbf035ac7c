"""What is known of an answer that was stopped or broke off: each protocol's own figures, and what came of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from onyx_jupyter.messages import Message, Usage
from onyx_jupyter.protocols import CallProgress, ModelRequest, TextDelta
from onyx_jupyter.providers.anthropic_model import AnthropicModel
from onyx_jupyter.providers.direct_model import DirectModel
from onyx_jupyter.providers.endpoint import Endpoint
from onyx_jupyter.providers.error_map import Provider
from onyx_jupyter.providers.event_stream import new_client
from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS
from onyx_jupyter.providers.litellm_library import close_litellm
from onyx_jupyter.providers.litellm_model import LiteLLMModel
from onyx_jupyter.providers.openai_model import OpenAIModel
from onyx_jupyter.providers.responses_model import ResponsesModel
from onyx_jupyter.testing.collected import collect
from onyx_jupyter.testing.script import Call, Cut, Finish, Hang, HttpError, Raw, Reply, Say, Tokens
from onyx_jupyter.testing.scripted_server import ScriptedServer

MODELS: dict[str, tuple[type[DirectModel], str, str]] = {
    "responses": (ResponsesModel, "openai", "gpt-5.2"),
    "anthropic": (AnthropicModel, "anthropic", "claude-sonnet-4-5"),
    "chat completions": (OpenAIModel, "deepseek", "deepseek-chat"),
}
NAMES = list(MODELS)
WORDS = "The answer begins like this, and goes on."


@asynccontextmanager
async def served(name: str, reply: Reply) -> AsyncIterator[DirectModel]:
    kind, provider, model = MODELS[name]
    with ScriptedServer([reply]) as server:
        endpoint = Endpoint(
            model_id=f"{provider}/{model}",
            litellm_name=f"{provider}/{model}",
            provider=Provider(provider, provider, model),
            api_key="the-key",
            json_actions=False,
            timeout_s=5.0,
            dialect=KNOWN_PROVIDERS[provider].dialect,
            address=server.base_url.removesuffix("/v1") if kind is AnthropicModel else server.base_url,
        )
        async with await new_client() as client:

            async def given() -> Any:
                return client

            yield kind(endpoint, given)


async def progress_of(name: str, reply: Reply, *, stop: bool = False) -> CallProgress:
    request = ModelRequest("Be brief.", [Message("user", "Hi")])
    async with served(name, reply) as model:
        if not stop:
            await collect(model.stream(request))
            return request.progress
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    break
    return request.progress


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("stop", [True, False], ids=["stopped", "broken off"])
async def test_a_part_of_an_answer_is_estimated_at_a_known_price(name: str, stop: bool) -> None:
    reply: Reply = [Say(WORDS), Hang() if stop else Cut(), Tokens(100, 50, 40)]
    progress = await progress_of(name, reply, stop=stop)
    assert progress.accepted
    assert len(WORDS) / 6 < progress.output_tokens < len(WORDS)
    assert progress.cost_usd is not None
    assert progress.cost_usd(1000, 10) > progress.cost_usd(1000, 0) > 0  # type: ignore[operator]


async def test_anthropic_counts_the_input_before_the_answer_the_others_only_at_its_end() -> None:
    reply: Reply = [Say(WORDS), Cut(), Tokens(100, 50, 40)]
    usage = (await progress_of("anthropic", reply)).usage
    assert usage is not None
    assert (usage.input_tokens, usage.cached_tokens, usage.estimated) == (100, 40, True)
    assert usage.output_tokens < 50
    assert usage.cost_usd
    assert (await progress_of("responses", reply)).usage is None
    assert (await progress_of("chat completions", reply)).usage is None


async def test_a_server_that_counts_along_has_its_figures_taken() -> None:
    chunk = {"choices": [{"delta": {"content": "Well"}}], "usage": {"prompt_tokens": 30, "completion_tokens": 2}}
    progress = await progress_of("chat completions", [Raw(f"data: {json.dumps(chunk)}\n\n".encode()), Cut()])
    assert progress.usage is not None
    assert (progress.usage.input_tokens, progress.usage.output_tokens, progress.usage.estimated) == (30, 2, None)


async def test_an_error_in_the_middle_of_a_response_brings_its_figures_along() -> None:
    failed = {
        "type": "response.failed",
        "response": {"error": {"code": "server_error"}, "usage": {"input_tokens": 30, "output_tokens": 2}},
    }
    progress = await progress_of("responses", [Say("Well"), Raw(f"data: {json.dumps(failed)}\n\n".encode())])
    assert progress.usage is not None
    assert (progress.usage.input_tokens, progress.usage.output_tokens) == (30, 2)


@pytest.mark.parametrize("name", NAMES)
async def test_the_arguments_of_a_call_count(name: str) -> None:
    source = "print('a rather long cell')\n" * 20
    progress = await progress_of(name, [Call("insert_cell", {"source": source}), Cut()])
    assert progress.output_tokens > len(source) / 6


@pytest.mark.parametrize("name", NAMES)
async def test_a_filtered_answer_has_its_own_figures(name: str) -> None:
    progress = await progress_of(name, ["No.", Tokens(100, 50), Finish("content_filter")])
    assert progress.usage is not None
    assert (progress.usage.input_tokens, progress.usage.output_tokens, progress.usage.estimated) == (100, 50, None)


@pytest.mark.parametrize("name", NAMES)
async def test_nothing_is_known_of_a_request_that_was_not_accepted(name: str) -> None:
    progress = await progress_of(name, [HttpError(401, "No such key.")])
    assert (progress.accepted, progress.usage, progress.output_tokens) == (False, None, 0.0)


@pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning", "ignore:.*`ReadOnly`:UserWarning")
async def test_the_provider_library_says_what_came_and_its_price() -> None:
    request = ModelRequest("Be brief.", [Message("user", "Hi")])
    with ScriptedServer([[Say(WORDS), Hang()]]) as server:
        endpoint = Endpoint(
            model_id="openai/gpt-4o",
            litellm_name="openai/gpt-4o",
            provider=Provider("OpenAI", "openai", "gpt-4o", base_url=server.base_url),
            api_key="the-key",
            json_actions=False,
            timeout_s=5.0,
        )
        async with aclosing(LiteLLMModel(endpoint).stream(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    break
        await close_litellm()
    progress = request.progress
    assert (progress.accepted, progress.usage) == (True, None)
    assert len(WORDS) / 6 < progress.output_tokens < len(WORDS)
    assert progress.cost_usd is not None
    assert progress.cost_usd(1000, 10)


def test_the_sum_with_an_estimate_is_an_estimate() -> None:
    assert (Usage(1, 1) + Usage(1, 1, estimated=True)).estimated
    assert (Usage(1, 1) + Usage(1, 1)).estimated is None
