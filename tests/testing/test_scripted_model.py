import asyncio

import pytest

from onyx_jupyter.errors import ModelError
from onyx_jupyter.messages import Message, ToolCall, Usage
from onyx_jupyter.protocols import ModelDone, ModelProgress, ModelRequest, TextDelta
from onyx_jupyter.testing.collected import collect
from onyx_jupyter.testing.script import Call, Fail, Hang, Progress, Say, ScriptEnded, Tokens
from onyx_jupyter.testing.scripted_model import ScriptedModel, ScriptedModels

QUESTION = ModelRequest("Be brief.", [Message("user", "Hello there")])


async def test_steps_become_events_in_script_order() -> None:
    model = ScriptedModel(
        [[Progress("Loading"), Say("Hello", chunk_chars=3), Call("exec", {"command": "ls"}), Tokens(5, 2)]]
    )
    events = [event async for event in model.stream(QUESTION)]
    assert events == [
        ModelProgress("Loading"),
        TextDelta("Hel"),
        TextDelta("lo"),
        ModelDone((ToolCall("call_1", "exec", {"command": "ls"}),), Usage(5, 2), "tool_calls"),
    ]
    assert model.requests == [QUESTION]
    assert (model.finished, model.interrupted) == (1, 0)


async def test_scripted_failure_follows_preceding_text() -> None:
    model = ScriptedModel([["Half", Fail("rate_limit", retry_after_s=7)]])
    answer = await collect(model.stream(QUESTION))
    assert answer.events == (TextDelta("Half"),)
    assert answer.error is not None
    assert (answer.error.code, answer.error.retry_after_s) == ("rate_limit", 7)
    assert model.finished == 0


async def test_cancelled_hanging_answer_counts_as_interrupted() -> None:
    hang = Hang()
    model = ScriptedModel([[hang]])

    async def consume() -> None:
        async for _ in model.stream(QUESTION):
            pass

    task = asyncio.create_task(consume())
    await asyncio.to_thread(hang.reached.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (model.finished, model.interrupted) == (0, 1)


async def test_request_beyond_script_fails_its_test() -> None:
    model = ScriptedModel(["Only one"])
    assert [event async for event in model.stream(QUESTION)]
    with pytest.raises(ScriptEnded):
        _ = [event async for event in model.stream(QUESTION)]


async def test_function_chooses_reply_by_request() -> None:
    model = ScriptedModel(lambda request: request.messages[-1].content.upper())
    events = [event async for event in model.stream(QUESTION)]
    assert events[0] == TextDelta("HELLO THERE")


async def test_non_object_arguments_are_malformed() -> None:
    model = ScriptedModel([[Call("exec", '{"command": '), Call("exec", "[1]")]])
    *_, done = [event async for event in model.stream(QUESTION)]
    assert isinstance(done, ModelDone)
    assert [(call.arguments, call.malformed) for call in done.tool_calls] == [({}, '{"command": '), ({}, "[1]")]


async def test_unknown_model_lists_existing_ones() -> None:
    models = ScriptedModels(ScriptedModel(["Hi"]))
    with pytest.raises(ModelError) as caught:
        models.open("openai/none")
    assert caught.value.code == "not_found"
    assert "scripted/model" in (caught.value.hint or "")
