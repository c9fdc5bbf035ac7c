"""A real server with jobs of every second, never opened by anybody, and killed in the middle of their runs."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from onyx_jupyter.schedule.job_store import JobStore
from onyx_jupyter.testing.script import Hang
from tests.schedule.made_jobs import made
from tests.server.test_real_server import RealServer
from tests.waiting import until

KILLS = 3


@pytest.fixture
def server(tmp_path, onyx_home):
    running = RealServer(tmp_path, onyx_home)
    running.start()
    yield running
    running.kill()


def lines(home: Path) -> list[dict]:
    """All that is on disk, but for a last line that a kill has cut."""
    path = home / "schedule" / "runs.jsonl"
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []


def keys(home: Path, job_id: str, kind: str = "started") -> list[str]:
    return [line["key"] for line in lines(home) if line["kind"] == kind and line["job"] == job_id]


async def test_killed_server_starts_no_planned_time_twice_and_its_jobs_go_on(server, replies, onyx_home):
    hang = Hang()
    replies.each = lambda request: "All quiet."
    await server.up()
    client = await server.client()
    echo = [{"tool": "exec", "arguments": {"command": "echo x >> runs.txt"}}]
    asks = (await client.ask("schedule.create", everyMs=1000, message="Look", name="Asks"))["job"]["id"]
    calls = (await client.ask("schedule.create", everyMs=1000, toolCalls=echo, policy=["exec"]))["job"]["id"]
    cut = []
    for number in range(1, KILLS + 1):
        known = {job_id: len(keys(onyx_home, job_id, "finished")) for job_id in (asks, calls)}
        await until(lambda known=known: all(len(keys(onyx_home, one, "finished")) > known[one] + 1 for one in known))
        hang.reached.clear()
        replies.each = lambda request: ["Half an answer", hang]
        await until(hang.reached.is_set)
        cut.append(keys(onyx_home, asks)[-1])
        server.kill()
        await client.close()
        replies.each = lambda request: "All quiet."
        whole = json.loads((onyx_home / "schedule" / "jobs.json").read_text())
        assert [job["id"] for job in whole["jobs"]] == [asks, calls]
        server.start()
        await server.up()
        client = await server.client()
        assert (await client.ask("schedule.list"))["total"] == 2
        await until(lambda number=number: len(keys(onyx_home, asks)) > number)

    for job_id in (asks, calls):
        count = len(keys(onyx_home, job_id))
        await until(lambda job_id=job_id, count=count: len(keys(onyx_home, job_id, "finished")) > count)
        assert set(Counter(keys(onyx_home, job_id)).values()) == {1}
        job = (await client.ask("schedule.get", jobId=job_id))["job"]
        assert job["nextAt"] or job["running"]
    entries = {one.get("key"): one for one in (await client.ask("schedule.history", limit=1000))["entries"]}
    assert [entries[key]["outcome"] for key in cut] == ["interrupted"] * KILLS
    for job_id in (asks, calls):
        await client.ask("schedule.update", jobId=job_id, enabled=False)
    await until(lambda: not set(keys(onyx_home, asks)) - set(keys(onyx_home, asks, "finished")))
    await until(lambda: not set(keys(onyx_home, calls)) - set(keys(onyx_home, calls, "finished")))
    ends = Counter(line["key"] for line in lines(onyx_home) if line["kind"] == "finished")
    assert set(ends.values()) == {1}
    due = Counter(re.search(r"due (\S+)\]", request.last_user_text)[1] for request in replies.requests)
    assert set(due.values()) == {1}, "a model was asked twice for one planned time"
    planned = {re.sub(r"\.\d+Z", "Z", key.partition("@")[2]) for key in keys(onyx_home, asks)}
    assert set(due) <= planned  # the message says it to the second
    ran = (server.root / "runs.txt").read_text().split()
    ended_well = [line for line in lines(onyx_home) if line["kind"] == "finished" and line["outcome"] == "ok"]
    assert sum(line["job"] == calls for line in ended_well) <= len(ran) <= len(keys(onyx_home, calls))
    await client.close()


async def test_jobs_of_a_home_without_a_session_run_on_a_server_that_nobody_opens(server, onyx_home):
    server.kill()
    calls = [{"tool": "read", "arguments": {"path": "notes.txt"}}]
    job = made("a", every_ms=1000, tool_calls=calls)
    JobStore(onyx_home / "schedule" / "jobs.json").change(lambda jobs: {"a": job})
    (server.root / "notes.txt").write_text("All quiet.")
    server.start()
    await until(lambda: keys(onyx_home, "a", "finished"))
