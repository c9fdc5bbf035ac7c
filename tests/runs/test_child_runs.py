"""A run that another one starts and waits for: they share a budget, an end, a mode, and the person who is asked."""

import json
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.features.runs.tools import ask_user_tool
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.sessions.origin import RunOrigin
from onyx_jupyter.testing.script import Call, Reply, Tokens
from onyx_jupyter.toolsets.context import ToolContext
from tests.runs.house import House, HouseTool, Word
from tests.waiting import until


class Delegate(HouseTool):
    """Has another run do it, in the session that the word names, and waits until that one has ended."""

    name = "delegate"
    description = "Has another run do it."

    def __init__(self, message: str = "Do it") -> None:
        self.house: House | None = None
        self.message = message
        self.started: list[str] = []

    async def call(self, arguments: Word, context: ToolContext) -> ToolResult:
        assert self.house is not None
        house = self.house
        parent = {"sessionKey": context.session_key, "agentId": context.agent_id, "runId": context.run_id}
        origin = RunOrigin.of_run(parent, interactive=True)
        sent = await house.onyx.send(arguments.word, self.message, origin=origin)
        house.onyx.streams.watch(arguments.word, house.receive)
        self.started.append(sent.run_id)
        await until(lambda: house.ends(sent.run_id))
        name, data = house.ends(sent.run_id)[0]
        return ToolResult(f"{name}: {data.get('text', '')}", origin="own")


class Work:
    """A model that delegates what the person says to the session `to`, and does what is delegated by `calls`."""

    def __init__(self, *calls: Reply) -> None:
        self.to = ""
        self.calls = list(calls)

    def __call__(self, request: ModelRequest) -> Reply:
        last = max(n for n, message in enumerate(request.messages) if message.role == "user")
        said = request.messages[last].content
        done = sum(message.role == "tool" for message in request.messages[last:])
        if said == "Please":
            call = Call("delegate", {"word": self.to})
            return [call, Tokens(300, 0)] if not done else "The other one is done."
        return self.calls[done] if done < len(self.calls) else "Did it."


async def family(folder: Path, work: Work, delegate: Delegate | None = None, **more: Any) -> tuple[House, str, str]:
    """The house, the session of the person, and that in which the child works."""
    delegate = delegate or Delegate()
    house = House(folder, work, more_tools=[delegate, ask_user_tool], **more)
    delegate.house = house
    above, below = await house.session(title="Above"), await house.session(title="Below")
    work.to = below
    return house, above, below


def heard(house: House, name: str, session_key: str) -> list[dict[str, Any]]:
    return [data for data in house.of(name) if data["sessionKey"] == session_key]


async def test_child_answers_in_its_session_with_its_origin(tmp_path: Path) -> None:
    house, above, below = await family(tmp_path, Work())
    run_id = await house.send(above)
    _, end = await house.end(run_id)
    assert end["text"] == "The other one is done."
    (message,) = [line for line in house.lines(below) if line["role"] == "user"]
    assert message["meta"]["origin"] == "run"
    assert message["meta"]["from"] == {"sessionKey": above, "agentId": "main", "runId": run_id}
    told = house.model.requests[1].messages[-1].context or ""
    assert "not written by the user" in told


async def test_stopping_parent_stops_child(tmp_path: Path) -> None:
    house, above, below = await family(tmp_path, Work([Call("linger", {})]))
    run_id = await house.send(above)
    await house.linger.started.wait()
    assert await house.onyx.abort(run_id)
    await house.end(run_id)
    await until(lambda: house.ends_on_disk(below))
    assert (house.ends_on_disk(above), house.ends_on_disk(below)) == (["aborted"], ["aborted"])
    assert house.linger.cancelled == 1
    assert next(iter(house.results(below).values()))["meta"]["status"] == "aborted"


