"""What this feature gives to itself and to the surfaces, by name. What other features use is in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.knowledge.documents import ServerKnowledge
from onyx_jupyter.operations.parts import Key

KNOWLEDGE: Key[ServerKnowledge] = Key("knowledge")
