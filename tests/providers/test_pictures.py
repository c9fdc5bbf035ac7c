"""Images in provider requests: for vision models only."""

from collections.abc import Iterator
from typing import Any

import pytest

from onyx_jupyter.messages import Attachment, Message, ToolCall, ToolDefinition
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.json_actions import json_action_call
from onyx_jupyter.providers.litellm_library import close_litellm
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.providers.vision import supports_vision
from onyx_jupyter.testing.collected import collect
from onyx_jupyter.testing.scripted_server import ScriptedServer
from tests.runs.house import DOT

pytestmark = pytest.mark.filterwarnings(
    "ignore:Accessing the 'model_:DeprecationWarning", "ignore:.*`ReadOnly` qualifier:UserWarning"
)
PICTURE = Attachment("image", "image/png", DOT)
PART = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DOT}"}}
CALLS = (ToolCall("c1", "plot", {}), ToolCall("c2", "read", {}))
HISTORY = [
    Message("user", "Look", attachments=(PICTURE,)),
    Message("assistant", "", CALLS),
    Message("tool", "one", tool_call_id="c1", attachments=(PICTURE, PICTURE)),
    Message("tool", "two", tool_call_id="c2"),
]
REQUEST = ModelRequest("", [*HISTORY, Message("assistant", "A line."), Message("user", "Thanks")])


@pytest.fixture(autouse=True)
def _connections(jp_asyncio_loop: Any) -> Iterator[None]:
    yield
    jp_asyncio_loop.run_until_complete(close_litellm())


async def sent(model_id: str, request: ModelRequest, **settings: Any) -> list[dict[str, Any]]:
    """The messages as they came over the wire."""
    name = model_id.partition("/")[0]
    with ScriptedServer(["Fine."]) as server:
        url = server.base_url.removesuffix("/v1") if name == "anthropic" else server.base_url
        provider = ProviderSettings(base_url=url, api_key="any-key", **settings)
        answer = await collect(ProviderModels(ModelsSettings({name: provider})).open(model_id).stream(request))
        assert answer.text == "Fine."
        return list(server.completions[0].body["messages"])


@pytest.mark.parametrize(("model_id", "settings"), [("mine/any", {"vision": True}), ("openai/gpt-4o", {})])
async def test_vision_model_gets_images_with_question_and_after_results(
    model_id: str, settings: dict[str, Any]
) -> None:
    question, reply, *results, pictures, answer, _ = await sent(model_id, REQUEST, **settings)
    assert question["content"] == [{"type": "text", "text": "Look"}, PART]
    assert [call["id"] for call in reply["tool_calls"]] == ["c1", "c2"]
    assert [(result["role"], result["content"]) for result in results] == [("tool", "one"), ("tool", "two")]
    text = {"type": "text", "text": "[Onyx] From the result of plot:"}
    assert (pictures["role"], pictures["content"]) == ("user", [text, PART, PART])
    assert answer["content"] == "A line."


async def test_images_of_latest_results_come_last() -> None:
    messages = await sent("mine/any", ModelRequest("", HISTORY), vision=True)
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "user"]


@pytest.mark.parametrize(
    ("model_id", "settings"), [("mine/gpt-4o", {}), ("openai/gpt-3.5-turbo", {}), ("openai/gpt-4o", {"vision": False})]
)
async def test_text_only_model_is_told_about_image(model_id: str, settings: dict[str, Any]) -> None:
    question, _, first, second, *_ = await sent(model_id, REQUEST, **settings)
    assert question["content"] == "Look\n[A picture that you cannot see is shown to the user here.]"
    assert first["content"] == "one\n[2 pictures that you cannot see are shown to the user here.]"
    assert second["content"] == "two"


async def test_claude_gets_native_image_format_and_cache_marker_on_last() -> None:
    request = ModelRequest("", HISTORY, [ToolDefinition("plot", "Plots.")])
    *_, last = await sent("anthropic/claude-scripted", request)
    assert [part["type"] for part in last["content"]] == ["tool_result", "tool_result", "text", "image", "image"]
    assert last["content"][-1]["source"] == {"type": "base64", "media_type": "image/png", "data": DOT}
    assert ["cache_control" in part for part in last["content"]] == [False, False, False, False, True]


def test_json_action_model_is_told_in_text() -> None:
    said = "\n".join(message["content"] for message in json_action_call(ModelRequest("", HISTORY)).messages)
    assert "Result of plot:\none\n[2 pictures that you cannot see are shown to the user here.]" in said
    assert DOT not in said


def test_vision_support_comes_from_table_then_name() -> None:
    table = {"gpt-4o": {"supports_vision": True}, "mistral/blind": {}, "anthropic/claude-blind": {}}
    seeing = ["openai/gpt-4o", "anthropic/claude-new", "bedrock/us.anthropic.claude-new", "gemini/gemini-new"]
    blind = ["mistral/blind", "anthropic/claude-blind", "openai/new", "ollama_chat/llama"]
    assert [name for name in [*seeing, *blind] if supports_vision(table, name)] == seeing
