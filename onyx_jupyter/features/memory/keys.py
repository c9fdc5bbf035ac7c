"""Service keys for this feature and the surfaces. Keys that other features use are in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.memory.consolidation_scheduler import ConsolidationScheduler
from onyx_jupyter.features.memory.memories import Memories
from onyx_jupyter.features.memory.notes import MemoryNotes
from onyx_jupyter.operations.dependencies import Key

MEMORIES: Key[Memories] = Key("memory")
MEMORY_NOTES: Key[MemoryNotes] = Key("memory notes")
CONSOLIDATION: Key[ConsolidationScheduler] = Key("consolidation")
