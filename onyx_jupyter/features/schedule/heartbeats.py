"""Beats: at an interval, each agent looks after what its HEARTBEAT.md says, in a light run of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from onyx_jupyter.agent.control_tokens import is_silent, says_nothing, scheduled_prefix
from onyx_jupyter.agents.agents import Agents
from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.clock import Clock
from onyx_jupyter.config.schema import AgentConfig, Config, HeartbeatConfig
from onyx_jupyter.errors import NotFound, OnyxError, StorageError
from onyx_jupyter.events import ChatError, ChatFinal
from onyx_jupyter.features.schedule.job_runs import TEXT_CHARS, unattended_model
from onyx_jupyter.features.schedule.settings import ScheduleSettings
from onyx_jupyter.features.schedule.unattended_runs import EndedRun, UnattendedRuns
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.schedule.heartbeat import MAX_TASKS_CHARS, HeartbeatLog, is_active, tasks_in
from onyx_jupyter.schedule.job_state import text_of
from onyx_jupyter.sessions.origin import RunOrigin

HEARTBEATS: Key[Heartbeats] = Key("heartbeats")
HEARTBEAT_LOG: Key[HeartbeatLog] = Key("log of heartbeats")
log = logging.getLogger(__name__)
FILE = "HEARTBEAT.md"
MAX_SLEEP_S = 30.0
DEFERRED = timedelta(seconds=60)
"""When a beat that found its main session busy is tried again."""
BETWEEN_WAKES = timedelta(seconds=30)
STAGGER = timedelta(seconds=15)
"""Between the beats of different agents."""
MAX_REASONS = 5
"""Of one beat; a program that wakes an agent in a loop fills no prompt."""
TOLD_S = 10.0


@dataclass(frozen=True, slots=True)
class Beat:
    """One beat that asked a model; `acts` if there is something to say."""

    agent_id: str
    outcome: str
    acts: bool
    facts: Mapping[str, Any]


class Heartbeats:
    """One beat at a time, over all agents. `is_busy` tells whether a session is at work, `abort` stops its run.

    `on_begin` is called when one asks a model; `on_beat` with its end, when it began, and whether it was a quiet one.
    `ended_in` is told an agent and the session that a beat has left.
    """

    def __init__(
        self,
        configured: Configured,
        agents: Agents,
        runs: UnattendedRuns,
        settings: Callable[[], ScheduleSettings],
        beat_log: HeartbeatLog,
        clock: Clock,
        *,
        is_busy: Callable[[str], bool],
        abort: Callable[[str], None],
        on_begin: Callable[[], None],
        on_beat: Callable[[Beat, datetime, bool], None],
        ended_in: Callable[[str, str], Awaitable[None]],
    ) -> None:
        self._configured = configured
        self._agents = agents
        self._runs = runs
        self._settings = settings
        self._log = beat_log
        self._clock = clock
        self._is_busy = is_busy
        self._abort = abort
        self._on_begin = on_begin
        self._on_beat = on_beat
        self._ended_in = ended_in
        self._next: dict[str, datetime] = {}
        self._last: dict[str, datetime] = {}
        self._waiting: dict[str, asyncio.Event] = {}
        self._reasons: dict[str, list[str]] = {}
        self._beating: str | None = None
        self._wakeup = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_owner(self) -> bool:
        """Whether the agents of this home beat on this server."""
        return self._task is not None

    @property
    def beating(self) -> str | None:
        """The agent that looks now."""
        return self._beating

    def next_of(self, agent_id: str) -> datetime | None:
        """When the agent looks next; None if it does not."""
        return self._next.get(agent_id)

    async def begin(self) -> None:
        """From now on the agents of this home beat on this server."""
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="onyx heartbeats")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=5)

    def check_due(self) -> None:
        """Looks at the clock again; for a clock that was moved."""
        self._wakeup.set()

    def wake(self, agent_id: str, reason: str) -> datetime:
        """Something happened that the agent should look at: beats soon, at most every 30 s, also at a quiet hour."""
        reasons = self._reasons.setdefault(agent_id, [])
        if reason not in reasons and len(reasons) < MAX_REASONS:
            reasons.append(reason)
        last = self._last.get(agent_id)
        soon = max(self._clock.now(), last + BETWEEN_WAKES) if last else self._clock.now()
        self._next[agent_id] = min(self._next.get(agent_id, soon), soon)
        self._wakeup.set()
        return self._next[agent_id]

    async def next_beat(self, agent_id: str) -> None:
        """Returns with the agent's next beat, even if its file is empty; at once where there are no heartbeats."""
        config = self._configured.settings.config
        agent = config.agent(agent_id)
        if self._task is not None and agent is not None and heartbeat_of(config, agent).enabled:
            await self._waiting.setdefault(agent_id, asyncio.Event()).wait()

    async def _work(self) -> None:
        while True:
            self._wakeup.clear()
            now = self._clock.now()
            config = self._configured.settings.config
            beating = {agent.id: heartbeat_of(config, agent) for agent in config.agents.items}
            beating = {agent_id: one for agent_id, one in beating.items() if one.enabled}
            self._plan(now, beating)
            for agent_id in [one for one, at in self._next.items() if at <= now]:
                self._next[agent_id] = now + timedelta(milliseconds=beating[agent_id].interval_ms)
                try:
                    await self._beat(agent_id, beating[agent_id])
                except OnyxError as error:
                    log.warning("The heartbeat of %s failed: %s", agent_id, error)
                except Exception:  # no failure may end the heartbeats
                    log.exception("The heartbeat of %s failed", agent_id)
            wait_s = min(((at - self._clock.now()).total_seconds() for at in self._next.values()), default=MAX_SLEEP_S)
            with suppress(TimeoutError):
                async with asyncio.timeout(min(max(wait_s, 0.0), MAX_SLEEP_S)):
                    await self._wakeup.wait()

    def _plan(self, now: datetime, beating: Mapping[str, HeartbeatConfig]) -> None:
        """Each agent has a next beat, none later than an interval from now: the clock may have been set back."""
        for waiting in [self._waiting.pop(one) for one in list(self._waiting) if one not in beating]:
            waiting.set()
        known = {agent_id: at for agent_id, at in self._next.items() if agent_id in beating}
        for place, (agent_id, config) in enumerate(beating.items()):
            latest = now + timedelta(milliseconds=config.interval_ms) + place * STAGGER
            known[agent_id] = min(known.get(agent_id, latest), latest)
        self._next = known

    async def _beat(self, agent_id: str, config: HeartbeatConfig) -> None:
        now, settings = self._clock.now(), self._settings()
        hours = None if self._reasons.get(agent_id) else config.active_hours
        if hours is not None and not is_active(now, hours.start, hours.end, hours.tz or settings.zone):
            return
        tasks = await asyncio.to_thread(tasks_of, self._agents.agent(agent_id).workspace)
        if tasks is None and agent_id not in self._waiting:
            self._reasons.pop(agent_id, None)  # they are not for what is written there later
            return
        try:
            main = await self._runs.main_session(agent_id, settings.main_session)
        except NotFound:
            self._release(agent_id)  # what waits fails in the same words
            raise
        if main is not None and self._is_busy(main):
            self._next[agent_id] = now + min(DEFERRED, timedelta(milliseconds=config.interval_ms))
            return
        reasons = self._reasons.pop(agent_id, [])
        self._release(agent_id)
        if tasks is None:
            return
        self._last[agent_id] = now
        self._beating = agent_id
        try:
            self._on_begin()
            beat = await self._ask(agent_id, tasks, reasons, now, config)
        finally:
            self._beating = None
        await asyncio.to_thread(self._record, beat, now, is_quiet=config.quiet_mode)
        if beat.acts and not config.quiet_mode and beat.outcome == "ok" and main is not None:
            await self._tell(beat, main, now)
        self._on_beat(beat, now, config.quiet_mode)
        if "sessionKey" in beat.facts:
            await self._ended_in(agent_id, beat.facts["sessionKey"])

    def _release(self, agent_id: str) -> None:
        """What waits for a beat of this agent starts."""
        if (waiting := self._waiting.pop(agent_id, None)) is not None:
            waiting.set()

    async def _ask(
        self, agent_id: str, tasks: str, reasons: Sequence[str], now: datetime, config: HeartbeatConfig
    ) -> Beat:
        """One light run in a session of its own, which is kept only if it has done something."""
        cut = tasks if len(tasks) <= MAX_TASKS_CHARS else f"{tasks[:MAX_TASKS_CHARS]}\n[The rest did not fit.]"
        woken = "".join(f"You were woken: {reason}\n" for reason in reasons)
        prefix = scheduled_prefix("Heartbeat", text_of(now.replace(microsecond=0)))
        message = f"{prefix}\n{woken}What to look after ({FILE}):\n{cut}"
        own = self._agents.agent(agent_id).config.heartbeat.model
        model = unattended_model(self._configured, self._agents, "heartbeat", agent_id, own)
        key = await self._runs.new_session(agent_id, "Heartbeat")
        limit_s = min(max(config.interval_ms / 1000, 60.0), 600.0)
        facts: dict[str, Any] = {"isCut": True} if cut != tasks else {}
        origin = RunOrigin.of_job({"id": "heartbeat", "key": f"heartbeat@{text_of(now)}"}, "heartbeat")
        try:
            async with asyncio.timeout(limit_s):
                ended = await self._runs.run(key, message, origin, is_new=True, model=model, tool_mode="tools")
        except TimeoutError:
            self._abort(key)
            facts |= {"sessionKey": key, "error": f"It took longer than {limit_s:g} s."}
            return Beat(agent_id, "failed", acts=True, facts=facts)
        except OnyxError as error:
            return Beat(agent_id, "failed", acts=True, facts={**facts, "error": self._configured.redact(str(error))})
        return await self._beat_of(agent_id, ended, facts)

    async def _beat_of(self, agent_id: str, ended: EndedRun, facts: dict[str, Any]) -> Beat:
        facts = {**facts, "sessionKey": ended.session_key, "runId": ended.run_id}
        facts |= {"denied": sorted(set(ended.denied))} if ended.denied else {}
        match ended.end:
            case ChatFinal(text=text) if says_nothing(text) or is_silent(text) or not text.strip():
                await self._runs.forget(ended.session_key)
                del facts["sessionKey"], facts["runId"]
                return Beat(agent_id, "silent", acts=False, facts=facts)
            case ChatFinal(text=text):
                return Beat(agent_id, "ok", acts=True, facts={**facts, "text": self._configured.redact(text)})
            case ChatError(message=message):
                return Beat(agent_id, "failed", acts=True, facts={**facts, "error": self._configured.redact(message)})
        return Beat(agent_id, "aborted", acts=True, facts=facts)

    async def _tell(self, beat: Beat, main: str, now: datetime) -> None:
        """What it says stands in the main session like an answer, without asking a model again.

        If something else runs there, it stands behind that; the next beats wait for it no longer than `TOLD_S`.
        """
        about = {"id": "heartbeat", "key": f"heartbeat@{text_of(now)}", "answer": beat.facts["text"]}
        message = f"{scheduled_prefix('Heartbeat', text_of(now.replace(microsecond=0)))}\nLook after {FILE}."
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(TOLD_S):
                    await self._runs.run(main, message, RunOrigin.of_job(about, "heartbeat"))
        except OnyxError as error:  # it is in the log
            log.warning("What the heartbeat of %s says could not be said: %s", beat.agent_id, error)

    def _record(self, beat: Beat, now: datetime, *, is_quiet: bool) -> None:
        facts = {**beat.facts, **({"quiet": True} if is_quiet else {})}
        facts |= {name: facts[name][:TEXT_CHARS] for name in ("text", "error") if name in facts}
        line = {"at": text_of(now), "agentId": beat.agent_id, "outcome": beat.outcome, **facts}
        try:
            self._log.append(line)
        except StorageError as error:
            log.error("A heartbeat could not be recorded: %s", error)


def heartbeat_of(config: Config, agent: AgentConfig) -> HeartbeatConfig:
    """The agent's heartbeat: its own keys, else those of `heartbeat`."""
    return config.heartbeat.model_copy(update=own_heartbeat(agent))


def own_heartbeat(agent: AgentConfig) -> dict[str, Any]:
    """What the agent says of its heartbeat itself."""
    return {name: value for name, value in agent.heartbeat if value is not None}


def tasks_of(workspace: Path) -> str | None:
    """What the agent of that workspace looks after; None if nothing. For threads."""
    try:
        return tasks_in((workspace / FILE).read_text("utf-8", errors="replace"))
    except OSError:  # an agent without the file does not beat
        return None
