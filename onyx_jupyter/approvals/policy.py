"""Decides about one call: it runs, a person is asked, or it is refused, with the reason. It asks nobody itself."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from onyx_jupyter.approvals.exact import Scope
from onyx_jupyter.approvals.grants import GrantStore
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import ToolPreview

SESSION = "session"
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`by` names who decided: `session`, `grant:<id>` (several with commas), `auto`, `ceiling`, or nobody for `ask`."""

    decision: Literal["allow", "ask", "deny"]
    by: str
    reason: str


Ceiling = Callable[[ToolCall, ToolPreview], str | None]
"""What nobody may allow on this server: the reason why a call is refused, or None."""


def no_ceiling(call: ToolCall, preview: ToolPreview) -> str | None:
    """Nothing is forbidden."""
    return None


class Policy:
    """The ceiling comes first, then what must be asked, and no grant gets past either; then what is allowed."""

    def __init__(self, grants: GrantStore, ceiling: Ceiling = no_ceiling) -> None:
        self._grants = grants
        self._ceiling = ceiling

    def forbidden(self, call: ToolCall, preview: ToolPreview) -> str | None:
        """The reason why a call is refused whoever wants it."""
        return self._ceiling(call, preview)

    async def decide(
        self,
        agent_id: str,
        call: ToolCall,
        preview: ToolPreview,
        scope: Scope,
        session_keys: Collection[str],
        *,
        auto: bool = False,
    ) -> Verdict:
        """`session_keys` is what was allowed for the session in which the call is made; `auto` leaves it to this."""
        forbidden = self.forbidden(call, preview)
        if forbidden is not None:
            return Verdict("deny", "ceiling", forbidden)
        if preview.must_ask:
            return Verdict("ask", "", preview.must_ask)
        if scope.session_keys and scope.session_keys <= frozenset(session_keys):
            return Verdict("allow", SESSION, "allowed for this session")
        missing = [item.digest for item in scope.items if item.digest not in session_keys]
        grants = await self._grants.covering(agent_id, missing)
        if grants:
            ids = ",".join(dict.fromkeys(grant.id for grant in grants))
            return Verdict("allow", f"grant:{ids}", "allowed always")
        if auto:
            return Verdict("allow", AUTO, "allowed in Auto mode")
        return Verdict("ask", "", f"asked each time, because {scope.blocked}" if scope.blocked else "not allowed yet")
