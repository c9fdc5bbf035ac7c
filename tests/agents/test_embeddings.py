"""The configured embedders while the configuration changes."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onyx_jupyter.agents.embeddings import ConfiguredEmbeddings
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.config.schema import Config
from onyx_jupyter.index_process.process import IndexProcess
from onyx_jupyter.testing.embedding_server import EmbeddingServer
from tests.waiting import until


@dataclass
class Settings:
    config: Config


class Configured:
    """A configuration that a test changes."""

    def __init__(self, memory: dict[str, Any], base_url: str) -> None:
        self.settings = Settings(Config())
        self.ceiling = Ceiling()
        self.change(memory, base_url)

    def change(self, memory: dict[str, Any], base_url: str) -> None:
        providers = {"lab": {"baseUrl": base_url}}
        self.settings = Settings(Config.model_validate({"memory": memory, "providers": providers}))


async def test_replaced_embedders_are_closed_once_unused(tmp_path: Path) -> None:
    memory = {"embedder": "api", "embeddingModel": "lab/embedder"}
    with EmbeddingServer() as one, EmbeddingServer() as other:
        configured: Any = Configured(memory, one.base_url)
        process = IndexProcess(tmp_path / "index", SystemClock(), lambda: 600.0)
        embeddings = ConfiguredEmbeddings(configured, str, SystemClock(), process)
        first = await embeddings.current()
        assert first is not None
        client = embeddings._opened.choice._standings[0].source._client  # type: ignore[union-attr]
        under_way = asyncio.create_task(embeddings.embed(["tea"], "passage", identity=first))
        await asyncio.sleep(0)
        configured.change(memory, other.base_url)
        second = await embeddings.current()
        assert second not in (None, first)
        assert (await under_way).shape == (1, 64), "who waits gets what was asked for"
        await until(lambda: client._client is None)
        assert not embeddings._retired
        await embeddings.close()
        await process.close()
