"""The settings of the providers as plain values; the configuration fills them in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

ToolMode = Literal["auto", "native", "json", "cell"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """One provider. `models` are ids, without the provider's prefix, to show in the model list.

    `context_window` is in tokens, `vision` says whether the models see pictures.
    None: use what the provider library knows. `effort` is how much they think unless a request says otherwise,
    `options` what only some providers have: `region` and `profile` (Bedrock), `project` and `location` (Vertex AI),
    `apiVersion` (Azure), `clientId` (GitHub Copilot), `cliPath` (Claude and ChatGPT subscriptions).
    """

    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    tool_mode: ToolMode = "auto"
    models: tuple[str, ...] = ()
    context_window: int | None = None
    vision: bool | None = None
    effort: Effort | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelsSettings:
    """All providers by name, and how the local models run. `local_threads` None: as many as there are cores;
    `local_folders` hold the fetched files, `local_saved_in` what a process saves for its next start.
    `default_model` is empty if none is configured. `served` is what servers said that they have, by the
    provider's name: a shared dictionary, updated when they are asked. To those that are `refused` nothing is sent.
    """

    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    local_idle_timeout_s: float = 600.0
    local_threads: int | None = None
    default_model: str = ""
    request_timeout_s: float = 120.0
    local_folders: tuple[Path, ...] = ()
    local_saved_in: Path | None = None
    served: dict[str, tuple[str, ...]] = field(default_factory=dict)
    refused: frozenset[str] = frozenset()
