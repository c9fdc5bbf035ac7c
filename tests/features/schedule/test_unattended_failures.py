"""What goes wrong with nobody there: what is gone, bugs, secrets in logs, and what would pile up."""

import json
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.errors import OnyxError
from onyx_jupyter.features.schedule import heartbeats, kept_sessions, unattended_runs
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.testing.script import Call, Hang, Hold, Reply
from tests.features.schedule.test_heartbeats import beat, beats_of, config, filled, passes
from tests.features.schedule.test_job_runs import Home, home
from tests.security.secret_samples import MIXED
from tests.waiting import until

KEY = f"sk-proj-{MIXED}"


def session_files(h: Home) -> list[str]:
    return sorted(path.stem for path in h.home.sessions.glob("*/*.jsonl"))


def written(h: Home) -> str:
    return "".join(path.read_text() for path in h.home.schedule.glob("*.jsonl"))


async def test_job_behind_a_run_whose_session_is_deleted_ends_failed(tmp_path: Path) -> None:
    async with home(tmp_path, lambda request: [Call("linger", {})]) as h:
        key = await h.session()
        run_id = await h.send(key)
        await h.linger.started.wait()
        await h.plan(sessionTarget="main", at="+1m")
        h.clock.advance(60)
        h.scheduler.check_due()
        await until(lambda: len(h.user_lines(key)) == 2)
        h.file(key).unlink()
        await h.onyx.abort(run_id)
        await until(lambda: h.of("schedule.finished"))
        assert h.of("schedule.finished")[0]["outcome"] == "failed"
        assert h.scheduler.running == []


async def test_run_that_is_gone_without_an_end_is_a_failed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(unattended_runs, "CHECK_S", 0.02)
    async with home(tmp_path) as h:
        await h.onyx.ready()
        monkeypatch.setattr(h.onyx.runs._maker, "make", broken)
        await h.plan()
        ended = await h.due()
        assert (ended["outcome"], h.scheduler.running) == ("failed", [])
        assert "without a result" in ended["error"]


async def test_no_secret_gets_into_the_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*_: object) -> None:
        raise OnyxError(f"{KEY} is not a key.", hint=f"Ask who made {KEY}.")

    async with home(tmp_path, config=config()) as h:
        await h.onyx.ready()
        monkeypatch.setattr(h.onyx.runs._maker, "make", refused)
        await h.plan()
        assert "redacted" in (await h.due())["error"]
        await filled(h)
        await beat(h)
        monkeypatch.setattr(h.onyx.runs, "send", refused)
        await h.due(2)
        assert MIXED not in written(h) + json.dumps(h.events)


async def test_job_that_cannot_start_leaves_no_session(tmp_path: Path) -> None:
    async with home(tmp_path, ceiling=Ceiling(modes=["ask", "agent"])) as h:
        await h.plan(policy=["peek"])
        ended = await h.due()
        assert "Not allowed on this server" in ended["error"]
        assert session_files(h) == []


async def test_job_cancelled_or_paused_while_it_waits_for_a_beat_does_not_run(tmp_path: Path) -> None:
    async with home(tmp_path, ["Hello."], config=config(intervalMs=600_000)) as h:
        await h.run(await h.session())
        await filled(h, "")
        waiting: dict[str, Any] = {"sessionTarget": "main", "wake": "heartbeat", "at": "+1m"}
        cancelled, paused = await h.plan(**waiting), await h.plan(**waiting)
        h.clock.advance(60)
        h.scheduler.check_due()
        await until(lambda: len(h.scheduler.running) == 2 and beats_of(h)._waiting)
        await h.ask("schedule.cancel", jobId=cancelled)
        await h.ask("schedule.update", jobId=paused, enabled=False)
        h.clock.advance(540)
        beats_of(h).check_due()
        await until(lambda: len(h.of("schedule.finished")) == 2)
        assert {one["outcome"] for one in h.of("schedule.finished")} == {"aborted"}
        assert len(h.model.requests) == 1


