"""Sessions and their messages, as two features: runs depend on session search, and conversations depend on runs."""

from __future__ import annotations

from functools import partial
from typing import Any

from onyx_jupyter.context.attachments import Attachments
from onyx_jupyter.context.message_context import MessageContext
from onyx_jupyter.context.message_meta import MessageMeta
from onyx_jupyter.features.sessions import event_wire as wire
from onyx_jupyter.features.sessions.conversations import CONVERSATIONS, Conversations
from onyx_jupyter.features.sessions.operations import OPERATIONS
from onyx_jupyter.features.sessions.other_sessions import OtherSessions
from onyx_jupyter.features.sessions.search import SESSION_SEARCH, SessionSearch
from onyx_jupyter.features.sessions.tools import (
    sessions_history_tool,
    sessions_list_tool,
    sessions_search_tool,
    sessions_send_tool,
)
from onyx_jupyter.index_process.client import ProcessIndex
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import (
    AGENTS,
    CHANGED_SESSION,
    CONFIGURED,
    HOST,
    INDEX_PROCESS,
    OPENED_SESSION,
    OTHER_SESSIONS,
    PENDING_REVIEW,
    RECALL,
    RUNS,
    SEND_MESSAGE,
    SESSIONS,
    STREAMS,
    WARM_UP,
)
from onyx_jupyter.retrieval.settings import search_settings
from onyx_jupyter.runs.runs import Sent
from onyx_jupyter.toolsets.toolset import FixedToolset


def make_search(parts: Parts) -> Built:
    host, configured, sessions = parts.get(HOST), parts.get(CONFIGURED), parts.get(SESSIONS)
    conversations = parts.later(CONVERSATIONS)
    search = SessionSearch(
        host.home.index,
        sessions,
        partial(ProcessIndex, parts.get(INDEX_PROCESS)),
        lambda: search_settings(configured.settings.config),
        configured.redact,
        host.clock,
    )

    async def send(*message: Any, **more: Any) -> Sent:
        return await conversations().send(*message, **more)

    others = partial(OtherSessions, sessions, search, send)
    return Built({SESSION_SEARCH: search, OTHER_SESSIONS: others}, catch_up=search.start, close=search.close)


def make(parts: Parts) -> Built:
    host, configured, pending_review = parts.get(HOST), parts.get(CONFIGURED), parts.get(PENDING_REVIEW)
    sent = Attachments(host.notebooks, host.kernels, configured.redact)
    context = MessageContext(sent, parts.get(AGENTS).agent, configured.model_of, configured.is_light, parts.get(RECALL))
    conversations = Conversations(
        configured,
        parts.get(AGENTS),
        parts.get(SESSIONS),
        parts.get(SESSION_SEARCH),
        parts.get(STREAMS),
        parts.get(RUNS),
        parts.get(OPENED_SESSION),
        context,
        parts.get(WARM_UP).follow,
        MessageMeta(context, pending_review, host.notebook_of, host.open_notebooks, host.open_folder),
    )
    parts.get(CHANGED_SESSION).subscribe(conversations.changed)
    return Built({CONVERSATIONS: conversations, SEND_MESSAGE: conversations.send})


SEARCH = Feature(
    "session_search",
    make_search,
    requires=(HOST, CONFIGURED, SESSIONS, INDEX_PROCESS),
    toolsets=(
        FixedToolset(
            "sessions",
            (
                sessions_list_tool,
                sessions_search_tool,
                sessions_history_tool,
                sessions_send_tool,
            ),
        ),
    ),
    provides=(SESSION_SEARCH, OTHER_SESSIONS),
    essential=True,
)
FEATURE = Feature(
    "conversations",
    make,
    requires=(
        HOST,
        CONFIGURED,
        AGENTS,
        SESSIONS,
        SESSION_SEARCH,
        STREAMS,
        RUNS,
        OPENED_SESSION,
        CHANGED_SESSION,
        PENDING_REVIEW,
        RECALL,
        WARM_UP,
    ),
    provides=(CONVERSATIONS, SEND_MESSAGE),
    operations=OPERATIONS,
    events=(
        EventType("chat.started", wire.ChatStartedData),
        EventType("chat.delta", wire.ChatDeltaData),
        EventType("chat.thought", wire.ChatThoughtData),
        EventType("tool.draft", wire.ToolDraftData),
        EventType("tool.started", wire.ToolStartedData),
        EventType("tool.progress", wire.ToolProgressData),
        EventType("tool.finished", wire.ToolFinishedData),
        EventType("chat.note", wire.ChatNoteData),
        EventType("chat.steered", wire.ChatSteeredData),
        EventType("chat.joined", wire.ChatJoinedData),
        EventType("chat.final", wire.ChatFinalData),
        EventType("chat.error", wire.ChatErrorData),
        EventType("chat.aborted", wire.ChatAbortedData),
        EventType("session.updated", wire.SessionUpdatedData),
    ),
    essential=True,
)
