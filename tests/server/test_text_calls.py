"""A model that writes its calls as text, over the wire of an OpenAI-compatible server."""

import json

CALL = json.dumps({"name": "list", "arguments": {"path": ""}})
FENCED = f"```json\n{CALL}\n```"


async def test_call_written_as_text_runs_and_is_no_answer(connect, replies):
    replies.next = [f"<tool_call>\n{CALL}\n</tool_call>", "There is nothing."]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="What is here?"))["runId"]
    _, final = await client.end(run_id)
    assert final["text"] == "There is nothing."
    assert [(event["tool"], event["ok"]) for event in client.events("tool.finished")] == [("list", True)]
    assert "tool_call>" not in "".join(event["text"] for event in client.events("chat.delta"))
    sent = replies.requests[-1].body["messages"]
    assert [message["role"] for message in sent][-2:] == ["assistant", "tool"]


async def test_call_quoted_in_answer_is_an_answer(connect, replies):
    shown = f"Send this:\n\n{FENCED}"
    replies.next = [shown]
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="How would I list files?"))["runId"]
    _, final = await client.end(run_id)
    assert final["text"] == shown
    assert client.events("tool.finished") == []
