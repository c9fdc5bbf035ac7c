"""Commands in the background of a turn are gone when anybody hears that it is over, however it ended."""

import asyncio

import psutil
import pytest

from onyx_jupyter.features.processes.exec_tool import make_exec_tool
from onyx_jupyter.features.processes.process_tool import process_tool
from onyx_jupyter.testing.script import Call, Fail, Hang
from tests.features.processes.family import pids_in, running
from tests.runs.house import House
from tests.waiting import until

COMMAND = {"command": "echo $$ >> pids; (sleep 600 & echo $! >> pids; wait)", "background": True}


def house_with(tmp_path, replies) -> House:
    return House(tmp_path, replies, more_tools=[make_exec_tool(), process_tool])


def watch_ends(house: House) -> list[list[int]]:
    """For each end of a run, which of its processes still ran at that very moment."""
    found: list[list[int]] = []
    receive = house.receive

    def see(frame: str) -> None:
        receive(frame)
        if house.events[-1][0] in ("chat.final", "chat.error", "chat.aborted"):
            found.append([pid for pid in pids_in(house.root) if running(pid)])

    house.receive = see
    return found


@pytest.mark.parametrize(
    ("ending", "event"),
    [("It runs.", "chat.final"), ([Fail("refused")], "chat.error"), ([Hang()], "chat.aborted")],
    ids=["final", "error", "stop"],
)
async def test_no_process_outlives_its_turn(tmp_path, ending, event):
    def reply(request):
        if request.messages[-1].role == "user":
            return [Call("exec", COMMAND)]
        if len(pids_in(house.root)) < 2:
            return [Call("process", {"action": "poll", "id": "p1", "waitMs": 10})]
        return ending

    house = house_with(tmp_path, reply)
    at_the_end = watch_ends(house)
    key = await house.session()
    run_id = await house.send(key)
    await house.approve()
    await until(lambda: len(pids_in(house.root)) == 2)
    if event == "chat.aborted":
        await until(lambda: len(house.model.requests) > 1)
        assert await house.onyx.abort(run_id)
    assert (await house.end(run_id))[0] == event
    assert at_the_end == [[]]
    assert len(pids_in(house.root)) == 2


async def test_closing_server_ends_processes(tmp_path):
    before = set(psutil.Process().children(recursive=True))
    house = house_with(tmp_path, [[Call("exec", COMMAND)], [Hang()]])
    key = await house.session()
    await house.send(key)
    await house.approve()
    await until(lambda: len(pids_in(house.root)) == 2)
    assert len(set(psutil.Process().children(recursive=True)) - before) > 2, "a reaper is there"
    await house.close()
    assert not any(map(running, pids_in(house.root)))
    assert set(psutil.Process().children(recursive=True)) - before == set()


async def test_polling_and_killing_need_no_approval_but_input_does(tmp_path):
    script = [
        [Call("exec", {"command": "cat", "background": True})],
        [Call("process", {"action": "write", "id": "p1", "text": "hello\n"})],
        [Call("process", {"action": "poll", "id": "p1", "waitMs": 60000})],
        [Call("process", {"action": "kill", "id": "p1"})],
        "Done",
    ]
    house = house_with(tmp_path, script)
    key = await house.session()
    run_id = await house.send(key)
    await house.approve()
    await until(lambda: len(house.of("exec.approval_request")) == 2)
    assert house.of("exec.approval_request")[1]["summary"] == "Type `hello` into p1"
    await house.approve()
    assert (await house.end(run_id))[0] == "chat.final"
    assert [data["output"] for data in house.of("tool.finished")][2:] == [
        "hello\n[p1: running.]",
        "(no new output)\n[p1: stopped by kill.]",
    ]
    assert len(house.of("exec.approval_request")) == 2


async def test_run_with_interrupted_cleanup_still_ends_processes(tmp_path):
    """Stop comes again while the first one is still ending what runs."""
    house = house_with(tmp_path, [[Call("exec", COMMAND)], [Hang()]])
    key = await house.session()
    run_id = await house.send(key)
    await house.approve()
    await until(lambda: len(pids_in(house.root)) == 2 and len(house.model.requests) > 1)
    await asyncio.gather(house.onyx.abort(run_id), house.onyx.abort(run_id))
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert not any(map(running, pids_in(house.root)))
