"""The interfaces between Onyx's parts: whoever needs a part depends on its shape here. It never holds behaviour."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from onyx_jupyter.messages import Message, ToolCall, ToolDefinition, ToolResult, Usage

# ── models ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call to a model. `tools` empty means: answer in words."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolDefinition] = ()
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelProgress:
    """Something worth telling before the first word comes (a model is loading)."""

    message: str


@dataclass(frozen=True, slots=True)
class ModelNote:
    """Something about the answer that its person should know: another model gives it. `kind` names it for programs."""

    kind: str
    message: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelDone:
    """The end of one model call; every stream ends with exactly one, or raises ModelError."""

    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = "stop"


ModelEvent = TextDelta | ModelProgress | ModelNote | ModelDone


class Model(Protocol):
    """A model that can answer. `light` ones get a short prompt and few tools."""

    @property
    def id(self) -> str: ...

    @property
    def light(self) -> bool: ...

    @property
    def context_window(self) -> int:
        """Tokens of question and answer together; may read a file at first, so a thread asks for it."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The answer as it comes. Closing or cancelling the iterator ends the provider's work at once.

        Raises: ModelError.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that one can choose; `tools` says whether it can act, `local` that nothing leaves the machine."""

    id: str
    provider: str
    local: bool
    tools: bool


class Models(Protocol):
    """All models that this configuration can reach."""

    def open(self, model_id: str) -> Model:
        """The model of that id (`provider/model`). Raises: ModelError (not_found, authentication)."""
        ...

    async def list(self, *, refresh: bool = False) -> Sequence[ModelInfo]:
        """What can be chosen now; never a network call unless `refresh`."""
        ...

    async def warm(self) -> None:
        """Load what the first answer will need, off the event loop."""
        ...

    async def close(self) -> None:
        """End every process and connection."""
        ...


# ── notebooks ───────────────────────────────────────────────────────────────────────────────────────

CellType = Literal["code", "markdown", "raw"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it stands now. `outputs` are nbformat 4 output dicts; `hash` is `cell_hash(source)`."""

    id: str
    cell_type: CellType
    source: str
    hash: str
    execution_count: int | None = None
    outputs: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class NotebookView:
    """A notebook as it stands now. `backend` says where it was read: `browser` (open in a tab) or `contents`."""

    path: str
    cells: tuple[Cell, ...]
    backend: str
    kernel_name: str | None = None
    kernel_status: str | None = None


@dataclass(frozen=True, slots=True)
class CellRun:
    """How a cell's execution ended, with its nbformat 4 outputs; `note` says why they are not in the notebook."""

    status: Literal["ok", "error", "aborted"]
    execution_count: int | None
    outputs: tuple[Mapping[str, Any], ...]
    note: str | None = None


class Notebooks(Protocol):
    """Notebooks by path (as in the file browser) and cell id, whether open in a tab or not."""

    async def read(self, path: str) -> NotebookView:
        """Raises: NotebookError (not_found, not_notebook)."""
        ...

    async def insert_cell(self, path: str, cell_type: CellType, source: str, after_cell_id: str | None) -> Cell:
        """A new cell after that one, or at the end. Raises: NotebookError (no_cell, …)."""
        ...

    async def edit_cell(self, path: str, cell_id: str, source: str, base_hash: str | None) -> Cell:
        """New source for a cell. Raises: NotebookError (no_cell; stale with the current source)."""
        ...

    async def run_cell(self, path: str, cell_id: str, progress: Callable[[str], None]) -> CellRun:
        """Runs a cell in the notebook's kernel, outputs appearing in place; cancelling interrupts the kernel.

        Raises: NotebookError (no_cell, not_code, no_kernel, kernel_died, …).
        """
        ...


# ── memory ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class BootstrapFile:
    """A file that belongs into every prompt; `left_out` counts the characters at its end that did not fit."""

    name: str
    text: str
    size: int
    left_out: int = 0


class Memory(Protocol):
    """The Markdown files of one agent's workspace."""

    async def read(self, path: str, *, start_line: int = 1, line_count: int | None = None) -> str:
        """Lines of a memory file, `start_line` counted from 1. Raises: ToolError."""
        ...

    async def write(self, content: str, target: str | None = None) -> str:
        """Appends to today's file, or to a section of MEMORY.md; the path written. Raises: ToolError, StorageError."""
        ...

    async def bootstrap_files(self) -> Sequence[BootstrapFile]:
        """The files that belong into every prompt, in the prompt's order; empty ones left out."""
        ...


