"""Documents are found by their words where nothing can be searched by meaning, and the answer says so."""

from pathlib import Path

import pytest

from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.testing.fake_embedder import FakeEmbedder, FakeEmbeddings
from tests.ingest.desk import Desk

TEXT = "# Log\n\nThe parrot escaped at Cuxhaven.\n"


@pytest.fixture
def embeddings() -> FakeEmbeddings:
    return FakeEmbeddings(FakeEmbedder())


@pytest.fixture
def desk(tmp_path: Path, embeddings: FakeEmbeddings, jp_asyncio_loop):
    desk = Desk(tmp_path, embeddings=embeddings)
    desk.write({"log.md": TEXT})
    yield desk
    jp_asyncio_loop.run_until_complete(desk.close())


async def answer(desk: Desk) -> tuple[list[tuple[str, int | None]], str]:
    found = await desk.knowledge.search("parrot")
    return [(one.path, one.start_line) for one in found.passages], found.note or ""


async def test_without_embedder_documents_are_indexed_and_found(desk: Desk, embeddings: FakeEmbeddings) -> None:
    embeddings.embedder = None
    item = await desk.add("log.md")
    found, note = await answer(desk)
    assert ((item.state, item.chunks), found) == (("done", 1), [("log.md", 1)])
    assert note.startswith("Only keywords were searched. No embedder is available.")


async def test_while_embedder_fails_documents_are_indexed_and_found(desk: Desk, embeddings: FakeEmbeddings) -> None:
    assert embeddings.embedder is not None
    embeddings.embedder.failure = EmbeddingError("The embedder is away.")
    item = await desk.add("log.md")
    found, note = await answer(desk)
    assert ((item.state, item.problem), found) == (("done", None), [("log.md", 1)])
    assert note.startswith("Only keywords were searched. The embedder is away.")


async def test_without_index_stored_texts_are_searched(desk: Desk) -> None:
    desk.write({"docs/other.md": "The parrot came back."})
    await desk.add()
    desk.index.is_away = True
    found, note = await answer(desk)
    assert sorted(found) == [("docs/other.md", 1), ("log.md", 3)]
    assert "The index is not available, so the files were searched by keyword only" in note
    assert await desk.found("parrot", paths=["docs"]) == ["docs/other.md"]
