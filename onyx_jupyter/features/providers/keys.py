"""Service keys for this feature and the surfaces. Keys that other features use are in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.providers.service import Providers
from onyx_jupyter.operations.dependencies import Key

PROVIDERS: Key[Providers] = Key("providers")
