"""In-memory vector search matches LanceDB on disk, whatever was written by whichever process."""

import asyncio
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.protocols.retrieval import Candidate, SearchFilter, Source
from onyx_jupyter.retrieval.text_index import LanceTextIndex
from onyx_jupyter.storage import vector_matrix
from onyx_jupyter.testing.fake_embedder import FakeEmbedder, FakeEmbeddings
from tests.retrieval.sources import open_index, source

AGENTS = ["main", "work", ""]
PATHS = ["a.md", "memory/a.md", "memory/b.md", "it's 100% _.md", "memory/\ud800.md"]
DAYS = st.none() | st.sampled_from([date(2026, 1, number) for number in (1, 2, 3)])
TEXTS = st.lists(st.sampled_from(["tea", "cat", "sea", "sun", "fog", "ice", "oak", "elm"]), max_size=4).map(" ".join)
SOURCES = st.builds(
    lambda path, texts, agent, kind, day: source(path, *texts, agent=agent, kind=kind, day=day),
    st.sampled_from(PATHS),
    st.lists(TEXTS, max_size=5),
    st.sampled_from(AGENTS),
    st.sampled_from(["memory", "shared"]),
    DAYS,
)
NAMES = st.tuples(st.sampled_from(AGENTS), st.sampled_from(PATHS))
CHANGES = st.tuples(
    st.booleans(), st.booleans(), st.lists(SOURCES, max_size=4), st.lists(NAMES, max_size=2), st.booleans()
)
FILTERS = st.builds(
    SearchFilter,
    agents=st.none() | st.frozensets(st.sampled_from(AGENTS)),
    kinds=st.none() | st.frozensets(st.sampled_from(["memory", "shared"])),
    paths=st.none() | st.lists(st.sampled_from([*PATHS, "memory/", "it's", ""]), max_size=2),
    since=DAYS,
    until=DAYS,
)


class Shelf:
    """Two indices on one folder, one that searches in memory and one that searches on disk."""

    def __init__(self, folder: Path) -> None:
        self.runner = asyncio.Runner()
        self.embeddings = FakeEmbeddings(FakeEmbedder(dimension=16))
        self.in_memory = open_index(folder / "index", self.embeddings)
        self.on_disk = open_index(folder / "index", self.embeddings, matrix_bytes=0)


@pytest.fixture(scope="module")
def shelf() -> Iterator[Shelf]:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as little_room:
        little_room.setattr(vector_matrix, "_MIN_SPARE_BYTES", 5 * 4 * 16)
        shelf = Shelf(Path(folder))
        yield shelf
        shelf.runner.run(shelf.in_memory.close())
        shelf.runner.run(shelf.on_disk.close())
        shelf.runner.close()


async def change(
    shelf: Shelf, by_other: bool, embeds: bool, put: list[Source], removed: list[tuple[str, str]], tidied: bool
) -> None:
    index = shelf.on_disk if by_other else shelf.in_memory
    embedder = shelf.embeddings.embedder
    assert embedder is not None
    embedder.failure = None if embeds else EmbeddingError("away")
    await index.put(put)
    await index.remove(removed)
    embedder.failure = None
    if tidied:
        await index.settled()


async def nearest(index: LanceTextIndex, query: str, count: int, only: SearchFilter) -> list[Candidate]:
    candidates, _ = await index.candidates(query, count, only)
    return candidates


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(CHANGES, max_size=3), query=TEXTS.filter(bool), count=st.integers(1, 12), only=FILTERS)
def test_memory_and_disk_find_the_same(
    shelf: Shelf,
    changes: list[tuple[bool, bool, list[Source], list[tuple[str, str]], bool]],
    query: str,
    count: int,
    only: SearchFilter,
) -> None:
    async def compare() -> None:
        for one in changes:
            await change(shelf, *one)
            await nearest(shelf.in_memory, query, count, only)  # so that each version is followed
        ours, theirs = await from_both(shelf, query, 1000, only)
        assert set(ours) == set(theirs)
        ours, theirs = await from_both(shelf, query, count, only)
        # Of equals that do not all fit, either may be taken.
        assert similarities(ours)[:count] == pytest.approx(similarities(theirs)[:count], abs=1e-6)
        assert scores(ours) == scores(theirs)

    shelf.runner.run(compare())


async def from_both(shelf: Shelf, query: str, count: int, only: SearchFilter) -> list[list[Candidate]]:
    """Of one version of the table: missing vectors are made in the background."""
    while True:
        before = version(shelf)
        answers = [await nearest(index, query, count, only) for index in (shelf.in_memory, shelf.on_disk)]
        if version(shelf) == before:
            return answers


def version(shelf: Shelf) -> tuple[str, int]:
    return shelf.in_memory._collection.read(lambda table, _: (table.name, table.version()))


def similarities(found: list[Candidate]) -> list[float]:
    return sorted((one.similarity for one in found if one.similarity is not None), reverse=True)


def scores(found: list[Candidate]) -> list[float]:
    return sorted(one.words for one in found if one.words is not None)
