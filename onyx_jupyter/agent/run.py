"""The state of one run and what it works with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from onyx_jupyter.agent.carried import CarriedInRun
from onyx_jupyter.agent.processor import Processors, TotalUsage
from onyx_jupyter.agent.run_timeout import RunTimeout
from onyx_jupyter.agent.side_request import end_stream
from onyx_jupyter.agent.thoughts import Thoughts
from onyx_jupyter.clock import Clock
from onyx_jupyter.config.schema import CompactionConfig
from onyx_jupyter.events import ChatNote, RunEvent
from onyx_jupyter.files.result_files import ResultFiles
from onyx_jupyter.messages import ToolCall, ToolResult, Usage
from onyx_jupyter.processes.run_processes import RunProcesses
from onyx_jupyter.protocols import Approver, Block, Compaction, Measured, Model, ModelRequest, Transcript
from onyx_jupyter.security.secret_redactor import SecretRedactor
from onyx_jupyter.toolsets.arguments import Checked
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.registry import ToolRegistry
from onyx_jupyter.toolsets.tool import Tool


class RunTranscript(Transcript, Protocol):
    """What the agent needs from a transcript beyond reading and appending."""

    def usage(self, run_id: str) -> Usage: ...

    def model_calls(self, run_id: str) -> int:
        """Counted since the user's last message."""
        ...

    async def append_start(self, run_id: str) -> None: ...

    def reflected_answer(self, run_id: str) -> str | None: ...

    async def append_reflection(self, run_id: str, question: str, answer: str) -> None: ...

    def finished_calls(self, run_id: str) -> Sequence[tuple[ToolCall, ToolResult]]: ...

    async def append_note(self, run_id: str, kind: str, message: str, data: Mapping[str, Any] | None) -> None: ...

    def blocks(self, run_id: str, compaction: Compaction | None = None) -> Sequence[Block]:
        """The conversation in indivisible parts; given a compaction, as it would be after that."""
        ...

    def measured(self, model_id: str) -> Measured | None:
        """The newest request to that model whose tokens the provider counted."""
        ...

    def failed_compaction(self, model_id: str) -> int:
        """The token count at which that model last failed to summarise; 0 if not since the last compaction."""
        ...

    def call_ids(self) -> set[str]:
        """The ids of every call ever made in this session."""
        ...

    async def append_compaction(
        self, run_id: str, compaction: Compaction, usage: Usage | None, facts: Mapping[str, Any]
    ) -> None: ...

    async def append_failed_compaction(self, run_id: str, usage: Usage | None, facts: Mapping[str, Any]) -> None: ...

    async def append_end(
        self, run_id: str, outcome: str, details: Mapping[str, Any], usage: Usage | None = None
    ) -> None: ...


class PartialText(Protocol):
    """Stores the text of an answer in progress so that it survives a kill."""

    async def begin(self, run_id: str) -> None: ...

    def add(self, text: str) -> None: ...

    async def flush(self) -> None: ...

    async def discard(self) -> None: ...


class Toolbox(Protocol):
    """The tools of a run; there are fewer once the user chooses a stricter mode during the run."""

    @property
    def mode(self) -> str:
        """ask, agent or auto."""
        ...

    @property
    def registry(self) -> ToolRegistry: ...

    def equip(self, request: ModelRequest) -> ModelRequest:
        """The request with the tools that its model may call."""
        ...

    async def call(self, tool: Tool[Any], arguments: Checked, context: ToolContext) -> ToolResult:
        """Runs it; cancelling stops it. Raises: ToolError."""
        ...

    def runs_unasked(self, tool: Tool[Any], arguments: Checked, others: Sequence[Tool[Any]] = ()) -> bool:
        """Whether Auto mode covers everything this call does; `others` are tools whose work it also does."""
        ...


async def _unaudited(call: ToolCall, status: str, facts: Mapping[str, Any]) -> None:
    """For a run without an audit."""


Note = Callable[[str, str, Mapping[str, Any] | None], Awaitable[None]]


