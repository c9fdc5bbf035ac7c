"""`schedule.*` on a real server with the system's clock: a job runs by itself, is paused, changed and cancelled."""

import pytest

from tests.server.client import MethodFailed


async def test_job_of_every_second_runs_until_it_is_paused(connect, replies):
    client = await connect()
    replies.each = lambda request: "All quiet."
    job = (await client.ask("schedule.create", everyMs=1000, message="Look around", name="Watch"))["job"]
    assert job["when"] == "every second"
    first = await client.event("schedule.finished", jobId=job["id"])
    assert (first["outcome"], first["text"]) == ("ok", "All quiet.")
    paused = (await client.ask("schedule.update", jobId=job["id"], enabled=False))["job"]
    assert paused["nextAt"] is None
    entries = (await client.ask("schedule.history", jobId=job["id"]))["entries"]
    assert first["key"] in [entry["key"] for entry in entries if entry["kind"] == "started"]
    messages = (await client.ask("chat.history", sessionKey=first["sessionKey"]))["messages"]
    (sent,) = [entry for entry in messages if entry["role"] == "user"]
    assert sent["content"].startswith("[SCHEDULED TASK - Watch, due ")
    await client.ask("schedule.cancel", jobId=job["id"])
    assert (await client.ask("schedule.list"))["total"] == 0


async def test_impossible_job_is_refused_in_words_and_leaves_nothing(connect):
    client = await connect()
    with pytest.raises(MethodFailed, match="ever comes due"):
        await client.ask("schedule.create", cron="0 0 30 2 *", message="Never")
    with pytest.raises(MethodFailed, match="no agent 'gone'"):
        await client.ask("schedule.create", everyMs=1000, message="x", agentId="gone")
    with pytest.raises(MethodFailed, match="no job 'x'"):
        await client.ask("schedule.runNow", jobId="x")
    assert (await client.ask("schedule.list"))["jobs"] == []
