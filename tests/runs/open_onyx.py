"""Onyx with its parts by name, as tests look into it. The code itself asks by key."""

from collections.abc import Sequence
from typing import Any

from onyx_jupyter.agents.agents import AgentParts
from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.agents.settings import Settings
from onyx_jupyter.agents.toolsets import AgentToolsets
from onyx_jupyter.app.onyx import Onyx
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.config.paths import Home
from onyx_jupyter.features.knowledge.documents import KNOWLEDGE, ServerKnowledge
from onyx_jupyter.features.local_models.service import LOCAL_MODELS, LocalModels
from onyx_jupyter.features.memory.consolidation_scheduler import CONSOLIDATION, ConsolidationScheduler
from onyx_jupyter.features.memory.memories import MEMORIES, Memories
from onyx_jupyter.features.memory.notes import MEMORY_NOTES, MemoryNotes
from onyx_jupyter.features.models.feature import offered_models
from onyx_jupyter.features.notebooks.review_service import NOTEBOOK_REVIEW, NotebookReview
from onyx_jupyter.features.project.files import PROJECT_FILES, ProjectFiles
from onyx_jupyter.features.sessions.conversations import CONVERSATIONS, Conversations
from onyx_jupyter.features.sessions.search import SESSION_SEARCH, SessionSearch
from onyx_jupyter.features.skills.skill_service import SKILLS, Skills
from onyx_jupyter.human_requests.broker import ApprovalBroker
from onyx_jupyter.human_requests.grants import GrantStore
from onyx_jupyter.human_requests.questions import Questions
from onyx_jupyter.operations.keys import (
    AGENTS,
    APPROVALS,
    AUDIT,
    AUDIT_LOG,
    CONFIGURED,
    GRANTS,
    PREFILL,
    QUESTIONS,
    RUNS,
    SESSIONS,
    STREAMS,
    TOOLSETS,
)
from onyx_jupyter.protocols import ModelInfo, Models
from onyx_jupyter.runs.prefill import Prefill
from onyx_jupyter.runs.runs import Runs, Sent
from onyx_jupyter.runs.streams import SessionStreams
from onyx_jupyter.security.audit import AuditLog
from onyx_jupyter.sessions.store import SessionStore


class OpenOnyx(Onyx):
    @property
    def configured(self) -> Configured:
        return self.get(CONFIGURED)

    @property
    def streams(self) -> SessionStreams:
        return self.get(STREAMS)

    @property
    def memories(self) -> Memories:
        return self.get(MEMORIES)

    @property
    def knowledge(self) -> ServerKnowledge:
        return self.get(KNOWLEDGE)

    @property
    def local_models(self) -> LocalModels:
        return self.get(LOCAL_MODELS)

    @property
    def sessions(self) -> SessionStore:
        return self.get(SESSIONS)

    @property
    def session_search(self) -> SessionSearch:
        return self.get(SESSION_SEARCH)

    @property
    def audit_log(self) -> AuditLog:
        return self.get(AUDIT_LOG)

    @property
    def grants(self) -> GrantStore:
        return self.get(GRANTS)

    @property
    def skills(self) -> Skills:
        return self.get(SKILLS)

    @property
    def project(self) -> ProjectFiles:
        return self.get(PROJECT_FILES)

    @property
    def review(self) -> NotebookReview:
        return self.get(NOTEBOOK_REVIEW)

    @property
    def memory_notes(self) -> MemoryNotes:
        return self.get(MEMORY_NOTES)

    @property
    def approvals(self) -> ApprovalBroker:
        return self.get(APPROVALS)

    @property
    def questions(self) -> Questions:
        return self.get(QUESTIONS)

    @property
    def consolidating(self) -> ConsolidationScheduler:
        return self.get(CONSOLIDATION)

    @property
    def runs(self) -> Runs:
        return self.get(RUNS)

    @property
    def prefill(self) -> Prefill:
        return self.get(PREFILL)

    @property
    def conversations(self) -> Conversations:
        return self.get(CONVERSATIONS)

    @property
    def toolsets(self) -> AgentToolsets:
        return self.get(TOOLSETS)

    @property
    def home(self) -> Home:
        return self.host.home

    @property
    def ceiling(self) -> Ceiling:
        return self.host.ceiling

    @property
    def settings(self) -> Settings:
        return self.configured.settings

    @property
    def models(self) -> Models:
        return self.configured.models

    def agent(self, agent_id: str | None) -> AgentParts:
        return self.get(AGENTS).agent(agent_id)

    async def list_models(self, *, refresh: bool) -> Sequence[ModelInfo]:
        return await offered_models(self.configured, self.runs.model_choice, refresh=refresh)

    async def create_session(self, agent_id: str | None, title: str | None, model: str | None) -> str:
        return await self.conversations.create_session(agent_id, title, model)

    async def send(self, session_key: str, message: str, **more: Any) -> Sent:
        return await self.conversations.send(session_key, message, **more)

    async def abort(self, run_id: str) -> bool:
        return await self.conversations.abort(run_id)

    async def revoke_grant(self, grant_id: str, by: str) -> None:
        await self.get(AUDIT).revoked(await self.grants.revoke(grant_id), by)
