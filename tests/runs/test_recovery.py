"""After a kill, a crash or a restart: nothing is lost, nothing runs twice, and what waits for a person still waits."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from onyx_jupyter.errors import AlreadyResolved, NotFound
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.script import Call, Hang
from tests.runs.house import House
from tests.waiting import until

REPOSITORY = Path(__file__).parents[2]
TOUCH = Call("touch", {"word": "x"})

SERVER = """
import asyncio, sys
from pathlib import Path
from onyx_jupyter.testing.script import Call, Hang, Say
from tests.runs.house import House
from tests.waiting import until

async def main(scene):
    house = House(Path(sys.argv[1]), scene)
    key = await house.session()
    await house.send(key, "Please")
    print(key, flush=True)
    {until}
    print("now", flush=True)
    await asyncio.Event().wait()

asyncio.run(main({scene}))
"""


@contextmanager
def killed_server(folder: Path, scene: str, until: str) -> Iterator[str]:
    """The key of a session whose server was killed (SIGKILL) at that moment."""
    code = SERVER.format(scene=scene, until=until)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        key = server.stdout.readline().strip()
        assert server.stdout.readline() == "now\n"
        server.kill()
    yield key


async def test_kill_during_stream_keeps_visible_text(tmp_path):
    scene = '[["Half an ", "answer", Hang()]]'
    on_disk = 'await until(lambda: "answer" in "".join(p.read_text() for p in house.home.sessions.rglob("*.partial")))'
    with killed_server(tmp_path, scene, on_disk) as key:
        house = House(tmp_path, ["Here again"])
        await house.onyx.ready()
    assert [(line["role"], line["content"]) for line in house.lines(key)] == [
        ("system", ""), ("user", "Please"), ("assistant", "Half an answer"), ("system", ""),
    ]  # fmt: skip
    assert house.lines(key)[2]["meta"]["partial"] is True
    assert house.ends_on_disk(key) == ["interrupted"]
    assert house.model.requests == []
    assert not house.file(key).with_suffix(".partial").exists()
    assert (await house.run(key, "Go on"))[0] == "chat.final"
    assert [m.content for m in house.model.requests[0].messages] == ["Please", "Half an answer", "Go on"]


async def test_call_running_at_kill_is_paired_and_not_repeated(tmp_path):
    scene = '[["I will", Call("touch", {"word": "first"}), Call("linger"), Call("touch", {"word": "last"})]]'
    at_work = "await house.approve(); await house.linger.started.wait()"
    with killed_server(tmp_path, scene, at_work) as key:
        house = House(tmp_path, ["I will look"])
        await house.onyx.ready()
    statuses = [line["meta"]["status"] for line in house.results(key).values()]
    assert statuses == ["ok", "interrupted", "interrupted"]
    assert "may be partly done" in list(house.results(key).values())[1]["content"]
    assert house.ends_on_disk(key) == ["interrupted"]
    assert house.onyx.approvals.pending() == []
    assert house.touch.done == []
    assert not house.linger.started.is_set()
    assert (await house.run(key, "And?"))[0] == "chat.final"
    sent = house.model.requests[0].messages
    assert [m.role for m in sent] == ["user", "assistant", "tool", "tool", "tool", "user"]


async def test_approval_pending_at_kill_is_pending_again_and_runs_once(tmp_path):
    scene = '[["I will", Call("touch", {"word": "x"})]]'
    with killed_server(tmp_path, scene, "await house.asked()") as key:
        before = [line for line in House(tmp_path).lines(key) if line.get("meta", {}).get("kind") == "approval_request"]
        house = House(tmp_path, ["Done"])
        await house.onyx.ready()
    (pending,) = house.onyx.approvals.pending()
    assert pending.session_key == key
    assert pending.request.approval_id == before[0]["meta"]["approvalId"]
    assert pending.request.expires_at == before[0]["meta"]["expiresAt"]
    assert dict(pending.request.details) == before[0]["meta"]["details"]
    assert house.onyx.runs.activity(key) == "waiting"
    assert house.touch.done == []
    _, missed = house.onyx.streams.subscribe(key, house.receive, None)
    for frame in missed:
        house.receive(frame)
    assert house.names() == ["chat.started", "chat.delta", "exec.approval_request"]
    await house.approve(key=key)
    name, data = await house.end(pending.request.run_id)
    assert (name, data["text"]) == ("chat.final", "Done")
    assert house.touch.done == ["x"]
    assert [line["meta"]["status"] for line in house.results(key).values()] == ["ok"]
    kinds = [line["meta"]["kind"] for line in house.lines(key) if "approval" in line.get("meta", {}).get("kind", "")]
    assert kinds == ["approval_request", "approval_resolved"]
    with pytest.raises(AlreadyResolved):
        await house.onyx.approvals.approve(pending.request.approval_id, "ada", "once")


async def test_restart_keeps_request_and_later_denial_reaches_model(tmp_path):
    house = House(tmp_path, [[Call("peek", {"word": "a"})], [TOUCH, Call("peek", {"word": "b"})]])
    key = await house.session()
    run_id = await house.send(key)
    approval_id = await house.asked()
    await house.close()
    assert house.ends(run_id) == []
    again = House(tmp_path, ["Understood"])
    await again.onyx.ready()
    assert await again.asked() == approval_id
    again.onyx.streams.watch(key, again.receive)
    await again.deny("Not now")
    assert (await again.end(run_id))[0] == "chat.final"
    assert (again.touch.done, again.peek.done) == ([], ["b"])
    assert "Denied: Not now" in [line["content"] for line in again.results(key).values()]
    assert [m.role for m in again.model.requests[0].messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "tool",
    ]


async def test_request_keeps_id_over_many_restarts(tmp_path):
    house = House(tmp_path, [[TOUCH]])
    key = await house.session()
    run_id = await house.send(key)
    approval_id = await house.asked()
    await house.close()
    for _ in range(3):
        house = House(tmp_path, ["Done"])
        await house.onyx.ready()
        assert await house.asked() == approval_id
        await house.close()
    lines = [line for line in house.lines(key) if line.get("meta", {}).get("kind") == "approval_request"]
    assert len(lines) == 1
    house = House(tmp_path, ["Done"])
    await house.onyx.ready()
    house.onyx.streams.watch(key, house.receive)
    await house.onyx.abort(run_id)
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert house.touch.done == []


async def test_request_expired_meanwhile_is_denied_and_run_ended(tmp_path):
    house = House(tmp_path, [["I will", TOUCH, Call("peek")]], clock=FakeClock())
    key = await house.session()
    await house.send(key)
    approval_id = await house.asked()
    await house.close()
    later = FakeClock()
    later.advance(1801)
    again = House(tmp_path, [], clock=later)
    await again.onyx.ready()
    assert again.onyx.approvals.pending() == []
    denied, cut = again.results(key).values()
    assert (denied["meta"]["status"], cut["meta"]["status"]) == ("denied", "interrupted")
    assert "nobody answered" in denied["content"]
    assert again.ends_on_disk(key) == ["interrupted"]
    assert (again.touch.done, again.peek.done, again.model.requests) == ([], [], [])
    (resolved,) = [line for line in again.lines(key) if line.get("meta", {}).get("kind") == "approval_resolved"]
    assert (resolved["meta"]["approvalId"], resolved["meta"]["decision"]) == (approval_id, "expired")
    with pytest.raises(NotFound):
        await again.onyx.approvals.approve(approval_id, "ada", "once")


async def test_call_approved_but_not_started_before_kill_does_not_run(tmp_path):
    house = House(tmp_path, [[TOUCH]])
    key = await house.session()
    run_id = await house.send(key)
    approval_id = await house.asked()
    await house.close()
    answer = {
        "kind": "approval_resolved",
        "runId": run_id,
        "approvalId": approval_id,
        "decision": "approved",
        "by": "a",
    }
    transcript = await house.onyx.sessions.get(key)
    await transcript.append("system", "", answer)
    again = House(tmp_path)
    await again.onyx.ready()
    assert again.onyx.approvals.pending() == []
    assert again.touch.done == []
    assert [line["meta"]["status"] for line in again.results(key).values()] == ["interrupted"]


async def test_queued_messages_are_answered_in_order_after_start(tmp_path):
    hang = Hang()
    house = House(tmp_path, [["one", hang]])
    key = await house.session()
    await house.send(key, "First")
    await until(hang.reached.is_set)
    waiting = [await house.send(key, word, when_busy="followup") for word in ("Second", "Third")]
    await house.close()
    again = House(tmp_path, ["two", "three"])
    await again.onyx.ready()
    await until(lambda: not again.onyx.runs.busy)
    assert again.ends_on_disk(key) == ["interrupted", "final", "final"]
    ended = [line["meta"]["runId"] for line in again.lines(key) if line.get("meta", {}).get("kind") == "run_end"]
    assert ended[1:] == waiting
    said = [[m.content for m in request.messages] for request in again.model.requests]
    assert said == [["First", "one", "Second"], ["First", "one", "Second", "two", "Third"]]


async def test_queued_message_whose_run_had_started_is_not_answered_twice(tmp_path):
    hang = Hang()
    house = House(tmp_path, ["one", [hang]])
    key = await house.session()
    transcript = await house.onyx.sessions.get(key)
    sending = [house.onyx.runs.send(transcript, text, {}, "followup") for text in ("First", "Second")]
    await asyncio.gather(*sending)
    await until(hang.reached.is_set)
    await house.close()
    again = House(tmp_path)
    await again.onyx.ready()
    assert not again.onyx.runs.busy
    assert again.ends_on_disk(key) == ["final", "interrupted"]
    assert again.model.requests == []


async def test_message_that_had_not_joined_gets_its_own_run(tmp_path):
    house = House(tmp_path, [["I will", Call("linger"), TOUCH]])
    key = await house.session()
    first = await house.send(key, "First")
    await house.linger.started.wait()
    steered = [await house.send(key, word) for word in ("Second", "Third")]
    await house.close()
    again = House(tmp_path, ["two", "three"])
    await again.onyx.ready()
    await until(lambda: not again.onyx.runs.busy)
    assert steered == [first, first]
    assert again.ends_on_disk(key) == ["interrupted", "final", "final"]
    said = [[m.content for m in request.messages if m.role != "tool"] for request in again.model.requests]
    assert said == [["First", "I will", "Second"], ["First", "I will", "Second", "two", "Third"]]
    moved = [line["meta"] for line in again.lines(key) if line.get("meta", {}).get("kind") == "requeued"]
    ids = [line["id"] for line in again.lines(key) if line["content"] in ("Second", "Third")]
    assert [meta["messageId"] for meta in moved] == ids


async def test_message_sent_during_approval_is_answered_instead_of_asking_again(tmp_path):
    house = House(tmp_path, [["I will", TOUCH, Call("peek")]])
    key = await house.session()
    run_id = await house.send(key, "First")
    approval_id = await house.asked()
    await house.close()
    await (await house.onyx.sessions.get(key)).append_user(run_id, "Wait", {"steer": True})
    again = House(tmp_path, ["As you say"])
    await again.onyx.ready()
    await until(lambda: not again.onyx.runs.busy)
    assert again.onyx.approvals.pending() == []
    assert again.ends_on_disk(key) == ["interrupted", "final"]
    (resolved,) = [line["meta"] for line in again.lines(key) if line["meta"].get("kind") == "approval_resolved"]
    assert (resolved["approvalId"], resolved["decision"], resolved["by"]) == (approval_id, "aborted", "message")
    assert [line["meta"]["status"] for line in again.results(key).values()] == ["skipped", "skipped"]
    assert [m.content for m in again.model.requests[0].messages if m.role == "user"] == ["First", "Wait"]
    assert (again.touch.done, again.peek.done) == ([], [])


async def test_steered_run_with_pending_approval_resumes_with_all_messages(tmp_path):
    house = House(tmp_path, [["I will", Call("linger")], ["Then this", TOUCH]])
    key = await house.session()
    run_id = await house.send(key, "First")
    await house.linger.started.wait()
    await house.send(key, "Second")
    house.linger.released.set()
    await house.asked()
    await house.close()
    again = House(tmp_path, ["Done"])
    await again.onyx.ready()
    _, missed = again.onyx.streams.subscribe(key, again.receive, None)
    for frame in missed:
        again.receive(frame)
    assert again.names() == [
        "chat.started", "chat.delta", "chat.steered", "tool.started", "tool.finished", "chat.joined", "chat.delta",
        "exec.approval_request",
    ]  # fmt: skip
    await again.approve(key=key)
    assert (await again.end(run_id))[0] == "chat.final"
    assert [m.content for m in again.model.requests[0].messages if m.role != "tool"] == [
        "First", "I will", "Second", "Then this",
    ]  # fmt: skip
    assert again.touch.done == ["x"]


async def test_session_run_by_another_server_is_left_alone(tmp_path):
    hang = Hang()
    here = House(tmp_path, [["one", hang]])
    key = await here.session()
    await here.send(key)
    await until(hang.reached.is_set)
    before = here.file(key).read_bytes()
    there = House(tmp_path)
    await there.onyx.ready()
    assert here.file(key).read_bytes() == before


@pytest.mark.parametrize(
    "meta",
    [
        {"kind": "approval_request", "approvalId": "a1"},
        {"kind": "approval_request", "approvalId": "a1", "expiresAt": "soon"},
        {"kind": "approval_request", "approvalId": [], "expiresAt": 3},
    ],
)
async def test_unrecoverable_session_does_not_affect_others(tmp_path, meta, caplog):
    house = House(tmp_path, [[TOUCH], [TOUCH]])
    broken, good = await house.session(), await house.session()
    await house.send(broken)
    await house.asked(broken)
    run_id = await house.send(good)
    await house.asked(good)
    await house.close()
    path = house.file(broken)
    kept = []
    for line in house.lines(broken):
        if line.get("meta", {}).get("kind") == "approval_request":
            line["meta"] = {**meta, "runId": line["meta"]["runId"], "callId": line["meta"]["callId"]}
        kept.append(json.dumps(line))
    path.write_text("\n".join(kept) + "\n")
    again = House(tmp_path, ["Done"])
    await again.onyx.ready()
    assert [item.session_key for item in again.onyx.approvals.pending()] == [good]
    assert "could not be recovered" in caplog.text
    again.onyx.streams.watch(good, again.receive)
    await again.approve()
    assert (await again.end(run_id))[0] == "chat.final"


async def test_restored_requests_with_same_call_id_run_their_own_calls(tmp_path):
    replies = [[Call("touch", {"word": "mine"}, id="call_1")], [Call("touch", {"word": "yours"}, id="call_1")]]
    house = House(tmp_path, replies)
    keys = [await house.session(), await house.session()]
    for key in keys:
        await house.send(key)
        await house.asked(key)
    await house.close()
    again = House(tmp_path, ["ok", "ok"])
    await again.onyx.ready()
    words = {key: [item.request.details["word"] for item in again.onyx.approvals.pending(key)] for key in keys}
    assert words == {keys[0]: ["mine"], keys[1]: ["yours"]}
    again.onyx.streams.watch(keys[0], again.receive)
    await again.approve(key=keys[0])
    await until(lambda: again.of("chat.final"))
    assert again.touch.done == ["mine"]


async def test_resumed_run_has_only_its_remaining_turns(tmp_path):
    config = "{ runtime: { maxTurns: 3 } }"
    house = House(tmp_path, [[Call("peek", {"word": "a"})], [TOUCH]], config=config)
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    await house.close()
    again = House(tmp_path, [[Call("peek", {"word": "b"})], "That is all."], config=config)
    await again.onyx.ready()
    again.onyx.streams.watch(key, again.receive)
    await again.approve()
    assert (await again.end(run_id))[1]["text"] == "That is all."
    assert [bool(request.tools) for request in again.model.requests] == [True, False]
    assert (again.touch.done, again.peek.done) == (["x"], ["b"])
