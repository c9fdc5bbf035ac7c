"""Makes a normal run of a job that is due."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from onyx_jupyter.agent.control_tokens import is_silent, scheduled_prefix
from onyx_jupyter.agents.agents import Agents
from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.clock import Clock
from onyx_jupyter.config.roles import Role, model_for
from onyx_jupyter.errors import OnyxError, StorageError
from onyx_jupyter.events import ChatError, ChatFinal
from onyx_jupyter.features.schedule.settings import ScheduleSettings
from onyx_jupyter.features.schedule.unattended_runs import EndedRun, UnattendedRuns
from onyx_jupyter.schedule.job_state import text_of
from onyx_jupyter.schedule.jobs import Job
from onyx_jupyter.schedule.scheduler import Occurrence, RunResult
from onyx_jupyter.sessions.origin import RunOrigin
from onyx_jupyter.skills.skill import TOOL_PREFIX

log = logging.getLogger(__name__)
TEXT_CHARS = 2000


class JobRuns:
    """Every run of a job goes through the same door as a person's message, with its policy in place of a person."""

    def __init__(
        self,
        configured: Configured,
        agents: Agents,
        runs: UnattendedRuns,
        settings: Callable[[], ScheduleSettings],
        clock: Clock,
        next_beat: Callable[[str], Awaitable[None]],
        *,
        ended_in: Callable[[str, str], Awaitable[None]],
        job_now: Callable[[str], Awaitable[Job | None]],
    ) -> None:
        """`next_beat` returns with an agent's next heartbeat; `ended_in` is told a job and the session it made.

        `job_now` is the job as it is now, None if it is cancelled.
        """
        self._ended_in = ended_in
        self._job_now = job_now
        self._next_beat = next_beat
        self._configured = configured
        self._agents = agents
        self._runs = runs
        self._settings = settings
        self._clock = clock

    async def run(self, occurrence: Occurrence) -> RunResult:
        """Failed, in words, also if it could not start: agent, session or model are gone."""
        job = occurrence.job
        if job.wake == "heartbeat" and job.session_target == "main" and occurrence.planned is not None:
            await self._next_beat(job.agent_id)
            now = await self._job_now(job.id)
            if now is None or not now.enabled:
                what = "cancelled" if now is None else "paused"
                return RunResult("aborted", {"error": f"It was {what} before the heartbeat that it waited for."})
            job = now
        try:
            return await self._run(job, occurrence)
        except OnyxError as error:
            hint = {"hint": self._configured.redact(error.hint)} if error.hint else {}
            return RunResult("failed", {"error": self._short(str(error)), **hint})

    async def _run(self, job: Job, occurrence: Occurrence) -> RunResult:
        model = self._model_of(job)
        session_key, is_new = await self._session_of(job)
        calls = _calls_of(job)
        asks = not calls or job.synthesis_prompt is not None
        about = {"id": job.id, "key": occurrence.key, "name": job.name, "policy": list(job.policy)}
        origin = RunOrigin.of_job({**about, **({"calls": calls, "asks": asks} if calls else {})})
        ended = await self._runs.run(
            session_key,
            self._message(job, occurrence, calls),
            origin,
            is_new=is_new,
            model=model,
            mode="auto" if job.policy else None,
            tool_mode="tools",  # nobody has a notebook in front in which code could be proposed as a cell
        )
        if job.session_target == "isolated":
            try:
                await self._ended_in(job.id, session_key)
            except StorageError as error:  # the run itself has ended well
                log.warning("Old sessions of a job could not be removed: %s", error)
        return self._result(ended, asks=asks)

    async def _session_of(self, job: Job) -> tuple[str, bool]:
        """And whether it was made just now."""
        agent_id = self._agents.agent(job.agent_id).config.id
        if job.session_target == "main":
            main = await self._runs.main_session(agent_id, self._settings().main_session)
            if main is not None:
                return main, False
        return await self._runs.new_session(agent_id, job.name), True

    def _model_of(self, job: Job) -> str | None:
        """None leaves it to the session and its agent, whose fallback then counts."""
        if job.session_target == "main":
            return job.model
        return unattended_model(self._configured, self._agents, "cron", job.agent_id, job.model)

    def _message(self, job: Job, occurrence: Occurrence, calls: list[dict[str, Any]]) -> str:
        shown = text_of((occurrence.planned or self._clock.now()).replace(microsecond=0))
        task = job.message or job.synthesis_prompt or f"Run {', '.join(call['tool'] for call in calls)}."
        return f"{scheduled_prefix(job.name, shown)}\n{task}"

    def _result(self, ended: EndedRun, *, asks: bool) -> RunResult:
        facts: dict[str, Any] = {"sessionKey": ended.session_key, "runId": ended.run_id}
        if ended.denied:
            facts["denied"] = sorted(set(ended.denied))
        match ended.end:
            case ChatFinal(text=text):
                facts |= {"text": self._short(text)}
                if not asks and any(status != "ok" for status in ended.statuses):
                    return RunResult("failed", {**facts, "error": facts["text"]})
                return RunResult("silent" if not text.strip() or is_silent(text) else "ok", facts)
            case ChatError(message=message, hint=hint):
                facts |= {"hint": self._configured.redact(hint)} if hint else {}
                return RunResult("failed", {**facts, "error": self._short(message)})
        return RunResult("aborted", facts)

    def _short(self, text: str) -> str:
        """Without secrets: it is kept in the log."""
        return self._configured.redact(text)[:TEXT_CHARS]


def unattended_model(
    configured: Configured, agents: Agents, role: Role, agent_id: str, own: str | None = None
) -> str | None:
    """The model of that role; None if the agent's own answers anyway, so that its fallback counts."""
    config, agent = configured.settings.config, agents.agent(agent_id).config
    model = model_for(config, role, agent, own)
    return None if own is None and model == model_for(config, "default", agent) else model


def _calls_of(job: Job) -> list[dict[str, Any]]:
    if job.skill is not None:
        return [{"tool": TOOL_PREFIX + job.skill.replace("-", "_"), "arguments": dict(job.parameters)}]
    return [{"tool": call.tool, "arguments": dict(call.arguments)} for call in job.tool_calls]
