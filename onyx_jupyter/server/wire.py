"""The socket's frames, methods and events as pydantic models; TypeScript types are generated from here.

It never does anything with them: `methods/` answers, `socket` carries.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from onyx_jupyter.events import Decision, to_camel

# Codes below -32000 are JSON-RPC 2.0's own (https://www.jsonrpc.org/specification); the rest are ours.
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
APPLICATION_ERROR = -32000
CLOSE_TOO_LARGE = 1009
CLOSE_UNAUTHORIZED = 4401

MAX_MESSAGE_CHARS = 1_000_000
MAX_FRAME_BYTES = 4 * 1024 * 1024


class Wire(BaseModel):
    """camelCase on the wire, snake_case here, nothing unknown accepted."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class NoParams(Wire):
    pass


# ── health, agents, models ──────────────────────────────────────────────────────────────────────────


class Component(Wire):
    """One part's state; `hint` says what to do when it is not ok."""

    ok: bool
    message: str
    hint: str | None = None


class Health(Wire):
    status: Literal["ok", "degraded"]
    uptime: float = Field(description="seconds since the extension was loaded")
    version: str
    components: dict[str, Component]


class Agent(Wire):
    id: str
    name: str
    model: str
    default: bool
    workspace: str


class Agents(Wire):
    agents: list[Agent]


class ModelsListParams(Wire):
    refresh: bool = False


class ModelInfo(Wire):
    id: str
    provider: str
    local: bool
    tools: bool


class ModelList(Wire):
    models: list[ModelInfo]


# ── sessions ────────────────────────────────────────────────────────────────────────────────────────


class SessionInfo(Wire):
    """Metadata of one session. `activity` and `model` go beyond the published table, which stays as it is."""

    session_key: str
    agent_id: str
    title: str
    created_at: str
    updated_at: str
    message_count: int
    token_count: int
    last_message_preview: str
    status: Literal["active", "archived"]
    activity: Literal["idle", "running", "waiting"] = "idle"
    model: str | None = None


class ToolCallEntry(Wire):
    """A call that the model made; `malformed` is what it sent where that was no JSON object."""

    id: str
    name: str
    arguments: dict[str, Any]
    malformed: str | None = None


class Entry(BaseModel):
    """One line of a transcript, as it stands on disk. `meta.kind` tells a system entry's meaning."""

    model_config = ConfigDict(extra="allow")

    v: int
    id: str
    parent: str | None = None
    ts: str
    role: Literal["user", "assistant", "tool", "system"]
    content: str
    tool_calls: list[ToolCallEntry] | None = None
    tool_call_id: str | None = None
    usage: UsageInfo | None = None
    meta: dict[str, Any] | None = None


class UsageInfo(Wire):
    input_tokens: int
    output_tokens: int
    cached_tokens: int | None = None
    cost_usd: float | None = None


class SessionsCreateParams(Wire):
    agent_id: str | None = None
    title: str | None = Field(default=None, max_length=200)
    model: str | None = None


class SessionCreated(Wire):
    session_key: str


class SessionsListParams(Wire):
    agent_id: str | None = None
    status: Literal["active", "archived"] | None = None
    query: str | None = None
    limit: int = Field(default=50, ge=1, le=1000)
    offset: int = Field(default=0, ge=0)


class SessionList(Wire):
    sessions: list[SessionInfo]
    total: int


class SessionParams(Wire):
    session_key: str


class SessionDetail(Wire):
    session: SessionInfo
    messages: list[Entry]


class SessionsSubscribeParams(Wire):
    session_key: str
    after_seq: int | None = Field(default=None, ge=0)


class Subscribed(Wire):
    seq: int


# ── chat ────────────────────────────────────────────────────────────────────────────────────────────


class ChatSendParams(Wire):
    session_key: str
    message: str = Field(min_length=1, max_length=MAX_MESSAGE_CHARS)
    context: list[ContextItem] | None = None
    model: str | None = None
    mode: Literal["ask", "agent", "auto"] | None = None


class ContextItem(Wire):
    """Something sent along with a message, named as in the file browser."""

    type: Literal["notebook", "cell", "file", "selection"]
    path: str
    cell_id: str | None = None
    text: str | None = Field(default=None, max_length=100_000)


class ChatSent(Wire):
    run_id: str


class ChatHistoryParams(Wire):
    session_key: str
    limit: int = Field(default=200, ge=1, le=2000)
    before: str | None = Field(default=None, description="id of an entry: only older ones are given")


class ChatHistory(Wire):
    messages: list[Entry]


class ChatAbortParams(Wire):
    run_id: str


class Ok(Wire):
    ok: bool


# ── approvals ───────────────────────────────────────────────────────────────────────────────────────


