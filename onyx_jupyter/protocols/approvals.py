"""Whoever decides whether a call may run, and the decision. It never holds behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols.tools import ToolPreview


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """The decision on one call; `reason` is the person's own words, for the model.

    `shown` are the preview's details as the person saw them when saying yes, unredacted; None where a grant answered.
    """

    approved: bool
    reason: str | None = None
    shown: Mapping[str, Any] | None = None


class Approver(Protocol):
    """Whoever decides whether a call may run."""

    async def refuse(self, session_key: str, run_id: str, call: ToolCall) -> str | None:
        """Why nobody may make that call here, a reading one included; None where it can be made or asked for."""
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
    ) -> ApprovalAnswer:
        """Waits for a person where no grant answers; silence until the timeout is a no.

        `auto` says that the person left calls of this tool to the policy. `allowed_in` is the session whose person is
        asked, where another run started this one.
        Cancelling closes the question; the message of the cancelling, if any, is the reason that is written down.
        `call` has its arguments in canonical form: checked, and without those that equal their default.
        Raises: StorageError where the decision could not be written, and then it does not count.
        """
        ...
