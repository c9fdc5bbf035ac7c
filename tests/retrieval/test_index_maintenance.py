"""Background maintenance changes how fast the index answers, never what."""

import asyncio
import gc
import threading
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from filelock import FileLock

from onyx_jupyter.errors import EmbeddingError, IndexUnavailable
from onyx_jupyter.protocols.retrieval import Candidate, SearchFilter
from onyx_jupyter.retrieval import index_maintenance as index_upkeep
from onyx_jupyter.retrieval import reindex as index_following
from onyx_jupyter.retrieval.text_index import LanceTextIndex
from onyx_jupyter.storage import shared_lock
from onyx_jupyter.storage.index_collection import chunk_collection
from onyx_jupyter.storage.lance import VECTORS_BEFORE_INDEX, LanceTable
from onyx_jupyter.testing.fake_embedder import FakeEmbedder, FakeEmbeddings
from tests.retrieval.sources import EVERYTHING, found, open_index, source, texts_with
from tests.waiting import until

SOURCES = VECTORS_BEFORE_INDEX // 100 + 2


def table_of(folder: Path) -> LanceTable:
    collection = chunk_collection(folder, "memory", on_emptied=lambda why: None)
    return collection.table(collection.state().serving)


def states(folder: Path) -> int:
    """How many states of the table lie on disk."""
    return len(list(folder.glob("memory_chunk-*.lance/_versions/*.manifest")))


async def test_fragments_of_many_writes_are_compacted_and_indexed(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    for number in range(30):
        await index.put([source(f"{number}.md", f"tea {number}")])
    table = table_of(tmp_path / "index")
    assert (table.fragments(), table.behind("text")) == (30, 30)
    before = await index.candidates("tea 7", 30, EVERYTHING)
    await index.settled()
    table = table_of(tmp_path / "index")
    assert (table.fragments(), table.behind("text")) == (1, 0)
    after = await index.candidates("tea 7", 30, EVERYTHING)
    assert {one.chunk for one in after[0]} == {one.chunk for one in before[0]}
    assert after[0][0] == before[0][0]
    await index.close()


async def test_obsolete_versions_are_deleted_once_unread(tmp_path: Path) -> None:
    embeddings = FakeEmbeddings(FakeEmbedder())
    index = LanceTextIndex(tmp_path / "index", "memory", embeddings, "400/80", idle_s=0, kept_s=0.3)
    for number in range(30):
        await index.put([source("day.md", *[f"line {line} of {number}" for line in range(8)])])
    assert await texts_with(index, "29") == {f"line {line} of 29" for line in range(8)}
    await until(lambda: states(tmp_path / "index") <= 2)
    assert await texts_with(index, "29") == {f"line {line} of 29" for line in range(8)}
    await index.close()


async def test_obsolete_versions_from_before_start_are_deleted(tmp_path: Path) -> None:
    first = open_index(tmp_path / "index")
    for number in range(10):
        await first.put([source("day.md", f"line of {number}")])
    await first.close()
    assert states(tmp_path / "index") > 10
    embeddings = FakeEmbeddings(FakeEmbedder())
    second = LanceTextIndex(tmp_path / "index", "memory", embeddings, "400/80", idle_s=0, kept_s=0.1)
    await found(second, "line")
    await until(lambda: states(tmp_path / "index") <= 2)
    await second.close()


async def test_text_put_without_embedder_is_compacted_once_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_upkeep, "_RETRY_S", 0.05)
    embedder = FakeEmbedder()
    embedder.failure = EmbeddingError("away")
    index = LanceTextIndex(tmp_path / "index", "memory", FakeEmbeddings(embedder), "400/80", idle_s=0)
    await index.put([source(f"{number}.md", *[f"fact {line}" for line in range(100)]) for number in range(20)])
    table = table_of(tmp_path / "index")
    await until(lambda: table.behind("text") == 0)
    embedder.failure = None
    await until(lambda: table.count("vector IS NULL") == 0)
    await until(lambda: table.behind("text") == 0)
    assert table.fragments() <= 20
    await index.close()


async def test_failed_maintenance_is_retried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_upkeep, "_RETRY_S", 0.05)
    monkeypatch.setattr(shared_lock, "LOCK_S", 0.1)
    first = open_index(tmp_path / "index")
    for number in range(30):
        await first.put([source(f"{number}.md", f"tea {number}")])
    await first.close()
    table = table_of(tmp_path / "index")
    index = LanceTextIndex(tmp_path / "index", "memory", FakeEmbeddings(FakeEmbedder()), "400/80", idle_s=0)
    with FileLock(tmp_path / "index" / "memory_chunk.lock", thread_local=False):
        assert len(await found(index, "tea")) == 30
        await until(lambda: index._maintenance._failure)
        assert table.fragments() > 20
    await until(lambda: table.fragments() == 1)
    await index.close()


async def test_only_one_server_builds_vector_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_following, "VECTORS_BEFORE_INDEX", 300)
    monkeypatch.setattr(index_upkeep, "_RETRY_S", 0.05)
    embeddings = FakeEmbeddings(FakeEmbedder())
    index = LanceTextIndex(tmp_path / "index", "memory", embeddings, "400/80", idle_s=0, matrix_bytes=0)
    (tmp_path / "index").mkdir()
    with FileLock(tmp_path / "index" / "memory_chunk.following.lock", thread_local=False):
        await index.put([source(f"{s}.md", *[f"w{s} x{c}" for c in range(100)]) for s in range(4)])
        await index.settled()
        table = table_of(tmp_path / "index")
        assert not table.has_vector_index()
    await until(table.has_vector_index)
    await index.close()