class ExecApproveParams(Wire):
    approval_id: str
    scope: Literal["once", "session", "always"] = "once"


class ExecDenyParams(Wire):
    approval_id: str
    reason: str | None = Field(default=None, max_length=2000)


class ApprovalsListParams(Wire):
    session_key: str | None = None


class ApprovalInfo(Wire):
    """The data of `exec.approval_request`."""

    approval_id: str
    run_id: str
    call_id: str
    tool_name: str
    summary: str
    details: dict[str, Any]
    expires_at: str
    session_key: str | None = None
    seq: int | None = None


class ApprovalList(Wire):
    approvals: list[ApprovalInfo]


# ── browser tabs ────────────────────────────────────────────────────────────────────────────────────


class OpenNotebook(Wire):
    """A notebook that a tab has open; `active` is the one in front."""

    path: str
    active: bool = False


class ClientUpdateParams(Wire):
    """What this tab has open now; it replaces what the tab said before."""

    notebooks: list[OpenNotebook] = Field(max_length=500)


class ClientError(Wire):
    """Why a tab could not do it. Codes: not_open, no_cell, stale, no_kernel, not_code, bad_request, internal."""

    code: str
    message: str
    data: dict[str, Any] | None = None


class ClientRespondParams(Wire):
    request_id: str
    result: dict[str, Any] | None = None
    error: ClientError | None = None


class ClientRequest(Wire):
    """Asked of one tab alone. Actions: notebook.read, .insert, .edit, .run and .interrupt."""

    request_id: str
    action: str
    params: dict[str, Any]


# ── events ──────────────────────────────────────────────────────────────────────────────────────────


class RunData(Wire):
    """What every event of a run carries, `chat.delta` aside."""

    run_id: str
    session_key: str
    seq: int


class ChatStartedData(RunData):
    pass


class ChatDeltaData(Wire):
    run_id: str
    seq: int
    text: str


class ToolStartedData(RunData):
    call_id: str
    tool: str
    input: dict[str, Any]


class ToolProgressData(RunData):
    call_id: str
    tool: str
    message: str


class AttachmentInfo(Wire):
    type: Literal["image", "file"]
    mime_type: str
    data: str
    name: str | None = None


class ToolFinishedData(RunData):
    call_id: str
    tool: str
    ok: bool
    output: str
    attachments: list[AttachmentInfo] | None = None


class ApprovalResolvedData(Wire):
    approval_id: str
    decision: Decision
    by: str
    reason: str | None = None
    session_key: str
    seq: int


class ChatFinalData(RunData):
    text: str
    usage: UsageInfo


class ChatErrorData(RunData):
    code: str
    message: str
    hint: str | None = None


class ChatAbortedData(RunData):
    pass


class SessionUpdatedData(SessionInfo):
    """The session's metadata after a change; `seq` counts like any other event of the session."""

    seq: int | None = None


Entry.model_rebuild()
ChatSendParams.model_rebuild()


# ── what is served ──────────────────────────────────────────────────────────────────────────────────

METHODS: dict[str, tuple[type[Wire], type[Wire]]] = {
    "health.check": (NoParams, Health),
    "agents.list": (NoParams, Agents),
    "models.list": (ModelsListParams, ModelList),
    "sessions.create": (SessionsCreateParams, SessionCreated),
    "sessions.list": (SessionsListParams, SessionList),
    "sessions.get": (SessionParams, SessionDetail),
    "sessions.subscribe": (SessionsSubscribeParams, Subscribed),
    "chat.send": (ChatSendParams, ChatSent),
    "chat.history": (ChatHistoryParams, ChatHistory),
    "chat.abort": (ChatAbortParams, Ok),
    "exec.approve": (ExecApproveParams, Ok),
    "exec.deny": (ExecDenyParams, Ok),
    "approvals.list": (ApprovalsListParams, ApprovalList),
    "client.update": (ClientUpdateParams, Ok),
    "client.respond": (ClientRespondParams, Ok),
}
"""Every method with the models of its parameters and of its result."""

EVENTS: dict[str, type[Wire]] = {
    "chat.started": ChatStartedData,
    "chat.delta": ChatDeltaData,
    "tool.started": ToolStartedData,
    "tool.progress": ToolProgressData,
    "tool.finished": ToolFinishedData,
    "exec.approval_request": ApprovalInfo,
    "exec.approval_resolved": ApprovalResolvedData,
    "chat.final": ChatFinalData,
    "chat.error": ChatErrorData,
    "chat.aborted": ChatAbortedData,
    "session.updated": SessionUpdatedData,
    "client.request": ClientRequest,
}
"""Every event with the model of its data."""
