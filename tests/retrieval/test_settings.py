"""The documented search, memory and recall numbers, so that none changes unnoticed."""

from dataclasses import asdict

import pytest

from onyx_jupyter.config.schema import Config, MemoryConfig, RuntimeConfig
from onyx_jupyter.context import recall
from onyx_jupyter.retrieval import chunking, ranking, selection
from onyx_jupyter.retrieval.settings import SearchSettings, search_settings
from onyx_jupyter.storage import vector_cache, versions

# docs/memory-search.md and docs/decisions/0018 say why.
DEFAULTS = {
    "limit": 6,
    "min_score": 0.25,
    "fusion": "weighted",
    "vector_weight": 0.6,
    "text_weight": 0.4,
    "half_life_days": 7.0,
    "recency_floor": 0.95,
    "mmr_lambda": 0.9,
}


def test_each_configured_number_is_used_in_ranking() -> None:
    memory = MemoryConfig(
        min_score=0.35,
        fusion="rrf",
        vector_weight=0.7,
        text_weight=0.3,
        half_life_days=14,
        recency_floor=0.1,
        mmr_lambda=0.8,
    )
    config = Config(runtime=RuntimeConfig(memory_search_top_k=9), memory=memory)
    assert asdict(search_settings(config)) == {
        "limit": 9,
        "min_score": 0.35,
        "fusion": "rrf",
        "vector_weight": 0.7,
        "text_weight": 0.3,
        "half_life_days": 14,
        "recency_floor": 0.1,
        "mmr_lambda": 0.8,
    }


def test_default_configuration_ranks_as_documented_in_decision() -> None:
    assert asdict(search_settings(Config())) == asdict(SearchSettings()) == DEFAULTS


@pytest.mark.parametrize(
    ("number", "promised"),
    [
        (chunking.NOTE_SIZE, chunking.ChunkSize(400, 80)),
        (chunking.PARENT_SIZE, chunking.ChunkSize(1024, 0)),
        (chunking.CHILD_SIZE, chunking.ChunkSize(256, 51)),
        (selection.CANDIDATES_A_RESULT, 4),
        (ranking.RRF_K, 60),
        (ranking.MAX_ALIKE, 0.95),
        (vector_cache.ENTRIES, 50_000),
        (versions.MAX_PER_FILE, 50),
        (MemoryConfig().max_versions_bytes, 200_000_000),
        (MemoryConfig().recall_min_score, 0.35),
        (recall.WORDS_MIN_SCORE, 0.65),
        (recall.MAX_ENTRIES, 3),
        (MemoryConfig().consolidation_window, 25),
        (MemoryConfig().consolidation_idle_ms, 600_000),
    ],
)
def test_documented_defaults_are_used(number: object, promised: object) -> None:
    assert number == promised


def test_recall_delays_a_turn_by_at_most_50_milliseconds() -> None:
    assert 0 < recall.WAIT_S <= 0.05
