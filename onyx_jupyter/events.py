"""What happens during a run, as typed events. Field names, in camelCase, are those of the socket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal

from onyx_jupyter.messages import Attachment, Failure, Label, Usage

Decision = Literal["approved", "denied", "expired", "aborted"]

QuestionOutcome = Literal["answered", "declined", "expired", "aborted"]

SkillAnswer = Literal["trusted", "declined", "expired", "gone", "unusable"]
"""How the question of a cell about a skill ended; `gone` if the cell disappeared."""


def to_camel(name: str) -> str:
    """`run_id` → `runId`."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


@dataclass(frozen=True, slots=True)
class ChatStarted:
    name: ClassVar[str] = "chat.started"
    run_id: str


@dataclass(frozen=True, slots=True)
class ChatDelta:
    """A piece of the answer, appended to what came before."""

    name: ClassVar[str] = "chat.delta"
    run_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ChatThought:
    """A piece of what the model thinks, which is not part of the answer.

    `seconds` comes with the last piece: how long it thought. `was_said` means that this very text was sent as the last
    words of the answer, and is taken back.
    """

    name: ClassVar[str] = "chat.thought"
    run_id: str
    text: str
    seconds: float | None = None
    was_said: bool | None = None


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """`activity` is how the tool describes the call; a tool without a description is shown by its name."""

    name: ClassVar[str] = "tool.started"
    run_id: str
    call_id: str
    tool: str
    input: dict[str, Any]
    activity: Label | None = None


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A line about work in progress. Before the first word of an answer the tool is `model` and `call_id` is empty."""

    name: ClassVar[str] = "tool.progress"
    run_id: str
    call_id: str
    tool: str
    message: str


@dataclass(frozen=True, slots=True)
class ToolDraft:
    """A piece of the cell that the model is writing, before there is a call; the call, or words, replace it.

    With `begins`, what came so far is discarded.
    """

    name: ClassVar[str] = "tool.draft"
    run_id: str
    text: str
    begins: bool | None = None


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """`status` is as in the transcript; `input` is absent if it is ok: a call that never began had no `tool.started`.

    Screens compose their text from `data`, `label` and `failure`.
    """

    name: ClassVar[str] = "tool.finished"
    run_id: str
    call_id: str
    tool: str
    ok: bool
    output: str
    attachments: tuple[Attachment, ...] | None = None
    status: str | None = None
    input: dict[str, Any] | None = None
    data: Mapping[str, Any] | None = None
    label: Label | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """The user is asked. `details` shows exactly what would run; `expires_at` is ISO 8601 in UTC.

    It is meant for the person who decides and is unredacted, secrets included: all other receivers redact it first.
    `version` identifies this showing of it, for the answer; it is never stored.
    """

    name: ClassVar[str] = "exec.approval_request"
    approval_id: str
    run_id: str
    call_id: str
    tool_name: str
    summary: str
    details: dict[str, Any]
    expires_at: str
    version: str | None = field(default=None, compare=False)
    activity: Label | None = None


@dataclass(frozen=True, slots=True)
class ApprovalResolved:
    name: ClassVar[str] = "exec.approval_resolved"
    approval_id: str
    decision: Decision
    by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """The agent waits for an answer of the user: one of `choices`, or their own words if `free_text`."""

    name: ClassVar[str] = "chat.question"
    question_id: str
    run_id: str
    call_id: str
    question: str
    choices: tuple[str, ...]
    free_text: bool
    expires_at: str


@dataclass(frozen=True, slots=True)
class QuestionResolved:
    """`answer` is absent if the user declined to answer, or nobody did."""

    name: ClassVar[str] = "chat.question_resolved"
    question_id: str
    run_id: str
    call_id: str
    outcome: QuestionOutcome
    by: str
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class ChatNote:
    """Something about the run that the user should know but that is not an answer; `kind` is for programs."""

    name: ClassVar[str] = "chat.note"
    run_id: str
    kind: str
    message: str
    data: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ChatSteered:
    """The user's message arrived during the run and waits to join it; `context` is what was sent along with it."""

    name: ClassVar[str] = "chat.steered"
    run_id: str
    message_id: str
    text: str
    context: tuple[Mapping[str, Any], ...] | None = None


@dataclass(frozen=True, slots=True)
class ChatJoined:
    """Messages that arrived during the run take their place in it here: the model reads them next."""

    name: ClassVar[str] = "chat.joined"
    run_id: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChatFinal:
    name: ClassVar[str] = "chat.final"
    run_id: str
    text: str
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class ChatError:
    """`usage` is absent if the run never began."""

    name: ClassVar[str] = "chat.error"
    run_id: str
    code: str
    message: str
    hint: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class ChatAborted:
    """`usage` is absent if the run never began."""

    name: ClassVar[str] = "chat.aborted"
    run_id: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class SessionUpdated:
    """The session's metadata, as in `sessions.list`."""

    name: ClassVar[str] = "session.updated"
    session: dict[str, Any]


RunEvent = (
    ChatStarted
    | ChatDelta
    | ChatThought
    | ToolStarted
    | ToolProgress
    | ToolDraft
    | ToolFinished
    | ApprovalRequested
    | ApprovalResolved
    | QuestionAsked
    | QuestionResolved
    | ChatNote
    | ChatSteered
    | ChatJoined
    | ChatFinal
    | ChatError
    | ChatAborted
)
Event = RunEvent | SessionUpdated
END_OF_RUN = (ChatFinal, ChatError, ChatAborted)


def event_data(event: Event) -> dict[str, Any]:
    """The event's `data` for the wire: camelCase keys, absent if None; without sessionKey and seq."""
    if isinstance(event, SessionUpdated):
        return dict(event.session)
    data: dict[str, Any] = camel_data(event)
    return data


def camel_data(value: Any) -> Any:
    """A dataclass as a JSON-ready dict with camelCase keys, without None; other values as they are."""
    if isinstance(value, tuple):
        return [camel_data(item) for item in value]
    if not hasattr(value, "__dataclass_fields__"):
        return value
    pairs = ((to_camel(f.name), getattr(value, f.name)) for f in fields(value))
    return {key: camel_data(item) for key, item in pairs if item is not None}
