"""The keys of what the features of Onyx provide to each other. Types are only named: a key imports nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onyx_jupyter.operations.dependencies import Key

if TYPE_CHECKING:
    from onyx_jupyter.agent.run import ExternalAgent
    from onyx_jupyter.agents.agents import AgentParts, Agents
    from onyx_jupyter.agents.configured import Configured
    from onyx_jupyter.agents.offered_skills import OfferedSkills
    from onyx_jupyter.agents.toolsets import AgentToolsets
    from onyx_jupyter.context.recall import Recall
    from onyx_jupyter.human_requests.broker import ApprovalBroker
    from onyx_jupyter.human_requests.grants import GrantStore
    from onyx_jupyter.human_requests.questions import Questions
    from onyx_jupyter.index_process.process import IndexProcess
    from onyx_jupyter.memory.fact_store import FactStore
    from onyx_jupyter.memory.files import MemoryFiles
    from onyx_jupyter.notebook.browser_tabs import TabRequests
    from onyx_jupyter.notebook.review.recording import Author
    from onyx_jupyter.operations.contributions import Contributions, Preparation
    from onyx_jupyter.operations.host import Host
    from onyx_jupyter.operations.sending import SendMessage
    from onyx_jupyter.operations.signal import Signal
    from onyx_jupyter.project.instructions import Instructions
    from onyx_jupyter.protocols import Embeddings, Knowledge, ModelInfo, Notebooks, Search, Sessions
    from onyx_jupyter.runs.audit_trail import AuditTrail
    from onyx_jupyter.runs.journal import TranscriptJournal
    from onyx_jupyter.runs.prefill import Prefill
    from onyx_jupyter.runs.runs import Runs
    from onyx_jupyter.runs.services import RunServices
    from onyx_jupyter.runs.streams import SessionStreams
    from onyx_jupyter.schedule.scheduler import Scheduler
    from onyx_jupyter.security.audit import AuditLog
    from onyx_jupyter.security.credential_store import CredentialStore
    from onyx_jupyter.sessions.entry import Entry
    from onyx_jupyter.sessions.store import SessionStore
    from onyx_jupyter.sessions.transcript import SessionTranscript
    from onyx_jupyter.usage.model_call import ModelCall

# Provided from outside of the features.
HOST: Key[Host] = Key("the server")
TABS: Key[TabRequests] = Key("browser tabs")
CONTRIBUTIONS: Key[Contributions] = Key("feature contributions")
HEALTH: Key[Callable[[], Awaitable[dict[str, Any]]]] = Key("health")

CONFIGURED: Key[Configured] = Key("configuration")
REREAD_CONFIG: Key[Signal[None]] = Key("configuration changes")
CREDENTIALS: Key[CredentialStore] = Key("stored credentials")
MODEL_CALLS: Key[Signal[ModelCall]] = Key("model calls")
STREAMS: Key[SessionStreams] = Key("event streams")
AUDIT_LOG: Key[AuditLog] = Key("audit log")
AUDIT: Key[AuditTrail] = Key("audit trail")
SESSIONS: Key[SessionStore] = Key("sessions")
OPENED_SESSION: Key[Signal[str]] = Key("opened sessions")
CHANGED_SESSION: Key[Signal[SessionTranscript]] = Key("session changes")
INDEX_PROCESS: Key[IndexProcess] = Key("index process")
EMBEDDINGS: Key[Embeddings] = Key("embeddings")
TOOLSETS: Key[AgentToolsets] = Key("toolsets")
AGENTS: Key[Agents] = Key("agents")
JOURNAL: Key[TranscriptJournal] = Key("answer journal")
GRANTS: Key[GrantStore] = Key("grants")
APPROVALS: Key[ApprovalBroker] = Key("approvals")
QUESTIONS: Key[Questions] = Key("questions")
RUN_SERVICES: Key[RunServices] = Key("run services")
RUNS: Key[Runs] = Key("runs")
SEND_MESSAGE: Key[SendMessage] = Key("sending of messages")
SCHEDULER: Key[Scheduler] = Key("scheduler")
TIME_ZONE: Key[Callable[[], str]] = Key("time zone")
PREFILL: Key[Prefill] = Key("reading ahead")
WARM_UP: Key[Preparation] = Key("warm-up")

# Used by other features and by runs, without knowing the feature that provides it.
MEMORY_FILES: Key[Callable[[str, Path], MemoryFiles]] = Key("agent memory files")
MEMORY_SEARCH: Key[Callable[[str], Search]] = Key("agent memory search")
FACTS: Key[Callable[[MemoryFiles], FactStore]] = Key("agent facts")
RECALL: Key[Recall] = Key("memory recall")
DOCUMENTS: Key[Knowledge] = Key("documents")
OFFERED_SKILLS: Key[Callable[[AgentParts], Awaitable[OfferedSkills]]] = Key("agent skills")
PROJECT_INSTRUCTIONS: Key[Callable[[], Awaitable[Instructions | None]]] = Key("project instructions")
RECORDED_NOTEBOOKS: Key[Callable[[Author], Notebooks]] = Key("recorded notebooks")
PENDING_REVIEW: Key[Callable[[str, Sequence[Entry]], Awaitable[dict[str, Any]]]] = Key("review decisions")
EXTERNAL_AGENT: Key[Callable[[str, SessionTranscript, AgentParts], ExternalAgent | None]] = Key("answering agents")
EXTERNAL_AGENT_MODELS: Key[Callable[[], Awaitable[Sequence[ModelInfo]]]] = Key("choice of agents")
OTHER_SESSIONS: Key[Callable[[str, str, Entry], Sessions]] = Key("other agent sessions")
