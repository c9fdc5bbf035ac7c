"""What is done to the index when nobody looks changes how fast it answers, and never what."""

from pathlib import Path

from onyx_jupyter.protocols.retrieval import SearchFilter
from onyx_jupyter.storage.index_collection import chunk_collection
from onyx_jupyter.storage.lance import VECTORS_BEFORE_INDEX, LanceTable
from onyx_jupyter.testing.fake_embedder import FakeEmbedder, FakeEmbeddings
from tests.retrieval.sources import EVERYTHING, open_index, source

SOURCES = VECTORS_BEFORE_INDEX // 100 + 2


def table_of(folder: Path) -> LanceTable:
    collection = chunk_collection(folder, "memory", on_emptied=lambda why: None)
    return collection.table(collection.state().serving)


async def test_pieces_of_many_writes_are_joined_and_all_of_them_searched_by_the_index(tmp_path: Path) -> None:
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


async def test_many_vectors_get_an_index_that_finds_what_brute_force_finds(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index", FakeEmbeddings(FakeEmbedder(dimension=64)))
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
