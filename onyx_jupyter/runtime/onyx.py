"""Onyx as every surface sees it: one object, one door for messages. It knows nothing of sockets and frames."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from onyx_jupyter.agent.processor import Processor
from onyx_jupyter.approvals.broker import ApprovalBroker
from onyx_jupyter.approvals.grants import GrantStore
from onyx_jupyter.approvals.questions import Questions
from onyx_jupyter.clock import Clock, IdSource, SystemClock
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.config.paths import Home
from onyx_jupyter.protocols import Embeddings, Kernels, ModelInfo, Models, Notebooks
from onyx_jupyter.providers.continuing import Continuing
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.retry import Waits
from onyx_jupyter.providers.settings import ModelsSettings
from onyx_jupyter.retrieval.settings import search_settings
from onyx_jupyter.runtime.agents import AgentParts
from onyx_jupyter.runtime.audit_trail import AuditTrail
from onyx_jupyter.runtime.configured import Configured
from onyx_jupyter.runtime.consolidating import Consolidating
from onyx_jupyter.runtime.first_file import make_home
from onyx_jupyter.runtime.knowledge import ServerKnowledge
from onyx_jupyter.runtime.local_models import LocalModels
from onyx_jupyter.runtime.memories import Memories
from onyx_jupyter.runtime.memory_notes import MemoryNotes
from onyx_jupyter.runtime.message_context import MessageContext
from onyx_jupyter.runtime.message_meta import MessageMeta
from onyx_jupyter.runtime.modes import mode_of
from onyx_jupyter.runtime.notebook_review import NotebookPlaces, NotebookReview
from onyx_jupyter.runtime.other_sessions import OtherSessions
from onyx_jupyter.runtime.processors import run_processors
from onyx_jupyter.runtime.project_files import ProjectFiles
from onyx_jupyter.runtime.reading_ahead import Draft
from onyx_jupyter.runtime.recovery import recover
from onyx_jupyter.runtime.runs import Runs, Sent, Surroundings, WhenBusy
from onyx_jupyter.runtime.sent_context import SentContext
from onyx_jupyter.runtime.server_skills import server_skills
from onyx_jupyter.runtime.session_info import session_info
from onyx_jupyter.runtime.session_search import SessionSearch
from onyx_jupyter.runtime.settings import Settings
from onyx_jupyter.runtime.streams import SessionStreams
from onyx_jupyter.runtime.work import Work, make_work
from onyx_jupyter.security.audit import AuditLog
from onyx_jupyter.security.drive_folders import DriveFolders
from onyx_jupyter.sessions.conversation import Summary, summarise
from onyx_jupyter.sessions.origin import RunOrigin
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.skills.packaged import recorded_hashes
from onyx_jupyter.tools.builtin import all_tools
from onyx_jupyter.tools.context import nowhere
from onyx_jupyter.tools.spec import Tool

IN_SIDEBAR = RunOrigin()


async def _no_notebook(kernel_id: str) -> str | None:
    """Where there are no kernels, none is a notebook's."""
    return None


