"""What this feature gives to itself and to the surfaces, by name. What other features use is in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.memory.consolidation_scheduler import ConsolidationScheduler
from onyx_jupyter.features.memory.memories import Memories
from onyx_jupyter.features.memory.notes import MemoryNotes
from onyx_jupyter.operations.parts import Key

MEMORIES: Key[Memories] = Key("memory")
MEMORY_NOTES: Key[MemoryNotes] = Key("notes of what was remembered")
CONSOLIDATION: Key[ConsolidationScheduler] = Key("consolidation")
