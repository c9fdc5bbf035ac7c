"""Jobs as normal runs, on real files with a scripted model: session, model, policy, silence, calls without a model."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.features.schedule import kept_sessions
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import SCHEDULER
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.schedule.job_fields import new_job
from onyx_jupyter.schedule.scheduler import Scheduler
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.script import Call, Reply
from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.runs.house import House
from tests.waiting import until


class Home(House):
    """A house with a clock of its own, and its jobs."""

    def __init__(self, folder: Path, replies: Any = (), **more: Any) -> None:
        self.clock = FakeClock()
        super().__init__(folder, replies, clock=self.clock, **more)

    @property
    def scheduler(self) -> Scheduler:
        return self.onyx.get(SCHEDULER)

    async def plan(self, **given: Any) -> str:
        """A job due in a minute, if nothing else is said; its id."""
        await self.onyx.ready()
        agent_id, fields = given.pop("agentId", "main"), dict(given)
        if "at" not in fields:
            fields["everyMs"] = 60_000
        if not {"message", "toolCalls", "skill"} & fields.keys():
            fields["message"] = "Look around"
        job_id = self.onyx.host.ids.new()
        job = new_job(fields, job_id=job_id, agent_id=agent_id, now=self.clock.now(), zone="UTC")
        await self.scheduler.put(job)
        return job_id

    async def due(self, runs: int = 1, seconds: float = 60) -> dict[str, Any]:
        """Moves the clock; the data of the run that has ended then."""
        self.clock.advance(seconds)
        self.scheduler.check_due()
        await until(lambda: len(self.of("schedule.finished")) == runs)
        return self.of("schedule.finished")[-1]

    async def ask(self, operation_name: str, **params: Any) -> dict[str, Any]:
        await self.onyx.ready()
        operation = self.onyx.container.operations[operation_name]
        caller = Caller(self.onyx.container.parts, None, "ada", lambda event: None)
        result = await operation.handler(operation.params.model_validate(params), caller)
        operation.result.model_validate(result)
        return result

    def user_lines(self, key: str) -> list[dict[str, Any]]:
        return [line for line in self.lines(key) if line["role"] == "user"]


@asynccontextmanager
async def home(folder: Path, replies: Any = (), **more: Any) -> AsyncIterator[Home]:
    made = Home(folder, replies, **more)
    try:
        yield made
    finally:
        await made.close()


async def test_job_runs_in_a_session_of_its_own_with_prefix_name_and_due_time(tmp_path: Path) -> None:
    async with home(tmp_path, ["All quiet."]) as h:
        job_id = await h.plan(name="Watch ] the disk", message="Check the disk")
        ended = await h.due()
        assert (ended["jobId"], ended["outcome"], ended["text"]) == (job_id, "ok", "All quiet.")
        (line,) = h.user_lines(ended["sessionKey"])
        prefix = "[SCHEDULED TASK - Watch ) the disk, due 2026-01-01T00:01:00Z]"
        assert line["content"] == f"{prefix}\nCheck the disk"
        assert line["meta"]["origin"] == "job"
        assert line["meta"]["job"]["key"] == ended["key"] == f"{job_id}@2026-01-01T00:01:00Z"


async def test_its_session_is_not_among_the_conversations(tmp_path: Path) -> None:
    async with home(tmp_path, ["All quiet.", "Hello."]) as h:
        await h.plan()
        ended = await h.due()
        key = await h.session(title="Mine")
        await h.run(key)
        assert [one["sessionKey"] for one in (await h.ask("sessions.list"))["sessions"]] == [key]
        everything = (await h.ask("sessions.list", unattended=True))["sessions"]
        assert {one["sessionKey"]: one["origin"] for one in everything} == {key: "sidebar", ended["sessionKey"]: "job"}


async def test_newest_sessions_of_a_job_are_kept_and_those_with_a_person_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_sessions, "KEPT", 2)
    async with home(tmp_path, lambda request: "All quiet.") as h:
        await h.plan()
        keys = [(await h.due(1))["sessionKey"]]
        await h.run(keys[0], "Go on")
        keys += [(await h.due(runs))["sessionKey"] for runs in (2, 3)]
    async with home(tmp_path, lambda request: "All quiet.") as h:
        h.clock.advance(600)
        await h.onyx.ready()
        keys += [(await h.due(1))["sessionKey"], (await h.due(2))["sessionKey"]]
        left = {path.stem for path in h.home.sessions.glob("*/*.jsonl")}
        assert left == {keys[0], *keys[-2:]}


async def test_main_job_runs_in_most_recent_conversation_with_its_context(tmp_path: Path) -> None:
    async with home(tmp_path, ["Hello.", "I remind you."]) as h:
        key = await h.session(title="Mine")
        await h.run(key, "I am Ada")
        await h.plan(message="Remind me of the call")
        ended = await h.due()
        assert ended["sessionKey"] == key
        assert "I am Ada" in [message.content for message in h.model.requests[-1].messages]


async def test_main_job_does_not_change_the_conversations_model(tmp_path: Path) -> None:
    other = ScriptedModel(["From the other."], model_id="scripted/other")
    first = ScriptedModel(["Hello.", "Again."])
    async with home(tmp_path, models={first.id: first, other.id: other}) as h:
        key = await h.session()
        await h.run(key)
        await h.plan(sessionTarget="main", model="scripted/other")
        assert (await h.due())["text"] == "From the other."
        _, end = await h.run(key, "And now?")
        assert end["text"] == "Again."


async def test_model_is_the_jobs_then_the_roles(tmp_path: Path) -> None:
    models = {
        f"scripted/{name}": ScriptedModel([name] * 3, model_id=f"scripted/{name}") for name in ("model", "cron", "own")
    }
    config = '{"runtime": {"cronModel": "scripted/cron"}}'
    async with home(tmp_path, models=models, config=config) as h:
        await h.plan(at="+1m")
        assert (await h.due())["text"] == "cron"
        await h.plan(at="+1m", model="scripted/own")
        assert (await h.due(2))["text"] == "own"


async def test_usage_counts_as_cron(tmp_path: Path) -> None:
    async with home(tmp_path, ["Done."]) as h:
        await h.plan()
        ended = await h.due()
        calls = list(h.onyx.configured.meter.ledger.calls_of(ended["sessionKey"]))
        assert [call.role for call in calls] == ["cron"]


async def test_silent_answer_is_done_without_a_message(tmp_path: Path) -> None:
    async with home(tmp_path, ["NO_REPLY"]) as h:
        await h.plan()
        ended = await h.due()
        assert (ended["outcome"], ended["text"]) == ("silent", "")


def touches_then_says(word: str) -> Sequence[Reply]:
    return [[Call("touch", {"word": word})], "That is all."]


async def test_what_must_be_asked_is_denied_reported_and_can_be_allowed_and_run_again(tmp_path: Path) -> None:
    async with home(tmp_path, [*touches_then_says("a"), *touches_then_says("b")]) as h:
        job_id = await h.plan()
        ended = await h.due()
        assert h.touch.done == []
        assert (ended["outcome"], ended["denied"]) == ("ok", ["touch"])
        (result,) = h.results(ended["sessionKey"]).values()
        assert "nobody there to ask" in result["content"]
        assert h.of("exec.approval_request") == []
        await h.ask("schedule.update", jobId=job_id, policy=["touch"])
        await h.ask("schedule.runNow", jobId=job_id)
        await until(lambda: len(h.of("schedule.finished")) == 2)
        assert h.touch.done == ["b"]
        assert "denied" not in h.of("schedule.finished")[-1]
        entries = (await h.ask("schedule.history", jobId=job_id))["entries"]
        assert [entry.get("denied", []) for entry in entries] == [[], ["touch"]]


async def test_policy_of_auto_mode_does_not_count_for_jobs(tmp_path: Path) -> None:
    async with home(tmp_path, touches_then_says("a"), config='{"security": {"auto": ["touch"]}}') as h:
        await h.plan(policy=["peek"])
        assert (await h.due())["denied"] == ["touch"]
        assert h.touch.done == []


async def test_calls_without_synthesis_ask_no_model(tmp_path: Path) -> None:
    async with home(tmp_path) as h:
        calls = [{"tool": "peek", "arguments": {"word": "a"}}, {"tool": "touch", "arguments": {"word": "b"}}]
        await h.plan(toolCalls=calls, policy=["touch"])
        ended = await h.due()
        assert (h.peek.done, h.touch.done) == (["a"], ["b"])
        assert (ended["outcome"], ended["text"]) == ("ok", "Done.")
        assert h.model.requests == []


async def test_denied_call_makes_job_without_model_fail(tmp_path: Path) -> None:
    async with home(tmp_path) as h:
        await h.plan(toolCalls=[{"tool": "touch", "arguments": {}}])
        ended = await h.due()
        assert (ended["outcome"], ended["denied"]) == ("failed", ["touch"])


async def test_synthesis_gets_results_of_calls(tmp_path: Path) -> None:
    async with home(tmp_path, ["It saw a."]) as h:
        await h.plan(toolCalls=[{"tool": "peek", "arguments": {"word": "a"}}], synthesisPrompt="Say what it saw")
        ended = await h.due()
        assert ended["text"] == "It saw a."
        (request,) = h.model.requests
        assert "Say what it saw" in request.messages[-3].content
        assert "saw a" in request.messages[-1].content


async def test_missing_skill_fails_in_words(tmp_path: Path) -> None:
    async with home(tmp_path) as h:
        await h.plan(skill="gone")
        ended = await h.due()
        assert ended["outcome"] == "failed"
        (result,) = h.results(ended["sessionKey"]).values()
        assert "skill_gone" in result["content"]


async def test_missing_agent_and_model_fail_in_words_and_alert_the_second_time(tmp_path: Path) -> None:
    async with home(tmp_path) as h:
        await h.plan(agentId="gone")
        first, second = await h.due(), await h.due(2, 120)
        assert "no agent 'gone'" in first["error"]
        assert [one["alert"] for one in (first, second)] == [False, True]


async def test_busy_main_session_is_waited_for(tmp_path: Path) -> None:
    def says(request: ModelRequest) -> Reply:
        last = [message for message in request.messages if message.role == "user"][-1].content
        if "SCHEDULED" in last:
            return "Reminded."
        return "Lingered." if request.messages[-1].role == "tool" else [Call("linger", {})]

    async with home(tmp_path, says) as h:
        key = await h.session()
        run_id = await h.send(key, "Take your time")
        await h.linger.started.wait()
        await h.plan(sessionTarget="main")
        h.clock.advance(60)
        h.scheduler.check_due()
        await until(lambda: len(h.user_lines(key)) == 2)
        h.linger.released.set()
        assert (await h.end(run_id))[1]["text"] == "Lingered."
        await until(lambda: h.of("schedule.finished"))
        assert h.of("schedule.finished")[0]["text"] == "Reminded."


async def test_job_waiting_behind_a_run_at_the_servers_end_is_not_run_by_the_next(tmp_path: Path) -> None:
    asked: list[str] = []

    def says(request: ModelRequest) -> Reply:
        asked.append([message for message in request.messages if message.role == "user"][-1].content)
        return [Call("linger", {})]

    async with home(tmp_path, says) as h:
        key = await h.session()
        await h.send(key, "Take your time")
        await h.linger.started.wait()
        job_id = await h.plan(sessionTarget="main", at="+1m")
        h.clock.advance(60)
        h.scheduler.check_due()
        await until(lambda: len(h.user_lines(key)) == 2)
    async with home(tmp_path, says) as h:
        h.clock.advance(60)
        await h.onyx.ready()
        (entry,) = (await h.ask("schedule.history", jobId=job_id))["entries"]
        assert entry["outcome"] == "interrupted"
        await until(lambda: not h.onyx.runs.busy)
        assert not [text for text in asked if "SCHEDULED" in text]


async def test_operations_list_change_and_cancel(tmp_path: Path) -> None:
    async with home(tmp_path) as h:
        given = {"cron": "30 2 * * *", "tz": "Europe/Vienna", "message": "Tidy up", "name": "Tidy"}
        job = (await h.ask("schedule.create", **given))["job"]
        assert (job["when"], job["nextAt"]) == ("At 02:30 every day (Europe/Vienna)", "2026-01-01T01:30:00Z")
        assert job["sessionTarget"] == "isolated"
        assert job["targetReason"]
        listed = await h.ask("schedule.list")
        assert (listed["jobs"], listed["total"], listed["runsHere"]) == ([job], 1, True)
        paused = (await h.ask("schedule.update", jobId=job["id"], enabled=False))["job"]
        assert (paused["nextAt"], paused["enabled"]) == (None, False)
        moved = (await h.ask("schedule.update", jobId=job["id"], enabled=True, tz="UTC"))["job"]
        assert (moved["cron"], moved["nextAt"]) == ("30 2 * * *", "2026-01-01T02:30:00Z")
        await h.ask("schedule.cancel", jobId=job["id"])
        assert (await h.ask("schedule.list"))["jobs"] == []


async def test_events_tell_of_changes(tmp_path: Path) -> None:
    async with home(tmp_path, ["Done."]) as h:
        job_id = await h.plan(at="+1m")
        await h.due()
        assert {data["jobId"] for data in h.of("schedule.updated")} == {job_id}
        assert (await h.ask("schedule.get", jobId=job_id))["job"]["recent"] == ["ok"]
