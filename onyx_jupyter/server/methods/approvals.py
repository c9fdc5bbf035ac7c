"""`exec.*` and `approvals.list`: what waits for a person, and the person's answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.events import camel_data
from onyx_jupyter.server.wire import ApprovalsListParams, ExecApproveParams, ExecDenyParams

if TYPE_CHECKING:
    from onyx_jupyter.server.connection import Connection


async def approve(params: ExecApproveParams, connection: Connection) -> dict[str, Any]:
    if params.scope == "always":
        raise InvalidRequest(
            "`scope`: 'always' is not offered yet, only 'once' and 'session'. Nothing was run.", field="scope"
        )
    await connection.onyx.approvals.approve(params.approval_id, connection.user, params.scope)
    return {"ok": True}


async def deny(params: ExecDenyParams, connection: Connection) -> dict[str, Any]:
    await connection.onyx.approvals.deny(params.approval_id, connection.user, params.reason)
    return {"ok": True}


async def list_approvals(params: ApprovalsListParams, connection: Connection) -> dict[str, Any]:
    pending = connection.onyx.approvals.pending(params.session_key)
    return {"approvals": [{**camel_data(item.request), "sessionKey": item.session_key} for item in pending]}
