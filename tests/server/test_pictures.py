"""A picture that a tool read reaches the model that can see it, and is in the conversation after a reload."""

import base64
import json

from onyx_jupyter.testing.script import Call
from tests.runs.house import DOT


async def test_image_that_was_read_is_sent_to_model(connect, replies, onyx_home, jp_root_dir):
    path = onyx_home / "onyx.json"
    config = json.loads(path.read_text())
    config["providers"]["scripted"]["vision"] = True
    path.write_text(json.dumps(config))
    (jp_root_dir / "dot.png").write_bytes(base64.b64decode(DOT))
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    replies.next = [[Call("read", {"path": "dot.png"})], "A dot."]
    run_id = (await client.ask("chat.send", sessionKey=key, message="What is in it?"))["runId"]
    assert (await client.end(run_id))[1]["text"] == "A dot."
    *_, result, pictures = replies.requests[1].body["messages"]
    assert result["role"] == "tool"
    text, picture = pictures["content"]
    assert text["text"] == "[Onyx] From the result of read:"
    assert picture["image_url"]["url"] == f"data:image/png;base64,{DOT}"
    run_id = (await client.ask("chat.send", sessionKey=key, message="Thanks"))["runId"]
    await client.end(run_id)
    assert pictures in replies.requests[2].body["messages"]
