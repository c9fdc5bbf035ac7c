"""The agents' memory and memory search."""

from __future__ import annotations

from onyx_jupyter.features.memory.fact_tools import forget_tool, make_remember_tool
from onyx_jupyter.features.memory.file_tools import memory_get_tool, memory_search_tool, memory_write_tool
from onyx_jupyter.features.memory.history_tools import memory_history_tool
from onyx_jupyter.features.memory.memories import MEMORIES, Memories
from onyx_jupyter.features.memory.operations import OPERATIONS
from onyx_jupyter.features.memory.wire import MemoryUpdatedData
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import (
    CONFIGURED,
    EMBEDDINGS,
    FACTS,
    HOST,
    INDEX_PROCESS,
    MEMORY_FILES,
    MEMORY_SEARCH,
    RECALL,
    STREAMS,
)
from onyx_jupyter.toolsets.toolset import FixedToolset


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

    async def prepare() -> None:
        memories.start(at_once=True)
        await memories.load()

    return Built(
        {
            MEMORIES: memories,
            MEMORY_FILES: memories.files,
            MEMORY_SEARCH: memories.searching,
            FACTS: memories.facts,
            RECALL: memories.recall,
        },
        start,
        prepare=prepare,
        catch_up=memories.start,
        close=memories.close,
    )


FEATURE = Feature(
    "memory",
    make,
    requires=(HOST, CONFIGURED, STREAMS, EMBEDDINGS, INDEX_PROCESS),
    provides=(MEMORIES, MEMORY_FILES, MEMORY_SEARCH, FACTS, RECALL),
    operations=OPERATIONS,
    events=(EventType("memory.updated", MemoryUpdatedData),),
    toolsets=(
        FixedToolset(
            "memory",
            (
                memory_search_tool,
                memory_get_tool,
                memory_write_tool,
                memory_history_tool,
                make_remember_tool(),
                forget_tool,
            ),
        ),
    ),
    essential=True,
)
