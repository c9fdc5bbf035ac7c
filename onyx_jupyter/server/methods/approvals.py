"""`exec.*` and `approvals.list`: what waits for a person, and the person's answer."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.events import camel_data
from onyx_jupyter.server.caller import Caller
from onyx_jupyter.server.wire.approvals import ApprovalsListParams, ExecApproveParams, ExecDenyParams


async def approve(params: ExecApproveParams, caller: Caller) -> dict[str, Any]:
    if params.scope == "always":
        raise InvalidRequest(
            "`scope`: 'always' is not offered yet, only 'once' and 'session'. Nothing was run.", field="scope"
        )
    await caller.onyx.approvals.approve(params.approval_id, caller.user, params.scope)
    return {"ok": True}


async def deny(params: ExecDenyParams, caller: Caller) -> dict[str, Any]:
    await caller.onyx.approvals.deny(params.approval_id, caller.user, params.reason)
    return {"ok": True}


async def list_approvals(params: ApprovalsListParams, caller: Caller) -> dict[str, Any]:
    pending = caller.onyx.approvals.pending(params.session_key)
    return {"approvals": [{**camel_data(item.request), "sessionKey": item.session_key} for item in pending]}
