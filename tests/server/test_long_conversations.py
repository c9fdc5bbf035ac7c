"""A conversation longer than the model's window, on a real Jupyter server."""

import json

import pytest

from onyx_jupyter.agent.summary import SYSTEM
from onyx_jupyter.testing.script import HttpError
from tests.agent.summaries import a_summary

LONG = "lorem ipsum dolor sit amet " * 250
TURNS = 16


@pytest.fixture
def small_window(onyx_home):
    path = onyx_home / "onyx.json"
    config = json.loads(path.read_text())
    config["providers"]["scripted"]["contextWindow"] = 20_000
    config["memory"] = {"consolidation": False}  # its requests are none of these
    path.write_text(json.dumps(config))


def is_summary(request):
    return request.body["messages"][0]["content"] == SYSTEM


async def test_session_continues_with_note_and_history_is_complete(small_window, connect, replies):
    replies.each = lambda request: a_summary("All about words.") if is_summary(request) else "Fine."
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    for number in range(TURNS):
        run_id = (await client.ask("chat.send", sessionKey=key, message=f"{number} {LONG}"))["runId"]
        assert (await client.end(run_id))[0] == "chat.final"
    sides = [request for request in replies.requests if is_summary(request)]
    assert sides
    assert all("tools" not in request.body for request in sides)
    notes = [note for note in client.events("chat.note") if note["kind"] == "compaction"]
    assert len(notes) == len(sides)
    assert notes[0]["data"]["tokensBefore"] > 15_000 > notes[0]["data"]["tokensAfter"]
    _, summary, *rest = replies.requests[-1].body["messages"]
    assert "All about words." in summary["content"]
    assert len(rest) < 2 * TURNS - 1
    assert replies.requests[-1].last_user_text.startswith(f"{TURNS - 1} ")
    history = (await client.ask("chat.history", sessionKey=key, limit=200))["messages"]
    said = [entry["content"].split()[0] for entry in history if entry["role"] == "user"]
    assert said == [str(number) for number in range(TURNS)]
    assert len([entry for entry in history if (entry["meta"] or {}).get("note") == "compaction"]) == len(notes)


async def test_overflow_error_is_retried_once_with_less(connect, replies):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    for number in range(4):
        run_id = (await client.ask("chat.send", sessionKey=key, message=f"{number} {LONG}"))["runId"]
        assert (await client.end(run_id))[0] == "chat.final"
    replies.next = [[HttpError(400, "This model's maximum context length is 4096 tokens.")], "Fine."]
    run_id = (await client.ask("chat.send", sessionKey=key, message="The newest"))["runId"]
    name, data = await client.end(run_id)
    assert (name, data["text"]) == ("chat.final", "Fine.")
    (note,) = client.events("chat.note")
    assert note["kind"] == "overflow"
    refused, answered = replies.requests[-2:]
    assert len(str(answered.body["messages"])) < len(str(refused.body["messages"]))
    assert answered.last_user_text == "The newest"
