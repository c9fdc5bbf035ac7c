"""The health of Onyx: `health.check` and the components it checks."""

from __future__ import annotations

from onyx_jupyter.features.status.health import components
from onyx_jupyter.features.status.operations import OPERATIONS
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.feature import Built, Components, Feature
from onyx_jupyter.operations.keys import AGENTS, CONFIGURED


def make(parts: Parts) -> Built:
    configured, agents = parts.get(CONFIGURED), parts.get(AGENTS)

    async def health() -> Components:
        return await components(configured, agents)

    return Built(health=health)


FEATURE = Feature("status", make, requires=(CONFIGURED, AGENTS), operations=OPERATIONS)
