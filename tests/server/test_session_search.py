"""What was said is found on the socket, by words and by meaning, with the turn it comes from."""

import asyncio
import json
import shutil

import pytest

from onyx_jupyter.features.sessions import operations as sessions
from onyx_jupyter.index_process.client import ProcessIndex
from onyx_jupyter.sessions import word_search
from onyx_jupyter.sessions.search import SessionSync
from onyx_jupyter.sessions.word_search import SessionWordSearch
from onyx_jupyter.testing.script import Call
from tests.waiting import LIMIT_S


async def said(client, replies, message, *steps, title=None):
    """A conversation of one message; its key."""
    key = (await client.ask("sessions.create", **({"title": title} if title else {})))["sessionKey"]
    replies.next = list(steps)
    sent = await client.ask("chat.send", sessionKey=key, message=message, mode="auto")
    assert (await client.end(sent["runId"]))[0] == "chat.final"
    return key


async def once(client, query, holds):
    """What the index gives as soon as it fits: sessions are read into it behind each turn.

    Each further question is a new look, since the index tells nobody when it is in step.
    """
    async with asyncio.timeout(LIMIT_S):
        while True:
            answer = await client.ask("sessions.search", query=query)
            if "still being indexed" not in answer.get("note", "") and holds(answer["results"]):
                return answer["results"]


async def test_turn_is_found_from_any_session_and_links_to_its_entry(connect, replies):
    client = await connect()
    key = await said(client, replies, "Where do puffins nest?", "In burrows on grassy cliffs.", title="Birds")
    await said(client, replies, "How old are violins?", "Five hundred years.", title="Music")
    results = await once(client, "grassy cliffs", lambda found: [one for one in found if one["role"] == "assistant"])
    best = results[0]
    assert (best["sessionKey"], best["title"], best["role"]) == (key, "Birds", "assistant")
    assert best["snippet"] == "In burrows on grassy cliffs."
    assert 0 < best["score"] <= 1
    entries = {entry["id"]: entry for entry in (await client.ask("sessions.get", sessionKey=key))["messages"]}
    assert entries[best["entryId"]]["content"] == "In burrows on grassy cliffs."
    assert entries[best["entryId"]]["ts"] == best["at"]


async def test_messages_are_indexed_in_batches_and_immediately_for_a_search(connect, replies, monkeypatch, jp_root_dir):
    puts = []
    put = ProcessIndex.put

    async def counted(self, sources):
        puts.extend(source.path.partition("/")[0] for source in sources if source.kind == "session")
        return await put(self, sources)

    monkeypatch.setattr(ProcessIndex, "put", counted)
    (jp_root_dir / "birds.txt").write_text("-\n")
    client = await connect()
    await said(client, replies, "How old are violins?", "Five hundred years.", title="Music")
    await once(client, "violins", lambda found: found)
    reading = [Call("read", {"path": "birds.txt"}) for _ in range(3)]
    key = await said(client, replies, "Where do puffins nest?", *[[call] for call in reading], "In burrows.")
    await asyncio.sleep(0.3)
    assert key not in puts
    found = await client.ask("sessions.search", query="burrows")
    assert [one["sessionKey"] for one in found["results"]] == [key]
    assert puts.count(key) == 1


async def test_turns_are_found_by_meaning_if_embedder_exists(connect, replies, embedded_embedder):
    client = await connect()
    key = await said(client, replies, "We chose the vendor for our payroll.", "Noted.", title="Monday")
    await said(client, replies, "The telescope arrived.", "Good.", title="Tuesday")
    results = await once(
        client, "Which company pays the salaries?", lambda found: found and found[0]["sessionKey"] == key
    )
    assert results[0]["snippet"] == "We chose the vendor for our payroll."


async def test_list_shows_title_matches_before_message_matches(connect, replies):
    client = await connect()
    named = await said(client, replies, "Hello.", "Hello!", title="Puffins")
    spoken = await said(client, replies, "Tell me about birds.", "Puffins nest in burrows.", title="Holiday")
    await said(client, replies, "Hi.", "Hi!", title="Other")
    # The newest message is in the preview, so that it is found as a title is: what stands before it is content.
    replies.next = ["You are welcome."]
    sent = await client.ask("chat.send", sessionKey=spoken, message="Thank you.")
    await client.end(sent["runId"])
    await once(client, "puffins", lambda found: any(one["sessionKey"] == spoken for one in found))
    listed = await client.ask("sessions.list", query="puffins")
    assert [info["sessionKey"] for info in listed["sessions"]] == [named, spoken]
    assert listed["total"] == 2
    assert "match" not in listed["sessions"][0]
    assert (listed["isWhole"], listed["note"]) == (True, "Only keywords were searched. No embedder is available.")
    match = listed["sessions"][1]["match"]
    assert (match["role"], match["snippet"]) == ("assistant", "Puffins nest in burrows.")
    everything = (await client.ask("sessions.list"))["sessions"]
    assert not [info for info in everything if "match" in info]


