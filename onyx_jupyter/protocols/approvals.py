"""Deciding whether a call may run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols.tools import ToolPreview


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """The decision on one call; `reason` is the user's own words, for the model.

    `shown` are the preview's details as the user saw them when approving, unredacted; None if a grant answered.
    """

    approved: bool
    reason: str | None = None
    shown: Mapping[str, Any] | None = None


class Approver(Protocol):
    """Decides whether a call may run."""

    async def refuse(self, session_key: str, run_id: str, call: ToolCall) -> str | None:
        """Why that call must not be made here, even if it only reads; None if it can be made or asked for."""
        ...

    async def ask(
        self,
        session_key: str,
        run_id: str,
        call: ToolCall,
        preview: ToolPreview,
        *,
        agent_id: str,
        auto: bool = False,
        allowed_in: str | None = None,
        unattended: bool = False,
    ) -> ApprovalAnswer:
        """Waits for a person if no grant answers; silence until the timeout is a no.

        `auto` says that the user left calls of this tool to the policy. `allowed_in` is the session whose user is
        asked, if another run started this one. `unattended`: nobody is there, so a question is a no.
        Cancelling closes the question; the message of the cancellation, if any, is recorded as the reason.
        `call` has its arguments in canonical form: checked, and without those that equal their default.
        Raises: StorageError if the decision could not be written; it then does not count.
        """
        ...
