"""One suite for all models, with the same script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.messages import Message, ToolDefinition
from onyx_jupyter.protocols import Model, ModelDone, ModelEvent, ModelRequest, TextDelta, ThoughtDelta
from onyx_jupyter.providers.circuit_breaker import BreakerPolicy, CircuitBreaker
from onyx_jupyter.providers.endpoint import Endpoint
from onyx_jupyter.providers.error_map import Provider
from onyx_jupyter.providers.fallback_model import FallbackModel
from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS
from onyx_jupyter.providers.litellm_library import close_litellm
from onyx_jupyter.providers.litellm_model import LiteLLMModel
from onyx_jupyter.providers.local_model import LocalModel
from onyx_jupyter.providers.local_server import LocalServer, client_for
from onyx_jupyter.providers.local_server_pool import LocalServerPool
from onyx_jupyter.providers.local_weights import Weights
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.resilient_model import Resilience, ResilientModel
from onyx_jupyter.providers.retry import RetryDelays, RetryPolicy
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings, ToolMode
from onyx_jupyter.testing.collected import collect
from onyx_jupyter.testing.script import Call, Cut, Fail, Finish, Hang, Hold, Reply, Say, Think, Tokens
from onyx_jupyter.testing.scripted_model import ScriptedModel
from onyx_jupyter.testing.scripted_server import ScriptedServer

# LiteLLM's own code warns; only warnings of ours are failures.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Accessing the 'model_:DeprecationWarning", "ignore:.*`ReadOnly` qualifier:UserWarning"
)
STOP_S = 1.0
EXEC = ToolDefinition(
    "exec",
    "Run a shell command.",
    {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
)
QUESTION = ModelRequest("Be brief.", [Message("user", "Hello")], [EXEC])


@dataclass(frozen=True)
class Subject:
    """A model under test; `interrupted` says whether its work was ended early, within a second."""

    model: Model
    interrupted: Callable[[], Awaitable[bool]]


class RunningAlready(LocalServer):
    """A local server whose process is a scripted server."""

    def __init__(self, weights: Weights, address: str) -> None:
        super().__init__(weights, threads=1, clock=SystemClock())
        self._client = client_for(address, "key")

    @property
    def running(self) -> bool:
        return True


class OneServer(LocalServerPool):
    def __init__(self, server: LocalServer) -> None:
        self._server = server

    def server(self, weights: Weights) -> LocalServer:
        return self._server


@dataclass(frozen=True)
class Maker:
    kind: str
    make: Callable[[Sequence[Reply]], Subject]

    def __call__(self, replies: Sequence[Reply]) -> Subject:
        return self.make(replies)


KINDS = [
    "scripted",
    "openai",
    "openai json",
    "litellm",
    "litellm json",
    "local",
    "responses",
    "responses json",
    "anthropic",
    "resilient",
    "fallback",
]


@pytest.fixture(params=KINDS)
def make(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> Iterator[Maker]:
    servers = ExitStack()
    local: list[LocalServer] = []
    opened: list[ProviderModels] = []

    def scripted(replies: Sequence[Reply]) -> Subject:
        model = ScriptedModel(replies)

        async def interrupted() -> bool:
            return model.interrupted > 0

        return Subject(model, interrupted)

    def served(open_model: Callable[[str], Model], replies: Sequence[Reply]) -> Subject:
        server = servers.enter_context(ScriptedServer(replies))

        async def interrupted() -> bool:
            return await server.requests[0].client_left(STOP_S)

        return Subject(open_model(server.base_url), interrupted)

    def openai(tool_mode: ToolMode) -> Callable[[str], Model]:
        def open_model(url: str) -> Model:
            settings = ProviderSettings(base_url=url, tool_mode=tool_mode)
            opened.append(ProviderModels(ModelsSettings({"scripted": settings})))
            return opened[-1].open("scripted/model")

        return open_model

    def litellm(json_actions: bool) -> Callable[[str], Model]:
        def open_model(url: str) -> Model:
            provider = Provider("Scripted", "scripted", "model", base_url=url)
            return LiteLLMModel(Endpoint("scripted/model", "openai/model", provider, "none", json_actions, 60.0))

        return open_model

    def responses(tool_mode: ToolMode) -> Callable[[str], Model]:
        def open_model(url: str) -> Model:
            monkeypatch.setitem(KNOWN_PROVIDERS, "openai", replace(KNOWN_PROVIDERS["openai"], address=url))
            settings = ProviderSettings(api_key="any-key", tool_mode=tool_mode)
            opened.append(ProviderModels(ModelsSettings({"openai": settings})))
            return opened[-1].open("openai/scripted")

        return open_model

    def anthropic(url: str) -> Model:
        settings = ProviderSettings(base_url=url.removesuffix("/v1"), api_key="any-key")
        return ProviderModels(ModelsSettings({"anthropic": settings})).open("anthropic/claude-scripted")

    def local_model(url: str) -> Model:
        weights = Weights("scripted", Path("scripted.gguf"), 4096)
        local.append(RunningAlready(weights, url.removesuffix("/v1")))
        return LocalModel("local/scripted.gguf", weights, OneServer(local[-1]))

    def resilient(url: str) -> Model:
        resilience = Resilience(RetryPolicy(), BreakerPolicy(), RetryDelays())
        return ResilientModel(openai("auto")(url), "Scripted", CircuitBreaker(SystemClock()), resilience)

    def falling_back(url: str) -> Model:
        broken = ScriptedModel(lambda request: [Fail("unavailable")], model_id="scripted/broken")

        async def request_for(model: Model, request: ModelRequest) -> ModelRequest:
            raise AssertionError("Both models take the same prompt.")

        return FallbackModel(broken, lambda: resilient(url), request_for)

    kinds: dict[str, Callable[[Sequence[Reply]], Subject]] = {
        "scripted": scripted,
        "openai": lambda replies: served(openai("auto"), replies),
        "openai json": lambda replies: served(openai("json"), replies),
        "litellm": lambda replies: served(litellm(json_actions=False), replies),
        "litellm json": lambda replies: served(litellm(json_actions=True), replies),
        "local": lambda replies: served(local_model, replies),
        "responses": lambda replies: served(responses("auto"), replies),
        "responses json": lambda replies: served(responses("json"), replies),
        "anthropic": lambda replies: served(anthropic, replies),
        "resilient": lambda replies: served(resilient, replies),
        "fallback": lambda replies: served(falling_back, replies),
    }
    with servers:
        yield Maker(request.param, kinds[request.param])
        for server in local:
            jp_asyncio_loop.run_until_complete(server.stop())
        for models in opened:
            jp_asyncio_loop.run_until_complete(models.close())
        jp_asyncio_loop.run_until_complete(close_litellm())


async def test_text_streams_and_ends_with_exactly_one_done(make: Maker) -> None:
    subject = make([[Say("Hello there, friend.", chunk_chars=4), Tokens(11, 5)]])
    answer = await collect(subject.model.stream(QUESTION))
    assert answer.text == "Hello there, friend."
    assert sum(isinstance(event, TextDelta) for event in answer.events) > 1
    assert answer.ends == [answer.events[-1]]
    assert (answer.done.tool_calls, answer.done.finish_reason) == ((), "stop")
    assert (answer.done.usage.input_tokens, answer.done.usage.output_tokens) == (11, 5)


async def test_thoughts_are_separate_from_answer(make: Maker) -> None:
    subject = make([[Think("I add, twice.", chunk_chars=3), Say("It is 4.", chunk_chars=3), Tokens(11, 5)]])
    answer = await collect(subject.model.stream(QUESTION))
    assert (answer.thought, answer.text) == ("I add, twice.", "It is 4.")
    assert isinstance(next(e for e in answer.events if isinstance(e, TextDelta | ThoughtDelta)), ThoughtDelta)
    assert answer.done.usage.output_tokens == 5


@pytest.mark.parametrize("chunk_chars", [1, 2, 3, 5, 8, None])
@pytest.mark.parametrize("head", ["", "<think>", "\n<think>\n"])
async def test_inline_thoughts_are_separated_however_chunked(make: Maker, head: str, chunk_chars: int | None) -> None:
    if make.kind == "scripted" or "json" in make.kind or make.kind == "local":
        pytest.skip("it has no text to read, or the text is an action")
    subject = make([[Say(f"{head}I add <b>.\n</think>\n\nIt < is 4.", chunk_chars=chunk_chars)]])
    answer = await collect(subject.model.stream(QUESTION))
    assert (answer.thought, answer.text) == ("I add <b>.", "It < is 4.")


async def test_thought_before_call_is_not_part_of_it(make: Maker) -> None:
    subject = make([[Think("I look."), Call("exec", {"command": "ls"})]])
    answer = await collect(subject.model.stream(QUESTION))
    assert (answer.thought, answer.text) == ("I look.", "")
    assert [call.arguments for call in answer.tool_calls] == [{"command": "ls"}]


async def test_answer_may_repeat_itself(make: Maker) -> None:
    column = "0.0, " * 150  # more than LiteLLM takes for an honest answer
    subject = make([[Say(column, chunk_chars=5)]])
    answer = await collect(subject.model.stream(QUESTION))
    assert answer.text == column


async def test_tool_call_is_complete_with_id_and_without_text(make: Maker) -> None:
    subject = make([[Call("exec", {"command": 'echo "ä" {1}'}, id="")]])
    answer = await collect(subject.model.stream(QUESTION))
    (call,) = answer.tool_calls
    assert (call.name, call.arguments, call.malformed) == ("exec", {"command": 'echo "ä" {1}'}, None)
    assert call.id
    assert answer.text == ""
    assert answer.done.finish_reason == "tool_calls"


async def test_invalid_json_arguments_are_kept_as_received(make: Maker) -> None:
    subject = make([[Call("exec", '{"command": "ls')]])
    (call,) = (await collect(subject.model.stream(QUESTION))).tool_calls
    assert (call.name, call.arguments) == ("exec", {})
    assert (call.malformed or "").startswith('{"command": "ls')


async def test_without_tools_answer_is_plain_text(make: Maker) -> None:
    subject = make(['{"not": "an action"}'])
    answer = await collect(subject.model.stream(ModelRequest("", QUESTION.messages)))
    assert answer.text == '{"not": "an action"}'
    assert answer.tool_calls == ()


async def test_interrupted_stream_is_an_error_after_text_and_without_done(make: Maker) -> None:
    fault = Fail("unavailable", hint="Ask again.") if make.kind == "scripted" else Cut()
    subject = make([[Say("Half an answer"), fault]])
    answer = await collect(subject.model.stream(QUESTION))
    assert answer.text == "Half an answer"
    assert answer.error is not None
    assert answer.error.code == "unavailable"
    assert answer.error.hint
    assert answer.ends == []


async def test_stream_without_end_marker_is_an_error(make: Maker) -> None:
    if make.kind == "scripted":
        pytest.skip("The scripted model has no wire on which an end could be missing.")
    subject = make([[Say("Half"), Finish(None)]])
    answer = await collect(subject.model.stream(QUESTION))
    assert (answer.text, answer.ends) == ("Half", [])
    assert answer.error is not None


async def test_closing_the_answer_ends_work_within_a_second(make: Maker) -> None:
    subject = make([[Say("Begin "), Hang()]])
    async with aclosing(cast("AsyncGenerator[ModelEvent, None]", subject.model.stream(QUESTION))) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    assert await subject.interrupted()


async def test_cancelling_while_idle_ends_work_within_a_second(make: Maker) -> None:
    hang = Hang()
    subject = make([[hang]])
    task = asyncio.create_task(collect(subject.model.stream(QUESTION)))
    assert await asyncio.to_thread(hang.reached.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await subject.interrupted()


async def test_concurrent_answers_are_not_mixed_up(make: Maker) -> None:
    hold = Hold()
    subject = make([["One ", hold, "one."], "Two."])
    first = asyncio.create_task(collect(subject.model.stream(QUESTION)))
    assert await asyncio.to_thread(hold.reached.wait, 30)
    second = await collect(subject.model.stream(QUESTION))
    hold.released.set()
    assert (second.text, (await first).text) == ("Two.", "One one.")


async def test_history_with_calls_and_results_is_accepted(make: Maker) -> None:
    subject = make([[Call("exec", {"command": "ls"})], "Two files."])
    (call,) = (await collect(subject.model.stream(QUESTION))).tool_calls
    history = [*QUESTION.messages, Message("assistant", "", (call,)), Message("tool", "a\nb", tool_call_id=call.id)]
    answer = await collect(subject.model.stream(ModelRequest("", history, [EXEC])))
    assert answer.text == "Two files."
    assert isinstance(answer.events[-1], ModelDone)
