"""What a model is for whoever asks one: a request, the events of its answer, and the list of those there are.

It never names a provider.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from onyx_jupyter.messages import Message, ToolCall, ToolDefinition, Usage


@dataclass(frozen=True, slots=True)
class Guidance:
    """How an answer is held to a form, by a model that can: it goes on from `begun` and ends before a `stop`.

    `grammar` is GBNF. `begun` is no part of what comes back. A model that cannot answers as it likes, and one that did
    not go on from `begun` says so at the end.
    """

    begun: str = ""
    stop: tuple[str, ...] = ()
    grammar: str | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call to a model. `tools` empty means: answer in words."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolDefinition] = ()
    temperature: float | None = None
    max_tokens: int | None = None
    guidance: Guidance | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThoughtDelta:
    """A piece of what the model thinks before it answers; empty where it has begun to and nothing can be shown yet."""

    text: str


@dataclass(frozen=True, slots=True)
class TextWasThought:
    """All text that came so far was thought, which nothing told before its end: none of it belongs to the answer."""


@dataclass(frozen=True, slots=True)
class ModelProgress:
    """Something worth telling before the first word comes (a model is loading)."""

    message: str


@dataclass(frozen=True, slots=True)
class CellDraft:
    """A piece of the source of a cell that will be proposed; the call that comes at the end says what counts.

    `begins`: what came so far is thrown away, and the cell begins with this piece.
    """

    text: str
    begins: bool = False


@dataclass(frozen=True, slots=True)
class ModelNote:
    """Something about the answer that its person should know: another model gives it. `kind` names it for programs."""

    kind: str
    message: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelDone:
    """The end of one model call; every stream ends with exactly one, or raises ModelError.

    `began_anew`: the answer does not go on from what its guidance had begun.
    """

    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = "stop"
    began_anew: bool = False


ModelEvent = TextDelta | ThoughtDelta | TextWasThought | ModelProgress | CellDraft | ModelNote | ModelDone


class Model(Protocol):
    """A model that can answer.

    `light` ones get a short prompt and few tools; of these, `tiny` ones are led, in cell mode.
    """

    @property
    def id(self) -> str: ...

    @property
    def light(self) -> bool: ...

    @property
    def tiny(self) -> bool: ...

    @property
    def context_window(self) -> int:
        """Tokens of question and answer together; may read a file at first, so a thread asks for it."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The answer as it comes. Closing or cancelling the iterator ends the provider's work at once.

        Raises: ModelError.
        """
        ...


@runtime_checkable
class Prefills(Protocol):
    """A model that can read what a request will begin with, before there is one."""

    async def prefill(self, request: ModelRequest) -> None:
        """Returns when it is read, or as soon as there is anything better to do. It never fails, and says nothing."""
        ...


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that one can choose; `tools` says whether it can act, `local` that nothing leaves the machine.

    A `locked` one cannot be chosen: this server's administrator does not allow its provider. `tool_mode` says how it
    acts unless a person chooses otherwise: it calls tools, or proposes cells.
    """

    id: str
    provider: str
    local: bool
    tools: bool
    locked: bool = False
    tool_mode: Literal["cell", "tools"] = "tools"


@runtime_checkable
class HoldsModelFiles(Protocol):
    """Models, some of which have files of this machine open."""

    async def let_go(self, path: Path) -> bool:
        """Closes the file unless a model answers from it just now; whether nobody uses it any more."""
        ...


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
