"""Messages during a run: they join it, wait behind it or stop it; each is answered or kept, once."""

import asyncio
from dataclasses import dataclass, field

import pytest

from onyx_jupyter.agent.processor import Halt, Processor
from onyx_jupyter.errors import StorageError
from onyx_jupyter.features.runs.tools import ask_user_tool
from onyx_jupyter.testing.script import Call, Fail, Hang, Hold
from tests.runs.house import House
from tests.storage.full_disk import file_size_limit
from tests.waiting import until

TOUCH = Call("touch", {"word": "x"})


def said(request) -> list[str]:
    return [f"{m.role}: {m.content or '+'.join(call.name for call in m.tool_calls)}" for m in request.messages]


def kinds(house: House, key: str) -> list[str]:
    return [line["meta"]["kind"] for line in house.lines(key) if line["role"] == "system"][1:]


@dataclass
class SlowDisk:
    """Users' messages are not written before `released`."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)


async def slow_disk(house: House, key: str) -> SlowDisk:
    transcript, disk = await house.onyx.sessions.get(key), SlowDisk()
    append = transcript.append_user

    async def append_slowly(run_id, text, meta):
        disk.reached.set()
        await disk.released.wait()
        return await append(run_id, text, meta)

    transcript.append_user = append_slowly  # type: ignore[method-assign]
    return disk


async def test_message_joins_after_running_call_and_remaining_calls_are_skipped(tmp_path):
    house = House(tmp_path, [["I will.", Call("linger"), TOUCH, Call("peek")], "As you wish"])
    key = await house.session()
    run_id = await house.send(key, "Start")
    await house.linger.started.wait()
    sent = await house.onyx.send(key, "Rather this")
    assert (sent.run_id, sent.delivery) == (run_id, "steer")
    assert house.lines(key)[-1]["content"] == "Rather this"
    assert len(house.model.requests) == 1
    assert house.linger.cancelled == 0
    house.linger.released.set()
    name, data = await house.end(run_id)
    assert (name, data["text"]) == ("chat.final", "As you wish")
    assert [line["meta"]["status"] for line in house.results(key).values()] == ["ok", "skipped", "skipped"]
    assert [event["status"] for event in house.of("tool.finished")] == ["ok", "skipped", "skipped"]
    assert [event.get("input") for event in house.of("tool.finished")] == [None, {"word": "x"}, {}]
    assert said(house.model.requests[1]) == [
        "user: Start", "assistant: I will.", "tool: lingered",
        "tool: Skipped: the user sent a new message.", "tool: Skipped: the user sent a new message.",
        "user: Rather this",
    ]  # fmt: skip
    assert (house.touch.done, house.peek.done) == ([], [])
    assert "exec.approval_request" not in house.names()
    assert house.ends_on_disk(key) == ["final"]
    assert len(house.of("chat.started")) == 1


async def test_message_during_final_text_is_answered_by_one_more_call(tmp_path):
    hold = Hold()
    house = House(tmp_path, [["One ", hold, "two"], "Three"])
    key = await house.session()
    run_id = await house.send(key, "Count")
    await until(hold.reached.is_set)
    assert await house.send(key, "Further") == run_id
    assert house.model.interrupted == 0
    hold.released.set()
    name, data = await house.end(run_id)
    assert (name, data["text"]) == ("chat.final", "Three")
    assert said(house.model.requests[1]) == ["user: Count", "assistant: One two", "user: Further"]


async def test_text_before_and_after_joined_message_is_separated(tmp_path):
    holds = Hold(), Hold()
    script = [["One", holds[0]], ["Two", Call("linger")], ["Three", holds[1]], "Four"]
    house = House(tmp_path, script)
    house.linger.released.set()
    key = await house.session()
    run_id = await house.send(key)
    for hold in holds:
        await until(hold.reached.is_set)
        await house.send(key, "Further")
        hold.released.set()
    assert (await house.end(run_id))[1]["text"] == "Four"
    told = [data.get("text", "[call]") for name, data in house.events if name in ("chat.delta", "tool.started")]
    assert "".join(told) == "One\n\nTwo[call]Three\n\nFour"
    answers = [line["content"] for line in house.lines(key) if line["role"] == "assistant"]
    assert answers == ["One", "Two", "Three", "Four"]


async def test_limit_notice_is_separated_from_following_text(tmp_path):
    class EndOnce(Processor):
        async def after_model(self, reply):
            if reply.text == "One":
                await house.send(key, "Further")
                raise Halt("Enough.")
            return reply

    house = House(tmp_path, ["One", "Two"], processors=[EndOnce()])
    key = await house.session()
    await house.run(key)
    assert "".join(data["text"] for data in house.of("chat.delta")) == "One\n\nEnough.\n\nTwo"


async def test_watchers_are_told_when_message_arrived_and_where_it_joined(tmp_path):
    hold = Hold()
    house = House(tmp_path, [["One", hold], "Two"])
    key = await house.session()
    run_id = await house.send(key)
    await until(hold.reached.is_set)
    for word in ("A", "B"):
        await house.send(key, word)
    ids = [line["id"] for line in house.lines(key) if line["content"] in ("A", "B")]
    hold.released.set()
    await house.end(run_id)
    assert [(d["runId"], d["messageId"], d["text"]) for d in house.of("chat.steered")] == [
        (run_id, ids[0], "A"), (run_id, ids[1], "B"),
    ]  # fmt: skip
    (joined,) = house.of("chat.joined")
    assert (joined["runId"], joined["messageIds"]) == (run_id, ids)
    assert house.names() == [
        "chat.started", "chat.delta", "chat.steered", "chat.steered", "chat.joined", "chat.delta", "chat.final",
    ]  # fmt: skip
    (line,) = [line for line in house.lines(key) if line.get("meta", {}).get("kind") == "steer_joined"]
    assert line["meta"]["messageIds"] == ids


async def test_message_closes_pending_approval_and_skips_its_call(tmp_path):
    house = House(tmp_path, [["I will.", TOUCH, Call("peek")], "Not then"])
    key = await house.session()
    run_id = await house.send(key)
    approval_id = await house.asked()
    assert await house.send(key, "Wait, no") == run_id
    assert (await house.end(run_id))[0] == "chat.final"
    (resolved,) = house.of("exec.approval_resolved")
    assert (resolved["approvalId"], resolved["decision"], resolved["by"]) == (approval_id, "aborted", "message")
    assert resolved["reason"] == "The user sent a new message."
    assert [line["meta"]["status"] for line in house.results(key).values()] == ["skipped", "skipped"]
    assert (house.touch.done, house.peek.done) == ([], [])
    assert house.onyx.approvals.pending() == []
    assert said(house.model.requests[1])[-1] == "user: Wait, no"


@pytest.mark.parametrize("ticks", range(10))
async def test_message_at_any_moment_leaves_no_approval_open(tmp_path, ticks):
    house = House(tmp_path, lambda request: [TOUCH] if request.messages[-1].content == "Please" else "ok")
    key = await house.session()
    run_id = await house.send(key)
    await until(lambda: house.model.requests)
    for _ in range(ticks):
        await asyncio.sleep(0)
    await house.send(key, "Wait")
    assert (await house.end(run_id))[0] == "chat.final"
    assert house.onyx.approvals.pending() == []
    assert house.touch.done == []
    assert [line["meta"]["status"] for line in house.results(key).values()] == ["skipped"]
    await until(lambda: not house.onyx.runs.busy)


async def test_message_closes_agents_question(tmp_path):
    house = House(tmp_path, [[Call("ask_user", {"question": "Which one?"})], "I see"], more_tools=[ask_user_tool])
    key = await house.session()
    run_id = await house.send(key)
    await until(house.onyx.questions.pending)
    await house.send(key, "Something else")
    assert (await house.end(run_id))[0] == "chat.final"
    (resolved,) = house.of("chat.question_resolved")
    assert (resolved["outcome"], resolved["by"]) == ("aborted", "message")
    assert [line["meta"]["status"] for line in house.results(key).values()] == ["skipped"]
    assert said(house.model.requests[1])[-1] == "user: Something else"


async def test_follow_up_waits_for_its_own_run(tmp_path):
    hold = Hold()
    house = House(tmp_path, [["One", hold], "Two"], config="{ runtime: { whenBusy: 'followup' } }")
    key = await house.session()
    first = await house.send(key, "1")
    await until(hold.reached.is_set)
    sent = await house.onyx.send(key, "2")
    assert sent.delivery == "followup"
    assert sent.run_id != first
    hold.released.set()
    await house.end(first)
    assert (await house.end(sent.run_id))[1]["text"] == "Two"
    assert "chat.joined" not in house.names()


async def test_interrupt_stops_run_and_is_answered_before_queued_messages(tmp_path):
    house = House(tmp_path, [["I will.", Call("linger"), TOUCH], "Now", "Later"])
    key = await house.session()
    first = await house.send(key, "1")
    await house.linger.started.wait()
    later = await house.send(key, "later", when_busy="followup")
    sent = await house.onyx.send(key, "now", when_busy="interrupt")
    assert sent.delivery == "interrupt"
    assert (await house.end(first))[0] == "chat.aborted"
    assert (await house.end(sent.run_id))[1]["text"] == "Now"
    assert (await house.end(later))[1]["text"] == "Later"
    assert house.linger.cancelled == 1
    assert [data["runId"] for data in house.of("chat.started")] == [first, sent.run_id, later]
    assert [line["meta"]["status"] for line in house.results(key).values()] == ["aborted", "aborted"]
    last = said(house.model.requests[-1])
    assert [line for line in last if line[:4] in ("user", "assi")] == [
        "user: 1", "assistant: I will.", "user: now", "assistant: Now", "user: later",
    ]  # fmt: skip
    assert last[: len(said(house.model.requests[1]))] == said(house.model.requests[1])


async def test_two_interrupts_are_answered_in_order(tmp_path):
    house = House(tmp_path, [[Call("linger")], "a", "b", "c"])
    key = await house.session()
    await house.send(key, "1")
    await house.linger.started.wait()
    waits = await house.send(key, "3", when_busy="followup")
    transcript = await house.onyx.sessions.get(key)
    runs = await asyncio.gather(
        *(house.onyx.runs.send(transcript, text, {}, "interrupt") for text in ("first", "second"))
    )
    await house.end(waits)
    await until(lambda: not house.onyx.runs.busy)
    started = [data["runId"] for data in house.of("chat.started")][1:]
    assert started == [runs[0].run_id, runs[1].run_id, waits]


@pytest.mark.parametrize("when_busy", ["steer", "followup", "interrupt"])
async def test_while_idle_all_three_kinds_start_a_run(tmp_path, when_busy):
    house = House(tmp_path, ["ok"])
    key = await house.session()
    sent = await house.onyx.send(key, "Hello", when_busy=when_busy)
    assert sent.delivery == "started"
    assert (await house.end(sent.run_id))[0] == "chat.final"
    assert [line["role"] for line in house.lines(key)] == ["system", "user", "assistant", "system"]
    assert set(house.lines(key)[1]["meta"]) == {"runId", "origin"}


async def test_after_stop_message_waits_for_next_run_and_nothing_starts(tmp_path):
    house = House(tmp_path, [["Going on", Hang()], "I see both"])
    key = await house.session()
    run_id = await house.send(key, "1")
    await until(lambda: house.of("chat.delta"))
    await house.send(key, "And this")
    await house.onyx.abort(run_id)
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert not house.onyx.runs.busy
    assert len(house.model.requests) == 1
    assert "chat.joined" not in house.names()
    await house.run(key, "2")
    roles = [(m.role, m.content) for m in house.model.requests[1].messages if m.role == "user"]
    assert roles == [("user", "1"), ("user", "And this"), ("user", "2")]
    await house.close()
    again = House(tmp_path)
    await again.onyx.ready()
    assert not again.onyx.runs.busy
    assert again.ends_on_disk(key) == ["aborted", "final"]


async def test_message_sent_after_stop_gets_its_own_run(tmp_path):
    house = House(tmp_path, [[Hang()], "New"])
    key = await house.session()
    run_id = await house.send(key, "1")
    await until(lambda: house.model.requests)
    transcript = await house.onyx.sessions.get(key)
    assert await house.onyx.abort(run_id)
    sent = await house.onyx.runs.send(transcript, "2", {}, "steer")
    assert (sent.delivery, sent.run_id != run_id) == ("followup", True)
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert (await house.end(sent.run_id))[1]["text"] == "New"


async def test_after_error_message_waits_for_next_run(tmp_path):
    hold = Hold()
    house = House(tmp_path, [[hold, Fail("refused")], "Both"])
    key = await house.session()
    run_id = await house.send(key, "1")
    await until(hold.reached.is_set)
    await house.send(key, "2")
    hold.released.set()
    assert (await house.end(run_id))[0] == "chat.error"
    assert not house.onyx.runs.busy
    await house.run(key, "3")
    assert said(house.model.requests[-1]) == ["user: 1", "user: 2", "user: 3"]


async def test_message_resets_turn_limit(tmp_path):
    hold = Hold()
    replies = [[Call("peek")], [hold, Call("peek")], [Call("peek")], [Call("peek")], "Out of steps"]
    house = House(tmp_path, replies, config="{ runtime: { maxTurns: 2 } }")
    key = await house.session()
    run_id = await house.send(key)
    await until(hold.reached.is_set)
    await house.send(key, "Go on")
    hold.released.set()
    assert (await house.end(run_id))[1]["text"] == "Out of steps"
    assert [bool(request.tools) for request in house.model.requests] == [True] * 4 + [False]
    assert [line["meta"]["status"] for line in house.results(key).values()] == ["ok", "skipped", "ok", "ok"]


async def test_message_waiting_when_processor_ends_turn_is_answered(tmp_path):
    class Once(Processor):
        done = False

        async def after_model(self, reply):
            if not self.done:
                self.done = True
                raise Halt("That is enough.")
            return reply

    hold = Hold()
    house = House(tmp_path, [[hold, "Words"], "Answered"], processors=[Once()])
    key = await house.session()
    run_id = await house.send(key, "1")
    await until(hold.reached.is_set)
    await house.send(key, "2")
    hold.released.set()
    assert (await house.end(run_id))[1]["text"] == "Answered"
    assert said(house.model.requests[1])[-1] == "user: 2"


@pytest.mark.parametrize("ticks", range(14))
async def test_message_at_the_very_end_is_answered_exactly_once(tmp_path, ticks):
    house = House(tmp_path, lambda request: f"heard {request.messages[-1].content}")
    key = await house.session()
    await house.send(key, "1")
    await until(lambda: any(line["role"] == "assistant" for line in house.lines(key)))
    for _ in range(ticks):
        await asyncio.sleep(0)
    sent = await house.onyx.send(key, "2")
    await until(lambda: not house.onyx.runs.busy)
    answers = [line["content"] for line in house.lines(key) if line["role"] == "assistant"]
    assert answers == ["heard 1", "heard 2"]
    assert len(house.ends(sent.run_id)) == 1
    assert house.ends_on_disk(key) == ["final"] * len(house.of("chat.started"))


async def test_message_still_being_stored_at_final_text_joins(tmp_path):
    hold = Hold()
    house = House(tmp_path, [["One", hold], "Two"])
    key = await house.session()
    run_id = await house.send(key, "1")
    await until(hold.reached.is_set)
    disk = await slow_disk(house, key)
    sending = asyncio.create_task(house.onyx.send(key, "2"))
    await disk.reached.wait()
    hold.released.set()
    await until(lambda: any(line["content"] == "One" for line in house.lines(key)))
    disk.released.set()
    assert (await sending).run_id == run_id
    assert (await house.end(run_id))[1]["text"] == "Two"


async def test_full_disk_rejects_message_and_run_continues(tmp_path):
    hold = Hold()
    house = House(tmp_path, [["One", hold]])
    key = await house.session()
    run_id = await house.send(key)
    await until(hold.reached.is_set)
    with file_size_limit(house.file(key).stat().st_size), pytest.raises(StorageError):
        await house.send(key, "Lost?")
    hold.released.set()
    assert (await house.end(run_id))[1]["text"] == "One"
    assert "chat.steered" not in house.names()


async def test_cancelled_send_call_has_still_sent(tmp_path):
    house = House(tmp_path, ["ok"])
    key = await house.session()
    disk = await slow_disk(house, key)
    sending = asyncio.create_task(house.onyx.send(key, "Hello"))
    await disk.reached.wait()
    sending.cancel()
    disk.released.set()
    with pytest.raises(asyncio.CancelledError):
        await sending
    house.onyx.streams.watch(key, house.receive)
    await until(lambda: not house.onyx.runs.busy)
    assert house.ends_on_disk(key) == ["final"]
