"""Service keys for this feature and the surfaces. Keys that other features use are in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.local_models.service import LocalModels
from onyx_jupyter.operations.dependencies import Key

LOCAL_MODELS: Key[LocalModels] = Key("local models")