async def test_queued_child_ends_without_calling_model(tmp_path: Path) -> None:
    delegate = Delegate()
    house, above, below = await family(tmp_path, Work([Call("linger", {})]), delegate)
    busy = await house.send(below, "Something else")
    await house.linger.started.wait()
    run_id = await house.send(above)
    await until(lambda: delegate.started)
    asked = len(house.model.requests)
    assert await house.onyx.abort(run_id)
    house.linger.released.set()
    await house.end(busy)
    await until(lambda: house.ends(delegate.started[0]))
    assert house.ends_on_disk(below) == ["final", "aborted"]
    assert len(house.model.requests) == asked + 1  # the other message's last word


async def test_childs_approval_is_shown_and_answered_in_parent(tmp_path: Path) -> None:
    house, above, below = await family(tmp_path, Work([Call("touch", {"word": "a"})]))
    run_id = await house.send(above)
    await until(lambda: heard(house, "exec.approval_request", above))
    (card,), (own,) = heard(house, "exec.approval_request", above), heard(house, "exec.approval_request", below)
    assert card["runId"] == run_id
    assert (card["approvalId"], card["summary"]) == (own["approvalId"], own["summary"])
    assert card["callId"].endswith(own["callId"])
    assert [one.approval_id for one in house.onyx.streams.open_requests(above)] == [card["approvalId"]]
    assert house.onyx.runs.activity(above) == "waiting"
    await house.onyx.approvals.approve(card["approvalId"], "ada", "session")
    await house.end(run_id)
    (resolved,) = heard(house, "exec.approval_resolved", above)
    assert resolved["decision"] == "approved"
    (finished,) = [data for data in heard(house, "tool.finished", above) if data["callId"] == card["callId"]]
    assert (finished["runId"], finished["output"]) == (run_id, "touched a")
    assert not house.onyx.streams.open_requests(above)
    assert all(line.get("tool_call_id") != card["callId"] for line in house.lines(above))  # the session below has it
    await house.run(above, "Do it")
    assert house.touch.done == ["a", "a"], "allowed for the person's session, and not asked again"


async def test_childs_question_is_answered_in_parent(tmp_path: Path) -> None:
    question = Call("ask_user", {"question": "Which?", "choices": ["red", "blue"]})
    house, above, below = await family(tmp_path, Work([question]))
    run_id = await house.send(above)
    await until(lambda: heard(house, "chat.question", above))
    (asked,) = heard(house, "chat.question", above)
    assert asked["runId"] == run_id
    await house.onyx.questions.answer(asked["questionId"], "ada", "blue")
    await house.end(run_id)
    (resolved,) = heard(house, "chat.question_resolved", above)
    assert (resolved["callId"], resolved["answer"]) == (asked["callId"], "blue")
    assert "blue" in next(iter(house.results(below).values()))["content"]


async def test_grandchilds_request_reaches_all_ancestors(tmp_path: Path) -> None:
    first, second = Delegate("Go on"), Delegate()
    second.name = "delegate_on"
    keys: dict[str, str] = {}

    def model(request: ModelRequest) -> Reply:
        said = [message.content for message in request.messages if message.role == "user"][-1]
        if any(message.role == "tool" for message in request.messages):
            return "Done."
        return {
            "Please": [Call("delegate", {"word": keys["middle"]})],
            "Go on": [Call("delegate_on", {"word": keys["low"]})],
            "Do it": [Call("touch", {"word": "deep"})],
        }[said]

    house = House(tmp_path, model, more_tools=[first, second])
    first.house = second.house = house
    keys |= {name: await house.session(title=name) for name in ("top", "middle", "low")}
    run_id = await house.send(keys["top"])
    await until(lambda: heard(house, "exec.approval_request", keys["top"]))
    for name in ("top", "middle", "low"):
        assert len(heard(house, "exec.approval_request", keys[name])) == 1
    (card,) = heard(house, "exec.approval_request", keys["top"])
    assert card["runId"] == run_id
    await house.onyx.approvals.deny(card["approvalId"], "ada", "no")
    await house.end(run_id)
    for name in ("top", "middle", "low"):
        assert [data["decision"] for data in heard(house, "exec.approval_resolved", keys[name])] == ["denied"]
    assert house.touch.done == []


