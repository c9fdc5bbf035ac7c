"""Approvals on the socket."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from onyx_jupyter.events import Decision
from onyx_jupyter.operations.labels import LabelInfo
from onyx_jupyter.operations.wire import Wire


class ExecApproveParams(Wire):
    approval_id: str
    scope: Literal["once", "session", "always"] = "once"
    version: str | None = Field(
        default=None, description="version of the question as shown; the answer applies to that version only"
    )


class ExecDenyParams(Wire):
    approval_id: str
    reason: str | None = Field(default=None, max_length=2000)


class ApprovalsListParams(Wire):
    session_key: str | None = None


class ApprovalInfo(Wire):
    """The data of `exec.approval_request`; from the transcript it has no `version` and cannot be answered."""

    approval_id: str
    run_id: str
    call_id: str
    tool_name: str
    summary: str
    details: dict[str, Any]
    expires_at: str
    version: str | None = None
    activity: LabelInfo | None = None
    session_key: str | None = None
    seq: int | None = None


class ApprovalList(Wire):
    approvals: list[ApprovalInfo]


class GrantInfo(Wire):
    """Something exact that an agent may do unasked until it is revoked; `what` says it in words."""

    id: str
    tool: str
    what: str
    agent_id: str
    created_at: str
    by: str


class GrantList(Wire):
    grants: list[GrantInfo]


class GrantsRevokeParams(Wire):
    grant_id: str


class GrantsUpdatedData(Wire):
    """Something was allowed for good, or revoked: ask for the list again."""


class ApprovalResolvedData(Wire):
    approval_id: str
    decision: Decision
    by: str
    reason: str | None = None
    session_key: str
    seq: int
