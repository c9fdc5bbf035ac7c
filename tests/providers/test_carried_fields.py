"""A run with two steps of tools at every provider that wants fields of its replies back with their results."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.messages import CarriedFields, Message, ToolCall
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS, CarriedKind
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.testing.collected import collect
from onyx_jupyter.testing.script import Call, Fail, Reply, Say, Think
from onyx_jupyter.testing.scripted_model import ScriptedModel
from onyx_jupyter.testing.scripted_server import ScriptedServer
from tests.runs.house import House

SEALS = ("seal-of-the-first-thought", "seal-of-the-second-thought")
STEPS: list[Reply] = [
    [Think("I look.", 3, seal=SEALS[0]), Say("Looking. "), Call("peek", {"word": "a"}, id="c1")],
    [Think("I look again.", 4, seal=SEALS[1]), Call("peek", {"word": "b"}, id="c2"), Call("peek", {}, id="c3")],
    ["Done."],
]


@dataclass(frozen=True)
class Case:
    """A model, and where its fields are in the request after the first call."""

    model_id: str
    carried: Callable[[Mapping[str, Any]], Any]
    expected: Any
    effort: str | None = None


def reply_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return next(message for message in body["messages"] if message["role"] == "assistant")


CASES = [
    Case(
        "anthropic/claude-sonnet-4-5",  # thinks within a budget
        lambda body: reply_of(body)["content"][:2],
        [
            {"type": "thinking", "thinking": "I look.", "signature": SEALS[0]},
            {"type": "text", "text": "Looking. "},
        ],
        "medium",
    ),
    Case(
        "anthropic/claude-opus-5",  # decides for itself
        lambda body: reply_of(body)["content"][0],
        {"type": "thinking", "thinking": "I look.", "signature": SEALS[0]},
        "high",
    ),
    Case(
        "openai/gpt-5.2",
        lambda body: [item for item in body["input"] if item.get("type") == "reasoning"][:1] + body["input"][2:4],
        [
            {
                "type": "reasoning",
                "id": "rs_0",
                "summary": [{"type": "summary_text", "text": "I look."}],
                "encrypted_content": SEALS[0],
            },
            {"role": "assistant", "content": "Looking. "},
            {"type": "function_call", "call_id": "c1", "name": "peek", "arguments": '{"word": "a"}'},
        ],
    ),
    Case(
        "gemini/gemini-3-pro",
        lambda body: reply_of(body)["tool_calls"][0]["extra_content"],
        {"google": {"thought_signature": SEALS[0]}},
    ),
    Case("deepseek/deepseek-v4-pro", lambda body: reply_of(body)["reasoning_content"], "I look."),
    Case(
        "openrouter/anthropic/claude-x",
        lambda body: reply_of(body)["reasoning_details"],
        [{"type": "reasoning.text", "text": "I look.", "index": 0, "signature": SEALS[0]}],
    ),
]
BY_MODEL = pytest.mark.parametrize("case", CASES, ids=lambda case: case.model_id.replace("/", "-"))


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Callable[[ScriptedServer, Case], ProviderModels]:
    """The provider of the case, at the server's address, spoken to as at its own."""

    def at(server: ScriptedServer, case: Case) -> ProviderModels:
        name = case.model_id.partition("/")[0]
        address = server.base_url.removesuffix("/v1") if name == "anthropic" else server.base_url
        monkeypatch.setitem(KNOWN_PROVIDERS, name, replace(KNOWN_PROVIDERS[name], address=address))
        return ProviderModels(ModelsSettings({name: ProviderSettings(api_key="any-key", effort=case.effort)}))

    return at


def kind_of(case: Case) -> CarriedKind:
    return KNOWN_PROVIDERS[case.model_id.partition("/")[0]].dialect.carried


@asynccontextmanager
async def house_of(folder: Path, models: Mapping[str, Any], **config: Any) -> AsyncIterator[House]:
    first = next(iter(models))
    agent = {"id": "main", "default": True, "model": first, **config}
    retry = {"runtime": {"retry": {"attempts": 1}}}
    house = House(folder, models=models, config=json.dumps({"agents": {"list": [agent]}, **retry}), environment={})
    try:
        yield house
    finally:
        await house.close()


def written_below(folder: Path) -> str:
    return "".join(path.read_text("utf-8", "replace") for path in folder.rglob("*") if path.is_file())


@BY_MODEL
async def test_what_a_provider_sealed_goes_back_with_the_results_and_is_written_nowhere(
    tmp_path: Path, provider: Any, case: Case
) -> None:
    with ScriptedServer(STEPS, carried=kind_of(case)) as server:
        opened = provider(server, case)
        async with house_of(tmp_path, {case.model_id: opened.open(case.model_id)}) as house:
            key = await house.session()
            end = await house.run(key)
            assert (end[0], end[1].get("text")) == ("chat.final", "Done."), end
            assert [line["content"] for line in house.lines(key) if line["role"] == "tool"][:2] == ["saw a", "saw b"]
        await opened.close()
        bodies = [request.body for request in server.completions]
    assert len(bodies) == 3
    assert case.carried(bodies[1]) == case.carried(bodies[2]) == case.expected
    seen = json.dumps(house.events) + written_below(tmp_path)
    assert not any(seal in seen for seal in SEALS)


@BY_MODEL
async def test_a_later_run_gets_none_of_it_and_the_provider_accepts_that(
    tmp_path: Path, provider: Any, case: Case
) -> None:
    with ScriptedServer([*STEPS, "Again."], carried=kind_of(case)) as server:
        opened = provider(server, case)
        async with house_of(tmp_path, {case.model_id: opened.open(case.model_id)}) as house:
            key = await house.session()
            await house.run(key)
            assert (await house.run(key))[1].get("text") == "Again."
        await opened.close()
        assert not any(seal in json.dumps(server.completions[-1].body) for seal in SEALS)


