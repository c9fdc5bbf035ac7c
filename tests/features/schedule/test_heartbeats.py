"""Heartbeats as real runs: what is asked of a model and what is not, who hears of it, and what they wait for."""

import json
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.features.schedule.heartbeats import HEARTBEATS, Heartbeats
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.testing.script import Call, Reply
from onyx_jupyter.testing.scripted_model import ScriptedModel
from onyx_jupyter.text_tokens import text_tokens
from tests.features.schedule.test_job_runs import Home, home
from tests.waiting import until

CONFIG: dict[str, Any] = {"heartbeat": {"intervalMs": 60_000}}


def config(**heartbeat: Any) -> str:
    return json.dumps({**CONFIG, "heartbeat": {**CONFIG["heartbeat"], **heartbeat}})


def beats_of(h: Home) -> Heartbeats:
    return h.onyx.get(HEARTBEATS)


async def filled(h: Home, text: str = "- Look at the disk") -> None:
    await h.onyx.ready()
    workspace = h.onyx.agent(None).workspace
    workspace.mkdir(exist_ok=True)
    (workspace / "HEARTBEAT.md").write_text(text)
    await until(lambda: beats_of(h)._next)


async def beat(h: Home, beats: int = 1, seconds: float = 60) -> dict[str, Any]:
    h.clock.advance(seconds)
    beats_of(h).check_due()
    await until(lambda: len(h.of("schedule.heartbeat")) == beats)
    return h.of("schedule.heartbeat")[-1]


async def passes(h: Home, seconds: float = 60) -> None:
    """A beat comes, and asks nobody."""
    before = dict(beats_of(h)._next)
    h.clock.advance(seconds)
    beats_of(h).check_due()
    await until(lambda: beats_of(h)._next != before and beats_of(h)._next["main"] > h.clock.now())


async def test_beat_that_finds_nothing_is_only_in_its_log(tmp_path: Path) -> None:
    async with home(tmp_path, ["HEARTBEAT_OK"], config=config()) as h:
        await filled(h)
        told = await beat(h)
        assert (told["outcome"], told["acts"]) == ("silent", False)
        assert (await h.ask("sessions.list", unattended=True))["sessions"] == []
        await until(lambda: not h.onyx.runs.busy)
        assert [path.name for path in h.home.sessions.glob("*/*") if path.is_file()] == []
        (entry,) = (await h.ask("schedule.heartbeats"))["entries"]
        assert (entry["outcome"], entry["agentId"]) == ("silent", "main")


async def test_empty_file_asks_no_model(tmp_path: Path) -> None:
    async with home(tmp_path, config=config()) as h:
        await filled(h, "# Tasks\n<!-- none -->\n")
        await passes(h)
        await passes(h)
        assert h.model.requests == []
        assert not (h.home.schedule / "heartbeat.jsonl").exists()


async def test_file_is_read_anew_at_each_beat(tmp_path: Path) -> None:
    async with home(tmp_path, ["HEARTBEAT_OK"], config=config()) as h:
        await filled(h, "")
        await passes(h)
        await filled(h, "- Water the plants")
        await beat(h)
        assert "Water the plants" in h.model.requests[0].messages[-1].content


async def test_beat_that_acts_stands_in_main_session_and_asks_once(tmp_path: Path) -> None:
    async with home(tmp_path, ["Hello.", "The disk is full."], config=config()) as h:
        key = await h.session(title="Mine")
        await h.run(key)
        await filled(h)
        told = await beat(h)
        assert (told["outcome"], told["text"]) == ("ok", "The disk is full.")
        said = [(line["role"], line["content"]) for line in h.lines(key) if line["role"] in ("user", "assistant")]
        assert said[-1] == ("assistant", "The disk is full.")
        assert said[-2][1].startswith("[SCHEDULED TASK - Heartbeat, due 2026-01-01T00:01:00Z]")
        assert len(h.model.requests) == 2


async def test_quiet_mode_keeps_result_for_the_panel(tmp_path: Path) -> None:
    async with home(tmp_path, ["Hello.", "The disk is full."], config=config(quietMode=True)) as h:
        key = await h.session(title="Mine")
        await h.run(key)
        await filled(h)
        await beat(h)
        assert "The disk is full." not in [line["content"] for line in h.lines(key)]
        (entry,) = (await h.ask("schedule.heartbeats"))["entries"]
        assert (entry["text"], entry["quiet"]) == ("The disk is full.", True)


async def test_busy_main_session_defers_the_beat(tmp_path: Path) -> None:
    def says(request: ModelRequest) -> Reply:
        if "SCHEDULED" in request.messages[-1].content:
            return "HEARTBEAT_OK"
        return "Lingered." if request.messages[-1].role == "tool" else [Call("linger", {})]

    async with home(tmp_path, says, config=config(intervalMs=1_800_000)) as h:
        key = await h.session()
        run_id = await h.send(key, "Take your time")
        await h.linger.started.wait()
        await filled(h)
        await passes(h, 1800)
        assert h.of("schedule.heartbeat") == []
        h.linger.released.set()
        await h.end(run_id)
        await beat(h, 1, 60)


