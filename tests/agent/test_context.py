"""A conversation longer than the model's window: summed up, cut, said so, and never lost from the transcript."""

import json
from dataclasses import replace

import pytest

from onyx_jupyter.testing.script import Call, Fail, Hang, Tokens
from tests.agent.summaries import (
    LIMIT,
    PROPOSAL,
    a_summary,
    all_paired,
    asked,
    house_of,
    kinds,
    side_requests,
    tokens,
)
from tests.waiting import until

LONG = "lorem ipsum dolor sit amet " * 250  # about 1,700 tokens


async def old_turns(house, key, count, words=LONG):
    """Turns that the transcript holds already."""
    transcript = await house.onyx.sessions.get(key)
    for number in range(count):
        await transcript.append_user(f"old {number}", f"Old question {number}. {words}", {})
        await transcript.append_assistant(f"old {number}", "Fine.", (), None, {})


async def talk(house, key, turns, words=LONG):
    for number in range(turns):
        name, _ = await house.run(key, f"Question {number}. {words}")
        assert name == "chat.final"


async def test_older_part_is_summarized_before_window_is_full(tmp_path):
    house = house_of(tmp_path, lambda request: "Fine.", lambda request: a_summary(memory=[PROPOSAL]))
    key = await house.session()
    await talk(house, key, 20)
    assert len(asked(house)) == 20
    assert all(tokens(request) <= LIMIT for request in asked(house))
    assert all(request.tools == () for request in side_requests(house))
    assert 1 <= len(side_requests(house)) <= 6
    last = asked(house)[-1].messages
    assert "Nothing special." in last[0].content
    assert last[-1].content.startswith("Question 19.")
    assert [message.content[:11] for message in last if message.role == "user"][1:][-3:] == [
        "Question 17", "Question 18", "Question 19",
    ]  # fmt: skip
    assert sum(line["role"] == "user" for line in house.lines(key)) == 20, "the transcript keeps everything"
    notes = [note for note in house.of("chat.note") if note["kind"] == "compaction"]
    assert len(notes) == len(side_requests(house))
    assert notes[0]["data"]["tokensBefore"] > LIMIT > notes[0]["data"]["tokensAfter"]
    assert notes[0]["data"]["proposals"] == [PROPOSAL]
    assert "Nothing is saved unless you say so" in notes[0]["message"]
    entry = next(line for line in house.lines(key) if line["meta"].get("kind") == "compaction")
    assert entry["meta"]["proposals"] == [PROPOSAL]
    assert "Memory operations" not in entry["content"]
    memory = house.home.root / "workspace" / "MEMORY.md"
    assert not memory.exists() or "blue" not in memory.read_text()


async def test_requests_share_a_prefix_between_compactions(tmp_path):
    house = house_of(tmp_path, lambda request: "Fine.")
    key = await house.session()
    await talk(house, key, 16)
    requests = asked(house)
    breaks = [
        number
        for number in range(1, len(requests))
        if list(requests[number].messages[: len(requests[number - 1].messages)]) != list(requests[number - 1].messages)
    ]
    assert len(breaks) == len(side_requests(house)) >= 1
    assert len({request.system for request in requests}) == 1


async def test_long_run_with_huge_results_continues_and_keeps_its_task(tmp_path):
    replies = [[Call("peek", {"word": f"{number} {LONG}"}, id="call_0")] for number in range(19)]
    script = iter([*replies, "Done"])
    house = house_of(tmp_path, lambda request: next(script))
    key = await house.session()
    name, data = await house.run(key, "The task: count the words.")
    assert (name, data["text"]) == ("chat.final", "Done")
    for request in asked(house):
        assert tokens(request) <= LIMIT
        assert all_paired(request)
        assert "The task: count the words." in [message.content for message in request.messages]
    assert side_requests(house)
    assert len(house.peek.done) == 19
    assert len(house.results(key)) == 19, "ids stay unique though the first calls are out of sight"


async def test_summary_cost_counts_towards_run(tmp_path):
    summary = [a_summary(), Tokens(5000, 300)]
    house = house_of(tmp_path, lambda request: ["Fine.", Tokens(10, 1)], lambda request: summary)
    key = await house.session()
    await old_turns(house, key, 8)
    _, data = await house.run(key, "and now")
    assert len(side_requests(house)) == 1
    assert (data["usage"]["inputTokens"], data["usage"]["outputTokens"]) == (5010, 301)
    (ledger,) = house.home.usage.glob("*.jsonl")
    calls = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert [(call["role"], call["run"]) for call in calls][-2:] == [
        ("compaction", data["runId"]),
        ("default", data["runId"]),
    ]


