"""How much a message asks its model to think reaches every request of its run, and no other run."""

import pytest
from pydantic import ValidationError

from onyx_jupyter.features.sessions.wire import ChatSendParams
from onyx_jupyter.testing.script import Call, Tokens
from tests.runs.house import House


async def test_a_messages_effort_is_that_of_its_run_alone(tmp_path):
    steps = [[Call("peek", {"word": "a"})], ["Seen.", Tokens(9, 7, reasoning_tokens=5)], "Again."]
    house = House(tmp_path, steps)
    key = await house.session()
    end = await house.run(key, effort="high")
    assert end[1]["usage"]["reasoningTokens"] == 5
    await house.run(key)
    assert [request.effort for request in house.model.requests] == ["high", "high", None]
    lines = house.lines(key)
    assert [line["meta"].get("effort") for line in lines if line["role"] == "user"] == ["high", None]
    assert [line["usage"].get("reasoningTokens") for line in lines if line["role"] == "assistant"] == [None, 5, None]
    await house.close()


async def test_a_run_that_goes_on_after_a_restart_still_has_it(tmp_path):
    house = House(tmp_path, [[Call("touch", {"word": "x"})]])
    key = await house.session()
    run_id = await house.send(key, effort="low")
    await house.asked()
    await house.close()
    again = House(tmp_path, ["Back."])
    await again.onyx.ready()
    again.onyx.streams.watch(key, again.receive)
    await again.approve()
    await again.end(run_id)
    assert [request.effort for request in again.model.requests] == ["low"]
    await again.close()


def test_only_known_efforts_are_accepted():
    assert ChatSendParams(session_key="s", message="Hi", effort="xhigh").effort == "xhigh"
    with pytest.raises(ValidationError):
        ChatSendParams(session_key="s", message="Hi", effort="enormous")
