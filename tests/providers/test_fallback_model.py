"""A fallback model behind the first one, for one run."""

from dataclasses import replace

import pytest

from onyx_jupyter.errors import ModelError
from onyx_jupyter.messages import Message, ToolDefinition
from onyx_jupyter.protocols import ModelNote, ModelRequest, ThoughtDelta
from onyx_jupyter.providers.fallback_model import FallbackModel
from onyx_jupyter.testing.collected import collect
from onyx_jupyter.testing.script import Call, Fail, NotSaid, Think
from onyx_jupyter.testing.scripted_model import ScriptedModel

PEEK = ToolDefinition("peek", "Looks.")
QUESTION = ModelRequest("the long prompt", [Message("user", "Hello")], [PEEK, ToolDefinition("touch", "Touches.")])


def pair(first, second, *, light=False):
    models = (
        ScriptedModel(first, model_id="a/first"),
        ScriptedModel(second, model_id="b/second", light=light, context_window=1000),
    )

    async def request_for(model, request):
        return replace(request, system="the short prompt" if model.light else "the long prompt", tools=[PEEK])

    return *models, FallbackModel(models[0], lambda: models[1], request_for)


def notes(answer):
    return [event for event in answer.events if isinstance(event, ModelNote)]


async def test_successful_model_is_the_only_one_called():
    _, second, model = pair(["Hello."], [])
    answer = await collect(model.stream(QUESTION))
    assert (answer.text, model.id, notes(answer), second.requests) == ("Hello.", "a/first", [], [])


@pytest.mark.parametrize(
    "code", ["authentication", "rate_limit", "not_found", "timeout", "unavailable", "bad_response"]
)
async def test_second_model_answers_if_first_fails_and_says_why(code):
    first, second, model = pair([[Fail(code, "It could not.")]], ["Hello.", "Still I."])
    answer = await collect(model.stream(QUESTION))
    (note,) = notes(answer)
    assert answer.text == "Hello."
    assert note.kind == "fallback"
    assert note.data == {"model": "b/second", "instead": "a/first", "code": code}
    assert "b/second" in note.message
    assert "It could not." in note.message
    again = await collect(model.stream(QUESTION))
    assert (again.text, notes(again), model.id) == ("Still I.", [], "b/second")
    assert (len(first.requests), len(second.requests)) == (1, 2)


@pytest.mark.parametrize("code", ["refused", "overflow"])
async def test_refusal_and_overflow_stay_with_first_model(code):
    _, second, model = pair([[Fail(code)]], ["never"])
    answer = await collect(model.stream(QUESTION))
    assert answer.error is not None
    assert (answer.error.code, second.requests, model.id) == (code, [], "a/first")


async def test_after_visible_text_no_other_model_continues():
    _, second, model = pair([["Half", Fail("unavailable")]], ["never"])
    answer = await collect(model.stream(QUESTION))
    assert answer.text == "Half"
    assert answer.error is not None
    assert second.requests == []


async def test_if_both_fail_error_names_both_without_note():
    _, _, model = pair([[Fail("rate_limit", "Too often.", "Wait.")]], [[Fail("authentication", "No key.")]])
    answer = await collect(model.stream(QUESTION))
    assert answer.error is not None
    assert (answer.error.code, answer.error.hint, notes(answer)) == ("rate_limit", "Wait.", [])
    assert "Too often." in str(answer.error)
    assert "No key." in str(answer.error)


async def test_unopenable_fallback_is_a_regular_error():
    first = ScriptedModel([[Fail("timeout", "Late.")]], model_id="a/first")

    class Closed(ScriptedModel):
        async def stream(self, request):
            raise ModelError("not_found", "There is no such model.")
            yield

    async def request_for(model, request):
        return request

    answer = await collect(FallbackModel(first, lambda: Closed([]), request_for).stream(QUESTION))
    assert answer.error is not None
    assert "There is no such model." in str(answer.error)


async def test_small_fallback_gets_short_prompt_and_few_tools():
    _, second, model = pair([[Fail("unavailable")]], [[Call("peek")]], light=True)
    assert not model.light
    answer = await collect(model.stream(QUESTION))
    assert (second.requests[0].system, model.light) == ("the short prompt", True)
    assert second.requests[0].tools == [PEEK]
    assert [call.name for call in answer.tool_calls] == ["peek"]
    assert len(notes(answer)) == 1


async def test_tiny_fallback_gets_its_own_prompt_after_small_one():
    first = ScriptedModel([[Fail("unavailable")]], model_id="local/first", light=True)
    second = ScriptedModel(["Hello."], model_id="local/second", light=True, tiny=True)

    async def request_for(model, request):
        return replace(request, system="the tiny prompt" if model.tiny else "the short prompt")

    await collect(FallbackModel(first, lambda: second, request_for).stream(QUESTION))
    assert second.requests[0].system == "the tiny prompt"


async def test_overflow_of_fallback_is_left_to_caller_and_note_still_appears():
    _, _, model = pair([[Fail("unavailable")]], [[Fail("overflow")], "Hello."])
    answer = await collect(model.stream(QUESTION))
    assert answer.error is not None
    assert (answer.error.code, notes(answer)) == ("overflow", [])
    assert model.context_window == 1000
    answer = await collect(model.stream(QUESTION))
    assert (answer.text, len(notes(answer))) == ("Hello.", 1)


async def test_side_request_keeps_its_own_prompt():
    _, second, model = pair([[Fail("unavailable")]], ["A title."], light=True)
    await collect(model.stream(ModelRequest("Give a title.", QUESTION.messages)))
    assert second.requests[0].system == "Give a title."


@pytest.mark.parametrize("thought", [[Think("I add.")], ["I add.", NotSaid()]], ids=["apart", "taken back"])
async def test_first_model_with_thoughts_only_falls_back_with_note_before_thoughts(thought):
    _, _, model = pair([[*thought, Fail("unavailable")]], [[Think("I count."), "It is 4."]])
    answer = await collect(model.stream(QUESTION))
    assert answer.text == "It is 4."
    (note,) = notes(answer)
    assert answer.events.index(note) < answer.events.index(ThoughtDelta("I count."))