async def test_job_changed_while_it_waits_for_a_beat_runs_as_changed(tmp_path: Path) -> None:
    async with home(tmp_path, ["Hello.", "Done."], config=config(intervalMs=600_000)) as h:
        await h.run(await h.session())
        await filled(h, "")
        job_id = await h.plan(sessionTarget="main", wake="heartbeat", at="+1m", message="Call Ada")
        h.clock.advance(60)
        h.scheduler.check_due()
        await until(lambda: h.scheduler.running and beats_of(h)._waiting)
        await h.ask("schedule.update", jobId=job_id, message="Call Bob")
        h.clock.advance(540)
        beats_of(h).check_due()
        await until(lambda: h.of("schedule.finished"))
        assert "Call Bob" in h.model.requests[-1].messages[-1].content


async def test_job_that_waits_for_a_beat_fails_in_words_if_the_main_session_is_gone(tmp_path: Path) -> None:
    told = json.dumps({**json.loads(config()), "schedule": {"mainSession": "gone"}})
    async with home(tmp_path, config=told) as h:
        await filled(h, "")
        await h.plan(sessionTarget="main", wake="heartbeat", at="+30s")
        h.clock.advance(30)
        h.scheduler.check_due()
        await until(lambda: beats_of(h)._waiting)
        h.clock.advance(30)
        beats_of(h).check_due()
        await until(lambda: h.of("schedule.finished"))
        assert "'gone'" in h.of("schedule.finished")[0]["error"]


async def test_beat_with_a_model_that_is_not_allowed_is_recorded_and_leaves_no_session(tmp_path: Path) -> None:
    told = config(model="lab/big")
    async with home(tmp_path, config=told, ceiling=Ceiling(providers=["scripted"])) as h:
        await filled(h)
        told_of = await beat(h)
        assert told_of["outcome"] == "failed"
        assert session_files(h) == []
        (entry,) = (await h.ask("schedule.heartbeats"))["entries"]
        assert "lab/big" in entry["error"]


async def test_beats_go_on_while_what_one_said_waits_behind_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeats, "TOLD_S", 0.02)
    held, hung = Hold(), Hang()

    def says(request: ModelRequest) -> Reply:
        return [held, "The disk is full."] if "Look at the disk" in request.messages[-1].content else [hung]

    async with home(tmp_path, says, config=config()) as h:
        key = await h.session()
        await filled(h)
        h.clock.advance(60)
        beats_of(h).check_due()
        await until(held.reached.is_set)
        run_id = await h.send(key)
        await until(hung.reached.is_set)
        held.released.set()
        await until(lambda: h.of("schedule.heartbeat"))
        assert "The disk is full." not in [line["content"] for line in h.lines(key)]
        await h.onyx.abort(run_id)
        await until(lambda: "The disk is full." in [line["content"] for line in h.lines(key)])


async def test_sessions_of_beats_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_sessions, "KEPT", 2)
    async with home(tmp_path, lambda request: "The disk is full.", config=config()) as h:
        await filled(h)
        keys = [(await beat(h, n))["sessionKey"] for n in (1, 2, 3)]
        await until(lambda: session_files(h) == sorted(keys[1:]))


async def test_deleted_sessions_leave_nothing_in_memory(tmp_path: Path) -> None:
    async with home(tmp_path, lambda request: "HEARTBEAT_OK", config=config()) as h:
        await filled(h)
        for n in (1, 2, 3):
            await beat(h, n)
        await h.ask("sessions.list", unattended=True)
        assert session_files(h) == []
        assert len(h.onyx.streams._streams) == 0
        assert len(h.onyx.sessions._summaries) == 0


async def test_empty_beat_looks_at_no_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with home(tmp_path, ["Hello."], config=config()) as h:
        await h.run(await h.session())
        await filled(h, "# Tasks\n")

        listed: list[str] = []

        async def asked() -> list[Any]:
            listed.append("sessions")
            return []

        monkeypatch.setattr(h.onyx.sessions, "list", asked)
        await passes(h)
        assert (listed, len(h.model.requests)) == ([], 1)
