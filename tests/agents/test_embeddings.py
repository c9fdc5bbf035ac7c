"""The configured embedders while the configuration changes, and what those behind an API use."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.agents.embeddings import ConfiguredEmbeddings
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.config.schema import Config
from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.index_process.process import IndexProcess
from onyx_jupyter.messages import Usage
from onyx_jupyter.providers.prices import Price
from onyx_jupyter.testing.embedding_server import EmbeddingServer
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.script import Raw
from onyx_jupyter.usage.budget import BudgetLimits
from onyx_jupyter.usage.call_context import model_calls
from onyx_jupyter.usage.meter import UsageMeter
from onyx_jupyter.usage.model_call import ModelCall
from tests.waiting import until

MEMORY = {"embedder": "api", "embeddingModel": "lab/embedder"}


@dataclass
class Settings:
    config: Config


class Configured:
    """A configuration that a test changes."""

    def __init__(self, memory: dict[str, Any], base_url: str, usage: Path) -> None:
        """Calls are counted in the folder `usage`."""
        self.settings = Settings(Config())
        self.ceiling = Ceiling()
        self.provider_keys: dict[str, Any] = {}
        self.calls: list[ModelCall] = []
        self.budget = BudgetLimits()
        self.meter = UsageMeter(usage, FakeClock(), lambda: self.budget, self.calls.append, lambda: UTC)
        self.change(memory, base_url)

    def change(self, memory: dict[str, Any], base_url: str) -> None:
        providers = {"lab": {"baseUrl": base_url}}
        self.settings = Settings(Config.model_validate({"memory": memory, "providers": providers}))


@asynccontextmanager
async def opened(tmp_path: Path, server: EmbeddingServer) -> AsyncIterator[tuple[ConfiguredEmbeddings, Any]]:
    configured: Any = Configured(MEMORY, server.base_url, tmp_path / "usage")
    process = IndexProcess(tmp_path / "index", SystemClock(), lambda: 600.0)
    embeddings = ConfiguredEmbeddings(configured, str, SystemClock(), process)
    yield embeddings, configured
    await embeddings.close()
    await process.close()


async def test_each_request_for_embeddings_is_counted_in_a_role_of_its_own(tmp_path: Path) -> None:
    with EmbeddingServer() as server:
        async with opened(tmp_path, server) as (embeddings, configured):
            with model_calls("default", session_key="s1", run_id="r1"):
                identity = await embeddings.current()
                assert identity is not None
                await embeddings.embed(["tea", "coffee"], "passage", identity=identity)
                await embeddings.embed(["tea", "coffee"], "passage", identity=identity)  # from the cache
    assert [(call.model, call.role, call.usage) for call in configured.calls] == [
        ("lab/embedder", "embedding", Usage(1, 0)),  # the probe of its dimension
        ("lab/embedder", "embedding", Usage(2, 0)),
    ]
    assert {(call.session_key, call.run_id, call.is_unpriced) for call in configured.calls} == {(None, None, True)}


async def test_a_server_that_counts_no_tokens_is_estimated(tmp_path: Path) -> None:
    body = {"data": [{"index": 0, "embedding": [1.0] * 64}]}
    with EmbeddingServer([Raw(json.dumps(body).encode())]) as server:
        async with opened(tmp_path, server) as (embeddings, configured):
            await embeddings.current()
    (call,) = configured.calls
    assert call.usage.estimated
    assert call.usage.input_tokens > 0


async def test_a_used_up_budget_leaves_word_search_and_sends_nothing(tmp_path: Path) -> None:
    with EmbeddingServer() as server:
        async with opened(tmp_path, server) as (embeddings, configured):
            identity = await embeddings.current()
            assert identity is not None
            configured.budget = BudgetLimits(day_tokens=1)
            with pytest.raises(EmbeddingError, match="Today's budget is used up: 1 of 1 tokens"):
                await embeddings.embed(["tea"], "passage", identity=identity)
            assert "only keywords are searched" in str(embeddings.problem)
        assert server.texts == [["probe"]]
    assert len(configured.calls) == 1


async def test_replaced_embedders_are_closed_once_unused(tmp_path: Path) -> None:
    with EmbeddingServer() as one, EmbeddingServer() as other:
        configured: Any = Configured(MEMORY, one.base_url, tmp_path / "usage")
        process = IndexProcess(tmp_path / "index", SystemClock(), lambda: 600.0)
        embeddings = ConfiguredEmbeddings(configured, str, SystemClock(), process)
        first = await embeddings.current()
        assert first is not None
        client = embeddings._opened.choice._standings[0].source._client  # type: ignore[union-attr]
        under_way = asyncio.create_task(embeddings.embed(["tea"], "passage", identity=first))
        await asyncio.sleep(0)
        configured.change(MEMORY, other.base_url)
        second = await embeddings.current()
        assert second not in (None, first)
        assert (await under_way).shape == (1, 64), "who waits gets what was asked for"
        await until(lambda: client._client is None)
        assert not embeddings._retired
        await embeddings.close()
        await process.close()


def test_the_price_of_embeddings_needs_no_price_of_output() -> None:
    price = Price({"input_cost_per_token": 2e-8})
    assert price.cost_usd(1000, 0) == pytest.approx(2e-5)
    assert price.cost_usd(1000, 1) is None
