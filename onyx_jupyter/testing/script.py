"""The vocabulary in which a test scripts a model's answers, for both the scripted model and the scripted server.

A reply is a list of steps; a plain string is short for `Say`. A script is either a list of replies, given one per
request in order, or a function from the request to the reply.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from onyx_jupyter.errors import ModelErrorCode


@dataclass(frozen=True, slots=True)
class Say:
    """Text of the answer, in pieces of `chunk_chars` characters (None: in one), `delay_s` before each piece."""

    text: str
    chunk_chars: int | None = None
    delay_s: float = 0.0

    @property
    def pieces(self) -> list[str]:
        return split(self.text, self.chunk_chars)


@dataclass(frozen=True, slots=True)
class Think:
    """What the model thinks, in pieces as in Say; `name` is the field of OpenAI's form in which the server sends it.

    With a `seal` (a signature, or encrypted content) the server wants it back with the results of the calls after it.
    """

    text: str
    chunk_chars: int | None = None
    delay_s: float = 0.0
    name: Literal["reasoning_content", "reasoning"] = "reasoning_content"
    seal: str | None = None

    @property
    def pieces(self) -> list[str]:
        return split(self.text, self.chunk_chars)


@dataclass(frozen=True, slots=True)
class NotSaid:
    """All text before was thought, which the reader of a model finds out only at its end (scripted model only)."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. A string as `arguments` is sent as it is, so that a test can send invalid JSON.

    The server sends the name first and the arguments in fragments of `chunk_chars` characters; an `id` of None is
    derived from the position, an empty one is omitted.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None
    chunk_chars: int | None = 7

    @property
    def raw_arguments(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(dict(self.arguments))


@dataclass(frozen=True, slots=True)
class Tokens:
    """The usage to report; without it both fakes count words. Only the scripted model knows a cost."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int | None = None
    cost_usd: float | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """A ModelProgress line (scripted model only)."""

    message: str


@dataclass(frozen=True, slots=True)
class Fail:
    """A ModelError at this point (scripted model only)."""

    code: ModelErrorCode
    message: str = "The scripted model failed."
    hint: str | None = None
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """Waits until the test sets `released`; `reached` tells the test that the reply has come this far."""

    released: threading.Event = field(default_factory=threading.Event)
    reached: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class Hang:
    """Never continues: only closing, cancelling or disconnecting ends it. `reached` as in Hold."""

    reached: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class Pause:
    """Waits; for demonstrations that should look alive. Tests use Hold."""

    seconds: float


@dataclass(frozen=True, slots=True)
class HttpError:
    """An HTTP error instead of an answer, so it comes first (scripted server only)."""

    status: int
    message: str = "The scripted server says no."
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """A web page instead of an answer, as proxies send one, so it comes first (scripted server only)."""

    status: int
    html: str


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes sent as they are, such as a broken chunk (scripted server only)."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection breaks here; as first step, before any byte of an answer (scripted server only)."""


@dataclass(frozen=True, slots=True)
class Finish:
    """Ends the reply with this reason; None ends the stream properly but without saying that it is complete."""

    reason: str | None


Talk = Say | Think | NotSaid | Call
Step = Talk | Tokens | Progress | Fail | Hold | Hang | Pause | HttpError | Page | Raw | Cut | Finish
Reply = Sequence[Step | str] | str
Request = TypeVar("Request")


class ScriptEnded(AssertionError):
    """There were more requests than replies in the script."""


class Script(Generic[Request]):
    """Returns the replies: from a list in order, or from a function."""

    def __init__(self, replies: Sequence[Reply] | Callable[[Request], Reply]) -> None:
        self._replies = replies
        self._next = 0

    def reply(self, request: Request) -> list[Step]:
        """The steps for this request. Raises: ScriptEnded."""
        if callable(self._replies):
            return steps(self._replies(request))
        if self._next >= len(self._replies):
            raise ScriptEnded(f"The script has {len(self._replies)} replies, and one more request came.")
        self._next += 1
        return steps(self._replies[self._next - 1])


def steps(reply: Reply) -> list[Step]:
    """A reply with every plain string turned into Say."""
    parts: Sequence[Step | str] = [reply] if isinstance(reply, str) else reply
    return [Say(part) if isinstance(part, str) else part for part in parts]


def split(text: str, chunk_chars: int | None) -> list[str]:
    """`text` in pieces of `chunk_chars` characters; in one if None, in none if empty."""
    size = chunk_chars or len(text) or 1
    return [text[start : start + size] for start in range(0, len(text), size)]
