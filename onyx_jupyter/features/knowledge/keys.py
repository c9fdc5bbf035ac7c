"""Service keys for this feature and the surfaces. Keys that other features use are in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.knowledge.documents import ServerKnowledge
from onyx_jupyter.operations.dependencies import Key

KNOWLEDGE: Key[ServerKnowledge] = Key("knowledge")
