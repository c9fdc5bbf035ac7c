"""A transcript with values that are JSON and make no sense, as a person may write them: no session suffers from it."""

import json

import pytest

FIRST, SECOND, THIRD, FOURTH = ("0" * 25 + number for number in "1234")
HEAD = {"kind": "session", "agentId": "main"}


def entry(entry_id, parent, role, meta, **parts):
    written = "2026-01-01T00:00:00Z"
    return {
        "v": 1,
        "id": entry_id,
        "parent": parent,
        "ts": written,
        "role": role,
        "content": "hi",
        "meta": meta,
    } | parts


def session(head=HEAD, said=None, call=None, brought=None, usage=None):
    """A conversation with one call, in whose places stands what a test puts there."""
    calls = [{"id": "c", "name": "read", "arguments": {}, **(call or {})}]
    return [
        entry(FIRST, None, "system", head),
        entry(SECOND, FIRST, "user", {"runId": "r", **(said or {})}),
        entry(THIRD, SECOND, "assistant", {"runId": "r"}, tool_calls=calls, **({"usage": usage} if usage else {})),
        entry(FOURTH, THIRD, "tool", {"runId": "r", **(brought or {})}, tool_call_id="c"),
    ]


EDITED = {
    "a model that is a number": session(head={**HEAD, "model": 5}),
    "a message's model that is an object": session(said={"model": {"a": 1}}),
    "a context of texts": session(said={"context": ["x", None, 5, []]}),
    "open notebooks that are a number": session(said={"notebooks": {"open": 5, "front": [1]}}),
    "tokens without end": session(usage={"inputTokens": float("inf"), "outputTokens": 1}),
    "attachments that are a number": session(brought={"attachments": 5}),
    "an attachment without its data": session(brought={"attachments": [{"type": "image"}, None, "x"]}),
    "a picture that is a list": session(
        brought={"attachments": [{"type": "image", "mimeType": ["image/png"], "data": [1], "name": 5}]}
    ),
    "arguments that are malformed in another way": session(call={"malformed": [1]}),
}


@pytest.mark.parametrize("lines", EDITED.values(), ids=EDITED)
async def test_session_with_invalid_value_is_listed_read_and_continued(connect, onyx_home, lines):
    client = await connect()
    whole = (await client.ask("sessions.create", title="whole"))["sessionKey"]
    key = "01" + "0" * 24
    folder = onyx_home / "sessions" / "main"
    (folder / f"{key}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    listed = (await client.ask("sessions.list"))["sessions"]
    assert {item["sessionKey"] for item in listed} == {whole, key}
    await client.ask("sessions.get", sessionKey=key)
    await client.ask("sessions.subscribe", sessionKey=key)
    run_id = (await client.ask("chat.send", sessionKey=key, message="Go on"))["runId"]
    name, data = await client.end(run_id)
    assert (name, data["text"]) == ("chat.final", "ok")
