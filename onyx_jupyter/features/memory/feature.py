"""What the agents remember, and search in it."""

from __future__ import annotations

from onyx_jupyter.features.memory.operations import OPERATIONS
from onyx_jupyter.features.memory.wire import MemoryUpdatedData
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.parts import Parts
from onyx_jupyter.runtime.keys import CONFIGURED, EMBEDDINGS, HOST, MEMORIES, STREAMS
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
    )

    async def start() -> None:
        memories.ready()

    async def warm() -> None:
        memories.start()

    return Built({MEMORIES: memories}, start, warm, memories.close)


FEATURE = Feature(
    "memory",
    make,
    requires=(HOST, CONFIGURED, STREAMS, EMBEDDINGS),
    provides=(MEMORIES,),
    operations=OPERATIONS,
    events=(EventType("memory.updated", MemoryUpdatedData),),
    essential=True,
)