@pytest.mark.parametrize(
    ("case", "instead"),
    [
        (
            CASES[0],
            lambda body: body.get("thinking"),
        ),  # its older models are not asked to think for the rest of the turn
        (CASES[3], lambda body: reply_of(body)["tool_calls"][0]["extra_content"]["google"]["thought_signature"][:4]),
        (CASES[4], lambda body: reply_of(body)["reasoning_content"] or "skip"),
    ],
    ids=["anthropic", "gemini", "deepseek"],
)
async def test_after_a_restart_in_the_middle_of_a_run_the_provider_still_accepts_the_result(
    tmp_path: Path, provider: Any, case: Case, instead: Callable[[Mapping[str, Any]], Any]
) -> None:
    asks: Reply = [Think("I touch.", seal=SEALS[0]), Call("touch", {"word": "x"}, id="c1")]
    with ScriptedServer([asks, "Done."], carried=kind_of(case)) as server:
        opened = provider(server, case)
        models = {case.model_id: opened.open(case.model_id)}
        async with house_of(tmp_path, models) as house:
            key = await house.session()
            run_id = await house.send(key)
            await house.asked()
        async with house_of(tmp_path, models) as again:
            await again.onyx.ready()
            again.onyx.streams.watch(key, again.receive)
            await again.approve()
            assert (await again.end(run_id))[1].get("text") == "Done."
        await opened.close()
        assert instead(server.completions[1].body) in (None, "skip")


@BY_MODEL
async def test_another_model_gets_nothing_of_it(tmp_path: Path, provider: Any, case: Case) -> None:
    second = ScriptedModel([["Second."]], model_id="b/second")
    failing = [STEPS[0], [Fail("unavailable")]]
    first = ScriptedModel(failing, model_id=case.model_id)
    with ScriptedServer(["Mine."], carried=kind_of(case)) as server:
        opened = provider(server, case)
        foreign = CarriedFields("b/second", {"message": {"reasoning_content": "x"}, "calls": [{"extra": "x"}]})
        messages = [
            Message("user", "Go"),
            Message("assistant", "", (ToolCall("c9", "peek", {}),), carried=foreign),
            Message("tool", "1", tool_call_id="c9"),
        ]
        answer = await collect(opened.open(case.model_id).stream(ModelRequest("", messages)))
        await opened.close()
        assert answer.text == "Mine.", answer.error
        assert '"x"' not in json.dumps(server.completions[-1].body)
    async with house_of(tmp_path, {case.model_id: first, "b/second": second}, fallbackModel="b/second") as house:
        assert (await house.run(await house.session()))[1].get("text") == "Second."


@BY_MODEL
@pytest.mark.parametrize("how", ["lost", "changed"])
async def test_the_scripted_provider_refuses_what_was_lost_or_changed(provider: Any, case: Case, how: str) -> None:
    with ScriptedServer(STEPS, carried=kind_of(case)) as server:
        opened = provider(server, case)
        model = opened.open(case.model_id)
        first = await collect(model.stream(ModelRequest("", [Message("user", "Go")])))
        assert first.done.carried is not None
        changed = json.loads(json.dumps(first.done.carried).replace("I look.", "I!").replace(SEALS[0], "another"))
        fields = changed if how == "changed" else {}
        reply = Message("assistant", "", first.tool_calls, carried=CarriedFields(case.model_id, fields))
        messages = [Message("user", "Go"), reply, Message("tool", "1", tool_call_id="c1")]
        second = await collect(model.stream(ModelRequest("", messages)))
        await opened.close()
    accepted = how == "lost" and not case.model_id.startswith(("openai/", "openrouter/"))
    if accepted:  # what is sent instead is accepted: another form, or no thinking
        assert second.error is None, second.error
    else:
        assert second.error is not None
        assert (second.error.code, second.error.permanent) == ("bad_response", True)
    assert len(server.requests) == 2, "nothing is asked again without thinking"


async def test_blocks_keep_their_places_among_text_and_calls() -> None:
    reply: Reply = [
        Think("", seal="closed"),
        Say("Both. "),
        Call("peek", {"word": "a"}, id="c1"),
        Think("And now?", seal="open"),
        Call("peek", {"word": "b"}, id="c2"),
    ]
    with ScriptedServer([reply, "Done."]) as server:
        address = server.base_url.removesuffix("/v1")
        opened = ProviderModels(ModelsSettings({"anthropic": ProviderSettings(base_url=address, api_key="any-key")}))
        model = opened.open("anthropic/claude-opus-5")
        done = (await collect(model.stream(ModelRequest("", [Message("user", "Go")])))).done
        assert done.carried is not None
        said = Message("assistant", "Both.", done.tool_calls, carried=CarriedFields(model.id, done.carried))
        results = [Message("tool", "1", tool_call_id="c1"), Message("tool", "2", tool_call_id="c2")]
        await collect(model.stream(ModelRequest("", [Message("user", "Go"), said, *results])))
        await opened.close()
        blocks = server.requests[1].body["messages"][1]["content"]
    kinds = [block["type"] for block in blocks]
    assert kinds == ["redacted_thinking", "text", "tool_use", "thinking", "tool_use"]
    assert (blocks[0]["data"], blocks[3]["signature"], blocks[4]["id"]) == ("closed", "open", "c2")
