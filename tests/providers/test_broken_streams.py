"""Every protocol that is spoken directly, where its answer is none: clear words, and what had come is kept."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.testing.collected import Collected, collect
from onyx_jupyter.testing.script import Cut, Finish, Hang, HttpError, Page, Raw, Reply, Say
from onyx_jupyter.testing.scripted_server import ScriptedServer

MODELS = {"openai": "mistral/m", "responses": "openai/m", "anthropic": "anthropic/m"}
HALF_EVENTS = {
    "openai": b'data: {"choices": [{"delta": {"cont\n\n',
    "responses": b'event: response.output_text.delta\ndata: {"type": "response.output_te\n\n',
    "anthropic": b'event: content_block_delta\ndata: {"type": "content_block_del\n\n',
}
ERRORS = {
    "openai": {"error": {"message": "The engine is overloaded", "code": 503}},
    "responses": {"type": "error", "code": "server_error", "message": "The engine is overloaded", "param": None},
    "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "The engine is overloaded"}},
}
PAGE = "<!doctype html><html><head><title>Sign in</title></head><body>Please sign in</body></html>"
BY_PROTOCOL = pytest.mark.parametrize("protocol", list(MODELS))


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Any:
    async def ask(protocol: str, reply: Reply, timeout_s: float = 10.0) -> Collected:
        name = MODELS[protocol].partition("/")[0]
        with ScriptedServer([reply]) as server:
            address = server.base_url.removesuffix("/v1") if protocol == "anthropic" else server.base_url
            monkeypatch.setitem(KNOWN_PROVIDERS, name, replace(KNOWN_PROVIDERS[name], address=address))
            own = ModelsSettings({name: ProviderSettings(api_key="any-key")}, request_timeout_s=timeout_s)
            opened = ProviderModels(own)
            found = await collect(opened.open(MODELS[protocol]).stream(ModelRequest("", [Message("user", "Hi")])))
            await opened.close()
            assert len(server.requests) == 1
            return found

    return ask


@BY_PROTOCOL
@pytest.mark.parametrize("status", [200, 502])
async def test_a_page_is_no_answer(answer: Any, protocol: str, status: int) -> None:
    found = await answer(protocol, [Page(status, PAGE)])
    assert found.text == ""
    assert found.error.code == ("bad_response" if status == 200 else "unavailable")
    assert "<" not in str(found.error)


@BY_PROTOCOL
async def test_half_an_event_ends_the_answer_and_keeps_its_text(answer: Any, protocol: str) -> None:
    found = await answer(protocol, [Say("So far. "), Raw(HALF_EVENTS[protocol])])
    assert found.text == "So far. "
    assert (found.error.code, found.ends) == ("bad_response", [])


@BY_PROTOCOL
@pytest.mark.parametrize("end", [Cut(), Finish(None)], ids=["cut", "without an end"])
async def test_an_answer_that_breaks_off_keeps_its_text(answer: Any, protocol: str, end: Any) -> None:
    found = await answer(protocol, [Say("So far. "), end])
    assert found.text == "So far. "
    assert (found.error.code, found.ends) == ("unavailable", [])


@BY_PROTOCOL
async def test_an_error_in_the_middle_says_the_providers_words_and_keeps_the_text(answer: Any, protocol: str) -> None:
    event = b"data: " + json.dumps(ERRORS[protocol]).encode() + b"\n\n"
    found = await answer(protocol, [Say("So far. "), Raw(event)])
    assert found.text == "So far. "
    assert found.error.code == "unavailable"
    assert "The engine is overloaded" in str(found.error)


@BY_PROTOCOL
async def test_silence_in_the_middle_ends_by_the_timeout_and_keeps_the_text(answer: Any, protocol: str) -> None:
    found = await answer(protocol, [Say("So far. "), Hang()], timeout_s=0.3)
    assert found.text == "So far. "
    assert found.error.code == "timeout"


@BY_PROTOCOL
async def test_a_wrong_key_says_where_to_set_it(answer: Any, protocol: str) -> None:
    found = await answer(protocol, [HttpError(401, "Incorrect API key provided: any-key", "invalid_api_key")])
    assert found.error.code == "authentication"
    assert "_API_KEY" in found.error.hint
    assert "any-key" not in str(found.error)
