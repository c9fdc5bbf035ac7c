"""`exec.*`, `approvals.list`, `grants.*`: pending approvals, the user's answers, and permanent grants."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.events import ApprovalRequested, camel_data, to_camel
from onyx_jupyter.features.approvals.wire import (
    ApprovalList,
    ApprovalsListParams,
    ExecApproveParams,
    ExecDenyParams,
    GrantInfo,
    GrantList,
    GrantsRevokeParams,
)
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import APPROVALS, AUDIT, GRANTS, STREAMS
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams, Ok


async def approve(params: ExecApproveParams, caller: Caller) -> dict[str, Any]:
    await caller.get(APPROVALS).approve(params.approval_id, caller.user, params.scope, params.version)
    return {"ok": True}


async def deny(params: ExecDenyParams, caller: Caller) -> dict[str, Any]:
    await caller.get(APPROVALS).deny(params.approval_id, caller.user, params.reason)
    return {"ok": True}


async def list_approvals(params: ApprovalsListParams, caller: Caller) -> dict[str, Any]:
    """Unredacted, because the user decides on exactly this content."""
    pending = [(item.request, item.session_key) for item in caller.get(APPROVALS).pending(params.session_key)]
    if params.session_key is not None:
        heard = caller.get(STREAMS).open_requests(params.session_key)
        pending += [(asked, params.session_key) for asked in heard if isinstance(asked, ApprovalRequested)]
    return {"approvals": [{**camel_data(request), "sessionKey": session_key} for request, session_key in pending]}


async def list_grants(params: NoParams, caller: Caller) -> dict[str, Any]:
    shown = {to_camel(name) for name in GrantInfo.model_fields}
    grants = [grant.model_dump(by_alias=True) for grant in await caller.get(GRANTS).list()]
    return {"grants": [{name: value for name, value in grant.items() if name in shown} for grant in grants]}


async def revoke_grant(params: GrantsRevokeParams, caller: Caller) -> dict[str, Any]:
    revoked = await caller.get(GRANTS).revoke(params.grant_id)
    await caller.get(AUDIT).revoked(revoked, caller.user)
    return {"ok": True}


OPERATIONS = (
    Operation("exec.approve", ExecApproveParams, Ok, approve, "admin"),
    Operation("exec.deny", ExecDenyParams, Ok, deny, "chat"),
    Operation("approvals.list", ApprovalsListParams, ApprovalList, list_approvals, "admin"),
    Operation("grants.list", NoParams, GrantList, list_grants, "read"),
    Operation("grants.revoke", GrantsRevokeParams, Ok, revoke_grant, "admin"),
)
