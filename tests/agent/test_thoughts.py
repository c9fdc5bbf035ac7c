"""What a model thinks: seen while it comes and after a reload, and nowhere else: in no answer, no request, no list."""

import asyncio
import json

import pytest

from onyx_jupyter.agent.processor import Processors
from onyx_jupyter.agent.side_request import side_request
from onyx_jupyter.agent.thoughts import MAX_KEPT_CHARS, Thoughts
from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import ModelRequest, ThoughtDelta
from onyx_jupyter.runs.event_replay import earlier_events
from onyx_jupyter.sessions.entry import from_json
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.script import Call, Fail, Finish, Hang, Hold, NotSaid, Say, Think, Tokens
from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.runs.house import House
from tests.security.secret_samples import MIXED
from tests.waiting import until

KEY = f"sk-proj-{MIXED}"


def thought(house: House) -> str:
    return "".join(data["text"] for data in house.of("chat.thought") if not data.get("wasSaid"))


def answer(house: House) -> str:
    return "".join(data["text"] for data in house.of("chat.delta"))


def kept(house: House, key: str) -> list[dict[str, object]]:
    return [line["meta"]["thought"] for line in house.lines(key) if "thought" in line.get("meta", {})]


async def test_thoughts_are_separated_and_stored_with_duration(tmp_path):
    clock, held = FakeClock(), Hold()
    house = House(tmp_path, [[Think("I add.", chunk_chars=3), held, "It is 4.", Tokens(10, 30)]], clock=clock)
    key = await house.session()
    run_id = await house.send(key, "2 + 2?")
    await until(lambda: thought(house) == "I add.")
    clock.advance(8.04)
    held.released.set()
    name, data = await house.end(run_id)
    assert (name, data["text"], data["usage"]) == (
        "chat.final",
        "It is 4.",
        {"inputTokens": 10, "outputTokens": 30},
    )
    assert house.names() == ["chat.started", *["chat.thought"] * 3, "chat.delta", "chat.final"]
    assert set(house.of("chat.thought")[0]) == {"runId", "seq", "text"}
    assert [data.get("seconds") for data in house.of("chat.thought")] == [None, None, 8.0]
    (reply,) = [line for line in house.lines(key) if line["role"] == "assistant"]
    assert reply["content"] == "It is 4."
    assert reply["meta"]["thought"] == {"text": "I add.", "seconds": 8.0}


async def test_thoughts_are_absent_from_later_requests_and_session_list(tmp_path):
    replies = [[Think("Walrus."), "Looking.", Call("peek")], [Think("Walrus again."), "Done."], "Again."]
    house = House(tmp_path, replies)
    key = await house.session()
    await house.run(key, "Please")
    await house.run(key, "And now?")
    assert [one["text"] for one in kept(house, key)] == ["Walrus.", "Walrus again."]
    assert "Walrus" not in repr(house.model.requests)
    assert [m.content for m in house.model.requests[2].messages if m.role == "assistant"] == ["Looking.", "Done."]
    assert "Walrus" not in repr(await house.onyx.sessions.list())
    assert "Walrus" not in json.dumps([data for name, data in house.events if name != "chat.thought"])


async def test_thoughts_contain_no_secrets_or_internal_text_however_chunked(tmp_path):
    for size in (1, 3, None):
        folder = tmp_path / str(size)
        folder.mkdir()
        house = House(folder, [[Think(f"The key {KEY} is<internal>a plan</internal> there.", size), "Fine."]])
        key = await house.session()
        await house.run(key)
        assert thought(house) == "The key [redacted:openai-key] is there."
        assert kept(house, key)[0]["text"] == thought(house)
        everything = json.dumps(house.events) + house.file(key).read_text()
        assert MIXED[:8] not in everything
        assert "plan" not in everything
        await house.close()


async def test_text_reclassified_as_thought_is_retracted_everywhere(tmp_path):
    clock, held = FakeClock(), Hold()
    script = [Say("I add <in", chunk_chars=2), held, NotSaid(), "It is 4."]
    house = House(tmp_path, [script, "Again."], clock=clock)
    key = await house.session()
    run_id = await house.send(key)
    await until(lambda: answer(house) == "I add ")
    clock.advance(5)
    held.released.set()
    assert (await house.end(run_id))[1]["text"] == "It is 4."
    back, rest = house.of("chat.thought")
    assert (back["text"], back["wasSaid"]) == ("I add ", True)
    assert (rest["text"], rest["seconds"]) == ("<in", 5.0)
    assert [line["content"] for line in house.lines(key) if line["role"] == "assistant"] == ["It is 4."]
    assert kept(house, key) == [{"text": "I add <in", "seconds": 5.0}]
    assert not house.file(key).with_suffix(".partial").exists()
    await house.run(key)
    assert "I add" not in repr(house.model.requests[1].messages)


