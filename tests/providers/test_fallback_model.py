"""A second model behind the first, for one run."""

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


async def test_a_model_that_answers_is_the_only_one_asked():
    _, second, model = pair(["Hello."], [])
    answer = await collect(model.stream(QUESTION))
    assert (answer.text, model.id, notes(answer), second.requests) == ("Hello.", "a/first", [], [])


@pytest.mark.parametrize(
    "code", ["authentication", "rate_limit", "not_found", "timeout", "unavailable", "bad_response"]
)
async def test_where_the_first_cannot_the_second_answers_and_says_why(code):
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
async def test_a_refusal_and_a_conversation_too_long_stay_with_the_first(code):
    _, second, model = pair([[Fail(code)]], ["never"])
    answer = await collect(model.stream(QUESTION))
    assert answer.error is not None
    assert (answer.error.code, second.requests, model.id) == (code, [], "a/first")


async def test_once_text_was_shown_no_other_model_goes_on_with_it():
    _, second, model = pair([["Half", Fail("unavailable")]], ["never"])
    answer = await collect(model.stream(QUESTION))
    assert answer.text == "Half"
    assert answer.error is not None
    assert second.requests == []


async def test_where_both_fail_the_error_names_both_and_no_note_claims_an_answer():
    _, _, model = pair([[Fail("rate_limit", "Too often.", "Wait.")]], [[Fail("authentication", "No key.")]])
    answer = await collect(model.stream(QUESTION))
    assert answer.error is not None
    assert (answer.error.code, answer.error.hint, notes(answer)) == ("rate_limit", "Wait.", [])
    assert "Too often." in str(answer.error)
    assert "No key." in str(answer.error)


async def test_a_second_that_cannot_be_opened_is_an_error_like_any_other():
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


async def test_a_small_second_model_gets_its_short_prompt_and_its_few_tools():
    _, second, model = pair([[Fail("unavailable")]], [[Call("peek")]], light=True)
    assert not model.light
    answer = await collect(model.stream(QUESTION))
    assert (second.requests[0].system, model.light) == ("the short prompt", True)
    assert second.requests[0].tools == [PEEK]
    assert [call.name for call in answer.tool_calls] == ["peek"]
    assert len(notes(answer)) == 1


async def test_a_tiny_second_model_gets_its_own_after_a_small_one():
    first = ScriptedModel([[Fail("unavailable")]], model_id="local/first", light=True)
    second = ScriptedModel(["Hello."], model_id="local/second", light=True, tiny=True)

    async def request_for(model, request):
        return replace(request, system="the tiny prompt" if model.tiny else "the short prompt")

    await collect(FallbackModel(first, lambda: second, request_for).stream(QUESTION))
    assert second.requests[0].system == "the tiny prompt"


async def test_a_conversation_too_long_for_the_second_is_for_the_caller_to_shorten_and_the_note_still_comes():
    _, _, model = pair([[Fail("unavailable")]], [[Fail("overflow")], "Hello."])
    answer = await collect(model.stream(QUESTION))
    assert answer.error is not None
    assert (answer.error.code, notes(answer)) == ("overflow", [])
    assert model.context_window == 1000
    answer = await collect(model.stream(QUESTION))
    assert (answer.text, len(notes(answer))) == ("Hello.", 1)


async def test_a_side_request_keeps_its_own_prompt():
    _, second, model = pair([[Fail("unavailable")]], ["A title."], light=True)
    await collect(model.stream(ModelRequest("Give a title.", QUESTION.messages)))
    assert second.requests[0].system == "Give a title."


@pytest.mark.parametrize("thought", [[Think("I add.")], ["I add.", NotSaid()]], ids=["apart", "taken back"])
async def test_a_first_that_only_thought_has_said_nothing_and_the_note_comes_before_the_second_s_thoughts(thought):
    _, _, model = pair([[*thought, Fail("unavailable")]], [[Think("I count."), "It is 4."]])
    answer = await collect(model.stream(QUESTION))
    assert answer.text == "It is 4."
    (note,) = notes(answer)
    assert answer.events.index(note) < answer.events.index(ThoughtDelta("I count."))