async def test_summary_still_replaces_older_part_after_restart(tmp_path):
    house = house_of(tmp_path, lambda request: "Fine.")
    key = await house.session()
    await talk(house, key, 9)
    await house.close()
    assert len(side_requests(house)) == 1
    again = house_of(tmp_path, lambda request: "Fine.")
    await again.onyx.ready()
    await again.run(key, "One more")
    assert side_requests(again) == []
    before, after = asked(house)[-1], asked(again)[0]
    assert list(after.messages[: len(before.messages)]) == list(before.messages)


@pytest.mark.parametrize(
    "useless",
    [
        "I would rather not.",
        a_summary(LONG * 12),
        a_summary().replace("## Standing instructions", "## Rules"),
    ],
)
async def test_useless_summary_keeps_original_and_is_not_retried_every_call(tmp_path, useless):
    house = house_of(tmp_path, lambda request: "Fine.", lambda request: [useless, Tokens(7, 3)])
    key = await house.session()
    transcript = await house.onyx.sessions.get(key)
    await transcript.append_user("old", "An old question", {})
    await transcript.append_assistant("old", LONG * 7, (), None, {})
    await transcript.append_user("newer", "A newer question", {})
    await transcript.append_assistant("newer", "Short.", (), None, {})
    _, data = await house.run(key, "First")
    assert len(side_requests(house)) == 2
    assert "could not be used" in side_requests(house)[1].messages[0].content
    (request,) = asked(house)
    assert [message.content for message in request.messages] == [
        "An old question", LONG * 7, "A newer question", "Short.", "First",
    ]  # fmt: skip
    assert kinds(house, key) == ["compaction_failed"]
    assert data["usage"]["inputTokens"] == tokens(request) + 14
    await house.run(key, "Second")
    assert tokens(asked(house)[1]) > LIMIT
    assert len(side_requests(house)) == 2
    assert not house.of("chat.note")


async def test_retry_is_told_what_first_summary_lost(tmp_path):
    tries = iter([a_summary("all well"), a_summary("see notebooks/penguins.ipynb, cell_id 3f2a91b7")])
    house = house_of(tmp_path, lambda request: "Fine.", lambda request: next(tries))
    key = await house.session()
    transcript = await house.onyx.sessions.get(key)
    await transcript.append_user("old", "Mend cell 3f2a91b7 of notebooks/penguins.ipynb", {})
    await transcript.append_assistant("old", LONG * 7, (), None, {})
    await house.run(key, LONG)
    first, second = side_requests(house)
    assert "3f2a91b7" in first.messages[0].content.split("exactly as written")[1]
    assert "These are missing: 3f2a91b7, notebooks/penguins.ipynb" in second.messages[0].content
    assert kinds(house, key) == ["compaction"]
    assert "3f2a91b7" in asked(house)[-1].messages[0].content


async def test_user_words_are_kept_verbatim_whatever_the_summary_says(tmp_path):
    house = house_of(tmp_path, lambda request: "Fine.", lambda request: a_summary("all well"))
    key = await house.session()
    await house.run(key, "Never send an e-mail without asking me.")
    await talk(house, key, 24, words=LONG)
    assert len(side_requests(house)) > 2
    assert "- Never send an e-mail without asking me." in asked(house)[-1].messages[0].content


async def test_malformed_memory_proposals_are_dropped(tmp_path):
    bad = [{**PROPOSAL, "op": "delete"}, {**PROPOSAL, "extra": 1}, {"op": "add"}, "x", {**PROPOSAL, "content": ""}]
    house = house_of(tmp_path, lambda request: "Fine.", lambda request: a_summary(memory=[*bad, PROPOSAL]))
    key = await house.session()
    await talk(house, key, 9)
    (note,) = [note for note in house.of("chat.note") if note["kind"] == "compaction"]
    assert note["data"]["proposals"] == [PROPOSAL]


async def test_stop_during_summary_ends_run_without_changes(tmp_path):
    hang = Hang()
    house = house_of(tmp_path, lambda request: "Fine.", lambda request: ["## Goal", hang])
    key = await house.session()
    transcript = await house.onyx.sessions.get(key)
    await transcript.append_user("old", LONG * 8, {})
    await transcript.append_assistant("old", "Fine.", (), None, {})
    run_id = await house.send(key, "Go on")
    await until(hang.reached.is_set)
    assert await house.onyx.abort(run_id)
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert house.model.interrupted == 1
    assert asked(house) == []
    assert kinds(house, key) == []
    assert not any("## Goal" in line["content"] for line in house.lines(key)), "it was never part of the answer"


