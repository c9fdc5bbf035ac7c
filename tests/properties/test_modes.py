import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.testing.script import Call
from tests.runs.house import House
from tests.runs.test_modes import Wreck, decisions
from tests.waiting import until

AUTO = json.dumps({"security": {"auto": ["touch", "group:wrecks"]}})
TURNS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "agent", "auto", None]),
        st.sampled_from(["touch", "wreck"]),
        st.sampled_from(["once", "session", "deny"]),
    ),
    min_size=1,
    max_size=7,
)


@given(turns=TURNS)
def test_mode_holds_over_any_messages_and_mandatory_approvals_are_asked(tmp_path_factory, turns):
    """Whatever was allowed before: Ask runs nothing, Auto what is named, and no mode what a person must be asked."""
    asyncio.run(_play(tmp_path_factory.mktemp("house"), turns))


async def _play(folder, turns) -> None:
    wreck = Wreck()
    replies = [reply for _, tool, _ in turns for reply in ([Call(tool, {"word": "x"})], "Done")]
    house = House(folder, replies, config=AUTO, more_tools=[wreck])
    key = await house.session()
    by, ran, allowed = [], {"touch": 0, "wreck": 0}, False
    for mode, tool, answer in turns:
        asked_before = len(house.of("exec.approval_request"))
        run_id = await house.send(key, mode=mode)
        await until(lambda: house.ends(run_id) or house.onyx.approvals.pending())  # noqa: B023 (awaited at once)
        asked = len(house.of("exec.approval_request")) - asked_before
        must = mode != "ask" and (tool == "wreck" or (mode != "auto" and not allowed))
        assert asked == must
        if asked and answer == "deny":
            await house.deny()
        elif asked:
            await house.approve(answer)
            allowed = allowed or (tool == "touch" and answer == "session")
        await house.end(run_id)
        if mode != "ask":
            decided = "user:ada" if asked else "session" if allowed else "auto"
            yes = not (asked and answer == "deny")
            by.append((tool, "approved" if yes else "denied", decided))
            ran[tool] += yes
    assert (len(house.touch.done), len(wreck.done)) == (ran["touch"], ran["wreck"])
    assert (decisions(house) if by else []) == by
    await house.close()
