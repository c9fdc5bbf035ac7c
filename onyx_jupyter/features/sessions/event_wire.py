"""The data of the conversation events on the socket."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from onyx_jupyter.features.sessions.wire import SentItem, SessionInfo, UsageInfo
from onyx_jupyter.operations.labels import FailureInfo, LabelInfo
from onyx_jupyter.operations.wire import RunData, Wire


class ChatStartedData(RunData):
    pass


class ChatDeltaData(Wire):
    run_id: str
    seq: int
    text: str


class ChatThoughtData(Wire):
    """What the model thinks before it answers; the text of all pieces is one."""

    run_id: str
    seq: int
    text: str
    seconds: float | None = Field(default=None, description="with the last piece: how long the model thought")
    was_said: bool | None = Field(
        default=None, description="this text was sent as the end of the answer and is withdrawn"
    )


class ToolDraftData(Wire):
    """A piece of the cell that the model is writing; the call or the words that come next take its place."""

    run_id: str
    seq: int
    text: str
    begins: bool | None = Field(default=None, description="what was sent so far is discarded")


class ToolStartedData(RunData):
    call_id: str
    tool: str
    input: dict[str, Any]
    activity: LabelInfo | None = Field(default=None, description="omitted if only the tool's name is known")


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
    status: Literal["ok", "failed", "denied", "skipped", "aborted", "interrupted"] | None = None
    input: dict[str, Any] | None = Field(
        default=None, description="unless ok; a call that never started had no tool.started"
    )
    data: dict[str, Any] | None = Field(default=None, description="the cells, paths … that the result is about")
    label: LabelInfo | None = Field(default=None, description="what was done, if it has a label of its own")
    failure: FailureInfo | None = Field(default=None, description="unless ok: why")


class ChatNoteData(RunData):
    """Something to know about the run: a file over its cap, a conversation summed up, another model that answered."""

    kind: str
    message: str
    data: dict[str, Any] | None = None


class ChatSteeredData(RunData):
    """A message that came during the run and waits to join it."""

    message_id: str
    text: str
    context: list[SentItem] | None = Field(default=None, description="what was attached, as the model gets it")


class ChatJoinedData(RunData):
    """Messages that came during the run have their place in it here: between what came before and what comes next."""

    message_ids: list[str]


class ChatFinalData(RunData):
    text: str
    usage: UsageInfo


class ChatErrorData(RunData):
    """`usage` is absent if the run never began."""

    code: str
    message: str
    hint: str | None = None
    usage: UsageInfo | None = None


class ChatAbortedData(RunData):
    """`usage` is absent if the run never began."""

    usage: UsageInfo | None = None


class SessionUpdatedData(SessionInfo):
    """The session's metadata after a change; `seq` counts like any other event of the session."""

    seq: int | None = None
