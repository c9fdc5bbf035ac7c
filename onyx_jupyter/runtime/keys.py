"""What the features of Onyx give each other, by name. The types are only named: nothing is imported for a key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from onyx_jupyter.operations.parts import Key

if TYPE_CHECKING:
    from onyx_jupyter.human_requests.broker import ApprovalBroker
    from onyx_jupyter.human_requests.grants import GrantStore
    from onyx_jupyter.human_requests.questions import Questions
    from onyx_jupyter.notebook.browser_tabs import TabRequests
    from onyx_jupyter.operations.contributions import Contributions
    from onyx_jupyter.protocols import Embeddings
    from onyx_jupyter.runtime.agent_toolsets import AgentToolsets
    from onyx_jupyter.runtime.agents import Agents
    from onyx_jupyter.runtime.audit_trail import AuditTrail
    from onyx_jupyter.runtime.configured import Configured
    from onyx_jupyter.runtime.consolidating import Consolidating
    from onyx_jupyter.runtime.conversations import Conversations
    from onyx_jupyter.runtime.host import Host
    from onyx_jupyter.runtime.index_process import IndexProcess
    from onyx_jupyter.runtime.journal import TranscriptJournal
    from onyx_jupyter.runtime.knowledge import ServerKnowledge
    from onyx_jupyter.runtime.local_models import LocalModels
    from onyx_jupyter.runtime.memories import Memories
    from onyx_jupyter.runtime.memory_notes import MemoryNotes
    from onyx_jupyter.runtime.notebook_review import NotebookReview
    from onyx_jupyter.runtime.project_files import ProjectFiles
    from onyx_jupyter.runtime.reading_ahead import ReadingAhead
    from onyx_jupyter.runtime.runs import Runs
    from onyx_jupyter.runtime.session_search import SessionSearch
    from onyx_jupyter.runtime.signal import Signal
    from onyx_jupyter.runtime.skills import Skills
    from onyx_jupyter.runtime.streams import SessionStreams
    from onyx_jupyter.runtime.surroundings import Surroundings
    from onyx_jupyter.runtime.warm_up import WarmUp
    from onyx_jupyter.security.audit import AuditLog
    from onyx_jupyter.sessions.store import SessionStore
    from onyx_jupyter.sessions.transcript import SessionTranscript

# From outside of the features.
HOST: Key[Host] = Key("the server")
TABS: Key[TabRequests] = Key("browser tabs")
CONTRIBUTIONS: Key[Contributions] = Key("contributions of the features")
HEALTH: Key[Callable[[], Awaitable[dict[str, Any]]]] = Key("health")

CONFIGURED: Key[Configured] = Key("configuration")
STREAMS: Key[SessionStreams] = Key("streams of events")
AUDIT_LOG: Key[AuditLog] = Key("audit log")
AUDIT: Key[AuditTrail] = Key("audit trail")
SESSIONS: Key[SessionStore] = Key("sessions")
CHANGED_SESSION: Key[Signal[SessionTranscript]] = Key("changes of sessions")
INDEX_PROCESS: Key[IndexProcess] = Key("process of the index")
EMBEDDINGS: Key[Embeddings] = Key("embeddings")
SESSION_SEARCH: Key[SessionSearch] = Key("search in sessions")
TOOLSETS: Key[AgentToolsets] = Key("toolsets")
MEMORIES: Key[Memories] = Key("memory")
AGENTS: Key[Agents] = Key("agents")
MEMORY_NOTES: Key[MemoryNotes] = Key("notes of what was remembered")
KNOWLEDGE: Key[ServerKnowledge] = Key("knowledge")
LOCAL_MODELS: Key[LocalModels] = Key("local models")
SKILLS: Key[Skills] = Key("skills")
PROJECT_FILES: Key[ProjectFiles] = Key("project files")
NOTEBOOK_REVIEW: Key[NotebookReview] = Key("review of notebooks")
JOURNAL: Key[TranscriptJournal] = Key("journal of answers")
GRANTS: Key[GrantStore] = Key("grants")
APPROVALS: Key[ApprovalBroker] = Key("approvals")
QUESTIONS: Key[Questions] = Key("questions")
SURROUNDINGS: Key[Surroundings] = Key("surroundings of runs")
RUNS: Key[Runs] = Key("runs")
READING_AHEAD: Key[ReadingAhead] = Key("reading ahead")
CONSOLIDATING: Key[Consolidating] = Key("consolidation")
WARM_UP: Key[WarmUp] = Key("what an answer needs")
CONVERSATIONS: Key[Conversations] = Key("conversations")
