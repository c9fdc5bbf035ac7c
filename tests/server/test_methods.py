"""Every method and every event of the socket, on a real Jupyter server, checked against the published models."""

import asyncio
import io
import json
import logging
import sys

import pytest

from onyx_jupyter.app.features import EVENTS
from onyx_jupyter.operations.keys import CONFIGURED
from onyx_jupyter.testing.script import Call, Hang, Hold, HttpError, Say
from tests.server.client import MethodFailed
from tests.server.conftest import KEY
from tests.waiting import until


async def test_draft_is_accepted_and_not_stored(connect, replies, onyx_home):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    for more in ({}, {"sessionKey": key, "model": "local/none", "mode": "ask"}, {"sessionKey": "nobody"}):
        assert await client.ask("chat.composing", text="What does plumtree mean", **more) == {"ok": True}
    assert (await client.ask("sessions.get", sessionKey=key))["session"]["messageCount"] == 0
    kept = [path for path in onyx_home.rglob("*") if path.is_file() and b"plumtree" in path.read_bytes()]
    assert (kept, replies.requests) == ([], [])


async def test_health_agents_and_models_report_state(connect, onyx_home):
    client = await connect()
    health = await client.ask("health.check")
    assert health["status"] == "ok"
    assert health["components"]["model"] == {"ok": True, "message": "scripted/model"}
    agents = (await client.ask("agents.list"))["agents"]
    assert agents == [
        {
            "id": "main",
            "name": "Onyx",
            "model": "scripted/model",
            "default": True,
            "workspace": str(onyx_home / "workspace"),
        }
    ]
    models = (await client.ask("models.list"))["models"]
    scripted = next(model for model in models if model["id"] == "scripted/model")
    assert {"provider": "scripted", "local": True, "tools": True}.items() <= scripted.items()
    assert (await client.ask("models.list", refresh=True))["models"]


async def test_sessions_are_created_listed_filtered_and_read(connect):
    client = await connect()
    first = (await client.ask("sessions.create", title="About apples"))["sessionKey"]
    second = (await client.ask("sessions.create", agentId="main", title="About pears"))["sessionKey"]
    listed = await client.ask("sessions.list")
    assert listed["total"] == 2
    assert {item["sessionKey"] for item in listed["sessions"]} == {first, second}
    assert [s["sessionKey"] for s in (await client.ask("sessions.list", query="PEARS about"))["sessions"]] == [second]
    assert (await client.ask("sessions.list", query="plums"))["total"] == 0
    page = await client.ask("sessions.list", limit=1, offset=1)
    assert (page["total"], len(page["sessions"])) == (2, 1)
    assert (await client.ask("sessions.list", agentId="nobody"))["sessions"] == []
    assert (await client.ask("sessions.list", status="archived"))["sessions"] == []
    detail = await client.ask("sessions.get", sessionKey=first)
    assert detail["session"]["title"] == "About apples"
    assert [message["role"] for message in detail["messages"]] == ["system"]
    assert await client.ask("sessions.subscribe", sessionKey=first) == {"seq": 0}


async def test_message_result_precedes_its_first_event(connect, replies):
    replies.next = [[Say("Hello there", chunk_chars=4)]]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    context = [{"type": "cell", "path": "a.ipynb", "cellId": "c1", "text": "x = 1"}]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Hi", context=context, mode="agent"))["runId"]
    name, data = await client.end(run_id)
    assert (name, data["text"], data["sessionKey"]) == ("chat.final", "Hello there", key)
    assert "".join(delta["text"] for delta in client.events("chat.delta")) == "Hello there"
    assert set(client.events("chat.delta")[0]) == {"runId", "seq", "text"}
    numbered = [f["data"]["seq"] for f in client.frames if "event" in f and f["data"].get("seq") is not None]
    assert numbered == list(range(1, len(numbered) + 1))
    order = [frame.get("event") or frame["id"] for frame in client.frames]
    assert order.index("chat.started") > order.index("q2")
    assert "x = 1" in replies.requests[0].last_user_text
    history = (await client.ask("chat.history", sessionKey=key))["messages"]
    assert [message["role"] for message in history] == ["system", "user", "assistant", "system"]
    older = await client.ask("chat.history", sessionKey=key, before=history[2]["id"], limit=1)
    assert [message["id"] for message in older["messages"]] == [history[1]["id"]]


