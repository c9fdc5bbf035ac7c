"""Shows the user what was remembered of a conversation, undoes it, and remembers the proposals they accept.

It calls no model. When a note changes, it is published again under the same id; the newest one counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from onyx_jupyter.errors import AlreadyResolved, NotFound, ToolError
from onyx_jupyter.events import ChatNote
from onyx_jupyter.memory.change_plan import Outcome, Plan, execute_plan, make_plan, memory_text, take_back
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.operation_checks import no_secret, reject_instructions
from onyx_jupyter.memory.operations import Operation, apply_operations
from onyx_jupyter.memory.targets import MEMORY_FILE, memory_target
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.runs.audit_trail import AuditTrail
from onyx_jupyter.runs.streams import SessionStreams
from onyx_jupyter.sessions.conversation import summarise
from onyx_jupyter.sessions.entry import COMPACTION, MEMORY_NOTE, Entry
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.sessions.transcript import SessionTranscript

MEMORY_NOTES: Key[MemoryNotes] = Key("memory notes")

KEPT, UNDONE = "kept", "undone"
_PLAN, _OUTCOME = TypeAdapter(Plan), TypeAdapter(Outcome)
DEFAULT_SECTION = "Facts"
CHANGED_SINCE = (
    f"{MEMORY_FILE} has changed since, so nothing was undone. Compare the two versions and edit the file yourself."
)
NOT_KEPT = f"The previous version of {MEMORY_FILE} was not kept, so this cannot be undone. Edit the file yourself."


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether it was done; `reason` tells the user why not."""

    ok: bool
    reason: str | None = None


class MemoryNotes:
    """The notes of all sessions. `memory` returns an agent's files; `redact` removes secrets from a text."""

    def __init__(
        self,
        sessions: SessionStore,
        streams: SessionStreams,
        audit: AuditTrail,
        memory: Callable[[str], MemoryFiles],
        redact: Callable[[str], str],
    ) -> None:
        self._sessions = sessions
        self._streams = streams
        self._audit = audit
        self._memory = memory
        self._redact = redact
        self._turn = asyncio.Lock()

    async def complete(self, transcript: SessionTranscript, run_id: str, note_id: str, outcome: Outcome) -> None:
        """Writes the note; once it is on disk, the consolidation is complete. Raises: StorageError."""
        data = {"id": note_id, "path": MEMORY_FILE, "state": KEPT, **asdict(outcome)}
        await self._audit.memory("consolidated", "consolidation", {"session": transcript.session_key, **data})
        await self._note(transcript, run_id, MEMORY_NOTE, _format_outcome(outcome), data)

    async def undo(self, session_key: str, note_id: str, by: str) -> Answer:
        """Restores the earlier MEMORY.md. Raises: NotFound, AlreadyResolved, StorageError, ToolError."""
        async with self._turn:
            transcript, note = await self._find(session_key, note_id, MEMORY_NOTE)
            data = _data(note)
            if data.get("state") != KEPT:
                raise AlreadyResolved("This has already been undone.")
            outcome = _outcome(data)
            if outcome.done and (outcome.version is None or outcome.before is None):
                return Answer(False, NOT_KEPT)
            memory = self._memory(summarise(transcript.entries).agent_id)
            if not await take_back(outcome, memory, session_key):
                return Answer(False, CHANGED_SINCE)
            data = {**data, "state": UNDONE}
            await self._audit.memory("undone", f"user:{by}", {"session": session_key, **data})
            await self._note(transcript, note.run_id or "", MEMORY_NOTE, note.content, data)
            return Answer(True)

    async def accept(self, session_key: str, note_id: str, number: int, by: str) -> Answer:
        """Remembers a proposal of a summary; `number` counts its proposals from 0. Raises: as `undo`."""
        async with self._turn:
            transcript, note = await self._find(session_key, note_id, COMPACTION)
            data = _data(note)
            proposals, answered = data.get("proposals"), data.get("accepted") or []
            if not isinstance(proposals, list) or not 0 <= number < len(proposals):
                raise NotFound(f"This note has no proposal {number}.")
            if number in answered:
                raise AlreadyResolved("This has already been remembered.")
            memory = self._memory(summarise(transcript.entries).agent_id)
            reason = await self._remember(proposals[number], memory, session_key)
            facts = {"session": session_key, "proposal": proposals[number], "refused": reason}
            await self._audit.memory("accepted", f"user:{by}", facts)
            if reason is not None:
                return Answer(False, reason)
            await self._note(
                transcript, note.run_id or "", COMPACTION, note.content, {**data, "accepted": [*answered, number]}
            )
            return Answer(True)

    async def _remember(self, proposal: Mapping[str, Any], memory: MemoryFiles, session_key: str) -> str | None:
        """Returns why not, or None. The user has seen the text, so it is only checked for secrets and steering."""
        checks = (no_secret(self._redact), reject_instructions)
        try:
            target = memory_target(str(proposal.get("target")), memory.local_now())
        except ToolError as error:
            return str(error)
        content, reason = str(proposal.get("content")), str(proposal.get("reason"))
        wish = Operation("add", reason, section=target.section or DEFAULT_SECTION, content=content)
        if target.is_daily:
            applied = apply_operations("", [wish], checks)
            if applied.done:
                await memory.write(f"- {applied.done[0].content}", target.path, author="user", session_key=session_key)
            return None if applied.done else _because(applied.refused[0].why)
        plan = make_plan(await memory_text(memory), [wish], checks, "")
        if plan.refused:
            return _because(plan.refused[0].why)
        outcome = await execute_plan(plan, memory, "user", session_key)
        return None if outcome.done else _because(outcome.refused[0].why if outcome.refused else "it is already there")

    async def _find(self, session_key: str, note_id: str, kind: str) -> tuple[SessionTranscript, Entry]:
        transcript = await self._sessions.get(session_key)
        found = (
            entry
            for entry in reversed(transcript.entries)
            if entry.kind == "note" and entry.meta.get("note") == kind and _data(entry).get("id") == note_id
        )
        note = next(found, None)
        if note is None:
            raise NotFound("There is no such note in this conversation.")
        return transcript, note

    async def _note(
        self, transcript: SessionTranscript, run_id: str, kind: str, words: str, data: Mapping[str, Any]
    ) -> None:
        await transcript.append_note(run_id, kind, words, data)
        self._streams.publish(transcript.session_key, ChatNote(run_id, kind, words, dict(data)))


def plan_of(entry: Entry) -> Plan | None:
    """The plan in a consolidation entry; None if there is no readable one."""
    try:
        return _PLAN.validate_python(entry.meta.get("plan"))
    except ValidationError:
        return None


def _outcome(data: Mapping[str, Any]) -> Outcome:
    names = ("done", "refused", "history", "version", "before")
    try:
        return _OUTCOME.validate_python({name: data.get(name) for name in names})
    except ValidationError as error:
        raise NotFound("The entry of this note can no longer be read.") from error


def _data(entry: Entry) -> Mapping[str, Any]:
    data = entry.meta.get("data")
    return data if isinstance(data, Mapping) else {}


def _because(why: str) -> str:
    return f"It was not remembered: {why}."


def _format_outcome(outcome: Outcome) -> str:
    count = len(outcome.done)
    if not count:
        return "Noted in HISTORY.md what was done."
    return f"Remembered {count} thing{'s' * (count > 1)} in {MEMORY_FILE}."