class Inbox(Protocol):
    """Messages that the user sends during the run."""

    @property
    def waiting(self) -> bool:
        """Whether a message waits to join the run."""
        ...

    async def arrival(self) -> None:
        """Returns as soon as a message waits."""
        ...

    async def join(self) -> bool:
        """Adds waiting messages to the conversation at this point; False if there are none. Raises: StorageError."""
        ...

    async def join_or_close(self) -> bool:
        """Like `join`, before the run ends: if nothing is waiting, closes the inbox. Raises: StorageError."""
        ...

    def close(self) -> None:
        """The run ends and accepts no more messages."""
        ...


class ExternalAgent(Protocol):
    """Another agent, which answers a run in place of the loop and its model."""

    async def answer(self, run: Run) -> str:
        """Returns the text of the last reply; everything is recorded and announced as the loop does it.

        Raises: ModelError, StorageError.
        """
        ...


@dataclass
class Run:
    """One answer being made, from the user's message to final, error or aborted.

    `earlier` replays to watchers what the run did before a restart. A run that `has_waited` was queued and has no
    entry of its own yet. `text` is what the model has said since its last finished reply; it is kept when the run is
    stopped midway. `lead` separates the next text sent to watchers from the text before it. `audit` receives each call
    that has its result, with its status. `why` is the text with which the model made its latest calls, shown to the
    person who approves them: the one of session `asked_in` if a parent started this run, with which it then shares
    `spent`. An `external_agent` answers instead of the model. `thoughts` are those before `text`, until both are saved.
    `effort` is what the message asked for. `unattended`: what would have to be asked is denied. `unfinished` is what
    model calls used that were stopped or failed in the middle.
    """

    run_id: str
    session_key: str
    model: Model
    transcript: RunTranscript
    partial: PartialText
    toolbox: Toolbox
    results: ResultFiles
    processes: RunProcesses
    context_for: Callable[[ToolCall], ToolContext]
    approver: Approver
    inbox: Inbox
    build_prompt: Callable[[Note], Awaitable[str]]
    emit: Callable[[RunEvent], None]
    secrets: SecretRedactor
    clock: Clock
    new_id: Callable[[], str]
    max_turns: int
    work: RunTimeout
    audit: Callable[[ToolCall, str, Mapping[str, Any]], Awaitable[None]] = _unaudited
    processors: Processors = field(default_factory=Processors)
    earlier: Sequence[RunEvent] = ()
    has_waited: bool = False
    asked_in: str | None = None
    spent: TotalUsage = field(default_factory=TotalUsage)
    temperature: float | None = None
    max_tokens: int | None = None
    effort: str | None = None
    compaction: CompactionConfig = field(default_factory=CompactionConfig)
    reflection_prompt: str | None = None
    unattended: bool = False
    external_agent: ExternalAgent | None = None
    text: str = field(default="", init=False)
    lead: str = field(default="", init=False)
    why: str = field(default="", init=False)
    thoughts: Thoughts | None = field(default=None, init=False)
    carried: CarriedInRun = field(default_factory=CarriedInRun, init=False)
    unfinished: Usage | None = field(default=None, init=False)

    @property
    def tools(self) -> ToolRegistry:
        """The tools available in the current mode."""
        return self.toolbox.registry

    def redact(self, text: str) -> str:
        """The text without secrets."""
        return self.secrets.apply(text)

    def think(self) -> Thoughts:
        """Starts collecting the thoughts of a new model call."""
        self.thoughts = Thoughts(self.run_id, self.processors.text_filter, self.emit, self.clock)
        return self.thoughts

    def take_thought(self) -> dict[str, Any]:
        """Returns the thoughts as part of `meta`, and clears them."""
        thoughts, self.thoughts = self.thoughts, None
        return thoughts.meta() if thoughts else {}

    async def end_call(self, stream: object, request: ModelRequest) -> None:
        """Ends the model call of that request; what it used counts even if it had no end of its own."""
        try:
            await end_stream(stream)
        finally:
            if (usage := request.progress.usage) is not None:
                self.add_unfinished(usage)

    def add_unfinished(self, usage: Usage) -> None:
        """Counts a call without an end of its own."""
        self.unfinished = self.unfinished + usage if self.unfinished else usage

    async def note(self, kind: str, message: str, data: Mapping[str, Any] | None = None) -> None:
        """Shows the user a note that is not part of the answer; it stays in the transcript. Raises: StorageError."""
        await self.transcript.append_note(self.run_id, kind, message, data)
        self.emit(ChatNote(self.run_id, kind, message, dict(data) if data else None))
