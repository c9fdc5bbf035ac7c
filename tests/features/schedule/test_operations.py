"""What the jobs panel asks for: the order of jobs, a preview, what happened since, and an agent that is to look now."""

import json
from pathlib import Path

import pytest

from onyx_jupyter.errors import InvalidRequest
from tests.features.schedule.test_heartbeats import beat, beats_of, config, filled
from tests.features.schedule.test_job_runs import home
from tests.waiting import until


async def test_jobs_are_listed_by_their_next_run(tmp_path: Path) -> None:
    async with home(tmp_path) as h:
        await h.ask("schedule.create", name="Weekly", cron="0 9 * * 1", message="x")
        await h.ask("schedule.create", name="Hourly", everyMs=3_600_000, message="x")
        off = (await h.ask("schedule.create", name="Off", everyMs=1000, message="x"))["job"]["id"]
        await h.ask("schedule.update", jobId=off, enabled=False)
        assert [job["name"] for job in (await h.ask("schedule.list"))["jobs"]] == ["Hourly", "Weekly", "Off"]
        assert [job["name"] for job in (await h.ask("schedule.list", limit=1, offset=1))["jobs"]] == ["Weekly"]


async def test_preview_says_when_and_where_and_keeps_nothing(tmp_path: Path) -> None:
    async with home(tmp_path) as h:
        shown = await h.ask("schedule.preview", cron="30 9 * * *", tz="Europe/Vienna", message="Remind me of the talk")
        assert shown["next"][0] == "2026-01-01 09:30:00 Europe/Vienna"
        assert (shown["sessionTarget"], len(shown["next"])) == ("main", 3)
        assert "remind" in shown["targetReason"]
        with pytest.raises(InvalidRequest, match="ever comes due"):
            await h.ask("schedule.preview", cron="0 0 30 2 *", message="x")
        assert (await h.ask("schedule.list"))["total"] == 0


async def test_preview_of_a_change_leaves_the_job_alone(tmp_path: Path) -> None:
    async with home(tmp_path) as h:
        job_id = await h.plan()
        shown = await h.ask("schedule.preview", jobId=job_id, everyMs=7_200_000)
        assert shown["when"] == "every 2 hours"
        assert (await h.ask("schedule.get", jobId=job_id))["job"]["everyMs"] == 60_000


async def test_history_since_a_moment_holds_what_ended_and_what_was_missed_then(tmp_path: Path) -> None:
    async with home(tmp_path, lambda request: "All quiet.") as h:
        await h.plan(name="Watch")
        first = await h.due()
        await h.due(2, seconds=600)  # eight of its times pass
        entries = (await h.ask("schedule.history", since=first["at"]))["entries"]
        assert [entry["kind"] for entry in entries] == ["started", "missed", "started"]
        later = (await h.ask("schedule.history", since="2026-01-01T00:05:00+00:00"))["entries"]
        assert [entry["kind"] for entry in later] == ["started", "missed"]
        with pytest.raises(InvalidRequest, match="`since`: 'yesterday'"):
            await h.ask("schedule.history", since="yesterday")


async def test_failure_of_a_job_that_runs_once_is_told(tmp_path: Path) -> None:
    async with home(tmp_path, []) as h:
        await h.plan(at="+1m", toolCalls=[{"tool": "read", "arguments": {"path": "gone.txt"}}])
        ended = await h.due()
        assert (ended["outcome"], ended["alert"]) == ("failed", True)


async def test_agent_that_is_woken_knows_why(tmp_path: Path) -> None:
    async with home(
        tmp_path, ["Training went well."], config=config(activeHours={"start": "08:00", "end": "09:00"})
    ) as h:
        await filled(h)
        await h.ask("schedule.wake", reason="the training has ended")
        await h.ask("schedule.wake", reason="the training has ended")
        told = await beat(h, seconds=0)  # outside of its hours
        assert (told["acts"], told["quiet"], told["at"]) == (True, False, "2026-01-01T00:00:00Z")
        (line,) = h.user_lines(told["sessionKey"])
        assert line["content"].count("You were woken: the training has ended\n") == 1
        await until(lambda: not h.onyx.runs.busy)


@pytest.mark.parametrize(
    ("settings", "tasks", "words"),
    [({}, "# Nothing yet\n", "holds nothing to look after"), ({"enabled": False}, "- The disk", "are off")],
)
async def test_wake_is_refused_where_the_agent_would_look_at_nothing(
    tmp_path: Path, settings: dict[str, bool], tasks: str, words: str
) -> None:
    async with home(tmp_path, [], config=config(**settings)) as h:
        await h.onyx.ready()
        workspace = h.onyx.agent(None).workspace
        workspace.mkdir(exist_ok=True)
        (workspace / "HEARTBEAT.md").write_text(tasks)
        with pytest.raises(InvalidRequest, match=words):
            await h.ask("schedule.wake")


async def test_state_of_a_heartbeat_tells_what_it_will_do(tmp_path: Path) -> None:
    hours = {"start": "08:00", "end": "20:00", "tz": "Europe/Vienna"}
    async with home(tmp_path, [], config=config(activeHours=hours, quietMode=True)) as h:
        await filled(h, "x" * 5000)
        answer = await h.ask("schedule.heartbeatStates")
        (state,) = answer["agents"]
        assert answer["runsHere"]
        assert state["activeHours"] == "08:00–20:00 Europe/Vienna"
        assert (state["hasTasks"], state["isCut"], state["quietMode"], state["ownKeys"]) == (True, True, True, [])
        assert state["nextAt"] == beats_of(h).next_of("main").isoformat().replace("+00:00", "Z")


async def test_keys_that_an_agent_has_of_its_own_are_named(tmp_path: Path) -> None:
    own = {"id": "main", "heartbeat": {"quietMode": True, "intervalMs": 5000}}
    async with home(tmp_path, [], config=json.dumps({"agents": {"list": [own]}})) as h:
        (state,) = (await h.ask("schedule.heartbeatStates"))["agents"]
        assert (state["ownKeys"], state["quietMode"], state["intervalMs"]) == (["intervalMs", "quietMode"], True, 5000)
