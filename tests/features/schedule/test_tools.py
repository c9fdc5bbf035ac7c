"""The tools that schedule, list, change and cancel: each change is approved, and a doubtful one changes nothing."""

from pathlib import Path

import pytest

from onyx_jupyter.features.schedule.tools import SCHEDULE_TOOLS
from onyx_jupyter.testing.script import Call, Reply
from tests.features.schedule.test_job_runs import Home, home

SCHEDULE = {"kind": "cron", "cron": "0 9 * * 1-5", "tz": "Europe/Vienna", "message": "Sum up the news", "name": "News"}


async def approved(h: Home, key: str, message: str = "Please") -> None:
    run_id = await h.send(key, message)
    await h.approve()
    await h.end(run_id)


async def test_job_is_scheduled_after_approval_with_reason_and_next_times(tmp_path: Path) -> None:
    async with home(tmp_path, [[Call("schedule", SCHEDULE)], "Done."], more_tools=SCHEDULE_TOOLS) as h:
        key = await h.session()
        run_id = await h.send(key)
        await h.asked()
        (request,) = h.of("exec.approval_request")
        assert request["summary"] == "Schedule “News”"
        assert request["details"]["when"] == "At 09:00 on Monday through Friday (Europe/Vienna)"
        assert (await h.ask("schedule.list"))["jobs"] == []
        await h.approve()
        await h.end(run_id)
        (job,) = (await h.ask("schedule.list"))["jobs"]
        assert (job["name"], job["cron"], job["agentId"]) == ("News", "0 9 * * 1-5", "main")
        (result,) = h.results(key).values()
        assert "Next: 2026-01-01 09:00:00 Europe/Vienna" in result["content"]
        assert "isolated session: it can be done without your conversation" in result["content"]


async def test_policy_is_always_asked_about(tmp_path: Path) -> None:
    script: list[Reply] = [[Call("schedule", {**SCHEDULE, "policy": ["touch"]})], "Done."]
    config = '{"security": {"auto": ["schedule"]}}'
    async with home(tmp_path, script, more_tools=SCHEDULE_TOOLS, config=config) as h:
        key = await h.session()
        run_id = await h.send(key, mode="auto")
        await h.asked()
        (request,) = h.of("exec.approval_request")
        assert "nobody there" in request["details"]["mustAsk"]
        assert request["details"]["policy"] == ["touch"]
        await h.deny()
        await h.end(run_id)
        assert (await h.ask("schedule.list"))["jobs"] == []


async def test_listing_needs_no_approval_and_changes_nothing(tmp_path: Path) -> None:
    async with home(tmp_path, [[Call("list_jobs", {})], "Done."], more_tools=SCHEDULE_TOOLS) as h:
        await h.plan(name="Watch")
        before = h.home.schedule.joinpath("jobs.json").read_bytes()
        key = await h.session()
        await h.run(key)
        (result,) = h.results(key).values()
        assert "Watch | every minute | next 2026-01-01 00:01:00 " in result["content"]
        assert h.home.schedule.joinpath("jobs.json").read_bytes() == before


@pytest.mark.parametrize("tool", ["cancel_job", "update_job"])
async def test_ambiguous_job_lists_candidates_and_changes_nothing(tmp_path: Path, tool: str) -> None:
    async with home(tmp_path, [[Call(tool, {"job": "report"})], "Which?"], more_tools=SCHEDULE_TOOLS) as h:
        ids = [await h.plan(name=f"{color} report") for color in ("Red", "Blue")]
        key = await h.session()
        await h.run(key)
        (result,) = h.results(key).values()
        assert all(job_id in result["content"] for job_id in ids)
        assert h.of("exec.approval_request") == []
        assert len((await h.ask("schedule.list"))["jobs"]) == 2


async def test_job_is_cancelled_by_description_after_approval(tmp_path: Path) -> None:
    async with home(tmp_path, [[Call("cancel_job", {"job": "red"})], "Done."], more_tools=SCHEDULE_TOOLS) as h:
        for color in ("Red", "Blue"):
            await h.plan(name=f"{color} report")
        await approved(h, await h.session())
        assert [job["name"] for job in (await h.ask("schedule.list"))["jobs"]] == ["Blue report"]


async def test_job_is_paused_and_given_another_time(tmp_path: Path) -> None:
    script: list[Reply] = [
        [Call("update_job", {"job": "watch", "enabled": False})],
        "Paused.",
        [Call("update_job", {"job": "watch", "enabled": True, "everyMs": 5000})],
        "Resumed.",
    ]
    async with home(tmp_path, script, more_tools=SCHEDULE_TOOLS) as h:
        await h.plan(name="Watch")
        key = await h.session()
        await approved(h, key)
        (job,) = (await h.ask("schedule.list"))["jobs"]
        assert (job["enabled"], job["nextAt"]) == (False, None)
        await approved(h, key)
        (job,) = (await h.ask("schedule.list"))["jobs"]
        assert (job["enabled"], job["everyMs"], job["nextAt"]) == (True, 5000, "2026-01-01T00:00:05Z")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "cron", "cron": "0 0 30 2 *", "message": "x"}, "ever comes due"),
        ({"kind": "at", "at": "2020-01-01T00:00", "message": "x"}, "has passed"),
        ({"kind": "at", "at": "tomorrow", "message": "x"}, "`at`"),
        ({"kind": "every", "cron": "@daily", "message": "x"}, "Give one of"),
        ({"kind": "every", "everyMs": 5000}, "only one of them"),
    ],
)
async def test_impossible_job_is_refused_before_anyone_is_asked(tmp_path: Path, given: dict, words: str) -> None:
    async with home(tmp_path, [[Call("schedule", given)], "Sorry."], more_tools=SCHEDULE_TOOLS) as h:
        key = await h.session()
        await h.run(key)
        (result,) = h.results(key).values()
        assert words in result["content"]
        assert h.of("exec.approval_request") == []


async def test_scheduled_job_of_an_agent_cannot_schedule_by_itself(tmp_path: Path) -> None:
    async with home(tmp_path, [[Call("schedule", SCHEDULE)], "Denied."], more_tools=SCHEDULE_TOOLS) as h:
        await h.plan(at="+1m")
        assert (await h.due())["denied"] == ["schedule"]
        assert len((await h.ask("schedule.list"))["jobs"]) == 1