async def test_no_beat_outside_of_active_hours(tmp_path: Path) -> None:
    hours = {"start": "09:00", "end": "17:00", "tz": "UTC"}
    async with home(tmp_path, ["HEARTBEAT_OK"], config=config(activeHours=hours)) as h:
        await filled(h)
        await passes(h)
        assert h.model.requests == []
        await beat(h, 1, 10 * 3600)


async def test_disabled_heartbeat_never_beats(tmp_path: Path) -> None:
    async with home(tmp_path, config=config(enabled=False)) as h:
        await h.onyx.ready()
        h.clock.advance(3600)
        beats_of(h).check_due()
        beats_of(h).wake("main", "something happened")
        await h.ask("schedule.list")
        assert h.model.requests == []


async def test_beat_has_its_own_model_and_role(tmp_path: Path) -> None:
    models = {
        f"scripted/{name}": ScriptedModel(["HEARTBEAT_OK"], model_id=f"scripted/{name}") for name in ("model", "small")
    }
    async with home(tmp_path, models=models, config=config(model="scripted/small")) as h:
        await filled(h)
        await beat(h)
        assert [len(model.requests) for model in models.values()] == [0, 1]
        meter = h.onyx.configured.meter
        (path,) = meter.ledger.files()
        assert [call.role for _, call in meter.ledger.calls(path) if call] == ["heartbeat"]


async def test_agents_beat_on_their_own_with_what_differs_for_them(tmp_path: Path) -> None:
    other = {"id": "other", "heartbeat": {"intervalMs": 600_000, "quietMode": True}}
    silent = {"id": "silent", "heartbeat": {"enabled": False}}
    agents = {"agents": {"list": [{"id": "main", "default": True}, other, silent]}}
    told = json.dumps({**json.loads(config()), **agents})
    async with home(tmp_path, lambda request: "The disk is full.", config=told) as h:
        await filled(h)
        for agent_id in ("other", "silent"):
            h.onyx.agent(agent_id).workspace.joinpath("HEARTBEAT.md").write_text("- Look")
        assert (await beat(h, 1))["agentId"] == "main"
        await beat(h, 3, 600)
        entries = (await h.ask("schedule.heartbeats"))["entries"]
        assert sorted((entry["agentId"], entry.get("quiet", False)) for entry in entries) == [
            ("main", False),
            ("main", False),
            ("other", True),
        ]


async def test_beat_may_change_nothing_unasked(tmp_path: Path) -> None:
    async with home(tmp_path, [[Call("touch", {})], "Done?"], config=config()) as h:
        await filled(h)
        await beat(h)
        assert h.touch.done == []


async def test_wake_brings_a_beat_soon_but_never_a_flood(tmp_path: Path) -> None:
    async with home(tmp_path, ["HEARTBEAT_OK"] * 3, config=config(intervalMs=1_800_000)) as h:
        await filled(h)
        beats_of(h).wake("main", "something happened")
        await until(lambda: len(h.of("schedule.heartbeat")) == 1)
        for _ in range(5):
            beats_of(h).wake("main", "something happened")
        h.clock.advance(29)
        beats_of(h).check_due()
        await h.ask("schedule.list")
        assert len(h.of("schedule.heartbeat")) == 1
        await beat(h, 2, 1)


async def test_job_that_waits_for_a_beat_runs_with_it_even_if_the_file_is_empty(tmp_path: Path) -> None:
    async with home(tmp_path, ["Hello.", "Reminded."], config=config(intervalMs=600_000)) as h:
        key = await h.session()
        await h.run(key)
        await filled(h, "")
        await h.plan(sessionTarget="main", wake="heartbeat", at="+1m")
        h.clock.advance(60)
        h.scheduler.check_due()
        await until(lambda: beats_of(h)._waiting)
        assert h.of("schedule.finished") == []
        h.clock.advance(540)
        beats_of(h).check_due()
        await until(lambda: h.of("schedule.finished"))
        assert h.of("schedule.finished")[0]["text"] == "Reminded."


@pytest.mark.parametrize("chars", [100, 100_000])
async def test_request_of_a_beat_stays_below_three_thousand_tokens(tmp_path: Path, chars: int) -> None:
    async with home(tmp_path, ["HEARTBEAT_OK"], config=config(), more_tools=all_tools()) as h:
        await filled(h, "- Look at the disk. " * (chars // 20))
        for name in ("AGENTS.md", "SOUL.md", "USER.md", "MEMORY.md"):
            h.onyx.agent(None).workspace.joinpath(name).write_text("I like short answers. " * 500)
        await beat(h)
        (request,) = h.model.requests
        tools = json.dumps([[tool.name, tool.description, tool.parameters] for tool in request.tools])
        text = "\n".join([request.system, tools, *(message.text for message in request.messages)])
        assert {tool.name for tool in request.tools} >= {"read", "more_tools"}
        assert text_tokens(text) < 3000
        (entry,) = (await h.ask("schedule.heartbeats"))["entries"]
        assert entry.get("isCut", False) is (chars > 4000)
