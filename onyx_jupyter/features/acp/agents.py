"""The agents that can be chosen, and those at work: at most one process for each session, ended when it is idle."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from onyx_jupyter.acp.connection import AgentConnection
from onyx_jupyter.acp.mcp_gate import McpGate
from onyx_jupyter.acp.registry import AgentCommand
from onyx_jupyter.agent.run import ExternalAgent, Run
from onyx_jupyter.agents.agents import AgentParts
from onyx_jupyter.agents.allowed_models import allows_model
from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.config.ceiling import NOT_HERE
from onyx_jupyter.config.sections import section
from onyx_jupyter.errors import InvalidRequest, ModelError
from onyx_jupyter.events import ToolProgress
from onyx_jupyter.features.acp.answer import AgentAnswer, Earlier, LiveAgent
from onyx_jupyter.features.acp.run_tools import SessionTools
from onyx_jupyter.features.acp.settings import DEFAULT_MODEL, AcpSettings
from onyx_jupyter.processes.process_reaper import ProcessReaper
from onyx_jupyter.protocols import ModelInfo
from onyx_jupyter.providers.known_providers import ACP, PROGRAM_SUBSCRIPTIONS, is_agent
from onyx_jupyter.providers.subscriptions.program_logins import login_of
from onyx_jupyter.sessions.transcript import SessionTranscript

log = logging.getLogger(__name__)
IDLE_S = 900.0
LIST_S = 3.0


class AcpAgents:
    """All agents of this server. `changed` is called with a session's key when its agent or a choice may be another."""

    def __init__(
        self, configured: Configured, *, changed: Callable[[str], None] = lambda key: None, idle_s: float = IDLE_S
    ) -> None:
        self._configured = configured
        self._changed = changed
        self._idle_s = idle_s
        self._gate = McpGate()
        self._reaper = ProcessReaper()
        self._live: dict[str, LiveAgent] = {}
        self._idle: dict[str, asyncio.TimerHandle] = {}
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def settings(self) -> AcpSettings:
        """As configured now."""
        return section(self._configured.settings.config, ACP, AcpSettings)

    def commands(self) -> Mapping[str, AgentCommand]:
        """All known and configured agents by name, installed or not."""
        return self.settings.commands()

    async def models(self) -> Sequence[ModelInfo]:
        """The agents that can be chosen in a session: configured ones, and known ones that are installed."""
        named = self.settings.agents
        found = await asyncio.to_thread(
            lambda: [one for one in self.commands().values() if one.name in named or one.is_installed]
        )
        ids = [one.model_id for one in found]
        programs = {one.name for one in found}
        logins = await asyncio.to_thread(lambda: {name for name in programs if login_of(name, os.environ)})
        ids += [f"{name}/{DEFAULT_MODEL}" for name, agent in PROGRAM_SUBSCRIPTIONS.items() if agent in logins]
        return [
            ModelInfo(one, one.partition("/")[0], local=False, tools=True, locked=not self._allows(one)) for one in ids
        ]

    def answering(self, model_id: str, transcript: SessionTranscript, parts: AgentParts) -> ExternalAgent | None:
        """Who answers in place of that model; None if the id names no agent.

        Raises: ModelError if it names one that is unknown or not allowed here.
        """
        provider, _, name = model_id.partition("/")
        if not is_agent(model_id):
            return None
        if not self._allows(model_id):
            raise ModelError("refused", f"{NOT_HERE}: {model_id}.", hint="Choose another model.", permanent=True)
        agent = PROGRAM_SUBSCRIPTIONS.get(provider)
        command = self._subscribed(provider, agent, name) if agent else self.commands().get(name)
        if command is None:
            hint = f"Agents: {', '.join(self.commands())}. Others are configured in acp.agents of onyx.json."
            raise ModelError("not_found", f"There is no agent {name!r}.", hint=hint, permanent=True)
        live = partial(self._agent_of, transcript.session_key, command, parts)
        return AgentAnswer(
            command,
            transcript,
            live,
            self._gate.announce,
            partial(self._rest, transcript.session_key),
            self._configured.meter,
        )

    def at_work(self, session_key: str) -> AgentConnection | None:
        """The agent of that session, with what can be chosen for it; None before it has started and after its end."""
        live = self._live.get(session_key)
        return live.connection if live is not None and live.connection.is_usable else None

    async def set_option(self, session_key: str, option_id: str, value: str | bool) -> None:
        """Raises: InvalidRequest, ModelError."""
        agent = self.at_work(session_key)
        if agent is None:
            raise InvalidRequest("No agent is at work in this session. Send it a message first.", field="sessionKey")
        await agent.set_option(option_id, value)
        self._changed(session_key)

    async def close(self) -> None:
        """Ends all agents with everything that they started."""
        for key in {*self._live, *self._idle}:
            self._begin_end(key)
        await asyncio.gather(*self._ending)
        await self._gate.close()
        await self._reaper.close()

    async def _agent_of(
        self, session_key: str, command: AgentCommand, parts: AgentParts, earlier: Earlier | None, run: Run
    ) -> LiveAgent:
        """The agent at work in that session, started if need be. Raises: ModelError, PathNotAllowed."""
        self._keep(session_key)
        live = self._live.get(session_key)
        if live is not None:
            if live.connection.is_usable and live.connection.agent == command:
                return live
            if ending := self._begin_end(session_key):
                await ending
        run.emit(ToolProgress(run.run_id, "", "model", f"Starting {command.title}"))
        tools = SessionTools()
        tools.offer(run.tools)
        folder = parts.paths.resolve(command.cwd or "")
        token, server = await self._gate.offer(tools)
        try:
            connection = await AgentConnection.open(
                command,
                folder,
                [server],
                earlier_session=earlier.session_id if earlier is not None else None,
                silence_s=self.settings.silence_timeout_ms / 1000,
                reaper=self._reaper,
            )
        except BaseException:
            self._gate.withdraw(token)
            raise
        live = self._live[session_key] = LiveAgent(connection, tools, token)
        if command.model:
            try:
                await _choose_model(connection, command.model)
            except ModelError:
                self._begin_end(session_key)
                raise
        self._changed(session_key)
        await self._gate.until_listed(token, LIST_S)
        return live

    def _subscribed(self, provider: str, agent: str, model: str) -> AgentCommand:
        """Raises: ModelError if the configured program is not there."""
        configured = self._configured.settings.config.providers.get(provider)
        cli_path = configured.cli_path if configured is not None else None
        command = self.settings.subscribed(agent, model, cli_path)
        if cli_path is not None and shutil.which(cli_path) is None:
            hint = f"Correct providers.{provider}.cliPath in onyx.json, or remove it."
            raise ModelError("not_found", f"{command.title} was not found: {cli_path}.", hint=hint, permanent=True)
        return command

    def _rest(self, session_key: str) -> None:
        """An answer has ended: without another one the agent ends in a while."""
        self._keep(session_key)
        self._changed(session_key)  # it may have changed its mode itself, or be gone
        loop = asyncio.get_running_loop()
        self._idle[session_key] = loop.call_later(self._idle_s, self._begin_end, session_key)

    def _keep(self, session_key: str) -> None:
        if timer := self._idle.pop(session_key, None):
            timer.cancel()

    def _begin_end(self, session_key: str) -> asyncio.Task[None] | None:
        """From now on the session has no agent, even while the process still ends."""
        self._keep(session_key)
        live = self._live.pop(session_key, None)
        if live is None:
            return None
        self._gate.withdraw(live.token)
        self._changed(session_key)
        task = asyncio.create_task(live.connection.close(), name="onyx end of an agent")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    def _allows(self, model_id: str) -> bool:
        return allows_model(self._configured.ceiling, self._configured.settings.config, model_id)


async def _choose_model(connection: AgentConnection, model: str) -> None:
    """Raises: ModelError if the agent does not have it."""
    option = next((one for one in connection.options if one.category == "model" and one.choices), None)
    known = [value for value, _ in option.choices] if option is not None else []
    if option is None or model not in known:
        hint = f"Its models: {', '.join([DEFAULT_MODEL, *known])}."
        message = f"{connection.agent.title} has no model {model!r}."
        raise ModelError("not_found", message, hint=hint, permanent=True)
    if option.value != model:
        await connection.set_option(option.id, model)
