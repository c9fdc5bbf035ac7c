"""A run that goes in circles: the model is warned, then the run ends and says why."""

import pytest

from onyx_jupyter.agent.processor import Halt
from onyx_jupyter.agent.processors.repetition_guard import LoopGuard
from onyx_jupyter.config.schema import LoopDetectionConfig
from onyx_jupyter.messages import Message, ToolCall, ToolResult
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.testing.script import Call
from tests.runs.house import House, Peek

PEEK = Call("peek", {"word": "x"})
TOUCH = Call("touch", {"word": "x"})
WARNING = "[Onyx] You made this call"


def results_sent(house: House) -> list[str]:
    return [message.content for message in house.model.requests[-1].messages if message.role == "tool"]


async def test_third_identical_call_warns_and_sixth_ends_run(tmp_path):
    house = House(tmp_path, lambda _: [PEEK, PEEK])
    key = await house.session()
    name, data = await house.run(key)
    assert name == "chat.final"
    assert data["text"].startswith('Stopped: `peek` with `{"word": "x"}` was called 6 times in a row')
    assert "`runtime.loopDetection`" in data["text"]
    assert len(house.peek.done) == 6
    assert len(house.model.requests) == 3
    assert [WARNING in content for content in results_sent(house)] == [False, False, True, True]
    assert results_sent(house)[2].startswith("saw x\n\n[Onyx] You made this call 3 times in a row")
    assert [line["meta"]["ok"] for line in house.results(key).values()] == [True] * 6
    assert house.lines(key)[-2]["content"] == data["text"]
    assert house.ends_on_disk(key) == ["final"]


async def test_calls_after_the_one_that_ended_the_run_get_results_but_do_not_run(tmp_path):
    house = House(tmp_path, [[PEEK] * 6 + [TOUCH, PEEK]])
    key = await house.session()
    assert (await house.run(key))[1]["text"].startswith("Stopped: ")
    assert (len(house.peek.done), house.touch.done) == (6, [])
    assert house.of("exec.approval_request") == []
    assert [line["content"][:8] for line in house.results(key).values()][-2:] == ["Not done"] * 2


async def test_ping_pong_calls_warn_then_end_run_naming_both(tmp_path):
    house = House(tmp_path, lambda _: [PEEK, Call("break", {"word": "y"})])
    key = await house.session()
    text = (await house.run(key))[1]["text"]
    assert "`peek`" in text
    assert "and `break` were called alternately" in text
    assert "in turn with `peek`" in results_sent(house)[5]
    assert len(house.model.requests) == 6


async def test_repeated_calls_of_unknown_tool_end_run_whatever_the_arguments(tmp_path):
    house = House(tmp_path, lambda request: [Call("peak", {"word": f"{len(request.messages)}"})])
    key = await house.session()
    text = (await house.run(key))[1]["text"]
    assert text.startswith("Stopped: `peak` does not exist, but was called 6 times.")


class Moving(Peek):
    """Sees something else each time."""

    async def call(self, arguments, context):
        self.done.append(arguments.word)
        return ToolResult(f"line {len(self.done)}")


async def test_identical_calls_with_different_results_continue_to_last_turn(tmp_path):
    house = House(tmp_path, lambda request: [PEEK] if request.tools else "Done")
    house.peek = Moving()
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "Done"
    assert len(house.peek.done) == 20
    assert WARNING not in "".join(results_sent(house))


@pytest.mark.parametrize(
    ("config", "called", "warned"),
    [
        ("{ enabled: false }", 10, 0),
        ("{ warnAt: 2, stopAt: 4 }", 4, 2),
        ("{ warnAt: 5, stopAt: 3 }", 3, 0),
    ],
)
async def test_thresholds_come_from_configuration(tmp_path, config, called, warned):
    def reply(request):
        return [PEEK] if request.tools else "Done"

    settings = f"{{ runtime: {{ maxTurns: 10, loopDetection: {config} }} }}"
    house = House(tmp_path, reply, config=settings)
    key = await house.session()
    assert (await house.run(key))[0] == "chat.final"
    assert len(house.peek.done) == called
    assert sum(WARNING in line["content"] for line in house.results(key).values()) == warned


async def test_repetitions_are_remembered_across_restart(tmp_path):
    house = House(tmp_path, [[PEEK] * 4, [TOUCH]])
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    await house.close()
    again = House(tmp_path, [[PEEK, PEEK, PEEK]])
    await again.onyx.ready()
    again.onyx.streams.watch(key, again.receive)
    await again.deny("no")
    name, data = await again.end(run_id)
    assert name == "chat.final"
    assert "was called 6 times" in data["text"]
    assert len(again.peek.done) == 2


async def test_new_user_message_resets_count_within_run():
    guard = LoopGuard(LoopDetectionConfig())
    call, result = ToolCall("", "peek", {}), ToolResult("saw x")
    for said in ("Please", "Once more"):
        await guard.before_model(ModelRequest("", [Message("user", said), Message("tool", "saw x")]))
        outputs = [(await guard.after_tool(call, result)).output for _ in range(5)]
        assert [WARNING in output for output in outputs] == [False, False, True, True, True]
    await guard.before_model(ModelRequest("", [Message("user", "Once more")]))
    with pytest.raises(Halt):
        await guard.after_tool(call, result)


async def test_end_reason_contains_no_secret_from_arguments(tmp_path):
    secret = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    house = House(tmp_path, lambda _: [Call("peek", {"word": secret})])
    key = await house.session()
    text = (await house.run(key))[1]["text"]
    assert text.startswith("Stopped: ")
    assert secret not in text
    assert secret not in house.lines(key)[-2]["content"]
