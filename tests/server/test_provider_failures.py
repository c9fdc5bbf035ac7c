"""Providers that fail in every way, over real HTTP and the real socket: the session always goes on."""

import json

import pytest

from onyx_jupyter.providers.tool_call_deltas import MAX_ARGUMENT_CHARS, MAX_CALLS
from onyx_jupyter.testing.openai_wire import call_chunks, text_chunk
from onyx_jupyter.testing.script import Call, Cut, Finish, Hang, HttpError, Page, Raw

HTML = "<!DOCTYPE html><html><head><title>502</title></head><body><h1>Bad gateway</h1></body></html>"
LOOK = Call("memory_get", {"path": "MEMORY.md"}, id="look")
HALF_A_LINE = Raw(b'data: {"id": "x", "choices": [{"index": 0, "del\n\n')
HALF_A_CALL = Raw(b"".join(list(call_chunks("model", Call("memory_get", {"path": "MEMORY.md"}), 0))[:2]))


def patience(*faults):
    """How long a provider may be silent: not for long where it will be."""
    return {"timeoutMs": 2500} if any(isinstance(fault, Hang) for fault in faults) else {}


def in_the_stream(status, message):
    """An error as providers put it into a stream that has begun."""
    error = {"error": {"message": message, "type": "server_error", "code": status}}
    return Raw(b"data: " + json.dumps(error).encode() + b"\n\n")


@pytest.fixture
def start(connect, onyx_home):
    """A client on a server with these `runtime.retry` settings, and a session of it."""

    async def start(**retry):
        path = onyx_home / "onyx.json"
        config = json.loads(path.read_text())
        retry = {"maxWaitMs": 0, **retry}
        path.write_text(json.dumps({**config, "runtime": {"retry": retry, "circuitBreaker": {"failures": 100}}}))
        client = await connect()
        return client, (await client.ask("sessions.create"))["sessionKey"]

    return start


async def say(client, key, message="Go"):
    return await client.end((await client.ask("chat.send", sessionKey=key, message=message))["runId"])


async def entries(client, key):
    """The session as a page that was loaded anew gets it; every call has its one result."""
    found = (await client.ask("sessions.get", sessionKey=key))["messages"]
    calls = [call["id"] for entry in found for call in entry.get("tool_calls") or ()]
    assert [entry["tool_call_id"] for entry in found if entry["role"] == "tool"] == calls
    return found


async def goes_on(client, key):
    """The next message is answered, and no call of before is left open in what the model gets."""
    name, data = await say(client, key, "And now?")
    assert (name, data["text"]) == ("chat.final", "ok")
    await entries(client, key)


BEFORE_THE_FIRST_WORD = {
    "429": [HttpError(429, "Slow down.")],
    "500": [HttpError(500, "Oops.")],
    "silence": [Hang()],
    "cut": [Cut()],
    "web page with 200": [Page(200, HTML)],
    "web page with 502": [Page(502, HTML)],
    "empty stream": [Finish(None)],
    "empty answer": [],
    "half a JSON": [HALF_A_LINE],
    "429 in the stream": [in_the_stream(429, "Slow down.")],
    "a call, then cut": [HALF_A_CALL, Cut()],
    "a call, then silence": [HALF_A_CALL, Hang()],
    "a call, then 500 in the stream": [HALF_A_CALL, in_the_stream(500, "Oops.")],
    "a call, then half a JSON": [HALF_A_CALL, HALF_A_LINE],
}
CODES = {
    "429": "rate_limit",
    "429 in the stream": "rate_limit",
    "500": "unavailable",
    "cut": "unavailable",
    "web page with 502": "unavailable",
    "a call, then cut": "unavailable",
    "a call, then 500 in the stream": "unavailable",
    "silence": "timeout",
    "a call, then silence": "timeout",
}


