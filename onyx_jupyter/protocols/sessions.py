"""Transcripts and other sessions, as the agent needs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from onyx_jupyter.messages import Message, ToolCall, ToolResult, Usage


@dataclass(frozen=True, slots=True)
class Block:
    """Messages of a conversation that are never separated: what a user said, a reply with its results, or a summary.

    `entry_id` is the entry of the first one; `carried` says that a gap follows it. `words` are what the user said in it
    or in what it replaces; `summary` is the text of a summary, empty for any other block.
    """

    entry_id: str
    run_id: str
    messages: tuple[Message, ...]
    carried: bool = False
    words: tuple[str, ...] = ()
    summary: str = ""
    is_summary: bool = False


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a model sees instead of the older part of a conversation.

    Before the entry `first_kept` only the summary and the entries `carried` are left; `words` is what the user said
    there. No text from before the compaction is longer than `longest_chars`, if that is set.
    """

    summary: str
    words: tuple[str, ...]
    first_kept: str
    carried: tuple[str, ...] = ()
    longest_chars: int | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """The size of a request, counted here before it was sent, and by the provider. Both are above zero."""

    estimate: int
    counted: int


@dataclass(frozen=True, slots=True)
class OtherSession:
    """Another session of the same agent; `updated_at` is ISO 8601 in UTC, `preview` the start of its newest message."""

    session_key: str
    title: str
    updated_at: str
    preview: str


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """One message of another session; `who` is a word for the model, `tools` the names of the tools it called."""

    who: str
    text: str
    tools: tuple[str, ...]
    at: str


@dataclass(frozen=True, slots=True)
class SessionPassage:
    """A turn of another session that a search found; `role` is user or assistant, `score` between 0 and 1."""

    session: OtherSession
    role: str
    at: str
    snippet: str
    score: float


class Sessions(Protocol):
    """The other sessions of an agent, as a run may access them: an agent never sees those of another one."""

    async def list(self) -> Sequence[OtherSession]:
        """All except the run's own, most recently used first. Raises: StorageError."""
        ...

    async def search(self, query: str, limit: int) -> tuple[Sequence[SessionPassage], str | None]:
        """Turns that match, best first, and what limited the search. Raises: StorageError."""
        ...

    async def get(self, session_key: str) -> OtherSession:
        """Raises: NotFound, StorageError."""
        ...

    async def history(self, session_key: str) -> Sequence[SessionMessage]:
        """The messages, newest last. Raises: NotFound, StorageError."""
        ...

    async def receiver(self, session_key: str) -> OtherSession:
        """The session, if this run may send to it.

        Raises: ToolError (the run's own session; a run that itself answers another session), NotFound, StorageError.
        """
        ...

    async def send(self, session_key: str, message: str) -> str:
        """The id of the run that answers, queued after whatever runs there. Raises: SessionBusy, and as `receiver`."""
        ...


class Transcript(Protocol):
    """The append-only record of one session, as the agent needs it."""

    @property
    def session_key(self) -> str: ...

    def conversation(self, run_id: str) -> Sequence[Message]:
        """What a model should see in this run: earlier runs and this one, each call next to its result."""
        ...

    def open_calls(self, run_id: str) -> Sequence[ToolCall]:
        """Calls of this run that have no result yet, in order."""
        ...

    async def append_assistant(
        self, run_id: str, text: str, calls: Sequence[ToolCall], usage: Usage | None, meta: Mapping[str, Any]
    ) -> None:
        """On disk when it returns. Raises: StorageError."""
        ...

    async def append_result(self, run_id: str, call: ToolCall, result: ToolResult, meta: Mapping[str, Any]) -> None:
        """On disk when it returns. Raises: StorageError."""
        ...
