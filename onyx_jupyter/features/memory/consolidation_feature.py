"""What is remembered of a conversation after it ends, and the notes about it."""

from __future__ import annotations

from onyx_jupyter.features.memory.consolidation import Consolidation
from onyx_jupyter.features.memory.consolidation_scheduler import CONSOLIDATION, ConsolidationScheduler
from onyx_jupyter.features.memory.notes import MEMORY_NOTES, MemoryNotes
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import (
    AGENTS,
    AUDIT,
    CHANGED_SESSION,
    CONFIGURED,
    HOST,
    OPENED_SESSION,
    RUN_SERVICES,
    RUNS,
    SESSIONS,
    STREAMS,
)
from onyx_jupyter.sessions.transcript import SessionTranscript


def make(parts: Parts) -> Built:
    host, configured, around = parts.get(HOST), parts.get(CONFIGURED), parts.get(RUN_SERVICES)
    sessions, runs, agents = parts.get(SESSIONS), parts.get(RUNS), parts.get(AGENTS)
    notes = MemoryNotes(
        sessions,
        parts.get(STREAMS),
        parts.get(AUDIT),
        lambda agent_id: agents.agent(agent_id).memory,
        configured.redact,
    )
    consolidation = Consolidation(
        around.settings, around.models, around.agent, around.processors, runs.model_choice, notes, host.ids
    )
    scheduler = ConsolidationScheduler(
        sessions,
        consolidation.run,
        lambda: configured.settings.config.memory,
        lambda session_key: runs.activity(session_key) == "idle" and not runs.working,
        host.home.consolidation_lock,
        host.clock,
    )

    def changed(transcript: SessionTranscript) -> None:
        if runs.activity(transcript.session_key) == "idle":
            scheduler.touched(transcript)

    parts.get(OPENED_SESSION).subscribe(scheduler.opened)
    parts.get(CHANGED_SESSION).subscribe(changed)

    async def resume_pending() -> None:
        scheduler.start(await sessions.list())

    return Built(
        {MEMORY_NOTES: notes, CONSOLIDATION: scheduler},
        begin_as_owner=resume_pending,
        close=scheduler.close,
    )


FEATURE = Feature(
    "consolidation",
    make,
    requires=(HOST, CONFIGURED, SESSIONS, STREAMS, AUDIT, AGENTS, RUN_SERVICES, RUNS, OPENED_SESSION, CHANGED_SESSION),
    provides=(MEMORY_NOTES, CONSOLIDATION),
    essential=True,
)
