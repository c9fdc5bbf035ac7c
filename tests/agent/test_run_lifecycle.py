"""One run from message to end: what the model sees, what is on disk, what watchers hear, and what never happens."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from onyx_jupyter.agent.loop import run_loop
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.testing.script import Call, Fail, Finish, Hang, Hold, Progress, Say, Tokens
from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.runs.house import DOT, House
from tests.storage.full_disk import file_size_limit
from tests.waiting import until


async def test_text_streams_to_watchers_and_ends_in_one_final(tmp_path):
    house = House(tmp_path, [[Say("Hello there", chunk_chars=4), Tokens(10, 3, 2)]])
    key = await house.session()
    name, data = await house.run(key, "Hi")
    assert (name, data["text"]) == ("chat.final", "Hello there")
    assert data["usage"] == {"inputTokens": 10, "outputTokens": 3, "cachedTokens": 2}
    assert [delta["text"] for delta in house.of("chat.delta")] == ["Hell", "o th", "ere"]
    assert house.names() == ["chat.started", *["chat.delta"] * 3, "chat.final"]
    assert [line["role"] for line in house.lines(key)] == ["system", "user", "assistant", "system"]
    assert house.ends_on_disk(key) == ["final"]
    assert not house.file(key).with_suffix(".partial").exists()


async def test_user_entry_is_on_disk_before_model_is_called(tmp_path):
    seen = []

    def reply(request):
        seen.append(house.lines(key)[-1]["content"])
        return "ok"

    house = House(tmp_path, reply)
    key = await house.session()
    run_id = await house.send(key, "Remember me")
    assert house.lines(key)[-1]["content"] == "Remember me"
    await house.end(run_id)
    assert seen == ["Remember me"]


async def test_tools_run_in_order_and_results_are_on_disk_before_being_announced(tmp_path):
    told = []
    house = House(
        tmp_path,
        [["Looking.", Call("peek", {"word": "a"}), Call("peek", {"word": "b"})], [Call("peek", {"word": "c"})], "Done"],
    )
    key = await house.session()

    def check(heard):
        if heard.name == "tool.finished":
            told.append(len([line for line in house.lines(key) if line["role"] == "tool"]))

    house.onyx.streams.watch(key, check)
    name, data = await house.run(key)
    assert (name, data["text"]) == ("chat.final", "Done")
    assert house.peek.done == ["a", "b", "c"]
    assert told == [1, 2, 3]
    assert [line["content"] for line in house.results(key).values()] == ["saw a", "saw b", "saw c"]
    order = house.names()
    assert order == [
        "chat.started", "chat.delta",
        "tool.started", "tool.finished", "tool.started", "tool.finished",
        "tool.started", "tool.finished", "chat.delta", "chat.final",
    ]  # fmt: skip
    assert house.of("tool.finished")[0]["attachments"] == [{"type": "image", "mimeType": "image/png", "data": DOT}]
    last = house.model.requests[-1]
    assert [message.role for message in last.messages] == ["user", "assistant", "tool", "tool", "assistant", "tool"]
    assert [tool.name for tool in last.tools] == ["peek", "touch", "break", "linger"]


async def test_after_twenty_turns_model_answers_once_more_without_tools(tmp_path):
    def reply(request):
        return [Call("peek", {"word": f"{len(request.messages)}"})] if request.tools else "I have to stop here."

    house = House(tmp_path, reply)
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["text"]) == ("chat.final", "I have to stop here.")
    assert len(house.model.requests) == 21
    assert [bool(request.tools) for request in house.model.requests] == [True] * 20 + [False]
    assert "without tools" in house.model.requests[-1].messages[-1].content
    assert all("without tools" not in request.messages[-1].content for request in house.model.requests[:-1])
    assert len(house.results(key)) == 20
    assert not any("without tools" in line["content"] for line in house.lines(key))


async def test_calls_in_last_turn_are_not_run_and_empty_last_answer_is_an_error(tmp_path):
    house = House(tmp_path, lambda _: [Call("touch", {"word": "no"})], config="{ runtime: { maxTurns: 1 } }")
    key = await house.session()
    run_id = await house.send(key)
    await house.approve()
    name, data = await house.end(run_id)
    assert (name, data["code"]) == ("chat.error", "bad_response")
    assert house.touch.done == ["no"]
    assert len(house.results(key)) == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (Call("peek", "{not json"), ["not a JSON object", "{not json"]),
        (Call("peek", "[1]"), ["not a JSON object"]),
        (Call("peek", {"wrod": "x"}), ["`wrod` is not known", "peek takes: word"]),
        (Call("peek", {"word": 5}), ["`word`", "valid string"]),
        (Call("peak", {"word": "x"}), ["no tool called 'peak'", "Did you mean peek"]),
        (
            Call("break", {"word": "zero"}),
            ["break failed (ZeroDivisionError): <<<onyx-external ", ">>>\nno zero\n<<<end"],
        ),
    ],
)
async def test_failed_call_is_returned_to_model_and_run_continues(tmp_path, call, words):
    house = House(tmp_path, [[call], "I see"])
    key = await house.session()
    name, _ = await house.run(key)
    assert name == "chat.final"
    (line,) = house.results(key).values()
    assert line["meta"]["ok"] is False
    assert line["meta"]["status"] == "failed"
    assert house.model.requests[1].messages[-1].content == line["content"]
    for word in words:
        assert word in line["content"]
    assert house.peek.done == []
    assert house.of("tool.finished")[0]["ok"] is False


async def test_denied_call_never_runs_and_model_sees_reason(tmp_path):
    house = House(tmp_path, [["I will touch it.", Call("touch", {"word": "x"}), Call("peek")], "Understood"])
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    (request,) = house.of("exec.approval_request")
    assert request["details"]["word"] == "x"
    assert request["details"]["why"] == "I will touch it."
    assert "tool.started" not in house.names()
    await house.deny("It is mine")
    name, _ = await house.end(run_id)
    assert name == "chat.final"
    assert house.touch.done == []
    assert house.peek.done == ["x"]
    denied, _ = house.results(key).values()
    assert denied["content"] == "Denied: It is mine"
    assert denied["meta"]["status"] == "denied"
    assert "Denied: It is mine" in [message.content for message in house.model.requests[1].messages]
    assert "touch" not in [event["tool"] for event in house.of("tool.started")]


async def test_approval_covers_what_was_shown_not_what_changed_since(tmp_path):
    house = House(tmp_path, [[Call("touch", {"word": "x"})], "Understood"])
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    house.touch.target = "edited meanwhile"
    await house.approve()
    await house.end(run_id)
    assert house.touch.done == []
    (result,) = house.results(key).values()
    assert "changed since the user allowed it" in result["content"]
    assert "changed since the user allowed it" in house.model.requests[1].messages[-1].content


async def test_approved_call_runs_once_after_answer_is_on_disk(tmp_path):
    house = House(tmp_path, [[Call("touch", {"word": "x"})], "Done"])
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    assert house.touch.done == []
    await house.approve()
    await house.end(run_id)
    assert house.touch.done == ["x"]
    kinds = [line.get("meta", {}).get("kind") or line["role"] for line in house.lines(key)]
    assert kinds == [
        "session", "user", "assistant", "approval_request", "approval_resolved", "tool", "assistant", "run_end",
    ]  # fmt: skip


async def test_session_approval_covers_same_call_but_not_a_different_one(tmp_path):
    same, other = Call("touch", {"word": "same"}), Call("touch", {"word": "other"})
    house = House(tmp_path, [[same], [same], [other], "Done"])
    key = await house.session()
    run_id = await house.send(key)
    await house.approve("session")
    await until(lambda: len(house.of("exec.approval_request")) == 2)
    assert house.touch.done == ["same", "same"]
    await house.deny()
    await house.end(run_id)
    assert house.touch.done == ["same", "same"]


async def test_timeout_denies_and_model_is_told_with_nobody_connected(tmp_path):
    house = House(
        tmp_path, [[Call("touch", {"word": "x"})], "Understood"], config="{ security: { approvalTimeoutMs: 1000 } }"
    )
    key = await house.session()
    house.watching = False
    house.onyx.streams.disconnect(house.receive)
    await house.send(key)
    await until(lambda: house.ends_on_disk(key))
    assert house.ends_on_disk(key) == ["final"]
    assert house.touch.done == []
    (line,) = house.results(key).values()
    assert "Nobody answered in time" in line["content"]


async def test_stop_during_stream_keeps_text_and_ends_once(tmp_path):
    hang = Hang()
    house = House(tmp_path, [["Half an ans", hang], "Next"])
    key = await house.session()
    run_id = await house.send(key)
    await until(hang.reached.is_set)
    assert await house.onyx.abort(run_id)
    assert await house.onyx.abort(run_id)  # a second click changes nothing
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert house.model.interrupted == 1
    partial = house.lines(key)[-2]
    assert (partial["content"], partial["meta"]["partial"]) == ("Half an ans", True)
    assert house.ends_on_disk(key) == ["aborted"]
    assert not house.file(key).with_suffix(".partial").exists()
    assert not await house.onyx.abort(run_id)
    await house.run(key, "Go on")
    assert [message.content for message in house.model.requests[1].messages] == ["Please", "Half an ans", "Go on"]


async def test_stop_during_tool_cancels_it_and_pairs_every_call(tmp_path):
    house = House(tmp_path, [[Call("linger"), Call("peek"), Call("touch")]])
    key = await house.session()
    run_id = await house.send(key)
    await house.linger.started.wait()
    await house.onyx.abort(run_id)
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert house.linger.cancelled == 1
    assert (house.peek.done, house.touch.done) == ([], [])
    assert [line["meta"]["status"] for line in house.results(key).values()] == ["aborted"] * 3
    assert [event["ok"] for event in house.of("tool.finished")] == [False] * 3
    assert house.of("exec.approval_request") == []
    assert [event["message"] for event in house.of("tool.progress")] == ["lingering"]


async def test_stop_during_approval_closes_it_and_runs_nothing(tmp_path):
    house = House(tmp_path, [[Call("touch", {"word": "x"}), Call("peek")]])
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    await house.onyx.abort(run_id)
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert house.onyx.approvals.pending() == []
    assert house.of("exec.approval_resolved")[0]["decision"] == "aborted"
    assert house.touch.done == []
    assert house.peek.done == []
    assert len(house.results(key)) == 2
    assert [line["meta"]["decision"] for line in house.lines(key) if "decision" in line.get("meta", {})] == ["aborted"]


async def test_stop_while_queued_withdraws_message_and_leaves_running_run(tmp_path):
    hold = Hold()
    house = House(tmp_path, [["one ", hold, "two"]])
    key = await house.session()
    first = await house.send(key)
    await until(hold.reached.is_set)
    second = await house.send(key, "And then", when_busy="followup")
    assert await house.onyx.abort(second)
    assert [name for name, _ in house.ends(second)] == ["chat.aborted"]
    assert house.ends(first) == []
    hold.released.set()
    assert (await house.end(first))[0] == "chat.final"
    assert len(house.model.requests) == 1
    assert house.ends_on_disk(key) == ["aborted", "final"]


@pytest.mark.parametrize("ticks", range(12))
async def test_stop_at_the_very_end_leaves_exactly_one_end(tmp_path, ticks):
    house = House(tmp_path, ["Hello"])
    key = await house.session()
    run_id = await house.send(key)
    await until(lambda: "Hello" in house.file(key).read_text())
    for _ in range(ticks):
        await asyncio.sleep(0)
    await house.onyx.abort(run_id)
    (name,) = {"final": "chat.final", "aborted": "chat.aborted"}.keys() & {(await house.end(run_id))[0][5:]}
    assert house.ends_on_disk(key) == [name]


@pytest.mark.parametrize("ticks", range(12))
async def test_stop_at_any_early_moment_ends_run_exactly_once(tmp_path, ticks):
    house = House(tmp_path, [["Hello", Call("linger")], "never"])
    key = await house.session()
    run_id = await house.send(key)
    for _ in range(ticks):
        await asyncio.sleep(0)
    await house.onyx.abort(run_id)
    name, _ = await house.end(run_id)
    assert name == "chat.aborted"
    assert house.ends_on_disk(key) == ["aborted"]
    house.results(key)
    assert [line["content"] for line in house.lines(key)].count("Hello") <= 1


async def test_stop_while_reply_is_written_stores_it_once_with_paired_calls(tmp_path):
    house = House(tmp_path, [["Hello", Call("peek")], "never"])
    key = await house.session()
    transcript = await house.onyx.sessions.get(key)
    writing, go_on = asyncio.Event(), asyncio.Event()
    original = SessionTranscript.append_assistant

    async def slow(self, *arguments):
        append = asyncio.ensure_future(original(self, *arguments))
        writing.set()
        try:
            await asyncio.shield(append)
            await go_on.wait()
        finally:
            await append

    transcript.append_assistant = slow.__get__(transcript)  # the disk, held at the moment that matters
    run_id = await house.send(key)
    await writing.wait()
    await house.onyx.abort(run_id)
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert [line["content"] for line in house.lines(key)].count("Hello") == 1
    assert house.peek.done == []
    assert len(house.results(key)) == 1


async def test_provider_error_before_any_text_is_shown_with_hint(tmp_path):
    house = House(tmp_path, [[Fail("authentication", "The key was refused.", "Set providers.openai.apiKey.")], "Back"])
    key = await house.session()
    name, data = await house.run(key, "First")
    assert name == "chat.error"
    assert (data["code"], data["message"]) == ("authentication", "The key was refused.")
    assert data["hint"] == "Set providers.openai.apiKey."
    assert [line["role"] for line in house.lines(key)] == ["system", "user", "system"]
    assert house.lines(key)[-1]["meta"]["hint"] == "Set providers.openai.apiKey."
    assert (await house.run(key, "Second"))[0] == "chat.final"


async def test_provider_error_after_text_keeps_text(tmp_path):
    house = House(tmp_path, [["Half", Fail("unavailable", hint="Try later.")]])
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["code"]) == ("chat.error", "unavailable")
    partial = house.lines(key)[-2]
    assert (partial["content"], partial["meta"]["partial"]) == ("Half", True)
    assert house.ends_on_disk(key) == ["error"]


async def test_text_held_back_by_filter_is_kept_when_answer_breaks_off(tmp_path):
    house = House(tmp_path, [["a <in", Fail("unavailable")]])
    key = await house.session()
    assert (await house.run(key))[0] == "chat.error"
    assert house.lines(key)[-2]["content"] == "a <in"
    assert "".join(data["text"] for data in house.of("chat.delta")) == "a <in"


async def test_error_in_later_turn_keeps_earlier_paired_calls(tmp_path):
    house = House(tmp_path, [[Call("peek", {"word": "a"})], *[[Fail("rate_limit", hint="Wait.")]] * 3])
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["code"]) == ("chat.error", "rate_limit")
    assert [line["content"] for line in house.results(key).values()] == ["saw a"]


async def test_bug_in_model_ends_run_with_message_without_details(tmp_path, caplog):
    def reply(request):
        raise KeyError("a secret detail")

    house = House(tmp_path, reply)
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["code"]) == ("chat.error", "internal")
    assert "KeyError" in data["message"]
    assert "secret detail" not in data["message"]
    assert "secret detail" in caplog.text


@pytest.mark.parametrize("reply", [[], [Say("")], [Say("  \n")], [Finish("stop")]])
async def test_empty_answer_is_an_error(tmp_path, reply):
    house = House(tmp_path, [reply] * 3)
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["code"]) == ("chat.error", "bad_response")
    assert "empty" in data["message"]
    assert data["hint"]


NO_RETRY = "{ runtime: { retry: { attempts: 1 } } }"


async def test_empty_answer_after_failed_call_is_retried_with_hint(tmp_path):
    house = House(tmp_path, [[Call("peek", {"wrong": 1})], [], "It does not work."], config=NO_RETRY)
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["text"]) == ("chat.final", "It does not work.")
    hinted = house.model.requests[2].messages
    assert hinted[:-1] == house.model.requests[1].messages
    assert "your answer was empty" in hinted[-1].content
    assert "your answer was empty" not in house.file(key).read_text()
    assert [line["content"] for line in house.lines(key) if line["role"] == "assistant"] == ["", "It does not work."]


async def test_second_empty_answer_after_failed_call_ends_run(tmp_path):
    house = House(tmp_path, [[Call("peek", {"wrong": 1})], [], [], "Never."], config=NO_RETRY)
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["code"]) == ("chat.error", "bad_response")
    assert len(house.model.requests) == 3


async def test_empty_answer_after_successful_call_ends_run(tmp_path):
    house = House(tmp_path, [[Call("peek")], [], "Never."], config=NO_RETRY)
    key = await house.session()
    assert (await house.run(key))[0] == "chat.error"
    assert len(house.model.requests) == 2


async def test_stream_without_end_is_an_error_and_text_is_kept(tmp_path):
    class Endless(ScriptedModel):
        async def stream(self, request):
            async for event in super().stream(request):
                if type(event).__name__ != "ModelDone":
                    yield event

    model = Endless(["Half"])
    house = House(tmp_path, models={"scripted/model": model})
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["code"]) == ("chat.error", "bad_response")
    assert house.lines(key)[-2]["content"] == "Half"


async def test_duplicate_call_ids_are_made_unique_and_every_call_runs(tmp_path):
    twice = [Call("peek", {"word": "a"}, id="call_0"), Call("peek", {"word": "b"}, id="call_0")]
    house = House(tmp_path, [twice, [Call("peek", {"word": "c"}, id="call_0")], "Done"])
    key = await house.session()
    assert (await house.run(key))[0] == "chat.final"
    assert house.peek.done == ["a", "b", "c"]
    assert len(set(house.results(key))) == 3
    for request in house.model.requests:
        ids = [call.id for message in request.messages for call in message.tool_calls]
        assert ids == [message.tool_call_id for message in request.messages if message.role == "tool"]


async def test_model_loading_progress_is_reported(tmp_path):
    house = House(tmp_path, [[Progress("Loading the model"), "Hi"]])
    await house.run(await house.session())
    assert house.of("tool.progress")[0]["message"] == "Loading the model"
    assert (house.of("tool.progress")[0]["tool"], house.of("tool.progress")[0]["callId"]) == ("model", "")


async def test_emoji_split_across_deltas_reaches_watchers_disk_and_model_whole(tmp_path):
    house = House(tmp_path, [["\ud83d", "\ude00"], "ok"])
    key = await house.session()
    assert (await house.run(key))[0] == "chat.final"
    assert house.lines(key)[2]["content"] == "😀"
    await house.run(key)
    assert house.model.requests[1].messages[1].content == "😀"


async def test_full_disk_ends_run_with_storage_error_and_next_run_works(tmp_path):
    house = House(tmp_path, ["x" * 50_000, "Back again"])
    key = await house.session()
    with file_size_limit(20_000):
        name, data = await house.run(key)
    assert (name, data["code"]) == ("chat.error", "storage")
    assert "maximum size" in data["message"]
    assert data["hint"]
    assert (await house.run(key, "Again"))[0] == "chat.final"
    assert house.lines(key)[-1]["meta"]["outcome"] == "final"


async def test_full_disk_runs_no_tool_that_needs_approval(tmp_path):
    hold = Hold()
    house = House(tmp_path, [[hold, Call("touch", {"word": "x"})], "after"])
    key = await house.session()
    run_id = await house.send(key)
    await until(hold.reached.is_set)
    with file_size_limit(house.file(key).stat().st_size + 10):
        hold.released.set()
        name, data = await house.end(run_id)
    assert (name, data["code"]) == ("chat.error", "storage")
    assert house.touch.done == []
    assert house.of("exec.approval_request") == []


async def test_configured_secrets_are_redacted_from_results_and_errors(tmp_path):
    secret = "topsecret-abcdefgh"
    house = House(
        tmp_path,
        [[Call("peek", {"word": secret})], *[[Fail("unavailable", f"GET http://host?key={secret} failed")]] * 3],
        config=f"{{ providers: {{ mine: {{ apiKey: '{secret}', baseUrl: 'http://host/v1' }} }} }}",
    )
    key = await house.session()
    name, data = await house.run(key)
    assert name == "chat.error"
    assert secret not in data["message"]
    (line,) = house.results(key).values()
    assert line["content"] == "saw [redacted:mine-key]"
    assert secret not in house.of("tool.finished")[0]["output"]
    assert secret not in house.model.requests[1].messages[-1].content


def test_loop_file_stays_under_two_hundred_lines():
    assert len(Path(run_loop.__code__.co_filename).read_text().splitlines()) < 200


async def test_session_deleted_during_run_still_ends_it(tmp_path):
    hang = Hang()
    house = House(tmp_path, [["Half", hang]])
    key = await house.session()
    run_id = await house.send(key)
    await until(hang.reached.is_set)
    house.file(key).unlink()
    await house.onyx.abort(run_id)
    await until(lambda: house.ends(run_id))
    assert len(house.ends(run_id)) == 1
    with contextlib.suppress(FileNotFoundError):
        await house.close()
