"""Messages and runs on the socket."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from onyx_jupyter.server.wire.base import MAX_MESSAGE_CHARS, Wire
from onyx_jupyter.server.wire.sessions import Entry


class ChatSendParams(Wire):
    session_key: str
    message: str = Field(min_length=1, max_length=MAX_MESSAGE_CHARS)
    context: list[ContextItem] | None = None
    model: str | None = None
    mode: Literal["ask", "agent", "auto"] | None = None
    when_busy: Literal["steer", "followup", "interrupt"] | None = Field(
        default=None, description="what to do where a run goes on; runtime.whenBusy where unset"
    )
    from_kernel: FromKernel | None = Field(
        default=None, description="a cell asks, and its kernel is busy until it has the answer"
    )


class FromKernel(Wire):
    """The kernel whose cell asks; `name` is that of its notebook, for people, where the kernel knows it."""

    kernel_id: str = Field(max_length=200)
    name: str | None = Field(default=None, max_length=300)


class ContextItem(Wire):
    """Something sent along with a message, named as in the file browser."""

    type: Literal["notebook", "cell", "file", "selection"]
    path: str
    cell_id: str | None = None
    text: str | None = Field(default=None, max_length=100_000)


class ChatSent(Wire):
    """`runId` is the run that answers: a new one, or with `steer` the one that goes on."""

    run_id: str
    delivery: Literal["started", "steer", "followup", "interrupt"] | None = None


class ChatHistoryParams(Wire):
    session_key: str
    limit: int = Field(default=200, ge=1, le=2000)
    before: str | None = Field(default=None, description="id of an entry: only older ones are given")


class ChatHistory(Wire):
    messages: list[Entry]


class ChatAbortParams(Wire):
    run_id: str


ChatSendParams.model_rebuild()
