"""The settings of the embedders as plain values; the configuration fills them in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from onyx_jupyter.providers.settings import ModelsSettings

EmbedderKind = Literal["auto", "ollama", "api", "local", "none"]


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """`model` is provider/model, or None if no embedding model is configured.

    `models` says how providers are reached, and how models run on this machine. Embedders in `without` are never used.
    """

    embedder: EmbedderKind = "auto"
    model: str | None = None
    models: ModelsSettings = field(default_factory=ModelsSettings)
    without: frozenset[EmbedderKind] = frozenset()
