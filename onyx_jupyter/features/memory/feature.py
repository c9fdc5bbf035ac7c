"""What the agents remember, and search in it."""

from __future__ import annotations

from onyx_jupyter.features.memory.operations import OPERATIONS
from onyx_jupyter.features.memory.wire import MemoryUpdatedData
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.parts import Parts
from onyx_jupyter.runtime.keys import CONFIGURED, EMBEDDINGS, HOST, INDEX_PROCESS, MEMORIES, STREAMS
from onyx_jupyter.runtime.memories import Memories


def make(parts: Parts) -> Built:
    host, configured = parts.get(HOST), parts.get(CONFIGURED)
    memories = Memories(
        host.home,
        configured,
        parts.get(STREAMS).broadcast,
        configured.redact,
        host.clock,
        parts.get(EMBEDDINGS),
        parts.get(INDEX_PROCESS),
    )

    async def start() -> None:
        memories.ready()

    return Built({MEMORIES: memories}, start, close=memories.close)


FEATURE = Feature(
    "memory",
    make,
    requires=(HOST, CONFIGURED, STREAMS, EMBEDDINGS, INDEX_PROCESS),
    provides=(MEMORIES,),
    operations=OPERATIONS,
    events=(EventType("memory.updated", MemoryUpdatedData),),
    essential=True,
)
