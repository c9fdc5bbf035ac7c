"""Records in the audit file what was asked, decided and done, without secrets."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onyx_jupyter.errors import OnyxError
from onyx_jupyter.human_requests.grants import Grant
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.security.audit import AuditLog
from onyx_jupyter.security.secret_redactor import redact_off_loop

log = logging.getLogger(__name__)
KEPT_CHARS = 2000
UNASKED = "unasked"
APPROVED = "approved"


class AuditTrail:
    """Decisions are on disk before they count. For what was already done, a disk error is only logged.

    A text over 2,000 characters is kept as its beginning, its length and its SHA-256.
    """

    def __init__(self, audit: AuditLog, redact: Callable[[Any], Any]) -> None:
        self._audit = audit
        self._redact = redact
        self._deciders: dict[tuple[str, str], str] = {}

    async def decision(
        self, session_key: str, run_id: str, call_id: str, decision: str, by: str, facts: Mapping[str, Any]
    ) -> None:
        """Raises: StorageError for an approval, which then must not count; a denial holds even if the disk fails."""
        about = {"decision": decision, "by": by, "session": session_key, "run": run_id, "call": call_id}
        try:
            await self._write("decision", {**about, **facts})
        except OnyxError as error:
            if decision == APPROVED:
                raise
            log.error(
                "The decision on call %s (%s) could not be written to the audit file: %s", call_id, decision, error
            )
        self._deciders[run_id, call_id] = by

    async def tool_run(
        self, session_key: str, run_id: str, call: ToolCall, status: str, facts: Mapping[str, Any]
    ) -> None:
        """A call that has its result."""
        about = {
            "tool": call.name,
            "arguments": dict(sorted(call.arguments.items())) if call.malformed is None else call.malformed,
            "status": status,
            "by": self._deciders.pop((run_id, call.id), UNASKED),
            "session": session_key,
            "run": run_id,
            "call": call.id,
        }
        await self._write_done(f"The call {call.id} of run {run_id}", "tool", {**about, **facts})

    async def revoked(self, grant: Grant, by: str) -> None:
        """A grant that no longer counts; what restricts is done first and recorded afterwards."""
        await self._write_done(f"The revocation of grant {grant.id}", "revoked", {"by": by, **listed([grant])[0]})

    async def skill_trusted(self, name: str, path: str, digest: str, by: str) -> None:
        """Recorded before it counts. Raises: StorageError."""
        await self._audit.write("skill_trusted", self._clean({"skill": name, "path": path, "sha256": digest, "by": by}))

    async def project_trusted(self, path: str, digest: str, by: str) -> None:
        """Recorded before it counts. Raises: StorageError."""
        await self._audit.write("project_trusted", self._clean({"path": path, "sha256": digest, "by": by}))

    async def project_declined(self, path: str, digest: str, by: str) -> None:
        """What restricts is done first and recorded afterwards."""
        await self._write_done(f"The decline of {path}", "project_declined", {"path": path, "sha256": digest, "by": by})

    async def reviewed(self, what: str, by: str, facts: Mapping[str, Any]) -> None:
        """A person undid or redid changes to notebooks."""
        await self._write_done(f"A review ({what})", "review", {"what": what, "by": f"user:{by}", **facts})

    async def memory(self, what: str, by: str, facts: Mapping[str, Any]) -> None:
        """The memory was changed automatically, reverted, or added to with a person's consent."""
        await self._write_done(f"A memory change ({what})", "memory", {"what": what, "by": by, **facts})

    async def skill_run(self, facts: Mapping[str, Any]) -> None:
        """A finished run that a person started."""
        await self._write_done(f"The run {facts.get('run')}", "skill_run", facts)

    async def _write_done(self, what: str, event: str, facts: Mapping[str, Any]) -> None:
        """For what is already done: a disk error is only logged, with `what` in front."""
        try:
            await self._write(event, facts)
        except OnyxError as error:
            log.error("%s could not be written to the audit file: %s", what, error)

    async def _write(self, event: str, facts: Mapping[str, Any]) -> None:
        """For facts of any size. Writes even if cancelled. Raises: StorageError."""

        async def write() -> None:
            await self._audit.write(event, await redact_off_loop(self._clean, facts))

        writing = asyncio.ensure_future(write())
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])
            raise

    def _clean(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        cleaned: dict[str, Any] = _shortened(self._redact(dict(facts)))
        return cleaned


def listed(grants: Sequence[Grant]) -> list[dict[str, str]]:
    """Grants in the form of the audit file."""
    return [{"grant": grant.id, "agent": grant.agent_id, "tool": grant.tool, "what": grant.what} for grant in grants]


def _shortened(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _shortened(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shortened(item) for item in value]
    if not isinstance(value, str) or len(value) <= KEPT_CHARS:
        return value
    whole = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{value[:KEPT_CHARS]}… [{len(value)} characters, sha256 {whole}]"
