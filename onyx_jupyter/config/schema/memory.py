"""`memory`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from onyx_jupyter.config.schema.section import IfRefused, ModelId, Section


class MemoryConfig(Section):
    """How notes, conversations and documents are found again ([how](memory-search.md#how-it-is-ranked)), and what is
    remembered of them by itself."""

    embedder: Literal["auto", "ollama", "api", "local", "none"] = Field(
        default="auto",
        description="what makes embeddings for search by meaning; auto: Ollama, else the API model below, else the "
        "built-in one",
    )
    embedding_model: ModelId | None = Field(
        default=None,
        description="provider/model; `runtime.embeddingModel` overrides it",
    )
    fusion: Literal["weighted", "rrf"] = Field(
        default="weighted",
        description="how keyword and vector results are combined: by weighted scores or by reciprocal rank (k = 60)",
    )
    vector_weight: float = Field(default=0.6, ge=0, le=1, description="weight of the vector score")
    text_weight: float = Field(default=0.4, ge=0, le=1, description="weight of the keyword score")
    min_score: float = Field(
        default=0.25, ge=0, le=1, description="minimum relevance; if nothing reaches it, keyword matches are returned"
    )
    half_life_days: float = Field(
        default=7, ge=0.1, le=36_500, description="half-life of the recency part of a score, in days"
    )
    recency_floor: float = Field(
        default=0.95,
        ge=0,
        le=1,
        description="share of the score that does not decay with age; 0: all of it decays, 1: none does",
    )
    mmr_lambda: float = Field(
        default=0.9, ge=0, le=1, description="1: rank by score alone; lower: prefer passages that add something new"
    )
    recall: Annotated[bool, IfRefused(False)] = Field(
        default=True, description="whether relevant passages are added to each message automatically"
    )
    recall_min_score: float = Field(
        default=0.35, ge=0, le=1, description="minimum score of such a passage; at most three are added"
    )
    consolidation: Annotated[bool, IfRefused(False)] = Field(
        default=True, description="whether a model reviews conversations for things to remember"
    )
    consolidation_window: int = Field(
        default=25, ge=1, description="number of messages after which a conversation is reviewed"
    )
    consolidation_idle_ms: int = Field(
        default=600_000,
        ge=0,
        description="milliseconds of inactivity after which a conversation that was left is also reviewed",
    )
    consolidation_model: str | None = Field(
        default=None, description="provider/model for these reviews; `runtime.consolidationModel` overrides it"
    )
    max_versions_bytes: int = Field(
        default=200_000_000,
        ge=1_000_000,
        description="size limit for earlier versions of memory files, in bytes; beyond it the oldest are deleted, but "
        "never the last 50 of a file",
    )
