"""What an agent reports, in Onyx's terms.

Source: https://agentclientprotocol.com/protocol/schema (version 1), by the classes that the SDK generates from it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from onyx_jupyter.messages import Attachment, Usage, head_and_tail

MAX_TEXT_CHARS = 1_000_000
MAX_PICTURES = 10
CallStatus = Literal["pending", "in_progress", "completed", "failed"]
StepStatus = Literal["pending", "doing", "done"]
_STEPS: Mapping[str, StepStatus] = {"pending": "pending", "in_progress": "doing", "completed": "done"}


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """A piece of what the agent thinks."""

    text: str


@dataclass(frozen=True, slots=True)
class Planned:
    """The whole plan: each step with its state."""

    steps: tuple[tuple[str, StepStatus], ...]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """A change to a file as the agent shows it; `old` is None for a new file."""

    path: str
    old: str | None
    new: str


@dataclass(frozen=True, slots=True)
class AgentCall:
    """A call of one of the agent's own tools, as reported so far. `kind` is one of the protocol's, `other` if none.

    `given` and `returned` are its raw arguments and result; `paths` are the files that it names. `round` counts how
    often the agent began a call with this id: `key` tells them apart.
    """

    id: str
    round: int = 0
    title: str = ""
    kind: str = "other"
    status: CallStatus = "pending"
    text: str = ""
    pictures: tuple[Attachment, ...] = ()
    diffs: tuple[FileDiff, ...] = ()
    paths: tuple[str, ...] = ()
    given: Any = None
    returned: Any = None

    @property
    def key(self) -> tuple[str, int]:
        return self.id, self.round

    @property
    def is_over(self) -> bool:
        return self.status in ("completed", "failed")

    def merged(self, update: Any) -> AgentCall:
        """The call after a `tool_call` or `tool_call_update` of the protocol; what is absent stays as it was."""
        told = {
            "title": update.title,
            "kind": update.kind,
            "status": update.status,
            "given": update.raw_input,
            "returned": update.raw_output,
        }
        changed = {name: value for name, value in told.items() if value is not None}
        if update.locations is not None:
            changed["paths"] = tuple(location.path for location in update.locations)
        if update.content is not None:
            changed |= _content(update.content)
        return replace(self, **changed)


@dataclass(frozen=True, slots=True)
class CallReported:
    """A call began or changed."""

    call: AgentCall


@dataclass(frozen=True, slots=True)
class PermissionAsked:
    """The agent asks whether it may make a call; `options` are the ids that it offers, by kind.

    `answer` takes the chosen id, or None if the question is withdrawn; exactly one is expected.
    """

    call: AgentCall
    options: Mapping[str, str]
    answer: asyncio.Future[str | None]


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The last event of a turn; `reason` is the protocol's stop reason, `usage` None if the agent counts nothing."""

    reason: str
    usage: Usage | None = None


AgentEvent = Said | Thought | Planned | CallReported | PermissionAsked | TurnEnded


@dataclass(frozen=True, slots=True)
class Option:
    """Something that a person can choose for an agent's session: a model, a mode, how long it thinks.

    `value` is the current one; `choices` are (value, name), empty for a switch.
    """

    id: str
    name: str
    category: str
    value: str | bool
    choices: tuple[tuple[str, str], ...] = ()


@dataclass
class SessionState:
    """What is known of one session of an agent: its calls by the agent's own ids, and its options."""

    calls: dict[str, AgentCall] = field(default_factory=dict)
    options: tuple[Option, ...] = ()

    def take(self, update: Any) -> AgentEvent | None:
        """Takes a `session/update` of the protocol; None if there is nothing to show."""
        match update.session_update:
            case "agent_message_chunk":
                return Said(text_of(update.content)) if text_of(update.content) else None
            case "agent_thought_chunk":
                return Thought(text_of(update.content))
            case "plan":
                steps = ((entry.content, _STEPS[entry.status]) for entry in update.entries)
                return Planned(tuple(steps))
            case "tool_call" | "tool_call_update":
                return CallReported(self.call(update))
            case "config_option_update":
                self.options = options_of(update.config_options, None)
            case "current_mode_update":
                self.options = tuple(
                    replace(one, value=update.current_mode_id) if one.id == MODE else one for one in self.options
                )
        return None

    def call(self, update: Any) -> AgentCall:
        """The call that an update is about, with what it says."""
        call = self.calls.get(update.tool_call_id, AgentCall(update.tool_call_id))
        if call.is_over and getattr(update, "session_update", "") == "tool_call":
            call = AgentCall(call.id, call.round + 1)
        call = call.merged(update)
        self.calls[call.id] = call
        return call


MODE = "mode"
"""The option's id where an agent has modes only."""


def options_of(given: Sequence[Any] | None, modes: Any) -> tuple[Option, ...]:
    """The options of a session, from `configOptions` or, of an older agent, from `modes`."""
    if given:
        return tuple(map(_option, given))
    if modes is None:
        return ()
    choices = tuple((mode.id, mode.name) for mode in modes.available_modes)
    return (Option(MODE, "Mode", MODE, modes.current_mode_id, choices),)


def _option(given: Any) -> Option:
    choices: list[tuple[str, str]] = []
    for one in getattr(given, "options", None) or ():
        inner = getattr(one, "options", None)  # a group
        choices += [(item.value, item.name) for item in (inner if inner is not None else [one])]
    category = given.category if isinstance(given.category, str) else ""
    return Option(given.id, given.name, category, given.current_value, tuple(choices))


def usage_of(given: Any) -> Usage | None:
    """The tokens of one turn; its cost is in the agent's plan or account, and unknown here."""
    if given is None:
        return None
    cached = (given.cached_read_tokens or 0) + (given.cached_write_tokens or 0)
    return Usage(given.input_tokens + cached, given.output_tokens, given.cached_read_tokens)


def text_of(block: Any) -> str:
    """A content block as text; what can only be seen or heard is named."""
    match block.type:
        case "text":
            return str(block.text)
        case "resource_link":
            return f"[{block.name}]({block.uri})"
        case "resource":
            return str(getattr(block.resource, "text", None) or f"[{block.resource.uri}]")
        case other:
            return f"[{other}]"


def _content(items: Sequence[Any]) -> dict[str, Any]:
    texts: list[str] = []
    pictures: list[Attachment] = []
    diffs: list[FileDiff] = []
    for item in items:
        if item.type == "diff":
            diffs.append(FileDiff(item.path, item.old_text, item.new_text))
        elif item.type == "content" and item.content.type == "image":
            pictures.append(Attachment("image", item.content.mime_type, item.content.data))
        elif item.type == "content":
            texts.append(text_of(item.content))
    text = head_and_tail("\n".join(texts), MAX_TEXT_CHARS)
    return {"text": text, "pictures": tuple(pictures[:MAX_PICTURES]), "diffs": tuple(diffs)}