async def test_looping_run_ends_with_reason_and_hides_internal_text(connect, replies):
    replies.next = [["On it.<internal>plan</internal>", *[Call("list", {"path": "."}, id=f"c{n}") for n in range(8)]]]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    name, data = await client.end((await client.ask("chat.send", sessionKey=key, message="Go"))["runId"])
    assert name == "chat.final"
    assert data["text"].startswith("Stopped: `list` with")
    assert "6 times in a row" in data["text"]
    history = (await client.ask("chat.history", sessionKey=key))["messages"]
    results = [message["content"] for message in history if message["role"] == "tool"]
    assert ["[Onyx]" in content for content in results] == [False] * 2 + [True] * 3 + [False] * 3
    assert [content.startswith("Not done") for content in results] == [False] * 6 + [True] * 2
    assert len(replies.requests) == 1
    assert "plan" not in json.dumps([history, client.events("chat.delta")])


async def test_approved_call_runs_and_denied_one_does_not(connect, replies, jp_root_dir):
    command = {"command": "echo done > made.txt && cat made.txt"}
    replies.next = [["I will.", Call("exec", command)], [Call("exec", {"command": "touch never.txt"})], "Understood"]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Go"))["runId"]
    request = await client.event("exec.approval_request", runId=run_id)
    assert request["details"]["command"] == command["command"]
    assert not (jp_root_dir / "made.txt").exists()
    (listed,) = (await client.ask("approvals.list", sessionKey=key))["approvals"]
    assert listed == {name: value for name, value in request.items() if name != "seq"}
    assert (await client.ask("approvals.list"))["approvals"] == [listed]
    assert (await client.ask("sessions.get", sessionKey=key))["session"]["activity"] == "waiting"
    assert await client.ask("exec.approve", approvalId=request["approvalId"]) == {"ok": True}
    finished = await client.event("tool.finished", runId=run_id)
    assert finished["ok"] is True
    assert "done" in finished["output"]
    assert (jp_root_dir / "made.txt").read_text() == "done\n"
    second = await client.event("exec.approval_request", summary="Run `touch never.txt`")
    await client.ask("exec.deny", approvalId=second["approvalId"], reason="Not here")
    assert (await client.end(run_id))[0] == "chat.final"
    assert not (jp_root_dir / "never.txt").exists()
    assert "Denied: Not here" in json.dumps(replies.requests[-1].body["messages"])
    decisions = [(event["decision"], event.get("reason")) for event in client.events("exec.approval_resolved")]
    assert decisions == [("approved", None), ("denied", "Not here")]
    with pytest.raises(MethodFailed) as late:
        await client.ask("exec.approve", approvalId=second["approvalId"])
    assert late.value.data["code"] == "already_resolved"
    assert (await client.ask("approvals.list"))["approvals"] == []


async def test_stop_ends_streaming_answer_and_provider_request(connect, replies):
    hang = Hang()
    replies.next = [["Half", hang]]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Go"))["runId"]
    await client.event("chat.delta", text="Half")
    await client.ask("chat.abort", runId=run_id)
    assert (await client.end(run_id))[0] == "chat.aborted"
    assert await replies.requests[0].client_left(30)
    entries = (await client.ask("sessions.get", sessionKey=key))["messages"]
    assert entries[-2]["content"] == "Half"


