"""Context size over any history: tools, images, all scripts, and summaries that succeed or fail."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.messages import Attachment, ToolCall, ToolResult
from onyx_jupyter.testing.script import Call, Fail
from tests.agent.summaries import a_summary, all_paired, asked, house_of, side_requests, tokens

FAMILY, ACCENTS = "👩‍👩‍👧‍👦🏳️‍🌈", "e\u0301o\u0323\u0302"
SCRIPTS = ("words of English ", "数据分析笔记本", "Быстрая лиса ", "नोटबुक पर ", "한국어 텍스트", "0.123,", "/a_b.py:")
TEXTS = st.builds(
    lambda piece, times: piece * times,
    st.sampled_from((*SCRIPTS, FAMILY, ACCENTS)),
    st.sampled_from([1, 20, 200, 1000]),
)
RESULTS = st.tuples(TEXTS, st.integers(0, 3))
STEPS = st.lists(st.lists(RESULTS, min_size=1, max_size=3), max_size=4)
TURNS = st.lists(st.tuples(TEXTS, STEPS, TEXTS), max_size=6)
SUMMARIES = {
    "good": lambda request: a_summary("数据 and words"),
    "without form": lambda request: "no",
    "endless": lambda request: a_summary("words " * 30_000),
    "refused": lambda request: [Fail("refused", "No.")],
}
PICTURE = Attachment("image", "image/png", "iVBORw0KGgoAAAANSUhEUg==")


@given(
    turns=TURNS,
    newest=TEXTS,
    window=st.sampled_from([6000, 9000, 20_000, 60_000]),
    summary=st.sampled_from(sorted(SUMMARIES)),
)
def test_context_is_within_limit_after_compaction(tmp_path_factory, turns, newest, window, summary):
    """Property 14: For any session after compaction, the total context size SHALL be within the configured maximum
    token limit. And every call has its result next to it, and the newest message of the user is there."""
    house = house_of(tmp_path_factory.mktemp("house"), lambda request: "Fine.", SUMMARIES[summary], window=window)

    async def run() -> None:
        key = await house.session()
        transcript = await house.onyx.sessions.get(key)
        for number, (said, steps, answer) in enumerate(turns):
            await transcript.append_user(f"r{number}", said, {})
            await _steps(transcript, f"r{number}", steps)
            await transcript.append_assistant(f"r{number}", answer, (), None, {})
        assert (await house.run(key, f"NEWEST {newest}"))[0] == "chat.final"
        (request,) = asked(house)
        reserve = window // 4
        compacted = bool([note for note in house.of("chat.note") if note["kind"] in ("compaction", "overflow")])
        # A summary that failed leaves all as it was only where that still fits into the window itself.
        limit = window - reserve if compacted or not side_requests(house) else window - reserve // 4
        assert tokens(request) <= limit
        assert all_paired(request)
        assert request.messages[-1].role == "user"
        assert request.messages[-1].content.startswith("NEWEST ")
        if not compacted:
            assert request.messages[-1].content == f"NEWEST {newest}"
        await house.close()

    asyncio.run(run())


@given(turns=TURNS, steps=STEPS, window=st.sampled_from([6000, 20_000]), summary=st.sampled_from(sorted(SUMMARIES)))
def test_every_request_of_a_long_run_is_within_limit(tmp_path_factory, turns, steps, window, summary):
    """Property 14, where the boundary lies inside the run that is going on."""
    replies = iter([*[[Call("peek", {"word": text}) for text, _ in step] for step in steps], "Done"])
    house = house_of(tmp_path_factory.mktemp("house"), lambda request: next(replies), SUMMARIES[summary], window=window)

    async def run() -> None:
        key = await house.session()
        transcript = await house.onyx.sessions.get(key)
        for number, (said, _, reply) in enumerate(turns):
            await transcript.append_user(f"r{number}", said, {})
            await transcript.append_assistant(f"r{number}", reply, (), None, {})
        assert (await house.run(key, "The task"))[0] == "chat.final"
        for request in asked(house):
            assert tokens(request) <= window - window // 16
            assert all_paired(request)
            assert "The task" in [message.content for message in request.messages]
        await house.close()

    asyncio.run(run())


async def _steps(transcript, run_id, steps):
    for number, results in enumerate(steps):
        ids = [f"{run_id}-{number}-{place}" for place in range(len(results))]
        calls = [ToolCall(call_id, "peek", {"word": text}) for call_id, (text, _) in zip(ids, results, strict=True)]
        await transcript.append_assistant(run_id, "", calls, None, {})
        for call, (text, pictures) in zip(calls, results, strict=True):
            await transcript.append_result(run_id, call, ToolResult(text, attachments=(PICTURE,) * pictures), {})
