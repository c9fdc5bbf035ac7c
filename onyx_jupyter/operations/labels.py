"""What a tool call does and did, in parts from which a client builds a line in its own language."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from onyx_jupyter.messages import FailureKind, ObjectKind
from onyx_jupyter.operations.wire import Wire


class LinkInfo(Wire):
    """A place that a screen can lead to: a cell, a file, or lines (from, to) or one fact of the memory."""

    kind: Literal["cell", "file", "memory"]
    path: str
    cell_id: str | None = None
    fact: str | None = None
    lines: list[int] | None = None


class LabelInfo(Wire):
    """`action` is a key of the table of words, `object` what it is done to, `count` to how many."""

    action: str
    object: str = ""
    object_kind: ObjectKind = "text"
    count: int | None = None
    links: list[LinkInfo] = Field(default_factory=list)


class FailureInfo(Wire):
    """Why a call did not end well; what `timed_out`, was `aborted` or `failed` was done all the same, or begun."""

    kind: FailureKind
    reason: str