@pytest.mark.parametrize("fault", BEFORE_THE_FIRST_WORD)
async def test_fault_before_first_token_is_retried(start, replies, fault):
    client, key = await start(**patience(*BEFORE_THE_FIRST_WORD[fault]))
    replies.next = [BEFORE_THE_FIRST_WORD[fault], "Here I am."]
    assert (await say(client, key))[1]["text"] == "Here I am."
    assert len(replies.requests) == 2
    assert "(2 of 3)" in client.events("tool.progress")[-1]["message"]
    await goes_on(client, key)


@pytest.mark.parametrize("fault", BEFORE_THE_FIRST_WORD)
async def test_fault_at_second_call_is_retried_without_rerunning_tool(start, replies, fault):
    client, key = await start(**patience(*BEFORE_THE_FIRST_WORD[fault]))
    replies.next = [[LOOK], BEFORE_THE_FIRST_WORD[fault], "Done."]
    assert (await say(client, key))[1]["text"] == "Done."
    assert len(client.events("tool.finished")) == 1
    assert replies.requests[1].body["messages"] == replies.requests[2].body["messages"]
    await goes_on(client, key)


@pytest.mark.parametrize("fault", BEFORE_THE_FIRST_WORD)
async def test_persistent_fault_is_reported_with_hint_and_session_continues(start, replies, fault):
    client, key = await start(attempts=1, **patience(*BEFORE_THE_FIRST_WORD[fault]))
    replies.next = [[LOOK], BEFORE_THE_FIRST_WORD[fault]]
    name, data = await say(client, key)
    assert (name, data["code"]) == ("chat.error", CODES.get(fault, "bad_response"))
    assert data["hint"]
    assert "<" not in data["message"]
    await goes_on(client, key)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Cut(), "unavailable"),
        (Finish(None), "unavailable"),
        (Hang(), "timeout"),
        (in_the_stream(429, "Slow down."), "rate_limit"),
        (in_the_stream(500, "Oops."), "unavailable"),
        (HALF_A_LINE, "bad_response"),
    ],
)
async def test_text_before_fault_is_kept_without_retry(start, replies, connect, fault, code):
    client, key = await start(**patience(fault))
    replies.next = [["Half an answer", fault]]
    name, data = await say(client, key)
    assert (name, data["code"]) == ("chat.error", code)
    assert data["hint"]
    assert len(replies.requests) == 1
    (kept, end) = (await entries(await connect(), key))[-2:]
    assert (kept["content"], kept["meta"]["partial"]) == ("Half an answer", True)
    assert (end["meta"]["outcome"], end["meta"]["code"]) == ("error", code)
    await goes_on(client, key)
    assert [m["content"] for m in replies.requests[-1].body["messages"]][1:] == ["Go", "Half an answer", "And now?"]


async def test_unknown_tool_and_truncated_json_are_reported_to_model(start, replies):
    client, key = await start()
    replies.next = [[Call("teleport", {}), Call("memory_get", '{"path": "MEM')], "I see."]
    assert (await say(client, key))[1]["text"] == "I see."
    unknown, half = [entry["content"] for entry in await entries(client, key) if entry["role"] == "tool"]
    assert "no tool called 'teleport'" in unknown
    assert "not a JSON object" in half
    await goes_on(client, key)


NESTED = {depth: '{"path":' + "[" * depth + "]" * depth + "}" for depth in (300, 900, 100_000)}


@pytest.mark.parametrize("arguments", NESTED.values(), ids=map(str, NESTED))
async def test_deeply_nested_arguments_are_reported_to_model(start, replies, arguments):
    replies.next = [[Call("list", arguments, chunk_chars=None)], "I see"]
    client, session = await start()
    run_id = (await client.ask("chat.send", sessionKey=session, message="Go"))["runId"]
    name, data = await client.end(run_id)
    assert (name, data["text"]) == ("chat.final", "I see")
    result = replies.requests[1].body["messages"][-1]["content"]
    assert "not a JSON object" in result


async def test_lone_surrogate_in_call_does_not_end_session(start, replies):
    replies.next = [[Call("li\ud83dst", {"path": "a\ud800b"}, id="c\udc00")], "one", "two"]
    client, session = await start()
    for message, answer in (("Go", "one"), ("Go on", "two")):
        run_id = (await client.ask("chat.send", sessionKey=session, message=message))["runId"]
        name, data = await client.end(run_id)
        assert (name, data.get("text")) == ("chat.final", answer)
    assert "a\ufffdb" in json.dumps(replies.requests[-1].body["messages"], ensure_ascii=False)


