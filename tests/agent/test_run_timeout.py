"""The time of one answer: what counts, what does not, and how it ends."""

import asyncio

import pytest

from onyx_jupyter.agent.run_timeout import RunTimeout
from onyx_jupyter.errors import RunTimedOut
from onyx_jupyter.features.notebooks.run_tools import notebook_run_cell_tool
from onyx_jupyter.features.runs.tools import ask_user_tool
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.script import Call, Hang
from tests.runs.house import House, Linger

A_SECOND = "{ runtime: { defaultTimeoutMs: 1000 } }"
TOUCH = Call("touch", {"word": "x"})


class LongWait(Linger):
    """As a cell that runs for hours, or a question to a person."""

    untimed = True


async def test_pauses_are_excluded_and_everything_else_counts():
    clock = FakeClock()
    work = RunTimeout(clock, 100)
    clock.advance(1000)
    async with work.limit():
        clock.advance(30)
        with work.paused():
            clock.advance(1000)
            with work.paused():
                clock.advance(1000)
            clock.advance(1000)
        clock.advance(40)
        assert work.used_s == 70
        work.check()
        clock.advance(30)
        with pytest.raises(RunTimedOut):
            work.check()


async def test_time_expired_at_end_of_pause_cancels_next_step():
    clock = FakeClock()
    work = RunTimeout(clock, 100)

    async def long_work():
        async with work.limit():
            clock.advance(100)
            with work.paused():
                pass
            await asyncio.Event().wait()

    with pytest.raises(RunTimedOut):
        await long_work()


async def test_inner_timeout_is_not_mistaken_for_run_timeout():
    async def work():
        async with RunTimeout(FakeClock(), 100).limit():
            raise TimeoutError("of something else")

    with pytest.raises(TimeoutError, match="of something else"):
        await work()


async def test_endless_model_is_stopped_and_text_is_kept(tmp_path):
    house = House(tmp_path, [["Half an ans", Hang()], "Next"], config=A_SECOND)
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["code"]) == ("chat.error", "timeout")
    assert "1 s" in data["message"]
    assert "runtime.defaultTimeoutMs" in data["hint"]
    assert house.model.interrupted == 1
    assert [line["content"] for line in house.lines(key)] == ["", "Please", "Half an ans", ""]
    assert house.ends_on_disk(key) == ["error"]
    assert (await house.run(key, "Go on"))[0] == "chat.final"


async def test_endless_tool_is_stopped_and_every_call_is_paired(tmp_path):
    house = House(tmp_path, [[Call("linger"), Call("peek"), TOUCH]], config=A_SECOND)
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["code"]) == ("chat.error", "timeout")
    assert house.linger.cancelled == 1
    assert (house.peek.done, house.touch.done) == ([], [])
    assert house.of("exec.approval_request") == []
    results = list(house.results(key).values())
    assert len(results) == 3
    assert all("may be partly done" in line["content"] for line in results)


async def test_time_used_up_by_tool_ends_run_before_next_model_call(tmp_path):
    clock = FakeClock()
    house = House(tmp_path, [[Call("linger")], "never"], clock=clock)
    key = await house.session()
    run_id = await house.send(key)
    await house.linger.started.wait()
    clock.advance(301)
    house.linger.released.set()
    name, data = await house.end(run_id)
    assert (name, data["code"]) == ("chat.error", "timeout")
    assert [line["content"] for line in house.results(key).values()] == ["lingered"]
    assert len(house.model.requests) == 1


async def test_waiting_for_approval_is_not_counted(tmp_path):
    clock = FakeClock()
    house = House(tmp_path, [[TOUCH], "Done"], clock=clock)
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    clock.advance(1000)
    await house.approve()
    assert (await house.end(run_id))[0] == "chat.final"
    assert house.touch.done == ["x"]


async def test_tool_without_time_limit_is_not_counted(tmp_path):
    clock = FakeClock()
    house = House(tmp_path, [[Call("linger")], "Done"], clock=clock)
    house.linger = LongWait()
    key = await house.session()
    run_id = await house.send(key)
    await house.linger.started.wait()
    clock.advance(100_000)
    house.linger.released.set()
    assert (await house.end(run_id))[0] == "chat.final"


def test_cells_and_questions_have_no_time_limit():
    assert notebook_run_cell_tool.untimed
    assert ask_user_tool.untimed


async def test_stop_is_reported_as_stop_in_a_time_limited_run(tmp_path):
    house = House(tmp_path, [[Call("linger")]])
    key = await house.session()
    run_id = await house.send(key)
    await house.linger.started.wait()
    await house.onyx.abort(run_id)
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert [line["meta"]["status"] for line in house.results(key).values()] == ["aborted"]
