"""Sessions, their messages and their runs on the socket."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from onyx_jupyter.events import to_camel
from onyx_jupyter.operations.limits import MAX_MESSAGE_CHARS
from onyx_jupyter.operations.wire import Wire
from onyx_jupyter.sessions.origin import OriginKind

MAX_CONTEXT_ITEMS = 30
MAX_DRAFT_CHARS = 1_000


class SessionMatch(Wire):
    """The turn in which a search found something."""

    entry_id: str
    role: Literal["user", "assistant"]
    at: str
    snippet: str


class SessionInfo(Wire):
    """Metadata of one session; `match` in a list that was searched, where what was said in it answers.

    `activity`, `model`, `tool_mode`, `match` and `origin` (who sent the first message) go beyond the published table,
    which stays as it is.
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
    origin: OriginKind = "sidebar"


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
    """`cost_usd` is null if no price is known; `plan`: a subscription paid for some of it.

    `cost_is_partial`: the cost leaves out calls without a known price. `estimated`: some figures are not the
    provider's, since it gave none or the answer ended early.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int | None = None
    cost_usd: float | None = None
    reasoning_tokens: int | None = None
    plan: bool | None = None
    cost_is_partial: bool | None = None
    estimated: bool | None = None


class SessionsCreateParams(Wire):
    agent_id: str | None = None
    title: str | None = Field(default=None, max_length=200)
    model: str | None = None


class SessionCreated(Wire):
    session_key: str


class SessionsListParams(Wire):
    """`unattended`: also those of which the first message came from a job or a heartbeat."""

    agent_id: str | None = None
    status: Literal["active", "archived"] | None = None
    query: str | None = None
    limit: int = Field(default=50, ge=1, le=1000)
    offset: int = Field(default=0, ge=0)
    unattended: bool = False


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


class ChatSendParams(Wire):
    session_key: str
    message: str = Field(min_length=1, max_length=MAX_MESSAGE_CHARS)
    context: list[ContextItem] | None = Field(default=None, max_length=MAX_CONTEXT_ITEMS)
    model: str | None = None
    tool_mode: Literal["cell", "tools"] | None = Field(
        default=None, description="whether the model proposes cells or calls tools; default: its provider's toolMode"
    )
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = Field(
        default=None, description="how much the model thinks for this message; default: its provider's effort"
    )
    mode: Literal["ask", "agent", "auto"] | None = None
    when_busy: Literal["steer", "followup", "interrupt"] | None = Field(
        default=None, description="what to do during a run; default: runtime.whenBusy"
    )
    from_kernel: OriginKernel | None = Field(
        default=None, description="sent from a cell, whose kernel is busy until it has the answer"
    )
    typed: bool = Field(
        default=False, description="written by a person in a chat; nothing else is remembered automatically"
    )


class ChatComposingParams(Wire):
    """What a person has written so far, once a pause: a model of this machine then reads what it will begin with.

    An empty text says that the input has the focus and nothing stands in it, or, for a model of another machine, that
    somebody writes: what the answer needs is loaded then.

    Nothing of it is kept or goes to another machine. Without `sessionKey` the conversation has not begun.
    """

    text: str = Field(max_length=MAX_DRAFT_CHARS, description="its beginning")
    session_key: str | None = None
    model: str | None = None
    mode: Literal["ask", "agent", "auto"] | None = None


class OriginKernel(Wire):
    """The kernel whose cell asks; `name` is that of its notebook, for people, where the kernel knows it."""

    kernel_id: str = Field(max_length=200)
    name: str | None = Field(default=None, max_length=300)


class ContextItem(Wire):
    """Something sent along with a message, named as in the file browser. Its text is read when it is sent.

    `text` is what the client itself read: a selection always, with its lines (counted from 1) where they are known.
    `cellId` belongs to a cell, an error, a selection in a cell, and to the notebook for the cell one stands in; `name`
    is a variable of the notebook's kernel; `label` is what a person would call it (cell 4). A `memory` is found by Onyx
    itself in its notes, with the lines where it stands: none is taken from a client.
    """

    type: Literal["notebook", "cell", "file", "selection", "variable", "error", "memory"]
    path: str = Field(max_length=4096)
    cell_id: str | None = Field(default=None, max_length=200)
    name: str | None = Field(default=None, max_length=200)
    start_line: int | None = Field(default=None, ge=1)
    end_line: int | None = Field(default=None, ge=1)
    label: str | None = Field(default=None, max_length=200)
    text: str | None = Field(default=None, max_length=100_000)

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.type == "memory" and not isinstance(self, SentItem):
            raise ValueError("Onyx searches memory itself")
        needed = _NEEDED.get(self.type)
        if needed is not None and not getattr(self, needed):
            raise ValueError(f"a {self.type} needs {to_camel(needed)}")
        return self


_NEEDED = {"variable": "name", "error": "cell_id", "selection": "text"}


class SentItem(ContextItem):
    """An item as the model got it: exactly its text, how many tokens that takes, and why where it could not be read.

    `hash` is that of the cell's source, where the text holds all of it: the model may change that cell as it is then;
    of what memory had to say it is the passage's, which is sent again once it has been changed.
    """

    tokens: int
    hash: str | None = None
    problem: str | None = None


class ContextPreviewParams(Wire):
    """What would be sent with these items now, in this session and to this model."""

    items: list[ContextItem] = Field(min_length=1, max_length=MAX_CONTEXT_ITEMS)
    session_key: str | None = None
    model: str | None = None


class ContextPreview(Wire):
    items: list[SentItem]


class ChatSent(Wire):
    """`runId` is the run that answers: a new one, or with `steer` the one that goes on."""

    run_id: str
    delivery: Literal["started", "steer", "followup", "interrupt"] | None = None
    context: list[SentItem] | None = Field(default=None, description="what was attached, as the model gets it")


class ChatHistoryParams(Wire):
    session_key: str
    limit: int = Field(default=200, ge=1, le=2000)
    before: str | None = Field(default=None, description="id of an entry; only older ones are returned")


class ChatHistory(Wire):
    messages: list[Entry]


class ChatAbortParams(Wire):
    run_id: str


ChatSendParams.model_rebuild()
ChatSent.model_rebuild()
