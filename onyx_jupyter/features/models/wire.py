"""Models on the socket."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from onyx_jupyter.operations.wire import Wire
from onyx_jupyter.providers.settings import Effort


class ModelsListParams(Wire):
    refresh: bool = False


class ModelInfo(Wire):
    """A `locked` one is not allowed on this server: it is shown and cannot be chosen.

    `tool_mode` is how it acts unless a message says otherwise, `efforts` how much a message can ask it to think.
    """

    id: str
    provider: str
    local: bool
    tools: bool
    locked: bool = False
    tool_mode: Literal["cell", "tools"] = "tools"
    efforts: list[Effort] = Field(default_factory=list)


class ModelList(Wire):
    models: list[ModelInfo]
