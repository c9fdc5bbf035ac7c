"""Models that think, over real HTTP and the real socket: thoughts reach the screen and nothing else."""

import json

import pytest

from onyx_jupyter.testing.script import Call, Cut, Finish, Hang, Say, Think, Tokens

THOUGHT = "I add <two> and two."
ANSWER = "It is 4."


async def say(client, key, message="2 + 2?"):
    return await client.end((await client.ask("chat.send", sessionKey=key, message=message))["runId"])


def thought(client):
    return "".join(data["text"] for data in client.events("chat.thought")).strip()


async def replies_of(client, key):
    """What the model said, as a page that was loaded anew gets it."""
    found = (await client.ask("sessions.get", sessionKey=key))["messages"]
    return [entry for entry in found if entry["role"] == "assistant"]


@pytest.mark.parametrize("chunk_chars", [1, 3, 7, None])
@pytest.mark.parametrize(
    "form", ["reasoning_content", "reasoning", "<think>", "</think>"], ids=["content", "short", "tags", "half a tag"]
)
async def test_thoughts_in_any_form_and_chunking_are_shown_and_never_resent(connect, replies, form, chunk_chars):
    if form.startswith("<"):
        head = form if form == "<think>" else ""
        reply = [Say(f"{head}\n{THOUGHT}\n</think>\n\n{ANSWER}", chunk_chars)]
    else:
        reply = [Think(THOUGHT, chunk_chars, name=form), Say(ANSWER, chunk_chars)]
    replies.next = [[*reply, Tokens(20, 15)], "Again."]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    name, data = await say(client, key)
    assert (name, data["text"]) == ("chat.final", ANSWER)
    assert data["usage"]["outputTokens"] == 15
    assert thought(client) == THOUGHT
    assert [event for event in client.events("chat.thought") if event.get("seconds") is not None]
    if form != "</think>":
        assert "".join(delta["text"] for delta in client.events("chat.delta")) == ANSWER
    (reply,) = await replies_of(client, key)
    assert (reply["content"], reply["meta"]["thought"]["text"]) == (ANSWER, THOUGHT)
    assert (await say(client, key, "And now?"))[0] == "chat.final"
    assert "I add" not in json.dumps(replies.requests[-1].body)
    assert {"role": "assistant", "content": ANSWER} in replies.requests[-1].body["messages"]
    assert "I add" not in json.dumps((await client.ask("sessions.list"))["sessions"])
    assert (await client.ask("sessions.list", query="I add two"))["total"] == 0


async def test_template_that_opens_the_tag_is_detected_from_first_answer(connect, replies):
    replies.each = lambda request: [Say(f"{THOUGHT}\n</think>\n\n{ANSWER}", chunk_chars=4)]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    await say(client, key)
    assert [event for event in client.events("chat.thought") if event.get("wasSaid")]
    told = len(client.frames)
    await say(client, key)
    events = [frame for frame in client.frames[told:] if frame.get("event") in ("chat.thought", "chat.delta")]
    assert not [frame for frame in events if frame["data"].get("wasSaid")]
    said = "".join(frame["data"]["text"] for frame in events if frame["event"] == "chat.delta")
    assert said == ANSWER
    assert [reply["content"] for reply in await replies_of(client, key)] == [ANSWER, ANSWER]


async def test_thought_before_call_is_stored_with_it_and_not_resent(connect, replies):
    replies.next = [[Think(THOUGHT), Call("memory_get", {"path": "MEMORY.md"})], [Think("Good."), ANSWER]]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    assert (await say(client, key))[1]["text"] == ANSWER
    first, second = await replies_of(client, key)
    assert (first["content"], first["meta"]["thought"]["text"]) == ("", THOUGHT)
    assert second["meta"]["thought"]["text"] == "Good."
    called = replies.requests[-1].body["messages"][-2]
    assert (called["role"], called["content"], len(called["tool_calls"])) == ("assistant", None, 1)
    assert "reasoning" not in json.dumps(replies.requests[-1].body["messages"])


async def test_stop_during_thought_ends_request_and_session_continues(connect, replies):
    replies.next = [[Think(THOUGHT), Hang()], ANSWER]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Go"))["runId"]
    await client.event("chat.thought")
    await client.ask("chat.abort", runId=run_id)
    assert (await client.end(run_id))[0] == "chat.aborted"
    assert await replies.requests[0].client_left(5)
    (reply,) = await replies_of(client, key)
    assert (reply["content"], reply["meta"]["thought"]["text"]) == ("", THOUGHT)
    assert (await say(client, key))[1]["text"] == ANSWER
    assert THOUGHT not in json.dumps(replies.requests[-1].body)


async def test_thoughts_only_is_an_empty_answer_and_truncated_ones_are_retried(connect, replies, onyx_home):
    config = json.loads((onyx_home / "onyx.json").read_text())
    (onyx_home / "onyx.json").write_text(json.dumps({**config, "runtime": {"retry": {"maxWaitMs": 0}}}))
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    replies.each = lambda request: [Think(THOUGHT)]
    name, data = await say(client, key)
    assert (name, data["code"]) == ("chat.error", "bad_response")
    assert "empty answer" in data["message"]
    replies.each = lambda request: [Say(f"<think>{THOUGHT}"), Finish("length")]
    assert "maxTokens" in (await say(client, key))[1]["hint"]
    replies.next = [[Think(THOUGHT), Cut()], ANSWER]
    replies.each = lambda request: replies.next.pop(0)
    assert (await say(client, key))[1]["text"] == ANSWER
