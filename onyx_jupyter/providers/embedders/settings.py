"""What the embedders need to know, as plain values. Where the values come from is the configuration's business."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from onyx_jupyter.providers.settings import ModelsSettings

EmbedderKind = Literal["auto", "ollama", "api", "local", "none"]


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """`model` is provider/model, or None where no embedding model is configured.

    `models` says how providers are reached, and how models run on this machine. Those in `without` are never used.
    """

    embedder: EmbedderKind = "auto"
    model: str | None = None
    models: ModelsSettings = field(default_factory=ModelsSettings)
    without: frozenset[EmbedderKind] = frozenset()
