"""Two sessions of a real server: one writes to the other, once its person has seen to whom and what."""

from onyx_jupyter.testing.script import Call


async def test_message_is_sent_between_sessions_over_the_socket(connect, replies):
    client = await connect()
    other = (await client.ask("sessions.create", title="Churn"))["sessionKey"]
    key = (await client.ask("sessions.create", title="Here"))["sessionKey"]
    send = {"tool": "sessions_send", "arguments": {"sessionKey": other, "message": "Plot it"}}
    answers = {"Look": [Call("more_tools", send)], "Plot it": "Plotted", "Read": [_history(other)]}
    replies.each = lambda request: answers.get(request.last_user_text.split("\n")[0]) if _asked(request) else "Done"
    run_id = (await client.ask("chat.send", sessionKey=key, message="Look"))["runId"]
    request = await client.event("exec.approval_request")
    assert request["summary"] == "Send a message to the session “Churn”"
    assert (request["details"]["title"], request["details"]["message"]) == ("Churn", "Plot it")
    await client.ask("exec.approve", approvalId=request["approvalId"], scope="once")
    assert (await client.end(run_id))[0] == "chat.final"
    answered = await client.event("chat.final", text="Plotted")
    (message,) = [
        entry for entry in (await client.ask("chat.history", sessionKey=other))["messages"] if entry["role"] == "user"
    ]
    assert message["meta"]["runId"] == answered["runId"]
    assert message["meta"]["from"] == {"sessionKey": key, "agentId": "main", "runId": run_id}
    run_id = (await client.ask("chat.send", sessionKey=key, message="Read"))["runId"]
    assert (await client.end(run_id))[0] == "chat.final"
    told = replies.requests[-1].body["messages"][-1]["content"]
    assert "another session: Plot it" in told
    assert "you: Plotted" in told


def _history(session_key):
    return Call("more_tools", {"tool": "sessions_history", "arguments": {"sessionKey": session_key}})


def _asked(request):
    return request.body["messages"][-1]["role"] == "user"
