"""Pending approvals and permanent grants."""

from __future__ import annotations

from onyx_jupyter.features.approvals.operations import OPERATIONS
from onyx_jupyter.features.approvals.wire import ApprovalInfo, ApprovalResolvedData, GrantsUpdatedData
from onyx_jupyter.human_requests.broker import ApprovalBroker
from onyx_jupyter.human_requests.grants import GrantStore
from onyx_jupyter.human_requests.policy import Policy
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Components, Feature
from onyx_jupyter.operations.keys import APPROVALS, CONFIGURED, GRANTS, HOST, JOURNAL, STREAMS


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


FEATURE = Feature(
    "approvals",
    make,
    requires=(HOST, CONFIGURED, STREAMS, JOURNAL),
    provides=(GRANTS, APPROVALS),
    operations=OPERATIONS,
    events=(
        EventType("exec.approval_request", ApprovalInfo, "admin"),
        EventType("exec.approval_resolved", ApprovalResolvedData),
        EventType("grants.updated", GrantsUpdatedData),
    ),
    essential=True,
)
