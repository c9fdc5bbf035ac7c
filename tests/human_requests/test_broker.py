"""Asking people: the first answer counts, silence is a no, nothing runs that was not written down."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.clock import IdSource
from onyx_jupyter.errors import AlreadyResolved, InvalidRequest, NotFound, StorageError
from onyx_jupyter.events import ApprovalRequested
from onyx_jupyter.human_requests.approval_policy import Ceiling, Policy, PolicyDecision, no_ceiling
from onyx_jupyter.human_requests.broker import ApprovalBroker, Reach, Resolution
from onyx_jupyter.human_requests.grants import GrantStore
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import ApprovalAnswer, ExactScope, ToolPreview
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.waiting import LIMIT_S, until

LIST = ToolPreview("Run `ls`", {"command": "ls"}, "exec ls", "this exact command", ExactScope({"command": "ls"}))
REMOVE = ToolPreview("Run `rm`", {"command": "rm"}, "exec rm", "this exact command", ExactScope({"command": "rm"}))


def shell(command: str, cwd: str = "/work", **more: Any) -> ToolPreview:
    """A preview as exec gives it."""
    facts = ExactScope({"cwd": cwd, **more}, without=("command", "cwd", "timeoutMs"), shell=command)
    return ToolPreview(f"Run `{command}`", {"command": command, "cwd": cwd}, "", "", facts)


class Journal:
    """Remembers what was written; `refuses` names what the disk says no to, `held` keeps answers from being written."""

    def __init__(self) -> None:
        self.asked: list[tuple[ApprovalRequested, bool]] = []
        self.answers: list[tuple[str, str, str, str | None]] = []
        self.decisions: list[tuple[str, PolicyDecision]] = []
        self.refuses: set[str] = set()
        self.held: asyncio.Event | None = None

    async def requested(self, session_key: str, request: ApprovalRequested, *, restored: bool) -> None:
        if "requested" in self.refuses:
            raise StorageError("The disk is full.")
        self.asked.append((request, restored))

    async def resolved(self, session_key: str, request: ApprovalRequested, answer: Resolution) -> None:
        if self.held is not None:
            await self.held.wait()
        if "resolved" in self.refuses:
            raise StorageError("The disk is full.")
        self.answers.append((answer.event.decision, answer.event.by, request.run_id, answer.reach))

    async def decided(self, session_key: str, run_id: str, call: ToolCall, verdict: PolicyDecision) -> None:
        if "decided" in self.refuses:
            raise StorageError("The disk is full.")
        self.decisions.append((call.id, verdict))


class Desk:
    """A broker with its journal, and questions under way."""

    def __init__(
        self,
        folder: Path,
        timeout_s: float = 600.0,
        ceiling: Ceiling = no_ceiling,
        redact=lambda data: data,
        answer_write_s: float = LIMIT_S,
    ) -> None:
        self.clock = FakeClock()
        ids = IdSource(self.clock)
        self.journal = Journal()
        self.changes = 0
        self.grants = GrantStore(folder / "grants.json", self.clock, ids, redact=str, on_change=self._changed)
        policy = Policy(self.grants, ceiling)
        self.broker = ApprovalBroker(
            self.journal,
            self.grants,
            self.clock,
            ids,
            lambda: timeout_s,
            policy=policy,
            redact=redact,
            answer_write_s=answer_write_s,
        )

    def ask(
        self,
        preview: ToolPreview = LIST,
        session: str = "s1",
        call_id: str = "c1",
        run_id: str = "r1",
        agent: str = "main",
    ) -> asyncio.Task[ApprovalAnswer]:
        call = ToolCall(call_id, "exec", {})
        return asyncio.create_task(self.broker.ask(session, run_id, call, preview, agent_id=agent))

    async def asked(self, count: int = 1) -> ApprovalRequested:
        await until(lambda: len(self.broker.pending()) == count)
        return self.broker.pending()[-1].request

    async def say(self, reach: Reach, **asked: Any) -> None:
        """Asks, and says yes."""
        asking = self.ask(**asked)
        await self.broker.approve((await self.asked()).approval_id, "ada", reach)
        assert (await asking).approved

    def _changed(self) -> None:
        self.changes += 1


async def test_request_waits_and_shows_exactly_what_would_run(tmp_path):
    desk = Desk(tmp_path, timeout_s=60)
    asking = desk.ask()
    request = await desk.asked()
    assert not asking.done()
    assert (request.tool_name, request.call_id, request.run_id) == ("exec", "c1", "r1")
    assert request.details == {
        "command": "ls",
        "sessionScope": "this exact command",
        "alwaysScope": "exactly this call, with the same arguments, in every session, until you revoke it",
    }
    assert request.expires_at == "2026-01-01T00:01:00.000Z"
    assert desk.journal.asked == [(request, False)]
    await desk.broker.approve(request.approval_id, "ada", "once")
    assert (await asking).approved
    assert desk.journal.answers == [("approved", "ada", "r1", "once")]
    assert desk.broker.pending() == []


async def test_allowed_once_is_asked_again(tmp_path):
    desk = Desk(tmp_path)
    asking = desk.ask()
    await desk.broker.approve((await desk.asked()).approval_id, "ada", "once")
    await asking
    again = desk.ask(call_id="c2")
    await desk.asked()
    assert not again.done()
    again.cancel()


async def test_session_approval_covers_same_call_but_not_another_call_or_session(tmp_path):
    desk = Desk(tmp_path)
    asking = desk.ask()
    await desk.broker.approve((await desk.asked()).approval_id, "ada", "session")
    await asking
    assert (await desk.ask(call_id="c2")).approved
    assert len(desk.journal.asked) == 1
    different, elsewhere = desk.ask(REMOVE, call_id="c3"), desk.ask(session="s2")
    await desk.asked(2)
    assert not different.done()
    assert not elsewhere.done()
    for task in (different, elsewhere):
        task.cancel()


async def test_denial_carries_users_words(tmp_path):
    desk = Desk(tmp_path)
    asking = desk.ask()
    await desk.broker.deny((await desk.asked()).approval_id, "ada", "Not on Fridays")
    assert await asking == ApprovalAnswer(approved=False, reason="Not on Fridays")
    assert desk.journal.answers == [("denied", "ada", "r1", None)]


async def test_timeout_denies_and_late_yes_is_ignored(tmp_path):
    desk = Desk(tmp_path, timeout_s=0)
    asking = desk.ask()
    answer = await asking
    assert not answer.approved
    assert answer.reason is not None
    assert "Nobody answered in time" in answer.reason
    assert desk.journal.answers == [("expired", "timeout", "r1", None)]
    ((request, _),) = desk.journal.asked
    with pytest.raises(AlreadyResolved):
        await desk.broker.approve(request.approval_id, "ada", "session")
    assert desk.journal.answers == [("expired", "timeout", "r1", None)]
    assert not (await desk.ask(call_id="c2")).approved


@pytest.mark.parametrize("disk", ["free", "full"])
@pytest.mark.parametrize("reach", ["once", "session", "always"])
async def test_yes_after_deadline_is_rejected_even_after_suspend(tmp_path, reach, disk):
    desk = Desk(tmp_path, timeout_s=60)
    asking = desk.ask()
    request = await desk.asked()
    desk.clock.advance(8 * 3600)
    desk.journal.refuses = {"resolved"} if disk == "full" else set()
    with pytest.raises(AlreadyResolved if disk == "free" else StorageError):
        await desk.broker.approve(request.approval_id, "ada", reach)
    assert not (await asking).approved
    assert desk.journal.answers == ([("expired", "timeout", "r1", None)] if disk == "free" else [])
    assert not await desk.grants.list()
    assert not desk.broker.pending()


async def test_first_of_two_simultaneous_answers_counts_and_second_is_told(tmp_path):
    desk = Desk(tmp_path)
    desk.journal.held = asyncio.Event()
    asking = desk.ask()
    request = await desk.asked()
    first = asyncio.create_task(desk.broker.deny(request.approval_id, "ada", "no"))
    await asyncio.sleep(0)
    with pytest.raises(AlreadyResolved):
        await desk.broker.approve(request.approval_id, "bob", "session")
    desk.journal.held.set()
    await first
    assert not (await asking).approved
    with pytest.raises(AlreadyResolved):
        await desk.broker.approve(request.approval_id, "bob", "session")
    assert [answer[:2] for answer in desk.journal.answers] == [("denied", "ada")]


async def test_answer_without_request_is_not_found(tmp_path):
    desk = Desk(tmp_path)
    with pytest.raises(NotFound, match="nothing"):
        await desk.broker.approve("nothing", "ada", "once")
    with pytest.raises(NotFound):
        await desk.broker.deny("nothing", "ada", None)


async def test_stop_closes_request_and_later_yes_runs_nothing(tmp_path):
    desk = Desk(tmp_path)
    asking = desk.ask()
    request = await desk.asked()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert desk.journal.answers == [("aborted", "stop", "r1", None)]
    assert desk.broker.pending() == []
    with pytest.raises(AlreadyResolved):
        await desk.broker.approve(request.approval_id, "ada", "once")


async def test_stop_counts_even_if_it_cannot_be_stored(tmp_path):
    desk = Desk(tmp_path)
    asking = desk.ask()
    await desk.asked()
    desk.journal.refuses.add("resolved")
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_stop_while_yes_is_being_stored_stops(tmp_path):
    desk = Desk(tmp_path)
    desk.journal.held = asyncio.Event()
    asking = desk.ask()
    request = await desk.asked()
    approving = asyncio.create_task(desk.broker.approve(request.approval_id, "ada", "once"))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.sleep(0)
    desk.journal.held.set()
    await approving
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_yes_being_stored_at_deadline_counts(tmp_path):
    desk = Desk(tmp_path, timeout_s=0.05)
    desk.journal.held = asyncio.Event()
    asking = desk.ask()
    request = await desk.asked()
    approving = asyncio.create_task(desk.broker.approve(request.approval_id, "ada", "once"))
    await asyncio.wait([asking], timeout=0.2)
    assert not asking.done()
    desk.journal.held.set()
    await approving
    assert (await asking).approved
    assert [answer[0] for answer in desk.journal.answers] == ["approved"]


async def test_request_that_cannot_be_stored_is_not_asked(tmp_path):
    desk = Desk(tmp_path)
    desk.journal.refuses.add("requested")
    with pytest.raises(StorageError):
        await desk.ask()
    assert desk.broker.pending() == []


async def test_yes_that_cannot_be_stored_does_not_count_and_can_be_repeated(tmp_path):
    desk = Desk(tmp_path)
    asking = desk.ask()
    request = await desk.asked()
    desk.journal.refuses.add("resolved")
    with pytest.raises(StorageError):
        await desk.broker.approve(request.approval_id, "ada", "session")
    assert not asking.done()
    assert [item.request for item in desk.broker.pending()] == [request]
    desk.journal.refuses.clear()
    await desk.broker.approve(request.approval_id, "ada", "once")
    assert (await asking).approved
    again = desk.ask(call_id="c2")
    await desk.asked()
    assert not again.done()
    again.cancel()


async def test_request_stays_open_in_journal_when_server_closes(tmp_path):
    desk = Desk(tmp_path)
    asking = desk.ask()
    await desk.asked()
    desk.broker.close()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert desk.journal.answers == []


async def test_request_keeps_id_and_deadline_across_restart(tmp_path):
    before = Desk(tmp_path, timeout_s=60)
    asking = before.ask()
    request = await before.asked()
    after = Desk(tmp_path, timeout_s=9999)
    asked = after.broker.restore(request)
    assert not asked.is_set()
    again = after.ask()
    await asyncio.wait_for(asked.wait(), 10)
    assert [item.request for item in after.broker.pending()] == [request]
    assert after.journal.asked == [(request, True)]
    await after.broker.approve(request.approval_id, "ada", "once")
    assert (await again).approved
    asking.cancel()


async def test_restored_requests_with_same_call_id_are_not_mixed_up(tmp_path):
    before = Desk(tmp_path)
    tasks = [before.ask(LIST, "s1", "call_1", "r1"), before.ask(REMOVE, "s2", "call_1", "r2")]
    await before.asked(2)
    first, second = (item.request for item in before.broker.pending())
    after = Desk(tmp_path)
    after.broker.restore(first)
    after.broker.restore(second)
    again = [after.ask(LIST, "s1", "call_1", "r1"), after.ask(REMOVE, "s2", "call_1", "r2")]
    await after.asked(2)
    assert [item.request for item in after.broker.pending("s1")] == [first]
    assert [item.request for item in after.broker.pending("s2")] == [second]
    for task in (*tasks, *again):
        task.cancel()


async def test_restored_request_past_deadline_denies(tmp_path):
    before = Desk(tmp_path, timeout_s=60)
    asking = before.ask()
    request = await before.asked()
    after = Desk(tmp_path)
    after.clock.advance(61)
    after.broker.restore(request)
    assert not (await after.ask()).approved
    assert after.journal.answers == [("expired", "timeout", "r1", None)]
    asking.cancel()


async def test_open_requests_are_listed_by_session(tmp_path):
    desk = Desk(tmp_path)
    tasks = [desk.ask(session="s1"), desk.ask(session="s2")]
    await desk.asked(2)
    assert [item.session_key for item in desk.broker.pending()] == ["s1", "s2"]
    assert [item.session_key for item in desk.broker.pending("s2")] == ["s2"]
    assert desk.broker.pending("s3") == []
    for task in tasks:
        task.cancel()


async def test_always_applies_to_all_sessions_of_agent_and_after_restart(tmp_path):
    desk = Desk(tmp_path)
    await desk.say("always")
    assert desk.journal.answers == [("approved", "ada", "r1", "always")]
    assert desk.changes == 1
    (grant,) = await desk.grants.list()
    assert (grant.agent_id, grant.tool, grant.by) == ("main", "exec", "ada")
    later = Desk(tmp_path)
    assert (await later.ask(session="s2", call_id="c2")).approved
    assert later.journal.decisions == [("c2", PolicyDecision("allow", f"grant:{grant.id}", "always allowed"))]
    assert later.journal.asked == []
    others = [later.ask(REMOVE), later.ask(agent="other", session="s3")]
    await later.asked(2)
    assert not any(task.done() for task in others)
    for task in others:
        task.cancel()


async def test_revoked_grant_no_longer_counts_on_any_server(tmp_path):
    desk, neighbour = Desk(tmp_path), Desk(tmp_path)
    await desk.say("always")
    assert (await neighbour.ask(call_id="c2")).approved
    (grant,) = await desk.grants.list()
    await desk.grants.revoke(grant.id)
    again = neighbour.ask(call_id="c3")
    await neighbour.asked()
    assert not again.done()
    again.cancel()


async def test_shell_command_needs_no_approval_if_each_command_is_granted_in_folder(tmp_path):
    desk = Desk(tmp_path)
    await desk.say("always", preview=shell("git status"))
    await desk.say("session", preview=shell("ls -l | wc"))
    assert (await desk.ask(shell("wc && git  'status' ; ls -l"))).approved
    asked = [
        desk.ask(shell("git status", cwd="/elsewhere"), call_id="c2"),
        desk.ask(shell("git status && git push"), call_id="c3"),
        desk.ask(shell("git status > file"), call_id="c4"),
        desk.ask(shell("git status", background=True), call_id="c5"),
        desk.ask(shell("ls -l"), call_id="c6", session="s2"),
    ]
    await desk.asked(len(asked))
    assert not any(task.done() for task in asked)
    for task in asked:
        task.cancel()


async def test_scope_of_always_is_shown_before_choosing(tmp_path):
    desk = Desk(tmp_path)
    asking = desk.ask(shell("git status && ls"))
    details = (await desk.asked()).details
    where = "`git status` and `ls`, each exactly so, in /work"
    assert details["sessionScope"] == where
    assert details["alwaysScope"] == f"{where}, in every session, until you revoke it"
    asking.cancel()


async def test_always_is_rejected_where_not_offered_and_request_stays_open(tmp_path):
    desk = Desk(tmp_path)
    asking = desk.ask(shell("ls *.txt"))
    request = await desk.asked()
    assert request.details["alwaysScope"] is None
    assert request.details["alwaysBlocked"] == "it contains a pattern that the shell expands"
    assert request.details["sessionScope"] == "only this once, because it contains a pattern that the shell expands"
    with pytest.raises(InvalidRequest, match=r"“Always” is not available.*Nothing was run"):
        await desk.broker.approve(request.approval_id, "ada", "always")
    assert not asking.done()
    await desk.broker.approve(request.approval_id, "ada", "session")
    assert (await asking).approved
    assert desk.journal.answers == [("approved", "ada", "r1", "once")]
    again = desk.ask(shell("ls *.txt"), call_id="c2")
    await desk.asked()
    assert not again.done()
    assert list(await desk.grants.list()) == []
    again.cancel()


async def test_grant_that_cannot_be_stored_allows_once_and_says_so(tmp_path):
    desk = Desk(tmp_path)
    asking = desk.ask()
    request = await desk.asked()
    tmp_path.joinpath("grants.json").mkdir()
    with pytest.raises(StorageError, match="this once, but “Always” could not be saved"):
        await desk.broker.approve(request.approval_id, "ada", "always")
    assert (await asking).approved
    again = desk.ask(call_id="c2")
    await desk.asked()
    assert not again.done()
    again.cancel()


async def test_decision_by_grant_that_cannot_be_logged_does_not_count(tmp_path):
    desk = Desk(tmp_path)
    await desk.say("always")
    desk.journal.refuses.add("decided")
    with pytest.raises(StorageError):
        await desk.ask(call_id="c2")
    assert desk.broker.pending() == []


async def test_restored_request_with_changed_effect_can_only_be_allowed_once(tmp_path):
    before = Desk(tmp_path)
    asking = before.ask()
    request = await before.asked()
    after = Desk(tmp_path)
    after.broker.restore(request)
    again = after.ask(replace(LIST, details={"command": "another"}))
    shown = await after.asked()
    assert shown.details["command"] == request.details["command"]
    assert shown.details["alwaysScope"] is None
    assert shown.details["alwaysBlocked"] == "what it would do has changed since it was asked"
    with pytest.raises(InvalidRequest, match="has changed since it was asked"):
        await after.broker.approve(request.approval_id, "ada", "always")
    await after.broker.approve(request.approval_id, "ada", "session")
    await again
    assert after.journal.answers == [("approved", "ada", "r1", "once")]
    asking.cancel()


async def test_yes_counts_only_for_the_version_it_names(tmp_path):
    desk = Desk(tmp_path)
    asking = desk.ask()
    request = await desk.asked()
    with pytest.raises(InvalidRequest, match="review it again"):
        await desk.broker.approve(request.approval_id, "ada", "once", "another")
    assert desk.journal.answers == []
    assert not asking.done()
    await desk.broker.approve(request.approval_id, "ada", "once", request.version)
    assert (await asking).approved


async def test_request_with_secret_allows_only_once_and_is_shown_completely(tmp_path):
    desk = Desk(tmp_path, redact=lambda data: json.loads(json.dumps(data).replace("hunter2", "[redacted:password]")))
    details = {"command": "ls hunter2", "cwd": "/data"}
    asking = desk.ask(replace(LIST, details=details))
    request = await desk.asked()
    assert request.details["command"] == "ls hunter2"
    assert request.details["cautions"] == ["secret"]
    with pytest.raises(InvalidRequest, match="looks like a secret"):
        await desk.broker.approve(request.approval_id, "ada", "always")
    await desk.broker.approve(request.approval_id, "ada", "session")
    assert (await asking).shown == details
    assert desk.journal.answers == [("approved", "ada", "r1", "once")]
    assert list(await desk.grants.list()) == []


async def test_ceiling_overrides_grants_with_readable_reason(tmp_path):
    desk = Desk(tmp_path)
    await desk.say("always")
    strict = Desk(tmp_path, ceiling=lambda call: "Commands are switched off here.")
    assert await strict.ask() == ApprovalAnswer(approved=False, reason="Commands are switched off here.")
    assert [verdict.by for _, verdict in strict.journal.decisions] == ["ceiling"]
    assert strict.journal.asked == []


@pytest.mark.parametrize("reach", ["once", "session", "always"])
async def test_yes_stored_after_waiter_left_allows_nothing(tmp_path, reach):
    desk = Desk(tmp_path, timeout_s=0.05, answer_write_s=0.05)
    desk.journal.held = asyncio.Event()
    asking = desk.ask()
    approving = asyncio.create_task(desk.broker.approve((await desk.asked()).approval_id, "ada", reach))
    assert not (await asking).approved
    desk.journal.held.set()
    with pytest.raises(AlreadyResolved, match="could not be saved before the approval timed out"):
        await approving
    assert list(await desk.grants.list()) == []
    assert not (await desk.ask(call_id="c2")).approved


async def test_session_approval_applies_even_if_run_was_stopped_meanwhile(tmp_path):
    desk = Desk(tmp_path)
    desk.journal.held = asyncio.Event()
    asking = desk.ask()
    approving = asyncio.create_task(desk.broker.approve((await desk.asked()).approval_id, "ada", "session"))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    desk.journal.held.set()
    await approving
    assert (await desk.ask(call_id="c2")).approved


async def test_unreadable_restored_request_does_not_block_recovery(tmp_path):
    before = Desk(tmp_path)
    asking = before.ask()
    request = await before.asked()
    after = Desk(tmp_path)
    asked = after.broker.restore(request)
    after.journal.refuses.add("requested")
    with pytest.raises(StorageError):
        await after.ask()
    assert asked.is_set()
    asking.cancel()