async def test_message_during_run_steers_queues_or_interrupts(connect, replies):
    hold, hang = Hold(), Hang()
    replies.next = [["One", hold], ["Two", hang], "Three"]
    client, watcher = await connect(), await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    await watcher.ask("sessions.subscribe", sessionKey=key)
    started = await client.ask("chat.send", sessionKey=key, message="1")
    await client.event("chat.delta", text="One")
    steered = await client.ask("chat.send", sessionKey=key, message="2", whenBusy="steer")
    waits = await client.ask("chat.send", sessionKey=key, message="4", whenBusy="followup")
    hold.released.set()
    await client.event("chat.delta", text="\n\nTwo")
    replies.next.append("Four")
    interrupts = await client.ask("chat.send", sessionKey=key, message="3", whenBusy="interrupt")
    deliveries = [one["delivery"] for one in (started, steered, waits, interrupts)]
    assert deliveries == ["started", "steer", "followup", "interrupt"]
    assert steered["runId"] == started["runId"]
    assert (await client.end(started["runId"]))[0] == "chat.aborted"
    assert (await client.end(interrupts["runId"]))[1]["text"] == "Three"
    assert (await client.end(waits["runId"]))[1]["text"] == "Four"
    steering = await watcher.event("chat.steered", runId=started["runId"], text="2")
    await watcher.event("chat.joined", messageIds=[steering["messageId"]])
    assert [request.last_user_text for request in replies.requests] == ["1", "2", "3", "4"]
    with pytest.raises(MethodFailed, match="`whenBusy`"):
        await client.ask("chat.send", sessionKey=key, message="5", whenBusy="never")


async def test_provider_error_is_an_event_with_hint(connect, replies):
    replies.next = [[HttpError(401, "Incorrect API key provided.", "invalid_api_key")]]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Go"))["runId"]
    name, data = await client.end(run_id)
    assert (name, data["code"]) == ("chat.error", "authentication")
    assert data["hint"]


async def test_returning_client_gets_missed_events_once_in_order(connect, replies):
    hold = Hold()
    replies.next = [["one ", "two ", hold, "three"]]
    first = await connect()
    key = (await first.ask("sessions.create"))["sessionKey"]
    run_id = (await first.ask("chat.send", sessionKey=key, message="Go"))["runId"]
    seen = (await first.event("chat.delta", text="two "))["seq"]
    await first.close()
    second, third = await connect(), await connect()
    assert (await second.ask("sessions.subscribe", sessionKey=key, afterSeq=seen - 1))["seq"] == seen
    await third.ask("sessions.subscribe", sessionKey=key)
    hold.released.set()
    await second.end(run_id)
    await third.end(run_id)
    assert [delta["text"] for delta in second.events("chat.delta")] == ["two ", "three"]
    assert [delta["text"] for delta in third.events("chat.delta")] == ["one ", "two ", "three"]
    numbers = [f["data"]["seq"] for f in third.frames if "event" in f and f["data"].get("seq") is not None]
    assert numbers == list(range(1, len(numbers) + 1))
    late = await connect()
    await late.ask("sessions.subscribe", sessionKey=key, afterSeq=0)
    await late.ask("health.check")
    assert [delta["text"] for delta in late.events("chat.delta")] == ["one ", "two ", "three"]


async def test_other_sessions_send_only_metadata(connect, replies):
    one, two = await connect(), await connect()
    await two.ask("health.check")
    key = (await one.ask("sessions.create"))["sessionKey"]
    run_id = (await one.ask("chat.send", sessionKey=key, message="Go"))["runId"]
    await one.end(run_id)
    await two.event("session.updated", sessionKey=key, activity="idle", messageCount=2)
    heard = {frame["event"] for frame in two.frames if "event" in frame}
    assert heard <= {"session.updated", "usage.changed", "providers.updated"}


async def test_slow_method_does_not_delay_stop(connect, replies, jp_serverapp):
    hang = Hang()
    replies.next = [["Half", hang]]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Go"))["runId"]
    await client.event("chat.delta")
    service = await jp_serverapp.extension_manager.extension_points["onyx_jupyter"].app.service()
    released, original = asyncio.Event(), service.onyx.get(CONFIGURED).models.list

    async def slow(*, refresh=False):
        await released.wait()
        return await original(refresh=refresh)

    service.onyx.get(CONFIGURED).models.list = slow
    listing = await client.post("models.list")
    await client.ask("chat.abort", runId=run_id)
    assert (await client.end(run_id))[0] == "chat.aborted"
    assert not any(frame.get("id") == listing for frame in client.frames)
    released.set()
    assert "models" in (await client.answer(listing))["result"]


