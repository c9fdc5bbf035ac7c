"""Whether a server can continue a started answer: probed once each, over a real HTTP connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest

from onyx_jupyter.cell_mode.model import CellModel
from onyx_jupyter.cell_mode.notebook_facts import Column, Frame, NotebookFacts
from onyx_jupyter.messages import Message, ToolCall, ToolDefinition
from onyx_jupyter.protocols import Guidance, ModelRequest
from onyx_jupyter.providers.continuation import Continuation
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.testing.collected import collect
from onyx_jupyter.testing.script import Cut, Hang, HttpError, Reply
from onyx_jupyter.testing.scripted_server import Received, ScriptedServer

FLAGS = {"continue_final_message", "add_generation_prompt"}
READ = "import pandas as pd\ndf = pd.read_csv('fees.csv')"
CELL = f"```python\n{READ}\nprint(df['fee'].mean())"
HELLO = "```python\nprint('hello world')"
REQUEST = ModelRequest(
    "You are Onyx.", [Message("user", "What is the mean fee?")], guidance=Guidance(f"```python\n{READ}\n", ("\n```",))
)


def begun(request: Received) -> str | None:
    """What the request's last message begins of the answer."""
    last = request.body["messages"][-1]
    return str(last["content"]) if last["role"] == "assistant" else None


def whole(request: Received) -> str:
    return HELLO if "hello world" in request.last_user_text else CELL


def continued_text(request: Received) -> str:
    """As a server with the same model writes it that goes on: up to the stop, where one is wished."""
    text = begun(request) or ""
    assert whole(request).startswith(text)
    return whole(request).removeprefix(text) + ("" if request.body.get("stop") else "\n```\n")


def like_llama_cpp(request: Received) -> Reply:
    """Fields that it does not know do not matter to it."""
    return continued_text(request) if begun(request) is not None else f"{whole(request)}\n```\nThat prints it."


def like_vllm(request: Received) -> Reply:
    if begun(request) is None or not request.body.get("continue_final_message"):
        return f"Sure! Here is the cell:\n{whole(request)}\n```"
    if request.body.get("add_generation_prompt", True):
        return [HttpError(400, "Cannot set both `continue_final_message` and `add_generation_prompt` to True.")]
    return continued_text(request)


def like_a_strict_vllm(request: Received) -> Reply:
    """Its template knows no two turns of the assistant's."""
    if begun(request) is not None and not request.body.get("continue_final_message"):
        return [HttpError(400, "Conversation roles must alternate user/assistant/user/assistant/...")]
    return like_vllm(request)


def refusing(request: Received) -> Reply:
    """Neither a last message of the assistant's nor unknown fields."""
    if FLAGS & request.body.keys() or begun(request) is not None:
        return [HttpError(400, "Extra inputs are not permitted")]
    return f"Sure! Here is the cell:\n{whole(request)}\n```"


def like_a_restarting_server(request: Received) -> Reply:
    return f"Sure! Here is the cell:\n{whole(request)}\n```"


Server = Callable[[Received], Reply]
KINDS: Mapping[Server, tuple[int, set[str], bool]] = {
    # how often it is tried, the fields that it needs, whether it goes on
    like_llama_cpp: (1, set(), True),
    like_vllm: (2, FLAGS, True),
    like_a_strict_vllm: (2, FLAGS, True),
    refusing: (2, set(), False),
    like_a_restarting_server: (2, set(), False),
}
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def models_at(server: ScriptedServer, continuing: Continuation | None = None) -> ProviderModels:
    return ProviderModels(ModelsSettings({"own": ProviderSettings(base_url=server.base_url)}), continuing=continuing)


def trials(server: ScriptedServer) -> list[Received]:
    return [request for request in server.completions if "hello world" in request.last_user_text]


@every_kind
async def test_server_is_probed_once_and_then_used_accordingly(kind: Server) -> None:
    tried, fields, goes_on = KINDS[kind]
    with ScriptedServer(kind) as server:
        models = models_at(server)
        answers = [await collect(models.open("own/coder").stream(REQUEST)) for _ in range(2)]
        await models.close()
    assert len(trials(server)) == tried
    asked = [request for request in server.completions if request not in trials(server)]
    assert len(asked) == 2
    for answer, request in zip(answers, asked, strict=True):
        assert answer.text == ("print(df['fee'].mean())" if goes_on else f"Sure! Here is the cell:\n{CELL}\n```")
        assert answer.done.restarted is not goes_on
        assert FLAGS & request.body.keys() == fields
        assert begun(request) == (REQUEST.guidance.begun if goes_on and REQUEST.guidance else None)
        assert request.body.get("stop") == (["\n```"] if goes_on else None)


async def test_probe_result_outlives_settings_and_is_per_model() -> None:
    continuing = Continuation()
    with ScriptedServer(like_vllm) as server:
        for model in ("coder", "coder", "other"):
            models = models_at(server, continuing)
            await collect(models.open(f"own/{model}").stream(REQUEST))
            await models.close()
    assert [request.body["model"] for request in trials(server)] == ["coder", "coder", "other", "other"]


