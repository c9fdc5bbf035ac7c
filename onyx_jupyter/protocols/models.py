"""The interface of a model: a request, the events of its answer, and the list of available models.

It never names a provider.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from onyx_jupyter.messages import Message, ToolCall, ToolDefinition, Usage

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""How much a model may think before it answers; a model that lacks one gets the nearest that it has."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """Constrains the form of an answer, for models that support it: it continues `begun` and ends before a `stop`.

    `grammar` is GBNF. `begun` is not part of the answer returned. A model without support answers freely, and one that
    did not continue `begun` says so at the end.
    """

    begun: str = ""
    stop: tuple[str, ...] = ()
    grammar: str | None = None
    seed: int | None = None


@dataclass(slots=True)
class CallProgress:
    """What a call has used so far. The model fills it in, for a call that ends early and so has no ModelDone.

    `accepted`: the provider took the request. `usage` are the provider's own figures, if any came; where `estimated`,
    they leave out output. `output_tokens` estimates what came. `cost_usd` returns the price of that many tokens of
    input and output, None if it is unknown.
    """

    accepted: bool = False
    usage: Usage | None = None
    output_tokens: float = 0.0
    cost_usd: Callable[[int, int], float | None] | None = None


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call to a model. If `tools` is empty, it answers in words.

    `max_tokens` limits the answer; what the model thinks at an `effort` (one of EFFORTS; None: as configured for its
    provider) comes on top.
    """

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolDefinition] = ()
    temperature: float | None = None
    max_tokens: int | None = None
    guidance: Guidance | None = None
    effort: str | None = None
    progress: CallProgress = field(default_factory=CallProgress, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThoughtDelta:
    """A piece of what the model thinks before it answers; empty if it has begun and nothing can be shown yet."""

    text: str


@dataclass(frozen=True, slots=True)
class TextWasThinking:
    """All text so far was thought, which was clear only at its end: none of it belongs to the answer."""


@dataclass(frozen=True, slots=True)
class ModelProgress:
    """Something worth reporting before the first word comes (a model is loading)."""

    message: str


@dataclass(frozen=True, slots=True)
class CellDraft:
    """A piece of the source of a cell that will be proposed; the call at the end is authoritative.

    `begins`: discard what came so far; the cell begins with this piece.
    """

    text: str
    begins: bool = False


@dataclass(frozen=True, slots=True)
class ModelNote:
    """Something about the answer that the user should know: another model writes it. `kind` is for programs."""

    kind: str
    message: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelDone:
    """The end of one model call; every stream ends with exactly one, or raises ModelError.

    `usage` counts no tokens if the provider gave no figures. `restarted`: the answer does not continue the text begun
    by its guidance. `carried` are fields that the provider wants back with the results of the calls (see
    CarriedFields).
    """

    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = "stop"
    restarted: bool = False
    carried: Mapping[str, Any] | None = field(default=None, repr=False)


ModelEvent = TextDelta | ThoughtDelta | TextWasThinking | ModelProgress | CellDraft | ModelNote | ModelDone


class Model(Protocol):
    """A model that can answer.

    `light` models get a short prompt and few tools; among these, `tiny` ones are guided in cell mode.
    """

    @property
    def id(self) -> str: ...

    @property
    def light(self) -> bool: ...

    @property
    def tiny(self) -> bool: ...

    @property
    def context_window(self) -> int:
        """Tokens of question and answer together; the first use may read a file, so call it in a thread."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The answer as it comes. Closing or cancelling the iterator ends the provider's work at once.

        Raises: ModelError.
        """
        ...


@runtime_checkable
class Prefills(Protocol):
    """A model that can read the beginning of a request before there is one."""

    async def prefill(self, request: ModelRequest) -> None:
        """Returns when it is read, or as soon as there is more urgent work. Never fails, and reports nothing."""
        ...


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that can be chosen; `tools` says whether it can act, `local` that nothing leaves the machine.

    A `locked` one cannot be chosen: this server's administrator does not allow its provider. `tool_mode` is how it acts
    unless the user chooses otherwise: it calls tools, or proposes cells. `efforts` (of EFFORTS) are those it can be
    asked for.
    """

    id: str
    provider: str
    local: bool
    tools: bool
    locked: bool = False
    tool_mode: Literal["cell", "tools"] = "tools"
    efforts: tuple[str, ...] = ()


@runtime_checkable
class ModelFileHolder(Protocol):
    """Models of which some keep files of this machine open."""

    async def release(self, path: Path) -> bool:
        """Closes the file unless a model is answering from it; returns whether it is unused now."""
        ...


class Models(Protocol):
    """All models that this configuration can reach."""

    def open(self, model_id: str) -> Model:
        """The model of that id (`provider/model`). Raises: ModelError (not_found, authentication)."""
        ...

    async def list(self, *, refresh: bool = False) -> Sequence[ModelInfo]:
        """The current choices; without network access unless `refresh`."""
        ...

    async def warm(self) -> None:
        """Loads what the first answer will need, off the event loop."""
        ...

    async def close(self) -> None:
        """Ends every process and connection."""
        ...
