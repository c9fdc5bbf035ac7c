"""What works once the home is ready: runs, the questions they ask a person, and what is kept of them afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.approvals.broker import ApprovalBroker
from onyx_jupyter.approvals.grants import GrantStore
from onyx_jupyter.approvals.policy import Ceiling, Policy
from onyx_jupyter.approvals.questions import Questions
from onyx_jupyter.config.paths import Home
from onyx_jupyter.runtime.audit_trail import AuditTrail
from onyx_jupyter.runtime.consolidating import Consolidating
from onyx_jupyter.runtime.consolidation import Consolidation
from onyx_jupyter.runtime.journal import TranscriptJournal
from onyx_jupyter.runtime.memory_notes import MemoryNotes
from onyx_jupyter.runtime.reading_ahead import ReadingAhead
from onyx_jupyter.runtime.runs import Runs, Surroundings
from onyx_jupyter.runtime.streams import SessionStreams
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.sessions.transcript import SessionTranscript


@dataclass(frozen=True, slots=True)
class Work:
    approvals: ApprovalBroker
    questions: Questions
    runs: Runs
    consolidating: Consolidating
    reading_ahead: ReadingAhead

    async def close(self) -> None:
        """Ends it all; what waits for a person goes on at the next start."""
        await self.reading_ahead.close()
        await self.consolidating.close()
        self.approvals.close()
        self.questions.close()
        await self.runs.close()


def make_work(
    home: Home,
    around: Surroundings,
    streams: SessionStreams,
    sessions: SessionStore,
    audit: AuditTrail,
    grants: GrantStore,
    notes: MemoryNotes,
    redact: Callable[[Any], Any],
    forbidden: Ceiling,
    on_change: Callable[[SessionTranscript], None],
) -> Work:
    """Nothing of it has begun yet.

    `forbidden` says what nobody may do here; `on_change` is told of a session that became another.
    """
    journal = TranscriptJournal(sessions, streams, audit)

    def patience_s() -> float:
        return around.settings().config.security.approval_timeout_ms / 1000

    policy = Policy(grants, forbidden, allow_always=around.ceiling.allow_always)
    approvals = ApprovalBroker(journal, grants, around.clock, around.ids, patience_s, policy=policy, redact=redact)
    questions = Questions(journal, around.clock, around.ids, patience_s)
    runs = Runs(around, streams, approvals, questions, audit, on_change)
    consolidation = Consolidation(
        around.settings, around.models, around.agent, around.processors, runs.model_choice, notes, around.ids
    )
    consolidating = Consolidating(
        sessions,
        consolidation.run,
        lambda: around.settings().config.memory,
        lambda session_key: runs.activity(session_key) == "idle" and not runs.working,
        home.consolidation_lock,
        around.clock,
    )
    return Work(approvals, questions, runs, consolidating, ReadingAhead(around, runs, sessions.get))
