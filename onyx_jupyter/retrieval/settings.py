"""The configured numbers by which a search ranks."""

from __future__ import annotations

from dataclasses import dataclass

from onyx_jupyter.config.schema import Config
from onyx_jupyter.protocols.retrieval import Fusion


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """See `docs/memory-search.md` for each of them; the defaults are the configuration's."""

    limit: int = 6
    min_score: float = 0.25
    fusion: Fusion = "weighted"
    vector_weight: float = 0.6
    text_weight: float = 0.4
    half_life_days: float = 7.0
    recency_floor: float = 0.95
    mmr_lambda: float = 0.9


def search_settings(config: Config) -> SearchSettings:
    """The settings in `onyx.json`."""
    memory = config.memory
    return SearchSettings(
        limit=config.runtime.memory_search_top_k,
        min_score=memory.min_score,
        fusion=memory.fusion,
        vector_weight=memory.vector_weight,
        text_weight=memory.text_weight,
        half_life_days=memory.half_life_days,
        recency_floor=memory.recency_floor,
        mmr_lambda=memory.mmr_lambda,
    )
