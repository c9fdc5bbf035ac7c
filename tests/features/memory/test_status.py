"""How memory stands is told at once, whoever is waited for behind it."""

import asyncio
from pathlib import Path

from onyx_jupyter.protocols import EmbedderIdentity
from onyx_jupyter.testing.fake_embedder import FakeEmbedder, FakeEmbeddings
from tests.runs.house import House
from tests.waiting import until


class SoughtEmbeddings(FakeEmbeddings):
    """Says who embeds when `found` is set: until then a server that was asked does not answer."""

    def __init__(self) -> None:
        super().__init__(FakeEmbedder())
        self.found = asyncio.Event()

    async def current(self) -> EmbedderIdentity | None:
        await self.found.wait()
        return await super().current()


async def test_files_and_status_do_not_wait_for_embedder(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/MEMORY.md").write_text("Ada drinks tea")
    embeddings = SoughtEmbeddings()
    house = House(tmp_path, embeddings=embeddings)
    await house.session()
    memories = house.onyx.memories
    memories.start()
    assert [file.path for file in await memories.states(None)] == ["MEMORY.md"]
    for _ in range(2):
        status = await memories.status()
        assert (status.embedder, status.seeks_embedder) == (None, True)
    told = len(house.of("memory.updated"))
    embeddings.found.set()
    await until(lambda: len(house.of("memory.updated")) > told)
    status = await memories.status()
    assert (status.embedder, status.seeks_embedder) == (FakeEmbedder().identity, False)
    await house.close()


async def test_shutdown_does_not_wait_for_embedder_search(tmp_path: Path) -> None:
    house = House(tmp_path, embeddings=SoughtEmbeddings())
    await house.session()
    house.onyx.memories.start()
    assert (await house.onyx.memories.status()).seeks_embedder
    await house.close()