# ── tools ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Exactly:
    """What "always exactly this" binds beside the tool and its arguments.

    `facts` are what the arguments only point at: a path's real one, the folder of a command, the source of a cell to
    run. `without` names arguments that are not bound, since a fact stands for them or they change nothing. `shell` is a
    shell command: each of its simple commands is then allowed by itself, instead of the call.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    shell: str | None = None


@dataclass(frozen=True, slots=True)
class ToolPreview:
    """What a person is shown before a call runs.

    `details` is exactly what will run (command and cwd, cell diff …); `grant` is the key under which "allow for this
    session" is remembered, and `grant_text` says in words what it covers. Neither counts for a shell command: there a
    session allows the same as always, until the server ends.
    """

    summary: str
    details: Mapping[str, Any]
    grant: str
    grant_text: str
    exactly: Exactly = field(default_factory=Exactly)


@dataclass(frozen=True, slots=True)
class UserQuestion:
    """What the agent wants to know; `free_text` allows other words than the choices."""

    question: str
    choices: tuple[str, ...] = ()
    free_text: bool = True


@dataclass(frozen=True, slots=True)
class UserAnswer:
    """`text` is None where the person declined or nobody answered; `reason` then says which, for the model."""

    text: str | None
    reason: str = ""


class Approver(Protocol):
    """Whoever decides whether a call that changes something may run."""

    async def ask(
        self, session_key: str, run_id: str, call: ToolCall, preview: ToolPreview, *, agent_id: str
    ) -> ApprovalAnswer:
        """Waits for a person where no grant answers; silence until the timeout is a no.

        Cancelling closes the question; the message of the cancelling, if any, is the reason that is written down.
        `call` has its arguments in canonical form: checked, and without those that equal their default.
        Raises: StorageError where the decision could not be written, and then it does not count.
        """
        ...


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """The decision on one call; `reason` is the person's own words, for the model.

    `shown` is what the person saw when saying yes; None where a grant answered.
    """

    approved: bool
    reason: str | None = None
    shown: Mapping[str, Any] | None = None


# ── sessions ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Block:
    """Messages of a conversation that are never parted: what a user said, a reply with its results, or a summary.

    `entry_id` names the first one's entry; `carried` says that it stands before a gap. `words` are what the user said
    in it or in what it stands for; `summary` is the text of a summary, empty for any other block.
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
    """What a model sees instead of a conversation's older part.

    Before the entry `first_kept` only the summary and the entries `carried` are left; `words` is what the user said
    there. No text that stood before the compaction is longer than `longest_chars`, where that is set.
    """

    summary: str
    words: tuple[str, ...]
    first_kept: str
    carried: tuple[str, ...] = ()
    longest_chars: int | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """A request that was counted twice: here before it was sent, and by the provider. Both are above zero."""

    estimate: int
    counted: int


@dataclass(frozen=True, slots=True)
class OtherSession:
    """Another session of the same agent; `updated_at` is ISO 8601 in UTC, `preview` how its newest message begins."""

    session_key: str
    title: str
    updated_at: str
    preview: str


@dataclass(frozen=True, slots=True)
class Said:
    """One message of another session; `who` is a word for the model, `tools` the names of the tools it called."""

    who: str
    text: str
    tools: tuple[str, ...]
    at: str


class Sessions(Protocol):
    """The other sessions of an agent, as one run may reach them: no agent sees those of another one."""

    async def list(self) -> Sequence[OtherSession]:
        """All but the run's own, the last used first. Raises: StorageError."""
        ...

    async def get(self, session_key: str) -> OtherSession:
        """Raises: NotFound, StorageError."""
        ...

    async def said(self, session_key: str) -> Sequence[Said]:
        """The newest last. Raises: NotFound, StorageError."""
        ...

    async def receiver(self, session_key: str) -> OtherSession:
        """The session, where this run may send to it.

        Raises: ToolError (the run's own session; a run that itself answers another session), NotFound, StorageError.
        """
        ...

    async def send(self, session_key: str, message: str) -> str:
        """The id of the run that answers, behind whatever goes on there. Raises: SessionBusy, and as `receiver`."""
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