class Onyx:
    """Everything behind the doors. Building it costs nothing; `ready` prepares the home on first use.

    `open_notebooks` says which notebooks are open in tabs and which is in front, `open_folder` which folder is shown
    there; `show_notebook` opens one there, and `notebook_of` says which one runs in a kernel; `kernels` are those of
    the notebooks and `places` their files; `templates` holds a new workspace's files, `packaged_skills` the skills that
    the package brings and `recorded_skills` their hashes; `drive` is what JupyterLab shows of Onyx's own files;
    `secrets` gives what else is to be hidden (value → kind); `on_settings` is told of each change of the configuration;
    `waits` is how a busy provider is waited for; `embeddings` None are those that the configuration asks for; `ceiling`
    is what the server's administrator allows at most.
    """

    def __init__(
        self,
        home: Home,
        server_root: Path,
        notebooks: Notebooks,
        *,
        templates: Path,
        open_notebooks: Callable[[], tuple[list[str], str | None]] = lambda: ([], None),
        open_folder: Callable[[], str | None] = lambda: None,
        show_notebook: Callable[[str], Awaitable[bool]] = nowhere,
        notebook_of: Callable[[str], Awaitable[str | None]] = _no_notebook,
        kernels: Kernels | None = None,
        places: NotebookPlaces | None = None,
        open_models: Callable[[ModelsSettings], Models] | None = None,
        tools: Callable[[], Sequence[Tool[Any]]] = all_tools,
        processors: Callable[[Settings], Sequence[Processor]] = run_processors,
        environment: Mapping[str, str] = os.environ,
        packaged_skills: Path | None = None,
        drive: DriveFolders | None = None,
        recorded_skills: Callable[[], Mapping[str, str]] = recorded_hashes,
        secrets: Callable[[], Mapping[str, str]] = dict,
        on_settings: Callable[[Settings], None] = lambda settings: None,
        embeddings: Embeddings | None = None,
        clock: Clock | None = None,
        waits: Waits | None = None,
        ceiling: Ceiling | None = None,
    ) -> None:
        self.home = home
        self.ceiling = ceiling or Ceiling()
        self.drive = drive
        self.notebook_of = notebook_of
        self.kernels = kernels
        self._clock = clock or SystemClock()
        self._ids = IdSource(self._clock)
        self._started_at = self._clock.monotonic()
        self._preparing: asyncio.Task[None] | None = None
        self.configured = Configured(
            home,
            server_root,
            templates,
            environment,
            lambda agent_id, workspace: self.memories.files(agent_id, workspace),
            open_models or partial(ProviderModels, continuing=Continuing()),
            tools,
            drive,
            more_secrets=secrets,
            on_change=on_settings,
            ceiling=self.ceiling,
        )
        self.streams = SessionStreams(self.redact_data)
        self.memories = Memories(home, self.configured, self.streams.broadcast, self.redact, self._clock, embeddings)
        self.knowledge = ServerKnowledge(
            home,
            server_root,
            self.configured,
            drive,
            self.memories.embeddings,
            self.streams.broadcast,
            self._clock,
            self._ids,
        )
        self.local_models = LocalModels(home, self.configured, self.streams.broadcast, self._clock)
        self.sessions = SessionStore(home.sessions, self._clock, self._ids, lambda: self.configured.secrets)
        self.session_search = SessionSearch(
            home.index,
            self.sessions,
            self.memories.embeddings,
            lambda: search_settings(self.settings.config),
            self.redact,
            self._clock,
        )
        self.audit_log = AuditLog(home.audit_file, self._clock)
        self._audit = AuditTrail(self.audit_log, self.redact_data)
        self.grants = GrantStore(
            home.grants_file,
            self._clock,
            self._ids,
            redact=self.redact,
            on_change=lambda: self.streams.broadcast("grants.updated", {}),
        )
        self.skills = server_skills(
            home,
            server_root,
            notebooks,
            packaged_skills,
            recorded_skills,
            drive,
            environment=environment,
            agent=self.agent,
            config=lambda: self.settings.config,
            forbidden=lambda call: self.approvals.forbidden(call),
            audit=self._audit,
            broadcast=self.streams.broadcast,
            redact=self.redact_data,
            clock=self._clock,
            ids=self._ids,
        )
        self.project = ProjectFiles(
            server_root,
            home.trusted_project_files_file,
            self.configured.workspaces,
            self._clock,
            self._audit,
            self.streams.broadcast,
        )
        self.review = NotebookReview(
            home,
            notebooks,
            places or NotebookPlaces(),
            is_under_way=lambda run_id: self.runs.is_under_way(run_id),
            config=lambda: self.settings.config.notebooks,
            audit=self._audit,
            broadcast=self.streams.broadcast,
            clock=self._clock,
            ids=self._ids,
        )
        self.memory_notes = MemoryNotes(
            self.sessions, self.streams, self._audit, lambda agent_id: self.agent(agent_id).memory, self.redact
        )
        self._work: Work | None = None
        self._is_closed = False
        self._surroundings = Surroundings(
            settings=lambda: self.settings,
            models=lambda: self.models,
            agent=self.agent,
            model_of=self.configured.model_of,
            notebooks_for=self.review.notebooks_for,
            skills=self.skills.offered,
            project=self.project.instructions,
            notebook_of=notebook_of,
            other_sessions=partial(OtherSessions, self.sessions, self.session_search, self.send),
            memory_search=self.memories.searching,
            facts=lambda parts: self.memories.facts(parts.memory),
            processors=processors,
            clock=self._clock,
            ids=self._ids,
            waits=waits or Waits(),
            ceiling=self.ceiling,
            kernels=kernels,
            knowledge=self.knowledge.documents,
            open_notebooks=open_notebooks,
            show_notebook=show_notebook,
        )
        self._context = MessageContext(
            SentContext(notebooks, kernels, self.redact),
            self._surroundings,
            self.configured.is_light,
            self.memories.recall,
        )
        self._message_meta = MessageMeta(self._context, self.review, notebook_of, open_notebooks, open_folder)

    # ── life ────────────────────────────────────────────────────────────────────────────────────────

    async def ready(self) -> None:
        """Reads the configuration, makes the home, recovers what a kill cut off; once. Raises: StorageError."""
        if self._preparing is None or (self._preparing.done() and self._preparing.exception() is not None):
            self._preparing = asyncio.create_task(self._prepare(), name="onyx start")
        await asyncio.shield(self._preparing)

    async def warm(self) -> None:
        """Loads what the first answer will need, so that it does not wait for imports."""
        await self.ready()
        await self.skills.offered(self.agent(None))
        try:
            await self.models.warm()
        finally:  # memory comes second: an answer does not wait for its index
            if not self._is_closed:
                self.memories.start()
                self.knowledge.documents.look()
                self.session_search.start()

    async def close(self) -> None:
        """Ends all work; what waits for a person goes on at the next start. One that fails keeps no other from it."""
        self._is_closed = True
        async with AsyncExitStack() as ends:  # the last one first
            parts = (self.configured, self.memories, self.session_search, self.knowledge, self.local_models.files)
            for part in (*parts, self.skills.runs):
                ends.push_async_callback(part.close)
            if self._work is not None:
                ends.push_async_callback(self._work.close)

    @property
    def uptime_s(self) -> float:
        return self._clock.monotonic() - self._started_at

    # ── configuration ───────────────────────────────────────────────────────────────────────────────

    @property
    def settings(self) -> Settings:
        """The configuration in force; `ready` comes first."""
        return self.configured.settings

    @property
    def models(self) -> Models:
        """All that can be reached; `ready` comes first."""
        return self.configured.models

    def agent(self, agent_id: str | None) -> AgentParts:
        """One agent as it is set up now. Raises: NotFound."""
        return self.configured.agent(agent_id)

    def redact(self, text: str) -> str:
        """The text without secrets; before the configuration is read none is known."""
        return self.configured.secrets.apply(text)

    def redact_data(self, data: Any) -> Any:
        """JSON-like data without secrets."""
        return self.configured.secrets.redact_data(data)

    async def list_models(self, *, refresh: bool) -> Sequence[ModelInfo]:
        """What can be chosen; `refresh` reads the configuration anew and asks the providers."""
        if refresh:
            await self.configured.read()
        config, acts_in_cells = self.settings.config, self.runs.model_choice.acts_in_cells
        listed = await self.models.list(refresh=refresh)
        return [replace(one, tool_mode="cell") if acts_in_cells(config, one.id) else one for one in listed]

    # ── sessions ────────────────────────────────────────────────────────────────────────────────────

    async def create_session(self, agent_id: str | None, title: str | None, model: str | None) -> str:
        """The new session's key. Raises: NotFound, StorageError, InvalidRequest (a model that is not allowed)."""
        self.configured.check_model(model)
        transcript = await self.sessions.create(self.agent(agent_id).config.id, title, model)
        self._announce(transcript)
        self.opened(transcript.session_key)
        return transcript.session_key

    def opened(self, session_key: str) -> None:
        """A person turns to this session."""
        self.consolidating.opened(session_key)

    def session_info(self, session_key: str, summary: Summary) -> dict[str, Any]:
        """A session's metadata as the wire has it."""
        return session_info(session_key, summary, self.runs.activity(session_key))

    # ── messages ────────────────────────────────────────────────────────────────────────────────────

    async def send(
        self,
        session_key: str,
        message: str,
        *,
        model: str | None = None,
        tool_mode: str | None = None,
        mode: str | None = None,
        context: Sequence[Mapping[str, Any]] = (),
        when_busy: WhenBusy | None = None,
        origin: RunOrigin = IN_SIDEBAR,
    ) -> Sent:
        """Which run will answer; the message is on disk when this returns.

        `tool_mode` says whether the model proposes cells (cell) or calls tools (tools); None leaves it to its provider.
        `context` names what goes along, in the wire's words; it is read now. `when_busy` says what happens where a run
        goes on (the configuration's choice where None).

        Raises: NotFound, SessionBusy, StorageError; InvalidRequest for a model or mode that is not allowed here.
        """
        self.configured.check_model(model)
        mode = self._allowed_mode(mode)
        transcript = await self.sessions.get(session_key)
        if origin.is_person:
            self.opened(session_key)
        meta = await self._message_meta.of(
            transcript,
            message,
            model=model,
            tool_mode=tool_mode,
            mode=mode,
            context=context,
            origin=origin,
        )
        sent = await self.runs.send(transcript, message, meta, when_busy or self.settings.config.runtime.when_busy)
        return replace(sent, context=meta.get("context", ()))

    def _allowed_mode(self, wished: str | None) -> str | None:
        """As wished; where nothing was wished and Agent mode is not allowed, the next stricter one, told by name."""
        if wished is None:
            standard = self.ceiling.mode(mode_of({}))
            return None if standard == mode_of({}) else standard
        self.ceiling.check_mode(mode_of({"mode": wished}))
        return wished

    async def preview_context(
        self, session_key: str | None, items: Sequence[Mapping[str, Any]], model: str | None
    ) -> list[dict[str, Any]]:
        """What the model would get of these items, were they sent now. Raises: NotFound, StorageError."""
        transcript = await self.sessions.get(session_key) if session_key else None
        return await self._context.read(transcript, items, model)

    def composing(self, draft: Draft) -> None:
        """A person has paused in writing: a model of this machine may begin to read. Returns at once."""
        self._at_work.reading_ahead.composing(draft)

    async def notebook_renamed(self, old: str, new: str) -> None:
        """A notebook or folder has another name: what was changed in it is found there from now on."""
        await self.ready()
        await self.review.renamed(old, new)

    async def abort(self, run_id: str) -> bool:
        """Stops the run within a second; False where it does not go on any more."""
        return await self.runs.abort(run_id, self.sessions.get)

    # ── approvals ───────────────────────────────────────────────────────────────────────────────────

    @property
    def approvals(self) -> ApprovalBroker:
        return self._at_work.approvals

    @property
    def questions(self) -> Questions:
        return self._at_work.questions

    async def revoke_grant(self, grant_id: str, by: str) -> None:
        """The grant counts no more, from the next call on. Raises: NotFound, StorageError."""
        await self._audit.revoked(await self.grants.revoke(grant_id), by)

    @property
    def consolidating(self) -> Consolidating:
        return self._at_work.consolidating

    # ── inside ──────────────────────────────────────────────────────────────────────────────────────

    @property
    def runs(self) -> Runs:
        return self._at_work.runs

    @property
    def _at_work(self) -> Work:
        assert self._work is not None, "ready() comes first"
        return self._work

    async def _prepare(self) -> None:
        await asyncio.to_thread(make_home, self.home)
        await self.configured.read()
        self.memories.ready()
        self._work = make_work(
            self.home,
            self._surroundings,
            self.streams,
            self.sessions,
            self._audit,
            self.grants,
            self.memory_notes,
            self.redact_data,
            self.configured.forbidden,
            self._changed,
        )
        await self.review.thin()
        await self.skills.runs.recover()
        await self.skills.runs.thin()
        await recover(self.sessions, self.runs, self.approvals, self.questions, self._audit, self._clock, self._ids)
        self.consolidating.start(await self.sessions.list())

    def _changed(self, transcript: SessionTranscript) -> None:
        self._announce(transcript)
        if self.runs.activity(transcript.session_key) == "idle":
            self.consolidating.touched(transcript)

    def _announce(self, transcript: SessionTranscript) -> None:
        info = self.session_info(transcript.session_key, summarise(transcript.entries))
        self.streams.broadcast("session.updated", info)
        self.session_search.changed()