async def test_provider_failure_during_summary_drops_nothing(tmp_path):
    house = house_of(tmp_path, lambda request: "Fine.", lambda request: [Fail("rate_limit", "Too often.")])
    key = await house.session()
    await old_turns(house, key, 12)
    name, data = await house.run(key, "Go on")
    assert (name, data["code"]) == ("chat.error", "rate_limit")
    assert asked(house) == []
    assert kinds(house, key) == []


async def test_oldest_part_is_dropped_and_user_told_when_no_summary_and_no_room(tmp_path):
    house = house_of(tmp_path, lambda request: "Fine.", lambda request: "no")
    key = await house.session()
    transcript = await house.onyx.sessions.get(key)
    await transcript.append_user("old", "Never touch raw data.", {})
    await old_turns(house, key, 12)
    await house.run(key, "Go on")
    (request,) = asked(house)
    assert tokens(request) <= LIMIT
    assert request.messages[-1].content == "Go on"
    assert "Never touch raw data." in request.messages[0].content
    (note,) = [note for note in house.of("chat.note") if note["kind"] == "overflow"]
    assert note["data"]["tokensAfter"] < note["data"]["tokensBefore"]
    assert sum(line["role"] == "user" for line in house.lines(key)) == 14


async def test_overflow_error_drops_oldest_half_and_retries_once(tmp_path):
    answers = iter([[Fail("overflow", "Too long.")], "Fine."])
    house = house_of(tmp_path, lambda request: next(answers), window=1_000_000)
    key = await house.session()
    await old_turns(house, key, 10)
    name, _ = await house.run(key, "The newest")
    assert name == "chat.final"
    first, second = asked(house)
    assert tokens(second) < tokens(first) * 0.7
    assert second.messages[-1].content == "The newest"
    assert second.messages[-2:] == first.messages[-2:]
    (note,) = house.of("chat.note")
    assert note["kind"] == "overflow"
    assert side_requests(house) == []


async def test_second_overflow_is_an_error_and_session_stays_usable(tmp_path):
    answers = iter([[Fail("overflow", "Too long.")], [Fail("overflow", "Still too long.")], "Fine."])
    house = house_of(tmp_path, lambda request: next(answers))
    key = await house.session()
    name, data = await house.run(key, LONG)
    assert (name, data["code"], data["message"]) == ("chat.error", "overflow", "Still too long.")
    assert len(asked(house)) == 2
    assert (await house.run(key, "Shorter"))[0] == "chat.final"


async def test_overflow_after_visible_text_is_not_retried(tmp_path):
    house = house_of(tmp_path, lambda request: ["Half", Fail("overflow", "Too long.")])
    key = await house.session()
    assert (await house.run(key, LONG))[0] == "chat.error"
    assert len(asked(house)) == 1


async def test_message_longer_than_window_is_sent_with_head_and_tail(tmp_path):
    house = house_of(tmp_path, lambda request: "Fine.")
    key = await house.session()
    await house.run(key, f"BEGIN {LONG * 20} END")
    (request,) = asked(house)
    assert tokens(request) <= LIMIT
    assert request.messages[0].content.startswith("BEGIN")
    assert request.messages[0].content.endswith("END")
    assert next(line for line in house.lines(key) if line["role"] == "user")["content"] == f"BEGIN {LONG * 20} END"


async def test_light_model_is_never_asked_for_summary_and_still_fits(tmp_path):
    house = house_of(tmp_path, lambda request: "Fine.", light=True, window=4000)
    key = await house.session()
    await talk(house, key, 12, words="word " * 300)
    assert side_requests(house) == []
    assert all(tokens(replace(request, tools=())) <= 3000 for request in asked(house))
    assert [note["kind"] for note in house.of("chat.note")].count("overflow") >= 1


async def test_with_compaction_off_nothing_is_summarized_before_overflow_error(tmp_path):
    config = "{ runtime: { compaction: { enabled: false } } }"
    house = house_of(tmp_path, lambda request: "Fine.", config=config)
    key = await house.session()
    await talk(house, key, 9)
    assert side_requests(house) == []
    assert tokens(asked(house)[-1]) > LIMIT
