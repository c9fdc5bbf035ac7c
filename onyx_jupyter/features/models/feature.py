"""What can answer."""

from __future__ import annotations

from onyx_jupyter.features.models.operations import OPERATIONS
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.parts import Parts
from onyx_jupyter.runtime.keys import CONFIGURED


def make(parts: Parts) -> Built:
    configured = parts.get(CONFIGURED)

    async def warm() -> None:
        await configured.models.warm()

    return Built(warm=warm)


FEATURE = Feature("models", make, requires=(CONFIGURED,), operations=OPERATIONS)