@pytest.mark.parametrize("for_another_embedder", [False, True], ids=["of the same vectors", "of another embedder's"])
async def test_cancelled_vector_index_build_keeps_its_lock_until_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, for_another_embedder: bool
) -> None:
    begun, go = threading.Event(), threading.Event()

    def build(table: LanceTable) -> None:
        begun.set()
        go.wait()

    monkeypatch.setattr(index_following, "VECTORS_BEFORE_INDEX", 1 if for_another_embedder else 0)
    monkeypatch.setattr(LanceTable, "index_vectors", build)
    embeddings = FakeEmbeddings(FakeEmbedder())
    index = open_index(tmp_path / "index", embeddings, matrix_bytes=0)
    await index.put([source("a.md", "tea")])
    if for_another_embedder:
        await index.settled()
        embeddings.embedder = FakeEmbedder(model="other")
        monkeypatch.setattr(index_following, "VECTORS_BEFORE_INDEX", 0)
    settled = asyncio.create_task(index.settled())
    await until(begun.is_set)
    await index.close()
    await settled
    collection = chunk_collection(tmp_path / "index", "memory", on_emptied=lambda why: None)
    assert bool(collection.state().following) == for_another_embedder
    assert not collection.following_lock().take()
    go.set()
    another = collection.following_lock()
    await until(another.take)
    another.release_lock()


@pytest.fixture
def without_garbage_collection() -> Iterator[None]:
    """A server that has nothing to do collects none for hours."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_garbage_collection")
async def test_search_memory_is_released_after_idle_time(tmp_path: Path) -> None:
    embeddings = FakeEmbeddings(FakeEmbedder())
    index = LanceTextIndex(tmp_path / "index", "memory", embeddings, "400/80", idle_s=0, rest_s=0.5)
    await index.put([source("a.md", "tea")])
    (before,) = await found(index, "tea")
    view = index._legs._views._view
    assert view is not None
    assert view.matrix is not None
    vectors = weakref.ref(view.matrix.room.vectors)
    del view
    await until(lambda: vectors() is None)
    assert await found(index, "tea") == [before]
    await until(lambda: index._legs._views._view is None)
    await index.close()


@pytest.mark.parametrize("ends", ["fails", "is cancelled"])
async def test_search_memory_is_released_however_search_ends(
    ends: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embeddings = FakeEmbeddings(FakeEmbedder())
    index = LanceTextIndex(tmp_path / "index", "memory", embeddings, "400/80", idle_s=0, rest_s=0.5)
    await index.put([source("a.md", "tea")])
    search = index._legs.search

    async def ended(query: str, count: int, only: SearchFilter) -> tuple[Sequence[Candidate], str | None]:
        await search(query, count, only)
        assert index._legs._views._view is not None
        raise IndexUnavailable("It was replaced.") if ends == "fails" else asyncio.CancelledError

    monkeypatch.setattr(index._legs, "search", ended)
    with pytest.raises((IndexUnavailable, asyncio.CancelledError)):
        await found(index, "tea")
    await until(lambda: index._legs._views._view is None)
    await index.close()


async def test_search_memory_is_kept_while_in_use(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    await index.put([source("a.md", "tea")])
    await found(index, "tea")
    view = index._legs._views._view
    await index.settled()
    assert index._legs._views._view is view
    await index.close()


async def test_nothing_starts_after_close(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    await index.put([source("a.md", "tea")])
    await index.close()
    await index.put([source("b.md", "tea")])
    await found(index, "tea")
    assert not [task for task in asyncio.all_tasks() if "upkeep" in task.get_name()]


async def test_vectors_searched_in_memory_get_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_following, "VECTORS_BEFORE_INDEX", 1)
    index = open_index(tmp_path / "index")
    await index.put([source("a.md", *[f"w{number}" for number in range(300)])])
    await index.settled()
    assert not table_of(tmp_path / "index").has_vector_index()
    await index.close()


async def test_vector_index_matches_brute_force(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index", FakeEmbeddings(FakeEmbedder(dimension=64)), matrix_bytes=0)
    await index.put([source(f"{s}.md", *[f"w{s} x{c} y{s * c % 97}" for c in range(100)]) for s in range(SOURCES)])
    queries = [("w3 x4 y12", EVERYTHING), ("w80 x9", SearchFilter(paths=["80.md"])), ("y5", SearchFilter(paths=["9"]))]
    before = [await index.candidates(query, 10, only) for query, only in queries]
    assert not table_of(tmp_path / "index").has_vector_index()
    await index.settled()
    assert table_of(tmp_path / "index").has_vector_index()
    for (query, only), (exact, _) in zip(queries, before, strict=True):
        found, note = await index.candidates(query, 10, only)
        assert note is None
        nearest = sorted((one.similarity or 0 for one in exact), reverse=True)[:10]
        assert sorted((one.similarity or 0 for one in found), reverse=True)[8] >= nearest[9] - 1e-3
    await index.put([source("new.md", "zebra crossing")])
    assert (await index.candidates("zebra crossing", 1, EVERYTHING))[0][0].chunk.text == "zebra crossing"
    await index.close()