async def test_incomplete_search_says_so(connect, replies, monkeypatch):
    async def never(self):
        await asyncio.Event().wait()

    monkeypatch.setattr(SessionSync, "run", never)
    client = await connect()
    spoken = await said(client, replies, "Tell me about birds.", "Puffins nest in burrows.")
    replies.next = ["You are welcome."]
    sent = await client.ask("chat.send", sessionKey=spoken, message="Thank you.")
    await client.end(sent["runId"])
    await said(client, replies, "Hi.", "Hi!", title="Other")
    whole = await client.ask("sessions.list", query="nest")
    assert [info["sessionKey"] for info in whole["sessions"]] == [spoken]
    assert (whole["isWhole"], "only keywords were searched" in whole["note"]) == (True, True)

    monkeypatch.setattr(word_search, "MAX_SESSIONS", 1)
    newest = await client.ask("sessions.list", query="nest")
    assert (newest["sessions"], newest["isWhole"]) == ([], True)
    assert newest["note"].endswith("in the newest 1 of 2.")

    monkeypatch.setattr(sessions, "_READING_S", 0.0)
    late = await client.ask("sessions.list", query="nest")
    assert (late["sessions"], late["isWhole"]) == ([], False)
    assert late["note"].endswith("in the newest 0 of 2.")

    monkeypatch.setattr(SessionWordSearch, "search", lambda *args, **more: asyncio.Event().wait())
    monkeypatch.setattr(sessions, "_CONTENT_S", 0.05)
    stuck = await client.ask("sessions.list", query="other")
    assert [info["title"] for info in stuck["sessions"]] == ["Other"]
    assert (stuck["isWhole"], stuck["note"]) == (False, sessions.TOO_LATE)
    assert "note" not in await client.ask("sessions.list"), "nothing was searched for"


async def test_tool_output_and_secrets_are_not_found(connect, replies, onyx_home, jp_root_dir):
    (jp_root_dir / "birds.txt").write_text("zanzibar\n")
    client = await connect()
    secret = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    await said(
        client, replies, f"My key is {secret}, read the birds.", [Call("read", {"path": "birds.txt"})], "I read it."
    )
    await once(client, "read the birds", lambda found: len(found) >= 1)
    assert (await client.ask("sessions.search", query="zanzibar"))["results"] == []
    found = json.dumps(await client.ask("sessions.search", query=secret))
    assert secret not in found.replace(json.dumps(secret), "")


async def test_deleted_session_is_not_found_and_lost_index_is_rebuilt(connect, replies, onyx_home):
    client = await connect()
    key = await said(client, replies, "Where do puffins nest?", "In burrows.", title="Birds")
    await said(client, replies, "Puffins again?", "Yes.", title="More birds")
    await once(client, "puffins", lambda found: len({one["sessionKey"] for one in found}) == 2)
    shutil.rmtree(onyx_home / "index")
    await once(client, "puffins", lambda found: len({one["sessionKey"] for one in found}) == 2)
    (onyx_home / "sessions/main" / f"{key}.jsonl").unlink()
    assert key not in {one["sessionKey"] for one in (await client.ask("sessions.search", query="puffins"))["results"]}


async def test_agent_searches_its_other_sessions(connect, replies):
    client = await connect()
    key = await said(client, replies, "Where do puffins nest?", "In burrows.", title="Birds")
    await once(client, "puffins", lambda found: found)
    call = Call("more_tools", {"tool": "sessions_search", "arguments": {"query": "Where do puffins nest?"}})
    own = await said(client, replies, "Where do puffins nest, did I ask?", [call], "You did.", title="Now")
    result = next(
        entry for entry in (await client.ask("sessions.get", sessionKey=own))["messages"] if entry["role"] == "tool"
    )
    assert f"{key} | " in result["content"]
    assert "Where do puffins nest?" in result["content"]
    assert own not in result["content"], "it knows what was said here"


async def test_search_needs_words(connect):
    client = await connect()
    with pytest.raises(Exception, match="query"):
        await client.ask("sessions.search", query="")
