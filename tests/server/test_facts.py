"""Facts on the socket: told in one session, known in the next, forgotten with a yes, brought back."""

from onyx_jupyter.testing.script import Call
from tests.server.test_memory import found_at, in_step


async def answered(client, replies, steps, *, allow=True):
    """A message whose run makes these steps; what was asked, and the session."""
    key = (await client.ask("sessions.create"))["sessionKey"]
    replies.next = steps
    sent = await client.ask("chat.send", sessionKey=key, message="Please.")
    asked = None
    if allow is not None:
        asked = await client.event("exec.approval_request", runId=sent["runId"])
        await client.ask("exec.approve" if allow else "exec.deny", approvalId=asked["approvalId"])
    assert (await client.end(sent["runId"]))[0] == "chat.final"
    return key, asked


def prompt_of(request):
    return next(message["content"] for message in request.body["messages"] if message["role"] == "system")


def more(tool, **arguments):
    return Call("more_tools", {"tool": tool, "arguments": arguments})


async def test_fact_from_one_session_is_known_in_the_next(connect, replies, onyx_home):
    client = await connect()
    key, asked = await answered(client, replies, [[more("remember", fact="Prefers walnuts to almonds")], "Noted."])
    assert (asked["toolName"], asked["summary"]) == ("remember", "Remember a fact")
    assert asked["details"]["fact"] == "Prefers walnuts to almonds"
    event = await client.event("memory.updated", path="memory/facts.jsonl")
    assert (event["author"], event["version"]) == ("agent", 1)

    await answered(client, replies, ["Yes."], allow=None)
    assert "Prefers walnuts to almonds" not in prompt_of(replies.requests[0])
    now = prompt_of(replies.requests[-1]).split("# Now")[1]
    assert "(cite as memory/facts.jsonl#f1):\n- f1, " in now
    assert now.endswith("Prefers walnuts to almonds")
    (version,) = (await client.ask("memory.versions", path="memory/facts.jsonl"))["versions"]
    assert (version["author"], version["sessionKey"]) == ("agent", key)

    file = "memory/facts.jsonl"
    await in_step(client)
    found = await found_at(client, "which nuts: walnuts?", "Prefers walnuts to almonds", file)
    assert (found["kind"], found["startLine"], found["heading"]) == ("fact", 1, "f1")
    assert (await client.ask("memory.search", query="walnuts", kinds=["memory"]))["results"] == []


async def test_facts_file_is_read_as_facts(connect, replies, onyx_home):
    client = await connect()
    key, _ = await answered(
        client, replies, [[more("remember", fact="The deadline is 3 March", category="dates")], "Noted."]
    )
    await answered(client, replies, [[more("remember", fact="the deadline is 3 March")], "I know."])
    changed = more("remember", fact="The deadline is 5 March", category="dates", replaces="f1")
    await answered(client, replies, [[changed], "Noted."])
    file = onyx_home / "workspace/memory/facts.jsonl"
    old = '{"id": "f9", "fact": "Has a cat", "confidence": 1.0, "created": "2025-01-01T00:00:00Z"}\n'
    file.write_text(file.read_text() + old + "by hand\n")

    read = await client.ask("memory.read", path="memory/facts.jsonl")
    former, now, cat = read["facts"]["facts"]
    assert read["facts"]["otherLines"] == 1
    assert (former["id"], former["text"], former["category"]) == ("f1", "The deadline is 3 March", "dates")
    assert (former["lines"], former["supersededBy"], former["sessionKey"]) == ([1, 2, 3], "f2", key)
    assert former["since"] == former["validFrom"] < former["toldAt"] <= former["validUntil"]
    assert (now["id"], now["lines"], now["confidence"], now["author"]) == ("f2", [4], 1.0, "agent")
    assert "validUntil" not in now
    assert 0 < cat["confidence"] < 0.3, "as sure as one may be now, not as it was when it was told"
    first = await client.ask("memory.read", path="memory/facts.jsonl", version=1)
    assert [fact["lines"] for fact in first["facts"]["facts"]] == [[1]]
    assert "facts" not in await client.ask("memory.read", path="MEMORY.md")


async def test_forget_needs_approval_of_exact_facts_and_can_be_undone(connect, replies, onyx_home):
    client = await connect()
    file = onyx_home / "workspace/memory/facts.jsonl"
    await answered(client, replies, [[more("remember", fact="Likes tea")], "Noted."])
    before = file.read_text()

    _, asked = await answered(client, replies, [[more("forget", pattern="tea")], "Kept."], allow=False)
    assert asked["details"]["facts"][0].endswith("Likes tea")
    assert file.read_text() == before

    await answered(client, replies, [[more("forget", pattern="tea")], "Gone."])
    assert "tea" not in file.read_text()
    await answered(client, replies, ["Hello."], allow=None)
    assert "Likes tea" not in prompt_of(replies.requests[-1])

    back = await client.ask("memory.restore", path="memory/facts.jsonl", version=1)
    assert back["version"] == 3
    assert file.read_text() == before


async def test_approval_to_remember_does_not_cover_ending_a_fact(connect, replies, onyx_home):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]

    async def remember(fact):
        replies.next = [[more("remember", fact=fact)], "Noted."]
        return (await client.ask("chat.send", sessionKey=key, message="Please."))["runId"]

    run = await remember("The budget of the survey is 500")
    asked = await client.event("exec.approval_request", runId=run)
    assert "mustAsk" not in asked["details"]
    await client.ask("exec.approve", approvalId=asked["approvalId"], scope="session")
    await client.end(run)
    await client.end(await remember("The survey ends in May"))  # this is what was allowed

    run = await remember("The budget of the survey is 900")
    asked = await client.event("exec.approval_request", runId=run)
    assert asked["details"]["mustAsk"] == "another fact ends with it"
    assert asked["details"]["former"][0].endswith("The budget of the survey is 500")
    await client.ask("exec.deny", approvalId=asked["approvalId"])
    await client.end(run)
    assert "900" not in (onyx_home / "workspace/memory/facts.jsonl").read_text()
