"""The agent asks its person: answered, declined, too late, stopped, across a restart, or with nobody there."""

import pytest

from onyx_jupyter.errors import AlreadyResolved, InvalidRequest, NotFound
from onyx_jupyter.features.runs.tools import UNATTENDED, ask_user_tool
from onyx_jupyter.human_requests.questions import DECLINED, SILENCE
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.script import Call
from tests.runs.house import House
from tests.waiting import until

ASK = Call("ask_user", {"question": "Which month?", "choices": ["March", "April"]})
STRICT = Call("ask_user", {"question": "Which month?", "choices": ["March", "April"], "freeText": False})


def house_of(folder, script, **more):
    return House(folder, script, more_tools=[ask_user_tool], **more)


async def test_answer_reaches_model_and_watchers(tmp_path):
    house = house_of(tmp_path, [[ASK], "April it is."])
    key = await house.session()
    run_id = await house.send(key)
    question_id = await house.questioned()
    assert house.onyx.runs.activity(key) == "waiting"
    (asked,) = house.of("chat.question")
    assert (asked["questionId"], asked["question"], asked["choices"]) == (
        question_id,
        "Which month?",
        ["March", "April"],
    )
    assert asked["freeText"] is True
    await house.onyx.questions.answer(question_id, "ada", "Rather May")
    assert (await house.end(run_id))[1]["text"] == "April it is."
    (resolved,) = house.of("chat.question_resolved")
    assert (resolved["outcome"], resolved["by"], resolved["answer"]) == ("answered", "ada", "Rather May")
    (result,) = house.results(key).values()
    assert result["content"] == "The user answered: Rather May"
    assert house.onyx.questions.pending() == []


async def test_declined_question_is_reported_to_model(tmp_path):
    house = house_of(tmp_path, [[ASK], "Then I stop."])
    key = await house.session()
    run_id = await house.send(key)
    await house.onyx.questions.answer(await house.questioned(), "ada", None)
    await house.end(run_id)
    (result,) = house.results(key).values()
    assert result["content"] == DECLINED
    assert house.of("chat.question_resolved")[0]["outcome"] == "declined"


async def test_only_listed_choices_count_if_free_text_is_not_allowed(tmp_path):
    house = house_of(tmp_path, [[STRICT], "Good."])
    key = await house.session()
    run_id = await house.send(key)
    question_id = await house.questioned()
    with pytest.raises(InvalidRequest, match="March, April"):
        await house.onyx.questions.answer(question_id, "ada", "May")
    await house.onyx.questions.answer(question_id, "ada", "March")
    await house.end(run_id)
    with pytest.raises(AlreadyResolved):
        await house.onyx.questions.answer(question_id, "bob", "April")
    with pytest.raises(NotFound):
        await house.onyx.questions.answer("nothing", "bob", "April")
    (result,) = house.results(key).values()
    assert result["content"] == "The user answered: March"


async def test_timeout_is_no_answer_and_run_continues(tmp_path):
    config = "{security: {approvalTimeoutMs: 1000}}"
    house = house_of(tmp_path, [[ASK], "I assumed March."], config=config)
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "I assumed March."
    (result,) = house.results(key).values()
    assert result["content"] == SILENCE
    assert house.of("chat.question_resolved")[0]["outcome"] == "expired"


async def test_stop_closes_question(tmp_path):
    house = house_of(tmp_path, [[ASK]])
    key = await house.session()
    run_id = await house.send(key)
    question_id = await house.questioned()
    assert await house.onyx.abort(run_id)
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert house.of("chat.question_resolved")[0]["outcome"] == "aborted"
    with pytest.raises(AlreadyResolved):
        await house.onyx.questions.answer(question_id, "ada", "March")
    assert len(house.results(key)) == 1


async def test_model_is_told_immediately_if_nobody_can_answer(tmp_path):
    house = house_of(tmp_path, [[ASK], "I assumed March."])
    key = await house.session()
    await house.run(key, interactive=False)
    (result,) = house.results(key).values()
    assert result["content"] == UNATTENDED
    assert house.of("chat.question") == []


async def test_open_question_survives_restart_and_is_asked_once(tmp_path):
    house = house_of(tmp_path, [[ASK]], clock=FakeClock())
    key = await house.session()
    run_id = await house.send(key)
    question_id = await house.questioned()
    await house.close()
    again = house_of(tmp_path, ["April it is."], clock=FakeClock())
    await again.onyx.ready()
    assert await again.questioned() == question_id
    again.onyx.streams.watch(key, again.receive)
    await again.onyx.questions.answer(question_id, "ada", "April")
    await until(lambda: again.ends(run_id))
    assert again.ends(run_id)[0][1]["text"] == "April it is."
    kinds = [line.get("meta", {}).get("kind") for line in again.lines(key)]
    assert kinds.count("question") == 1
    (result,) = again.results(key).values()
    assert result["content"] == "The user answered: April"


async def test_question_expired_during_downtime_is_paired_and_run_ended(tmp_path):
    house = house_of(tmp_path, [[ASK]], clock=FakeClock())
    key = await house.session()
    await house.send(key)
    await house.questioned()
    await house.close()
    later = FakeClock()
    later.advance(1801)
    again = house_of(tmp_path, [], clock=later)
    await again.onyx.ready()
    assert again.onyx.questions.pending() == []
    (result,) = again.results(key).values()
    assert result["content"] == SILENCE
    assert again.ends_on_disk(key) == ["interrupted"]


@pytest.mark.parametrize("arguments", [{}, {"question": ""}, {"question": "x", "choices": ["a"] * 11}, {"question": 1}])
async def test_invalid_question_is_an_error_for_model(tmp_path, arguments):
    house = house_of(tmp_path, [[Call("ask_user", arguments)], "Sorry."])
    key = await house.session()
    await house.run(key)
    (result,) = house.results(key).values()
    assert "invalid_arguments" in result["content"]
    assert house.of("chat.question") == []
