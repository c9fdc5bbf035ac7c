"""Sessions and their entries on the socket."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from onyx_jupyter.operations.wire import Wire


class SessionMatch(Wire):
    """The turn in which a search found something."""

    entry_id: str
    role: Literal["user", "assistant"]
    at: str
    snippet: str


class SessionInfo(Wire):
    """Metadata of one session; `match` in a list that was searched, where what was said in it answers.

    `activity`, `model`, `tool_mode` and `match` go beyond the published table, which stays as it is.
    """

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
    tool_mode: Literal["cell", "tools"] | None = None
    match: SessionMatch | None = None


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
    reasoning_tokens: int | None = None


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
    """`note` says what kept a search from being better.

    `isWhole` is false where there was no time to look through all that was said: another search may find more.
    """

    sessions: list[SessionInfo]
    total: int
    note: str | None = None
    is_whole: bool = True


class SessionsSearchParams(Wire):
    """What was said, by words and by meaning; in the sessions of all agents where `agentId` is not set."""

    query: str = Field(min_length=1, max_length=2_000)
    agent_id: str | None = None
    limit: int = Field(default=10, ge=1, le=100)


class SessionsSearchResult(SessionMatch):
    session_key: str
    title: str
    score: float


class SessionsFound(Wire):
    """The best first; `note` says what kept the search from being better."""

    results: list[SessionsSearchResult]
    note: str | None = None


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


Entry.model_rebuild()
