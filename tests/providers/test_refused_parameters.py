"""Parameters a server rejects are omitted: learned once per model, never a required one."""

from __future__ import annotations

from typing import Any

import pytest

from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.testing.collected import collect
from onyx_jupyter.testing.script import HttpError, Reply
from onyx_jupyter.testing.scripted_server import Received, ScriptedServer

REQUEST = ModelRequest("", [Message("user", "Hi")], temperature=0.2, max_tokens=9)


def refusing(*names: str, status: int = 400, words: str = "Unsupported parameter: '{}'") -> Any:
    def reply(request: Received) -> Reply:
        sent = next((name for name in names if name in request.body), None)
        return ["Hello."] if sent is None else [HttpError(status, words.format(sent), "unsupported_parameter")]

    return reply


async def asked(server: ScriptedServer, *models: str) -> list[str]:
    """The codes of the errors, or the texts, of questions to these models of one registry."""
    opened = ProviderModels(ModelsSettings({"mistral": ProviderSettings(base_url=server.base_url, api_key="key")}))
    answers = [await collect(opened.open(f"mistral/{model}").stream(REQUEST)) for model in models]
    await opened.close()
    return [answer.error.code if answer.error else answer.text for answer in answers]


async def test_rejected_parameter_is_omitted_from_then_on() -> None:
    with ScriptedServer(refusing("stream_options", "temperature", status=422)) as server:
        assert await asked(server, "one", "one") == ["Hello.", "Hello."]
        bodies = [request.body for request in server.requests]
    assert [sorted({"stream_options", "temperature"} & body.keys()) for body in bodies] == [
        ["stream_options", "temperature"],
        ["temperature"],
        [],
        [],
    ]
    assert all(body["max_tokens"] == 9 for body in bodies), "what was not refused stays"


async def test_newer_limit_parameter_is_used_if_older_is_rejected() -> None:
    with ScriptedServer(refusing("max_tokens", words="'{}' is not supported, use 'max_completion_tokens'")) as server:
        assert await asked(server, "one") == ["Hello."]
        assert server.requests[-1].body["max_completion_tokens"] == 9


async def test_rejection_by_one_model_does_not_affect_another() -> None:
    with ScriptedServer(refusing("temperature")) as server:
        assert await asked(server, "one", "other") == ["Hello.", "Hello."]
        assert ["temperature" in request.body for request in server.requests] == [True, False, True, False]


@pytest.mark.parametrize(
    ("name", "status", "code"), [("messages", 400, "bad_response"), ("temperature", 401, "authentication")]
)
async def test_other_rejections_are_errors_after_one_request(name: str, status: int, code: str) -> None:
    with ScriptedServer(refusing(name, status=status)) as server:
        assert await asked(server, "one") == [code]
        assert len(server.requests) == 1


@pytest.mark.parametrize("model_id", ["mistral/mistral-large-latest", "lm_studio/gpt-4o", "openai/gpt-4o"])
async def test_cost_comes_from_table_and_is_unknown_for_custom_servers(model_id: str) -> None:
    name = model_id.partition("/")[0]
    with ScriptedServer(["Hello."]) as server:
        opened = ProviderModels(ModelsSettings({name: ProviderSettings(base_url=server.base_url, api_key="key")}))
        usage = (await collect(opened.open(model_id).stream(REQUEST))).done.usage
        await opened.close()
    listed = usage.input_tokens * 5e-7 + usage.output_tokens * 1.5e-6 if name == "mistral" else None
    assert usage.cost_usd == (None if listed is None else pytest.approx(listed))