async def test_concurrent_requests_probe_once() -> None:
    with ScriptedServer(like_vllm) as server:
        models = models_at(server)
        answers = await asyncio.gather(*(collect(models.open("own/coder").stream(REQUEST)) for _ in range(5)))
        await models.close()
    assert len(trials(server)) == 2
    assert {answer.text for answer in answers} == {"print(df['fee'].mean())"}


async def test_request_without_started_answer_is_unchanged() -> None:
    with ScriptedServer(refusing) as server:
        models = models_at(server)
        for guidance in (None, Guidance(), Guidance(grammar="root ::= [^`]+", seed=1)):
            await collect(models.open("own/coder").stream(ModelRequest("", REQUEST.messages, guidance=guidance)))
        await models.close()
    assert len(server.completions) == 3
    assert not any({"stop", "seed", "grammar", *FLAGS} & request.body.keys() for request in server.completions)


@pytest.mark.parametrize(
    "fault", [[HttpError(429, "Slow down.")], [HttpError(503, "Loading.")], [Cut()]], ids=["busy", "loading", "cut"]
)
async def test_unreachable_server_is_probed_again_next_time(fault: Reply) -> None:
    faults = [fault]

    def reply(request: Received) -> Reply:
        return faults.pop() if faults else like_llama_cpp(request)

    with ScriptedServer(reply) as server:
        models = models_at(server)
        first, second = [await collect(models.open("own/coder").stream(REQUEST)) for _ in range(2)]
        await models.close()
    assert (first.done.restarted, second.done.restarted) == (True, False)
    assert "```python" in first.text
    assert len(trials(server)) == 2


async def test_another_server_at_same_address_is_probed_after_rejection() -> None:
    kinds = [like_llama_cpp]
    with ScriptedServer(lambda request: kinds[-1](request)) as server:
        models = models_at(server)
        assert (await collect(models.open("own/coder").stream(REQUEST))).done.restarted is False
        kinds.append(refusing)
        assert (await collect(models.open("own/coder").stream(REQUEST))).error is not None
        assert (await collect(models.open("own/coder").stream(REQUEST))).done.restarted is True
        await models.close()


async def test_cancelled_probe_is_repeated_by_next_request() -> None:
    hang = Hang()
    replies: list[Reply] = [[hang]]
    with ScriptedServer(lambda request: replies.pop() if replies else like_llama_cpp(request)) as server:
        models = models_at(server)
        asking = asyncio.create_task(collect(models.open("own/coder").stream(REQUEST)))
        await asyncio.to_thread(hang.reached.wait, 5)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert await server.requests[0].client_left(5)
        assert (await collect(models.open("own/coder").stream(REQUEST))).done.restarted is False
        await models.close()


FEES = Frame("df", (Column("fee", "float64"),), 1200, READ, "fees.csv")
INSERT = ToolDefinition("notebook_insert_cell", "")


class Around:
    def __init__(self, language: str) -> None:
        self._language = language

    async def facts(self, request: str, made: str | None) -> NotebookFacts:
        frames = (FEES,) if self._language == "python" else ()
        return NotebookFacts("a.ipynb", frames=frames, files=("fees.csv",), language=self._language)


async def cell_from(kind: Server, language: str = "python") -> tuple[ToolCall | None, list[Received]]:
    """The cell that comes of a question in cell mode, and what the server was asked beside the trial."""
    with ScriptedServer(kind) as server:
        models = models_at(server)
        cells = CellModel(models.open("own/coder"), Around(language), lambda text: text)
        answer = await collect(cells.stream(ModelRequest("You are Onyx.", REQUEST.messages, [INSERT])))
        await models.close()
    call = answer.tool_calls[0] if answer.tool_calls else None
    return call, [request for request in server.completions if request not in trials(server)]


@every_kind
async def test_cell_mode_gets_same_cell_from_each_server(kind: Server) -> None:
    call, asked = await cell_from(kind)
    assert call is not None
    assert call.arguments["source"] == f"{READ}\nprint(df['fee'].mean())"
    assert len(asked) == 1


async def test_text_without_block_is_asked_once_more_for_cell() -> None:
    def reply(request: Received) -> Reply:
        written = request.last_user_text.startswith("Write the cell")
        return like_a_restarting_server(request) if written else "You take the mean of the fees."

    call, (first, again) = await cell_from(reply)
    assert call is not None
    assert call.arguments["source"] == f"{READ}\nprint(df['fee'].mean())"
    assert again.body["messages"][:-2] == first.body["messages"]
    assert [message["content"].split(":")[0] for message in again.body["messages"][-2:]] == [
        "You take the mean of the fees.",
        "Write the cell",
    ]


@pytest.mark.parametrize("words", ["62.76", "Done", "You take the mean of the fees."])
@pytest.mark.parametrize("language", ["python", "r"])
async def test_repeated_text_is_never_a_cell(words: str, language: str) -> None:
    call, asked = await cell_from(lambda request: words, language)
    assert call is None
    assert [request.last_user_text.startswith("Write the cell") for request in asked] == [False, True, False, False]
