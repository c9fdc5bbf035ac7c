"""Tool execution over any calls and any answers to their approvals."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.security.external_content import escape_marks
from onyx_jupyter.testing.script import Call
from tests.runs.house import House
from tests.waiting import until

CALLS = st.tuples(st.sampled_from(["peek", "touch", "break", "nothing"]), st.text(max_size=8), st.booleans())

ANY_REPETITION = "{ runtime: { loopDetection: { enabled: false } } }"


@given(st.lists(st.lists(CALLS, min_size=1, max_size=3), min_size=1, max_size=3))
def test_every_allowed_call_runs_and_its_result_reaches_agent(tmp_path_factory, turns):
    """Property 21: For any tool call requested by the agent, the Tool_System SHALL execute it and the result SHALL be
    returned to the agent."""
    replies = [[Call(tool, {"word": word}) for tool, word, _ in turn] for turn in turns]
    house = House(tmp_path_factory.mktemp("house"), [*replies, "Done"], config=ANY_REPETITION)
    calls = [call for turn in turns for call in turn]

    async def run() -> None:
        key = await house.session()
        run_id = await house.send(key)
        for _, word, allowed in (call for call in calls if call[0] == "touch"):
            await until(house.onyx.approvals.pending)
            (pending,) = house.onyx.approvals.pending()
            assert pending.request.details["word"] == word
            await (house.approve() if allowed else house.deny("no"))
        assert (await house.end(run_id))[0] == "chat.final"
        expected = [_expected(*call) for call in calls]
        returned = [m.content for m in house.model.requests[-1].messages if m.role == "tool"]
        assert len(returned) == len(expected)
        assert all(result.startswith(begin) for result, begin in zip(returned, expected, strict=True))
        assert [line["content"] for line in house.results(key).values()] == returned
        assert house.peek.done == [word for tool, word, _ in calls if tool == "peek"]
        assert house.touch.done == [word for tool, word, allowed in calls if tool == "touch" and allowed]
        await house.close()

    asyncio.run(run())


def _expected(tool: str, word: str, allowed: bool) -> str:
    match tool:
        case "peek":
            return escape_marks(f"saw {word}")
        case "touch":
            return escape_marks(f"touched {word}") if allowed else "Denied: no"
        case "break":
            return "break failed (ZeroDivisionError)"
        case _:
            return "nothing failed (tool_error)"