async def test_retraction_covers_sent_text_and_preceding_blank_line(tmp_path):
    held = Hold()
    house = House(tmp_path, [[held, "One"], ["I add.", NotSaid(), "Two"]])
    key = await house.session()
    run_id = await house.send(key)
    await until(held.reached.is_set)
    await house.send(key, "And two?")
    held.released.set()
    assert (await house.end(run_id))[1]["text"] == "Two"
    assert [data["text"] for data in house.of("chat.delta")] == ["One", "\n\nI add.", "\n\nTwo"]
    assert house.of("chat.thought")[0]["text"] == "\n\nI add."


async def test_stop_during_thought_ends_run_and_keeps_thought(tmp_path):
    house = House(tmp_path, [[Think("I add"), Hang()], "Back."])
    key = await house.session()
    run_id = await house.send(key)
    await until(lambda: thought(house))
    await house.onyx.abort(run_id)
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert house.of("chat.thought")[-1]["seconds"] >= 0
    assert house.names()[-2:] == ["chat.thought", "chat.aborted"]
    assert [line["content"] for line in house.lines(key) if line["role"] == "assistant"] == [""]
    assert kept(house, key)[0]["text"] == "I add"
    assert (await house.run(key))[0] == "chat.final"
    assert [message.role for message in house.model.requests[1].messages] == ["user", "user"]


@pytest.mark.parametrize("reason", ["stop", "length"])
async def test_answer_of_thoughts_only_counts_as_empty(tmp_path, reason):
    house = House(tmp_path, lambda request: [Think("I add."), Finish(reason)])
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["code"]) == ("chat.error", "bad_response")
    assert ("empty answer" if reason == "stop" else "maxTokens") in data["message"] + data["hint"]
    assert "I add." in str(kept(house, key)[0]["text"])
    assert answer(house) == ""


async def test_answer_with_thoughts_only_is_retried(tmp_path):
    house = House(tmp_path, [[Think("I add"), Fail("unavailable")], [Think("I count."), "It is 4."]])
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["text"]) == ("chat.final", "It is 4.")
    assert thought(house) == "I add\n\nI count."
    assert kept(house, key)[0]["text"] == "I add\n\nI count."


async def test_thought_without_visible_text_is_announced_and_may_end_empty(tmp_path):
    class Model(ScriptedModel):
        async def stream(self, request):
            yield ThoughtDelta("")
            async for event in super().stream(request):
                yield event

    held = Hold()
    model = Model([[held, "It is 4."]])
    house = House(tmp_path, models={model.id: model})
    key = await house.session()
    run_id = await house.send(key)
    await until(held.reached.is_set)
    assert [data["text"] for data in house.of("chat.thought")] == [""]
    held.released.set()
    assert (await house.end(run_id))[1]["text"] == "It is 4."
    assert kept(house, key) == []


async def test_resumed_run_announces_its_thoughts_again(tmp_path):
    house = House(tmp_path, [[Think("I look."), "Looking.", Call("touch")]])
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    entries = [from_json(line) for line in house.lines(key)]
    told = [(event.name, getattr(event, "text", "")) for event in earlier_events(entries, run_id)]
    assert told[:2] == [("chat.thought", "I look."), ("chat.delta", "Looking.")]


async def test_side_request_answer_contains_no_thought():
    model = ScriptedModel([[Think("I add."), "Wrong.", NotSaid(), "A title"]])
    reply = await side_request(model, ModelRequest("", [Message("user", "Title?")]), Processors())
    assert reply.text == "A title"


async def test_long_thought_keeps_head_and_tail():
    clock, events = FakeClock(), []
    thoughts = Thoughts("r", Processors().text_filter, events.append, clock)
    thoughts.add("a" * 30_000)
    thoughts.add("b" * 30_000)
    thoughts.end()
    text = thoughts.meta()["thought"]["text"]
    assert text.startswith("aaa")
    assert text.endswith("bbb")
    assert "40,000 characters are not kept" in text
    assert len(text) < MAX_KEPT_CHARS + 100
    assert sum(len(event.text) for event in events) == 60_000


@pytest.mark.parametrize("thought", [None, "text", [], {}, {"text": 3}, {"seconds": 3}])
def test_malformed_stored_thought_is_ignored(thought):
    line = {"id": "a", "role": "assistant", "content": "Hi", "meta": {"runId": "r", "thought": thought}}
    assert from_json(line).thought is None
    assert [event.name for event in earlier_events([from_json(line)], "r")] == ["chat.delta"]


async def test_stop_while_reply_is_written_stores_thought_once(tmp_path):
    house = House(tmp_path, [[Think("I add."), "It is 4."]])
    key = await house.session()
    writing, go_on = asyncio.Event(), asyncio.Event()
    original = SessionTranscript.append_assistant

    async def slow(self, *arguments):
        writing.set()
        await original(self, *arguments)
        await go_on.wait()

    transcript = await house.onyx.sessions.get(key)
    transcript.append_assistant = slow.__get__(transcript)  # the disk, held at the moment that matters
    run_id = await house.send(key)
    await writing.wait()
    await house.onyx.abort(run_id)
    go_on.set()
    await house.end(run_id)
    assert len(kept(house, key)) == 1
