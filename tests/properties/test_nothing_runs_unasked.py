"""Nothing that changes state runs without a yes on disk before it, over any interleaving of two sessions."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from onyx_jupyter.testing.script import Call
from tests.runtime.house import House
from tests.waiting import until

ANSWERS = ("once", "session", "deny", "stop", "stop and send again")
WORDS = ("a", "b")


@settings(max_examples=100, deadline=None)
@given(
    turns=st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from(WORDS), st.sampled_from(ANSWERS)), min_size=1, max_size=7
    )
)
def test_every_change_has_its_yes_on_disk_before_it(tmp_path_factory, turns):
    """Five rules, approvals: silence, a stop and another session's yes never let a call run."""
    house = House(tmp_path_factory.mktemp("house"), lambda request: _call_or_end(request))

    async def play() -> None:
        keys = [await house.session(), await house.session()]
        for place, word, answer in turns:
            await _turn(house, keys[place], word, answer)
        await until(lambda: not house.onyx.runs.busy)
        allowed = sum(_changes_with_a_yes(house, key) for key in keys)
        assert len(house.touch.done) == allowed
        await house.close()

    asyncio.run(play())


def _call_or_end(request):
    last = request.messages[-1]
    return [Call("touch", {"word": last.content})] if last.role == "user" else ["Done"]


async def _turn(house: House, key: str, word: str, answer: str) -> None:
    run_id = await house.send(key, word)
    await until(lambda: house.onyx.approvals.pending(key) or house.ends(run_id))
    if house.onyx.approvals.pending(key):
        if answer in ("once", "session"):
            await house.approve(answer, key)
        elif answer == "deny":
            await house.onyx.approvals.deny(await house.asked(key), "ada", None)
        else:
            await house.onyx.abort(run_id)
            if answer == "stop and send again":
                await _turn(house, key, word, "deny")
    await until(lambda: house.ends(run_id))


def _changes_with_a_yes(house: House, key: str) -> int:
    """How many calls of this session were done; each must follow a yes for it, or one for all that are like it."""
    asked: dict[str, dict] = {}
    allowed: set[str] = set()
    allowed_words: set[str] = set()
    done = 0
    for line in house.lines(key):
        meta = line.get("meta", {})
        if meta.get("kind") == "approval_request":
            asked[meta["approvalId"]] = meta
        elif meta.get("kind") == "approval_resolved" and meta["decision"] == "approved":
            request = asked[meta["approvalId"]]
            allowed.add(request["callId"])
            if meta["scope"] == "session":
                allowed_words.add(request["details"]["word"])
        elif line["role"] == "tool" and meta["status"] == "ok":
            word = line["content"].removeprefix("touched ")
            assert line["tool_call_id"] in allowed or word in allowed_words
            done += 1
    return done
