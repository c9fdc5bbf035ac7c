"""What a model and Onyx exchange: messages, tool calls, results, usage."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

_SURROGATE = re.compile("[\ud800-\udfff]")
Role = Literal["user", "assistant", "tool", "system"]
Risk = Literal["read", "write", "execute", "network"]
Origin = Literal["outside", "memory", "own", "person"]
"""Who wrote a text: unknown, the agent's memory, Onyx itself, the user."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's request to run a tool; `malformed` is the raw text if it was no JSON object (arguments is then {})."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    malformed: str | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A binary output of a tool; `data` is base64."""

    type: Literal["image", "file"]
    mime_type: str
    data: str
    name: str | None = None


ObjectKind = Literal["text", "code", "path", "address"]
FailureKind = Literal["denied", "invalid", "not_found", "unavailable", "timed_out", "aborted", "failed"]
"""Why a call did not succeed: `denied` it was not allowed, `invalid` it makes no sense as given, `not_found` its object
does not exist, `unavailable` it could not be done, `timed_out` and `aborted` it was stopped in the middle, `failed` it
was done, and what it ran reports a failure."""
HAPPENED: frozenset[FailureKind] = frozenset({"timed_out", "aborted", "failed"})
"""The failures of a call that was still done, wholly or in part."""
FAILURE_OF_STATUS: Mapping[str, FailureKind] = {
    "denied": "denied",
    "skipped": "aborted",
    "aborted": "aborted",
    "interrupted": "aborted",
}
"""The failures that follow from a call's status alone."""


@dataclass(frozen=True, slots=True)
class Link:
    """A place that a screen can link to: a cell (`cell_id`), a file, or lines (from, to) or one fact of the memory."""

    kind: Literal["cell", "file", "memory"]
    path: str
    cell_id: str | None = None
    fact: str | None = None
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """What a call does or did, in parts from which a screen makes a line in its own language.

    `action` is a key of the table in `action_words`, `object` what it applies to, `count` how many.
    """

    action: str
    object: str = ""
    object_kind: ObjectKind = "text"
    count: int | None = None
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call did not succeed; `reason` says it in a line, without what is meant only for a model."""

    kind: FailureKind
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returns: `output` is for the model and the screen, `ok` tells success from failure.

    Screens compose their text from the rest, which no model gets: `data` is JSON (which cells a notebook has, by number
    and id; see `result_data`), `label` what was done, if that is more than the call itself says, `failure` why it was
    not done.

    The output is fenced before a model reads it, unless `origin` says that Onyx itself or the user wrote all of it;
    `external` names where it comes from (an address, a file), else it is from the tool. `own_head` and `own_tail` are
    the beginning and end of a fenced output in Onyx's own words; they stay outside the fence. `kept_in` is the file
    that holds the whole output, if this is only a part of it.
    """

    output: str
    ok: bool = True
    attachments: tuple[Attachment, ...] = ()
    exit_code: int | None = None
    truncated: bool = False
    external: str | None = None
    kept_in: str | None = None
    origin: Origin = "outside"
    own_head: str = ""
    own_tail: str = ""
    data: Mapping[str, Any] | None = None
    label: Label | None = None
    failure: Failure | None = None

    @property
    def parts(self) -> tuple[str, str, str]:
        """Own words, the fenced text, own words. An end of the output that lacks them is fenced, too."""
        head = self.own_head if self.output.startswith(self.own_head) else ""
        text = self.output[len(head) :]
        tail = self.own_tail if text.endswith(self.own_tail) else ""
        return head, text[: len(text) - len(tail)], tail


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls; `cost_usd` is None if no price is known.

    Cached tokens are part of the input, reasoning tokens of the output; None if the provider reports none.
    `plan`: a subscription paid for some of it. `cost_is_partial`: `cost_usd` leaves out calls without a known price.
    `estimated`: some figures are not the provider's, since it gave none or the call ended early.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int | None = None
    cost_usd: float | None = None
    reasoning_tokens: int | None = None
    plan: bool | None = None
    cost_is_partial: bool | None = None
    estimated: bool | None = None

    def __add__(self, other: Usage) -> Usage:
        is_mixed = (self.cost_usd is None) != (other.cost_usd is None) and (self._is_unpriced or other._is_unpriced)
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            _add(self.cached_tokens, other.cached_tokens),
            _add(self.cost_usd, other.cost_usd),
            _add(self.reasoning_tokens, other.reasoning_tokens),
            self.plan or other.plan,
            is_mixed or self.cost_is_partial or other.cost_is_partial or None,
            self.estimated or other.estimated,
        )

    @property
    def _is_unpriced(self) -> bool:
        return self.cost_usd is None and not self.plan and self.input_tokens + self.output_tokens > 0


@dataclass(frozen=True, slots=True)
class CarriedFields:
    """What a model's provider wants back together with the results of its calls: `fields` are JSON in its own shape.

    They may hold encrypted or hidden content: they are sent to model `model_id` alone, and are never written anywhere.
    """

    model_id: str
    fields: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; `tool_call_id` is only for role `tool`.

    `content` is what was said, `context` what was sent along with it (a notebook, a selection), in words for the model;
    `attachments` are its pictures and files; `status` is how a tool's call ended (ok, failed, denied, …), if recorded.
    `carried` goes back with the calls of a reply to the model that made them.
    `kept` is not part of the message: a cache, by name, of values computed for this very message that cost more than
    looking them up.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    context: str = ""
    attachments: tuple[Attachment, ...] = ()
    status: str | None = None
    carried: CarriedFields | None = field(default=None, repr=False)
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def text(self) -> str:
        """Everything that a model reads of the message."""
        return f"{self.content}\n\n[Sent along: {self.context}]" if self.context else self.content


def whole_text(text: str) -> str:
    """Joins emoji that a model sent in two halves (surrogates), and replaces lone halves."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _SURROGATE.search(text) else text


def head_and_tail(text: str, limit_chars: int) -> str:
    """The text, or if it is longer than that, its beginning and end with a mark between them."""
    if len(text) <= limit_chars:
        return text
    mark = f"\n[… {len(text) - limit_chars} characters left out …]\n"
    half = max(limit_chars - len(mark), 2) // 2
    return text[:half] + mark + text[-half:]


def first_line(text: str, limit_chars: int) -> str:
    """The first line with content, stripped and shortened to the limit."""
    line = next((line.strip() for line in text[: max(4_000, limit_chars)].split("\n") if line.strip()), "")
    return line if len(line) <= limit_chars else f"{line[: limit_chars - 1]}…"


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as it is described to a model; `parameters` is a JSON schema (type object, camelCase properties).

    An `apart` one is described in the message that needs it: a list of tools in words leaves it out.
    """

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    apart: bool = False

    @property
    def one_line_signature(self) -> str:
        """Name, arguments and description in a line, for a model that gets its tools in words."""
        required = self.parameters.get("required", ())
        arguments = (name if name in required else f"{name}?" for name in self.parameters.get("properties", {}))
        return f"- {self.name}({', '.join(arguments)}): {self.description.strip().partition(chr(10))[0]}"


def _add(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return left if right is None else right
    return left + right