async def test_none_of_five_thousand_calls_in_one_answer_runs(start, replies):
    client, key = await start()
    flood = [Call("memory_get", {"path": "MEMORY.md"}, id=f"c{number}") for number in range(5000)]
    replies.next = [flood] * 3
    name, data = await say(client, key)
    assert (name, data["code"]) == ("chat.error", "bad_response")
    assert str(MAX_CALLS) in data["message"]
    assert data["hint"]
    assert client.events("tool.finished") == []
    assert [entry["role"] for entry in await entries(client, key)] == ["system", "user", "system"]
    await goes_on(client, key)


async def test_all_of_maximum_number_of_calls_run(start, replies):
    client, key = await start()
    different = [Call("memory_get", {"path": f"{number}.md"}, id=f"c{number}") for number in range(MAX_CALLS)]
    replies.next = [different, "Done."]
    assert (await say(client, key))[1]["text"] == "Done."
    assert len(client.events("tool.finished")) == MAX_CALLS
    await goes_on(client, key)


async def test_ten_megabytes_of_arguments_are_rejected_and_not_stored(start, replies, onyx_home):
    client, key = await start()
    huge = json.dumps({"path": "a" * 10_000_000})
    replies.next = [[Call("memory_get", huge, chunk_chars=50_000), LOOK], "I will send less."]
    assert (await say(client, key))[1]["text"] == "I will send less."
    refused, looked = [entry for entry in await entries(client, key) if entry["role"] == "tool"]
    assert refused["meta"]["ok"] is False
    assert str(len(huge)) in refused["content"]
    assert str(MAX_ARGUMENT_CHARS) in refused["content"]
    assert looked["meta"]["ok"] is True
    assert len(json.dumps(replies.requests[1].body)) < 100_000
    (file,) = (onyx_home / "sessions").glob(f"*/{key}.jsonl")
    assert file.stat().st_size < 100_000
    await goes_on(client, key)


async def test_endless_answer_is_cut_off_and_kept(start, replies):
    client, key = await start()
    million = Raw(text_chunk("model", "a" * 1_000_000))
    replies.next = [[million, million, million, million, million]]
    name, data = await say(client, key)
    assert (name, data["code"]) == ("chat.error", "bad_response")
    assert "did not stop writing" in data["message"]
    assert len((await entries(client, key))[-2]["content"]) == 3_000_000
    await goes_on(client, key)


async def test_wait_above_limit_is_reported_instead(start, replies):
    client, key = await start(maxWaitMs=20_000)
    replies.next = [[HttpError(503, "Busy.", headers={"retry-after": "300"})]]
    name, data = await say(client, key)
    assert (name, data["code"]) == ("chat.error", "unavailable")
    assert "It asks for a wait of 300 s." in data["message"]
    assert len(replies.requests) == 1
    await goes_on(client, key)


async def test_fallback_of_other_provider_answers_and_notice_survives_reload(connect, replies, onyx_home):
    path = onyx_home / "onyx.json"
    config = json.loads(path.read_text())
    config["agents"]["list"] = [
        {"id": "main", "default": True, "model": "broken/model", "fallbackModel": "scripted/model"}
    ]
    config["providers"]["broken"] = {"baseUrl": "http://127.0.0.1:9/v1"}
    path.write_text(json.dumps({**config, "runtime": {"retry": {"maxWaitMs": 0}}}))
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    replies.next = ["I am the other one."]
    assert (await say(client, key))[1]["text"] == "I am the other one."
    (note,) = client.events("chat.note")
    found = await entries(await connect(), key)
    assert [entry["content"] for entry in found if entry["meta"].get("kind") == "note"] == [note["message"]]
    assert [entry["meta"]["model"] for entry in found if entry["role"] == "assistant"] == ["scripted/model"]
