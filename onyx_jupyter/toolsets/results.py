"""Completes a result for display: its label, why it failed, data of a bounded size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from onyx_jupyter.activities import OBJECT_CHARS, Activity
from onyx_jupyter.errors import (
    AddressNotAllowed,
    Forbidden,
    InvalidArguments,
    InvalidRequest,
    NotFound,
    OnyxError,
    PathNotAllowed,
)
from onyx_jupyter.messages import FAILURE_OF_STATUS, Failure, FailureKind, Label, Link, ToolCall, ToolResult, first_line
from onyx_jupyter.result_data import bounded

REASON_CHARS = 300
MAX_LINKS = 20
_KINDS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], FailureKind], ...] = (
    ((InvalidArguments, InvalidRequest), "invalid"),
    ((PathNotAllowed, AddressNotAllowed, Forbidden), "denied"),
    ((NotFound, FileNotFoundError), "not_found"),
    (TimeoutError, "timed_out"),
)
_CODES: dict[str, FailureKind] = {
    "timeout": "timed_out",
    "not_found": "not_found",
    "no_cell": "not_found",
    "no_folder": "not_found",
    "no_heading": "not_found",
    "bad_cell": "invalid",
    "bad_name": "invalid",
    "not_code": "invalid",
    "not_notebook": "invalid",
    "would_empty": "invalid",
}


def failure_of(error: Exception, reason: str = "") -> Failure:
    """The kind of failure for an error; `unavailable` if it only says that the call could not be done."""
    by_type = next((kind for types, kind in _KINDS if isinstance(error, types)), None)
    by_code = _CODES.get(error.code) if isinstance(error, OnyxError) else None
    return Failure(by_type or by_code or "unavailable", first_line(reason or str(error), REASON_CHARS))


def completed(call: ToolCall, result: ToolResult, status: str, activity: Activity | None) -> ToolResult:
    """The result with a label if its tool has an activity, and a failure if the call did not succeed."""
    label = result.label or (activity.label(call.arguments, is_done=status == "ok") if activity else None)
    failure = None if status == "ok" else result.failure or _failure_of(result, status)
    data = bounded(result.data)
    return replace(result, label=label and _whole(label, data), failure=failure, data=data)


def started(call: ToolCall, activity: Activity | None) -> Label | None:
    """What the call is about to do."""
    return activity.label(call.arguments) if activity else None


def _whole(label: Label, data: Mapping[str, Any] | None) -> Label:
    """The label within its limits, with a link to an inserted cell."""
    links = label.links[:MAX_LINKS]
    made = (data or {}).get("inserted")
    if data is not None and isinstance(made, Mapping) and not any(link.kind == "cell" for link in links):
        links = (Link("cell", str(data.get("notebook", "")), str(made.get("id", ""))), *links)
    return replace(label, object=first_line(label.object, OBJECT_CHARS), links=links)


def _failure_of(result: ToolResult, status: str) -> Failure:
    """The failure of a result without one: the reason is its first line."""
    return Failure(FAILURE_OF_STATUS.get(status, "failed"), first_line(result.output, REASON_CHARS))
