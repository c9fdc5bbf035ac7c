"""Decides about one call: it runs, a person is asked, or it is refused, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Literal

from onyx_jupyter.config.ceiling import NOTHING_ALWAYS
from onyx_jupyter.human_requests.approval_scope import Scope
from onyx_jupyter.human_requests.grants import GrantStore
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import ToolPreview

SESSION = "session"
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """`by` names who decided: `session`, `grant:<id>` (several with commas), `auto`, `ceiling`; empty for `ask`."""

    decision: Literal["allow", "ask", "deny"]
    by: str
    reason: str


Ceiling = Callable[[ToolCall], str | None]
"""What is forbidden on this server: the reason why a call is refused, or None."""


def no_ceiling(call: ToolCall) -> str | None:
    """Nothing is forbidden."""
    return None


class Policy:
    """The ceiling comes first, then what must be asked, and no grant overrides either; then what is allowed.

    Without `allow_always` no grant counts.
    """

    def __init__(self, grants: GrantStore, ceiling: Ceiling = no_ceiling, *, allow_always: bool = True) -> None:
        self._grants = grants
        self._ceiling = ceiling
        self._allow_always = allow_always

    def forbidden(self, call: ToolCall) -> PolicyDecision | None:
        """The refusal of a call that is forbidden on this server, whoever wants it."""
        reason = self._ceiling(call)
        return PolicyDecision("deny", "ceiling", reason) if reason is not None else None

    def limited(self, scope: Scope) -> Scope:
        """What a yes can cover on this server."""
        if self._allow_always:
            return scope
        return replace(scope, items=(), always_text=None, blocked=scope.blocked or NOTHING_ALWAYS)

    async def decide(
        self,
        agent_id: str,
        call: ToolCall,
        preview: ToolPreview,
        scope: Scope,
        session_keys: Collection[str],
        *,
        auto: bool = False,
    ) -> PolicyDecision:
        """`session_keys` is what was allowed for the session in which the call is made; `auto` allows what is left."""
        forbidden = self.forbidden(call)
        if forbidden is not None:
            return forbidden
        if preview.must_ask:
            return PolicyDecision("ask", "", preview.must_ask)
        if scope.session_keys and scope.session_keys <= frozenset(session_keys):
            return PolicyDecision("allow", SESSION, "allowed for this session")
        missing = [item.digest for item in scope.items if item.digest not in session_keys]
        grants = await self._grants.covering(agent_id, missing) if self._allow_always else None
        if grants:
            ids = ",".join(dict.fromkeys(grant.id for grant in grants))
            return PolicyDecision("allow", f"grant:{ids}", "always allowed")
        if auto:
            return PolicyDecision("allow", AUTO, "allowed in Auto mode")
        return PolicyDecision(
            "ask", "", f"asked each time, because {scope.blocked}" if scope.blocked else "not allowed yet"
        )
