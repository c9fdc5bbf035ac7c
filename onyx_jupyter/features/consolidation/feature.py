"""What is remembered of a conversation once it is over, and the notes that tell of it."""

from __future__ import annotations

from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.parts import Parts
from onyx_jupyter.runtime.consolidating import Consolidating
from onyx_jupyter.runtime.consolidation import Consolidation
from onyx_jupyter.runtime.keys import (
    AGENTS,
    AUDIT,
    CONFIGURED,
    CONSOLIDATING,
    HOST,
    MEMORY_NOTES,
    RUNS,
    SESSIONS,
    STREAMS,
    SURROUNDINGS,
)
from onyx_jupyter.runtime.memory_notes import MemoryNotes


def make(parts: Parts) -> Built:
    host, configured, around = parts.get(HOST), parts.get(CONFIGURED), parts.get(SURROUNDINGS)
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
    consolidating = Consolidating(
        sessions,
        consolidation.run,
        lambda: configured.settings.config.memory,
        lambda session_key: runs.activity(session_key) == "idle" and not runs.working,
        host.home.consolidation_lock,
        host.clock,
    )

    async def take_up_what_was_left() -> None:
        consolidating.start(await sessions.list())

    return Built(
        {MEMORY_NOTES: notes, CONSOLIDATING: consolidating},
        begin_as_owner=take_up_what_was_left,
        close=consolidating.close,
    )


FEATURE = Feature(
    "consolidation",
    make,
    requires=(HOST, CONFIGURED, SESSIONS, STREAMS, AUDIT, AGENTS, SURROUNDINGS, RUNS),
    provides=(MEMORY_NOTES, CONSOLIDATING),
    essential=True,
)