async def test_runs_share_one_budget(tmp_path: Path) -> None:
    config = "{ runtime: { maxTokensPerRun: 1000 } }"
    look = [Call("peek", {}), Tokens(400, 0)]
    house, above, below = await family(tmp_path, Work(look, look, look), config=config)
    run_id = await house.send(above)
    _, end = await house.end(run_id)
    ends = [data["text"] for data in house.of("chat.final")]
    assert len(ends) == 2
    assert all("used 1,100 tokens" in text and "maxTokensPerRun" in text for text in ends), ends
    assert end["usage"] == {"inputTokens": 300, "outputTokens": 0}  # each says its own
    assert len(house.results(below)) == 2
    (ledger,) = house.home.usage.glob("*.jsonl")
    calls = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert {call["role"] for call in calls} == {"default", "subagent"}
    assert {call["session"] for call in calls} == {above}, (
        "a child's calls count in the conversation that a person sees"
    )


async def test_child_mode_is_never_less_strict_than_parent(tmp_path: Path) -> None:
    house, above, below = await family(tmp_path, Work([Call("touch", {})]))
    await house.run(above, mode="ask")
    result = next(iter(house.results(below).values()))
    assert house.touch.done == []
    assert not house.of("exec.approval_request")
    assert "Ask mode" in result["content"]


async def test_run_waiting_for_itself_or_ended_parent_is_rejected(tmp_path: Path) -> None:
    work = Work()
    house, above, below = await family(tmp_path, work)
    work.to = above
    await house.run(above)
    assert "behind itself" in next(iter(house.results(above).values()))["content"]
    gone = RunOrigin.of_run({"sessionKey": above, "agentId": "main", "runId": "no-such-run"}, interactive=True)
    with pytest.raises(InvalidRequest, match="is over"):
        await house.onyx.send(below, "Do it", origin=gone)
    assert [line for line in house.lines(below) if line["role"] == "user"] == []


async def test_after_kill_child_is_ended_and_asks_nobody(tmp_path: Path) -> None:
    house, above, below = await family(tmp_path, Work([Call("touch", {}), Call("peek", {})]))
    await house.send(above)
    approval_id = await house.asked(below)
    other = House(tmp_path, ["Never asked"], more_tools=[Delegate()])
    house.onyx.runs._closing = True  # as a kill: nothing more is written
    await house.close()
    await other.onyx.ready()
    await until(lambda: other.ends_on_disk(below) and other.ends_on_disk(above))
    assert (other.ends_on_disk(above), other.ends_on_disk(below)) == (["interrupted"], ["interrupted"])
    assert not other.onyx.approvals.pending()
    first, second = other.results(below).values()
    assert (first["meta"]["status"], second["meta"]["status"]) == ("skipped", "skipped")
    closed = [line["meta"] for line in other.lines(below) if line.get("meta", {}).get("kind") == "approval_resolved"]
    assert [(meta["approvalId"], meta["decision"]) for meta in closed] == [(approval_id, "aborted")]
    assert other.model.requests == []


async def test_queued_child_ends_unstarted_after_restart(tmp_path: Path) -> None:
    delegate = Delegate()
    house, above, below = await family(tmp_path, Work([Call("linger", {})]), delegate)
    await house.send(below, "Something else")
    await house.linger.started.wait()
    await house.send(above)
    await until(lambda: delegate.started)
    await house.close()
    other = House(tmp_path, ["Never asked"])
    await other.onyx.ready()
    await until(lambda: len(other.ends_on_disk(below)) == 2)
    assert other.ends_on_disk(below) == ["interrupted", "aborted"]
    assert other.model.requests == []
