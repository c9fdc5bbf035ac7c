"""Nothing that changes state runs without a yes or a grant on disk before it, over any interleaving of two sessions."""

import asyncio
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from onyx_jupyter.testing.script import Call
from tests.runtime.house import House
from tests.waiting import until

YES = ("once", "session", "always")
ANSWERS = (*YES, "deny", "stop", "stop and send again", "revoke all, then once", "restart, then once")
WORDS = ("a", "b")


@settings(max_examples=100, deadline=None)
@given(
    turns=st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from(WORDS), st.sampled_from(ANSWERS)), min_size=1, max_size=7
    )
)
def test_every_change_has_its_yes_or_its_grant_on_disk_before_it(tmp_path_factory, turns):
    """Five rules, approvals: silence, a stop, another session's yes and a revoked grant never let a call run."""
    folder = tmp_path_factory.mktemp("house")
    play = Play(folder)
    asyncio.run(play.all(turns))
    assert play.ran == play.expected
    approved = {item["run"]: item for item in play.audit("decision") if item["decision"] == "approved"}
    done = [item for item in play.audit("tool") if item["status"] == "ok"]
    assert [item["run"] for item in done] == list(approved)
    for item in done:
        decision = approved[item["run"]]
        assert decision["n"] < item["n"]
        assert (decision["call"], decision["by"]) == (item["call"], item["by"])


class Play:
    """Two sessions with one server after the other; `expected` is what people's answers allow, by the rules alone."""

    def __init__(self, folder):
        self.folder = folder
        self.house = self.open()
        self.ran: list[str] = []
        self.expected: list[str] = []
        self.always: set[str] = set()
        self.session: set[tuple[str, str]] = set()

    def open(self) -> House:
        return House(self.folder, lambda request: _call_or_end(request))

    async def all(self, turns) -> None:
        keys = [await self.house.session(), await self.house.session()]
        for place, word, answer in turns:
            await self.turn(keys[place], word, answer)
        await until(lambda: not self.house.onyx.runs.busy)
        await self.leave()

    async def turn(self, key: str, word: str, answer: str) -> None:
        if answer.startswith("revoke"):
            for grant in await self.house.onyx.grants.list():
                await self.house.onyx.revoke_grant(grant.id, "ada")
            self.always.clear()
        if answer.startswith("restart"):
            await self.leave()
            self.house, self.session = self.open(), set()
            await self.house.onyx.ready()
        house = self.house
        run_id = await house.send(key, word)
        await until(lambda: house.onyx.approvals.pending(key) or house.ends(run_id))
        asked = bool(house.onyx.approvals.pending(key))
        assert asked == (word not in self.always and (key, word) not in self.session)
        if asked:
            await self.answer(key, word, answer.rpartition(" ")[2], run_id)
        else:
            self.expected.append(word)
        await until(lambda: house.ends(run_id))
        if asked and answer == "stop and send again":
            await self.turn(key, word, "deny")

    async def answer(self, key: str, word: str, answer: str, run_id: str) -> None:
        if answer in YES:
            self.expected.append(word)
            if answer == "always":
                self.always.add(word)
            elif answer == "session":
                self.session.add((key, word))
            await self.house.approve(answer, key)
        elif answer == "deny":
            await self.house.onyx.approvals.deny(await self.house.asked(key), "ada", None)
        else:
            await self.house.onyx.abort(run_id)

    async def leave(self) -> None:
        await self.house.close()
        self.ran += self.house.touch.done

    def audit(self, event: str) -> list[dict]:
        lines = self.house.home.audit_file.read_text("utf-8").splitlines()
        return [item for item in map(json.loads, lines) if item["event"] == event]


def _call_or_end(request):
    last = request.messages[-1]
    return [Call("touch", {"word": last.content})] if last.role == "user" else ["Done"]
