"""No state change without a stored approval or grant, over any interleaving of two sessions."""

import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.testing.script import Call
from tests.runs.house import House
from tests.waiting import until

YES = ("once", "session", "always")
ANSWERS = (*YES, "deny", "stop", "stop and send again", "revoke all, then once", "restart, then once")
WORDS = ("a", "b")
ADA = "user:ada"


@given(
    turns=st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from(WORDS), st.sampled_from(ANSWERS)), min_size=1, max_size=7
    )
)
def test_every_change_is_preceded_by_stored_approval_or_grant(tmp_path_factory, turns):
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


@given(
    moves=st.lists(
        st.one_of(
            st.tuples(st.just("send"), st.sampled_from(WORDS), st.sampled_from(("steer", "followup", "interrupt"))),
            st.tuples(st.just("answer"), st.sampled_from((*YES, "deny", "stop")), st.booleans()),
        ),
        min_size=2,
        max_size=10,
    )
)
def test_messages_during_approval_never_allow_a_call(tmp_path_factory, moves):
    """Five rules, approvals: a message that joins, waits or interrupts is no yes; what runs has its own on disk."""
    folder = tmp_path_factory.mktemp("house")
    play = BusyPlay(folder)
    asyncio.run(play.all(moves))
    approved = {item["call"]: item for item in play.audit("decision") if item["decision"] == "approved"}
    done = [item for item in play.audit("tool") if item["status"] == "ok"]
    assert len(play.house.touch.done) <= len(approved)  # also with a call that was stopped while it ran
    for item in done:
        decision = approved.pop(item["call"])
        assert decision["n"] < item["n"]
        assert (decision["run"], decision["by"]) == (item["run"], item["by"])
    people = [item["call"] for item in play.audit("decision") if item["by"] == ADA and item["decision"] == "approved"]
    assert people == play.allowed
    assert {item["call"] for item in done if item["by"] == ADA} <= set(play.allowed)  # a Stop may come after the yes


class BusyPlay:
    """One session to which a person writes whatever goes on; `allowed` is every call that a person said yes to."""

    def __init__(self, folder):
        self.house = House(folder, _call_or_end)
        self.allowed: list[str] = []

    async def all(self, moves) -> None:
        self.key = await self.house.session()
        for kind, what, how in moves:
            if kind == "send":
                await self.house.send(self.key, what, when_busy=how)
            else:
                await self.answer(what, settled=how)
        while await self.waits():
            await self.house.onyx.approvals.deny(await self.house.asked(self.key), "ada", None)
        await self.house.close()

    async def answer(self, what: str, *, settled: bool) -> None:
        """To the question that waits now, or once all is quiet."""
        pending = self.house.onyx.approvals.pending(self.key)
        if settled and not pending and await self.waits():
            pending = self.house.onyx.approvals.pending(self.key)
        if not pending:
            return
        request = pending[0].request
        if what == "stop":
            await self.house.onyx.abort(request.run_id)
        elif what == "deny":
            await self.house.onyx.approvals.deny(request.approval_id, "ada", None)
        else:
            await self.house.onyx.approvals.approve(request.approval_id, "ada", what)
            self.allowed.append(request.call_id)

    async def waits(self) -> bool:
        """Whether a question waits once nothing moves any more."""
        onyx = self.house.onyx
        await until(lambda: onyx.approvals.pending(self.key) or not onyx.runs.busy)
        return bool(onyx.approvals.pending(self.key))

    def audit(self, event: str) -> list[dict]:
        return _audit(self.house, event)


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
        return _audit(self.house, event)


def _audit(house: House, event: str) -> list[dict]:
    lines = house.home.audit_file.read_text("utf-8").splitlines() if house.home.audit_file.exists() else []
    return [item for item in map(json.loads, lines) if item["event"] == event]


def _call_or_end(request):
    last = request.messages[-1]
    return [Call("touch", {"word": last.content})] if last.role == "user" else ["Done"]
