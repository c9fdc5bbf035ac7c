"""Pending approvals and permanent grants."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.events import ApprovalRequested, camel_data, to_camel
from onyx_jupyter.features.approvals.wire import (
    ApprovalInfo,
    ApprovalList,
    ApprovalResolvedData,
    ApprovalsListParams,
    ExecApproveParams,
    ExecDenyParams,
    GrantInfo,
    GrantList,
    GrantsRevokeParams,
    GrantsUpdatedData,
)
from onyx_jupyter.human_requests.approval_policy import Policy
from onyx_jupyter.human_requests.broker import ApprovalBroker
from onyx_jupyter.human_requests.grants import GrantStore
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Components, Feature
from onyx_jupyter.operations.keys import APPROVALS, AUDIT, CONFIGURED, GRANTS, HOST, JOURNAL, STREAMS
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams, Ok


def make(parts: Parts) -> Built:
    host, configured, streams = parts.get(HOST), parts.get(CONFIGURED), parts.get(STREAMS)
    grants = GrantStore(
        host.home.grants_file,
        host.clock,
        host.ids,
        redact=configured.redact,
        on_change=lambda: streams.broadcast("grants.updated", {}),
    )
    approvals = ApprovalBroker(
        parts.get(JOURNAL),
        grants,
        host.clock,
        host.ids,
        configured.human_timeout_s,
        policy=Policy(grants, configured.forbidden, allow_always=host.ceiling.allow_always),
        redact=configured.redact_data,
    )

    async def health() -> Components:
        problem = await grants.problem()
        if problem is not None:
            hint = f"Grant again what you want allowed, then delete the damaged file in {host.home.root}."
            return {"grants": {"ok": False, "message": problem, "hint": hint}}
        count = len(await grants.list())
        things = "1 grant is" if count == 1 else f"{count} grants are"
        return {"grants": {"ok": True, "message": f"{things} in effect."}}

    return Built({GRANTS: grants, APPROVALS: approvals}, health=health)


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


FEATURE = Feature(
    "approvals",
    make,
    requires=(HOST, CONFIGURED, STREAMS, JOURNAL),
    provides=(GRANTS, APPROVALS),
    operations=(
        Operation("exec.approve", ExecApproveParams, Ok, approve, "admin"),
        Operation("exec.deny", ExecDenyParams, Ok, deny, "chat"),
        Operation("approvals.list", ApprovalsListParams, ApprovalList, list_approvals, "admin"),
        Operation("grants.list", NoParams, GrantList, list_grants, "read"),
        Operation("grants.revoke", GrantsRevokeParams, Ok, revoke_grant, "admin"),
    ),
    events=(
        EventType("exec.approval_request", ApprovalInfo, "admin"),
        EventType("exec.approval_resolved", ApprovalResolvedData),
        EventType("grants.updated", GrantsUpdatedData),
    ),
    essential=True,
)
