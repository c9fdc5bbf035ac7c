"""The models that can be chosen, and the tool mode of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.agents.model_choice import ModelChoice
from onyx_jupyter.protocols import ModelInfo


async def offered_models(configured: Configured, choice: ModelChoice, *, refresh: bool) -> Sequence[ModelInfo]:
    """`refresh` rereads the configuration and queries the providers. Raises: StorageError."""
    if refresh:
        await configured.read()
    config = configured.settings.config
    listed = await configured.models.list(refresh=refresh)
    return [replace(one, tool_mode="cell") if choice.uses_cell_mode(config, one.id) else one for one in listed]