async def test_tab_reports_open_notebooks_and_model_is_told(connect, replies):
    client = await connect()
    notebooks = [{"path": "front.ipynb", "active": True}, {"path": "other.ipynb"}]
    assert await client.ask("client.update", notebooks=notebooks) == {"ok": True}
    key = (await client.ask("sessions.create"))["sessionKey"]
    await client.end((await client.ask("chat.send", sessionKey=key, message="Go"))["runId"])
    asked = replies.requests[0].body["messages"][-1]["content"]
    assert "the notebook in front is front.ipynb; also open: other.ipynb" in asked


async def test_only_the_asked_tabs_answer_reaches_model(connect, replies):
    replies.next = [[Call("notebook_read", {"path": "front.ipynb"})], "Read"]
    tab, other = await connect(), await connect()
    await tab.ask("client.update", notebooks=[{"path": "front.ipynb", "active": True}])
    key = (await other.ask("sessions.create"))["sessionKey"]
    run_id = (await other.ask("chat.send", sessionKey=key, message="Go"))["runId"]
    request = await tab.event("client.request")
    assert request["params"]["path"] == "front.ipynb"
    wrong = await other.ask("client.respond", requestId=request["requestId"], result={})
    assert wrong == {"ok": False}
    failed = {"code": "internal", "message": "The page is confused."}
    assert await tab.ask("client.respond", requestId=request["requestId"], error=failed) == {"ok": True}
    assert (await other.end(run_id))[0] == "chat.final"
    assert "The page is confused." in json.dumps(replies.requests[1].body["messages"])
    assert other.events("client.request") == []
    assert await tab.ask("client.respond", requestId=request["requestId"], result={}) == {"ok": False}


async def test_session_with_malformed_call_is_readable(connect, replies):
    replies.next = [[Call("exec", "{not json")], [Call("exec", '{"command": NaN}')], "I see"]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    await client.end((await client.ask("chat.send", sessionKey=key, message="Go"))["runId"])
    entries = (await client.ask("sessions.get", sessionKey=key))["messages"]
    assert [entry["role"] for entry in entries if entry["role"] == "tool"] == ["tool", "tool"]
    assert client.events("exec.approval_request") == []


async def test_runs_continue_without_client(connect, replies, onyx_home):
    hold = Hold()
    replies.next = [["one ", hold, "two"]]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    await client.ask("chat.send", sessionKey=key, message="Go")
    await client.event("chat.delta")
    await client.close()
    hold.released.set()
    (path,) = (onyx_home / "sessions").glob(f"*/{key}.jsonl")
    await until(lambda: '"outcome":"final"' in path.read_text())
    assert "one two" in path.read_text()


async def test_key_is_in_no_frame_file_or_log(connect, replies, onyx_home, jp_root_dir, jp_serverapp, caplog):
    caplog.set_level(0)
    token = jp_serverapp.identity_provider.token
    (jp_root_dir / "leak.txt").write_text(f"key {KEY}\nopen {token}\n")
    replies.next = [
        [Call("exec", {"command": "cat leak.txt"})],
        [HttpError(401, f"Incorrect API key provided: {KEY}", "invalid_api_key")],
    ]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Go"))["runId"]
    request = await client.event("exec.approval_request")
    await client.ask("exec.approve", approvalId=request["approvalId"])
    assert (await client.end(run_id))[0] == "chat.error"
    await client.ask("sessions.get", sessionKey=key)
    await client.ask("models.list", refresh=True)
    assert "[redacted:scripted-key]" in (await client.event("tool.finished"))["output"]
    for text in client.raw:
        assert KEY not in text
        assert token not in text
    for path in onyx_home.rglob("*"):
        if path.is_file() and path.name not in ("onyx.json", "last-good.json5"):  # where it was written, and its copy
            assert KEY not in path.read_text("utf-8", "replace"), path
            assert token not in path.read_text("utf-8", "replace"), path
    assert KEY not in caplog.text
    assert KEY not in json.dumps(replies.requests[-1].body)


