"""Prompt cache markers in requests through LiteLLM, and cached tokens in responses."""

from collections.abc import Iterator
from typing import Any

import pytest

from onyx_jupyter.messages import Message, ToolCall, ToolDefinition
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.cache_marks import marked_messages, marked_tools, supports_cache_marks
from onyx_jupyter.providers.litellm_library import close_litellm
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.testing.collected import Collected, collect
from onyx_jupyter.testing.script import HttpError, Raw, Tokens
from onyx_jupyter.testing.scripted_server import ScriptedServer

pytestmark = pytest.mark.filterwarnings(
    "ignore:Accessing the 'model_:DeprecationWarning", "ignore:.*`ReadOnly` qualifier:UserWarning"
)
MARK = {"type": "ephemeral"}
OVERLOADED_IN_THE_STREAM = Raw(
    b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n'
)
TOOLS = [ToolDefinition("read", "Reads."), ToolDefinition("list", "Lists.")]
HISTORY = [
    Message("user", "First question"),
    Message("assistant", "", (ToolCall("c1", "read", {}), ToolCall("c2", "list", {}))),
    Message("tool", "one", tool_call_id="c1"),
    Message("tool", "two", tool_call_id="c2"),
]


@pytest.fixture(autouse=True)
def _connections(jp_asyncio_loop: Any) -> Iterator[None]:
    yield
    jp_asyncio_loop.run_until_complete(close_litellm())


async def ask(model_id: str, request: ModelRequest, reply: Any = "Hello.") -> tuple[Collected, dict[str, Any]]:
    """The answer, and the request as it came over the wire."""
    name = model_id.partition("/")[0]
    with ScriptedServer([reply], api_key="any-key") as server:
        url = server.base_url.removesuffix("/v1") if name == "anthropic" else server.base_url
        models = ProviderModels(ModelsSettings({name: ProviderSettings(base_url=url, api_key="any-key")}))
        answer = await collect(models.open(model_id).stream(request))
        (received,) = server.completions
        assert received.path.endswith("/messages") == (name == "anthropic")
        return answer, dict(received.body)


def marks(node: Any) -> list[Any]:
    """Every cache_control below."""
    if isinstance(node, list):
        return [mark for item in node for mark in marks(item)]
    if not isinstance(node, dict):
        return []
    own = [node["cache_control"]] if "cache_control" in node else []
    return own + [mark for value in node.values() for mark in marks(value)]


async def test_claude_caches_tools_prompt_and_latest_messages() -> None:
    _, body = await ask("anthropic/claude-scripted", ModelRequest("You are Onyx.", HISTORY, TOOLS))
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, MARK]
    assert body["system"] == [{"type": "text", "text": "You are Onyx.", "cache_control": MARK}]
    question, _, results = body["messages"]
    assert question["content"] == [{"type": "text", "text": "First question", "cache_control": MARK}]
    assert [result.get("cache_control") for result in results["content"]] == [None, MARK]
    assert marks(body) == [MARK] * 4


async def test_openrouter_passes_claude_cache_markers() -> None:
    _, body = await ask("openrouter/anthropic/claude-scripted", ModelRequest("You are Onyx.", HISTORY, TOOLS))
    system, *_, last = body["messages"]
    assert system["content"] == [{"type": "text", "text": "You are Onyx.", "cache_control": MARK}]
    assert marks(last) == [MARK]
    assert len(marks(body)) == 4


@pytest.mark.parametrize("model_id", ["openai/gpt-none", "openrouter/openai/gpt-none", "mine/claude-scripted"])
async def test_other_providers_get_no_cache_markers(model_id: str) -> None:
    _, body = await ask(model_id, ModelRequest("You are Onyx.", HISTORY, TOOLS))
    assert marks(body) == []


async def test_side_request_without_tools_leaves_cache_alone() -> None:
    _, body = await ask("anthropic/claude-scripted", ModelRequest("Give a title.", HISTORY[:1]))
    assert marks(body) == []


async def test_cached_tokens_are_part_of_usage() -> None:
    request = ModelRequest("You are Onyx.", HISTORY, TOOLS)
    answer, _ = await ask("anthropic/claude-scripted", request, ["Hello.", Tokens(1200, 7, 1000)])
    usage = answer.done.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (1200, 7, 1000)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ([HttpError(529, "Overloaded", "overloaded_error")], "unavailable"),
        ([HttpError(429, "Slow down", "rate_limit_error")], "rate_limit"),
        ([HttpError(400, "prompt is too long: 210000 tokens > 200000 maximum", "invalid_request_error")], "overflow"),
        ([OVERLOADED_IN_THE_STREAM], "unavailable"),
    ],
)
async def test_errors_have_the_same_codes_as_other_providers(reply: Any, code: str) -> None:
    answer, _ = await ask("anthropic/claude-scripted", ModelRequest("", HISTORY[:1]), reply)
    assert answer.error is not None
    assert answer.error.code == code


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        ("anthropic/claude-x", True),
        ("bedrock/eu.anthropic.claude-x-v1:0", True),
        ("bedrock/amazon.nova-pro-v1:0", False),
        ("vertex_ai/claude-x@1", True),
        ("vertex_ai/gemini-x", False),
        ("openrouter/anthropic/claude-x", True),
        ("openai/claude-x", False),
    ],
)
def test_only_supporting_providers_get_markers(name: str, takes: bool) -> None:
    assert supports_cache_marks(name) is takes


def test_markers_do_not_modify_input_or_empty_requests() -> None:
    messages = [{"role": "user", "content": "a"}, {"role": "user", "content": [{"type": "text", "text": "b"}]}]
    marked = marked_messages(messages)
    assert marks(messages) == []
    assert marked[1]["content"] == [{"type": "text", "text": "b", "cache_control": MARK}]
    assert "cache_control" not in marked[0]
    assert (marked_messages([]), marked_tools([])) == ([], [])


def test_empty_text_is_never_marked() -> None:
    messages = [{"role": "user", "content": "a"}, {"role": "user", "content": ""}]
    assert [marks(message) for message in marked_messages(messages)] == [[MARK], []]