async def test_log_has_session_and_no_secrets_even_in_tracebacks(connect, onyx_home, replies):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    console = io.StringIO()
    logging.getLogger("onyx_jupyter").handlers[0].setStream(console)
    try:
        raise ValueError(f"the key is {KEY}")
    except ValueError:
        logging.getLogger("onyx_jupyter.agent.anything").exception("It failed with %s", KEY)
    assert "Onyx] It failed with [redacted:scripted-key]" in console.getvalue()
    assert "ValueError: the key is [redacted:scripted-key]" in console.getvalue()
    run_id = (await client.ask("chat.send", sessionKey=key, message="Hi"))["runId"]
    assert (await client.end(run_id))[0] == "chat.final"
    file = onyx_home / "logs" / "onyx.jsonl"
    await until(lambda: file.exists() and "Run ended" in file.read_text())
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    ends = {"session": key, "run": run_id, "operation": "run"}
    assert [line["context"] for line in lines if line["message"] == "Run ended: final"] == [ends]
    assert "ValueError: the key is [redacted:scripted-key]" in next(line for line in lines if "stack" in line)["stack"]
    assert KEY not in console.getvalue() + file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


async def test_error_while_closing_is_logged_and_jupyter_exits(connect, jp_serverapp, capsys):
    client = await connect()
    await client.ask("health.check")
    service = await jp_serverapp.extension_manager.extension_points["onyx_jupyter"].app.service()

    async def fails() -> None:
        raise RuntimeError("a process that would not end")

    service.onyx.get(CONFIGURED)._all_opened()[0].close = fails
    logging.getLogger("onyx_jupyter").handlers[0].setStream(sys.stderr)  # the stream that this test reads
    await service.close()
    assert "a process that would not end" in capsys.readouterr().err


def test_socket_and_wire_constants_match():
    from onyx_jupyter.operations import limits
    from onyx_jupyter.server import socket

    assert socket.MAX_FRAME_BYTES == limits.MAX_FRAME_BYTES
    assert set(EVENTS) >= {"chat.started", "client.request"}


async def test_question_answered_in_another_tab_closes_in_both(connect, replies):
    replies.next = [[Call("ask_user", {"question": "Which?", "choices": ["a", "b"]})], "b it is."]
    one, other = await connect(), await connect()
    key = (await one.ask("sessions.create"))["sessionKey"]
    await other.ask("sessions.subscribe", sessionKey=key)
    run_id = (await one.ask("chat.send", sessionKey=key, message="Go"))["runId"]
    asked = await other.event("chat.question")
    assert (await other.ask("questions.list"))["questions"][0]["questionId"] == asked["questionId"]
    assert await other.ask("questions.answer", questionId=asked["questionId"], answer="b") == {"ok": True}
    resolved = await one.event("chat.question_resolved")
    assert (resolved["outcome"], resolved["answer"]) == ("answered", "b")
    assert (await one.end(run_id))[1]["text"] == "b it is."
    assert (await one.ask("questions.list"))["questions"] == []


async def test_result_too_long_for_model_is_saved_and_readable(connect, replies, onyx_home, jp_root_dir):
    (jp_root_dir / "key.txt").write_text(KEY)
    command = {"command": "seq 1 9000; cat key.txt"}
    replies.next = [[Call("exec", command, id="c1")]]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    path = f"onyx:results/{key}/c1.txt"
    more = [
        [Call("read", {"path": path, "from": 4000, "lines": 2})],
        [Call("search", {"pattern": "^5555$", "path": path})],
    ]
    replies.next += [*more, "Seen"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Count"))["runId"]
    request = await client.event("exec.approval_request", runId=run_id)
    await client.ask("exec.approve", approvalId=request["approvalId"])
    assert (await client.end(run_id))[1]["text"] == "Seen"
    counted, read, found = (event["output"] for event in client.events("tool.finished"))
    assert len(counted) <= 16_000
    assert counted.startswith("1\n2\n3\n")
    assert counted.endswith("exit code 0")
    assert f"The full text is in {path}" in counted
    assert "4000\t4000\n4001\t4001\n" in read
    assert f"{path}:5555:5555" in found
    assert any("4000\\t4000\\n4001" in json.dumps(message) for message in replies.requests[-1].body["messages"])
    kept = (onyx_home / "workspace" / "results" / key / "c1.txt").read_text()
    assert KEY not in kept
    assert kept.splitlines()[:9000] == [str(number) for number in range(1, 9001)]
    assert [event["message"] for event in client.events("tool.progress") if event["callId"] == "c1"]
