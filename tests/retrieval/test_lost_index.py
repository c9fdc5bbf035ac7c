"""Losing the index folder costs time and nothing else."""

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import lancedb
import pyarrow as pa
import pytest

from onyx_jupyter.errors import IndexUnavailable
from onyx_jupyter.retrieval import hybrid_query as index_legs
from onyx_jupyter.retrieval.hybrid_query import HybridQuery
from onyx_jupyter.retrieval.text_index import LanceTextIndex
from onyx_jupyter.storage.index_collection import chunk_collection
from onyx_jupyter.storage.lance import LanceTable
from onyx_jupyter.storage.lance_collection import TableState
from onyx_jupyter.testing.fake_embedder import FakeEmbedder, FakeEmbeddings
from tests.retrieval.sources import EVERYTHING, found, open_index, source
from tests.waiting import until

SOURCES = [
    source(f"memory/{number}.md", *[f"tea {number}.{line} and word{line}" for line in range(5)]) for number in range(12)
]
QUERIES = ["tea", "word3", "tea 7.2", "nothing of that"]


async def answers(index: LanceTextIndex) -> list[object]:
    """What searches find, in an order that only depends on what is found."""
    return [sorted(map(repr, (await index.candidates(query, 100, EVERYTHING))[0])) for query in QUERIES]


async def test_rebuilt_index_gives_same_results(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index = open_index(folder)
    await index.put(SOURCES)
    await index.settled()
    before = await answers(index)
    assert any(before)
    await index.close()
    shutil.rmtree(folder)
    again = open_index(folder)
    assert await again.checksums() == {}
    await again.put(list(reversed(SOURCES)))
    await again.settled()
    assert await answers(again) == before
    await again.close()


def delete_folder(folder: Path) -> None:
    shutil.rmtree(folder)


def delete_table(folder: Path) -> None:
    for table in folder.glob("*.lance"):
        shutil.rmtree(table)


def delete_state(folder: Path) -> None:
    (folder / "memory_chunk.json").unlink()


def garble_state(folder: Path) -> None:
    (folder / "memory_chunk.json").write_text('{"schema_version": 1, "serving": {"na')


def state_of_a_newer_version(folder: Path) -> None:
    (folder / "memory_chunk.json").write_text('{"schema_version": 2, "tables": ["x"]}')


def delete_rows(folder: Path) -> None:
    shutil.rmtree(next(folder.glob("*.lance")) / "data")


def cut_rows(folder: Path) -> None:
    for file in folder.glob("*.lance/data/*"):
        file.write_bytes(file.read_bytes()[:100])


def garble_rows(folder: Path) -> None:
    for file in folder.glob("*.lance/data/*"):
        file.write_bytes(b"\xff" * file.stat().st_size)


def garble_versions(folder: Path) -> None:
    for file in folder.glob("*.lance/_versions/*"):
        file.write_bytes(b"no version")


def columns_of_another_version(folder: Path) -> None:
    table = next(folder.glob("*.lance"))
    lancedb.connect(folder).open_table(table.stem).drop_columns(["heading"])


def another_dimension(folder: Path) -> None:
    table = next(folder.glob("*.lance"))
    connection = lancedb.connect(folder)
    rows = connection.open_table(table.stem).to_arrow()
    column = pa.array([[1.0, 2.0]] * len(rows), pa.list_(pa.float32(), 2))
    rows = rows.set_column(rows.schema.get_field_index("vector"), "vector", column)
    connection.create_table(table.stem, rows, mode="overwrite")


def garble_indices(folder: Path) -> None:
    for file in folder.glob("*.lance/_indices/*/*"):
        file.write_bytes(b"no index")


LOSSES = [delete_folder, delete_table, delete_state, garble_state, state_of_a_newer_version]
DAMAGES = [delete_rows, cut_rows, garble_rows, garble_versions, columns_of_another_version, another_dimension]


@pytest.mark.parametrize("loss", [*LOSSES, *DAMAGES], ids=lambda loss: loss.__name__)
@pytest.mark.parametrize("running", [True, False], ids=["running", "before the start"])
async def test_lost_index_is_empty_immediately_and_complete_when_refilled(
    tmp_path: Path, loss: Callable[[Path], None], running: bool
) -> None:
    folder = tmp_path / "index"
    told: list[str] = []
    index = LanceTextIndex(folder, "memory", FakeEmbeddings(FakeEmbedder()), "c", on_emptied=told.append, idle_s=3600)
    await index.put(SOURCES)
    await index.settled()
    before = await answers(index)
    if not running:
        await index.close()
        index = LanceTextIndex(
            folder, "memory", FakeEmbeddings(FakeEmbedder()), "c", on_emptied=told.append, idle_s=3600
        )
    loss(folder)
    assert await found(index, "tea") == []
    assert await index.checksums() == {}
    if running or loss in DAMAGES:
        await until(lambda: told)
        assert "damaged" in told[0] if loss in DAMAGES else "deleted" in told[0]
    assert (folder / "damaged" / "memory_chunk").is_dir() == (loss in DAMAGES)
    await index.put(SOURCES)
    await index.settled()
    assert await answers(index) == before
    assert len(list(folder.glob("memory_chunk-*.lance"))) == 1
    await index.close()


@pytest.mark.parametrize("loss", [*LOSSES, *DAMAGES], ids=lambda loss: loss.__name__)
async def test_put_on_lost_index_is_present_afterwards(tmp_path: Path, loss: Callable[[Path], None]) -> None:
    folder = tmp_path / "index"
    index = open_index(folder)
    await index.put(SOURCES)
    loss(folder)
    new = source("new.md", "coffee")
    await index.put([new])
    assert ("main", "new.md") in await index.checksums()
    assert "coffee" in {one.chunk.text for one in await found(index, "coffee")}
    await index.close()


async def test_damaged_word_index_is_rebuilt_from_rows(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    await index.put(SOURCES)
    await index.settled()
    before = await answers(index)
    await index.close()
    garble_indices(tmp_path / "index")
    again = open_index(tmp_path / "index")
    assert await answers(again) == before
    assert not (tmp_path / "index" / "damaged").exists()
    await again.close()


LONG = f"LanceError(IO): Execution error: {'a long way ' * 40}"


@pytest.mark.parametrize(
    ("said", "by_lance"),
    [
        ("Too many open files (os error 24)", ""),
        ("Input/output error (os error 5)", ""),
        ("Stale file handle", ""),
        ("Eingabe-/Ausgabefehler (os error 5)", ""),
        ("Cannot allocate memory", ""),
        ("Connection timed out", ""),
        ("Transport endpoint is not connected", ""),
        (LONG[:300], f"{LONG}\nStale file handle (os error 116)"),
    ],
)
async def test_system_error_moves_no_table_aside(tmp_path: Path, said: str, by_lance: str) -> None:
    index = open_index(tmp_path / "index")
    await index.put(SOURCES)
    await index.close()
    collection = chunk_collection(tmp_path / "index", "memory", on_emptied=lambda why: None)
    served = collection.state().serving
    cut_rows(tmp_path / "index")

    def work(table: LanceTable, state: TableState) -> None:
        raise IndexUnavailable(f"Could not read the table {table.name}: {said}") from RuntimeError(by_lance)

    with pytest.raises(IndexUnavailable, match=re.escape(said)):
        await asyncio.to_thread(collection.read, work)
    assert collection.state().serving == served
    assert not (tmp_path / "index" / "damaged").exists()


async def test_search_of_repeatedly_replaced_index_falls_back_to_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = open_index(tmp_path / "index")
    await index.put([source("a.md", "tea"), source("b.md", "coffee")])

    def replaced(legs: HybridQuery, *asked: object) -> None:
        raise index_legs._Replaced

    monkeypatch.setattr(HybridQuery, "_answer", replaced)
    candidates, note = await index.candidates("tea", 5, EVERYTHING)
    assert [one.chunk.text for one in candidates] == ["tea"]
    assert note == "Only keywords were searched. The index kept being replaced during the search."
    await index.close()


async def test_repeatedly_deleting_folder_in_use_raises_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index = open_index(folder)
    ended = asyncio.Event()

    async def delete() -> None:
        for _ in range(15):
            await index.put(SOURCES[:2])
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        ended.set()

    async def use() -> None:
        while not ended.is_set():
            await index.candidates("tea", 5, EVERYTHING)
            await index.checksums()

    async def write() -> None:
        while not ended.is_set():
            await index.put(SOURCES[2:4])
            await index.remove([("main", SOURCES[2].path)])

    await asyncio.gather(delete(), use(), write())
    await index.put(SOURCES)
    await index.settled()
    whole = await answers(index)
    await index.close()
    fresh = open_index(tmp_path / "fresh")
    await fresh.put(SOURCES)
    await fresh.settled()
    assert whole == await answers(fresh)
    await fresh.close()


async def test_refusing_disk_is_reported_and_nothing_moved(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("a file where the folder should be")
    index = open_index(tmp_path / "index")
    for refused in (index.checksums(), index.put(SOURCES), index.remove([("main", "a.md")]), found(index, "tea")):
        with pytest.raises(IndexUnavailable, match="index"):
            await refused
    assert (tmp_path / "index").read_text() == "a file where the folder should be"
    await index.close()


async def test_loss_is_reported_before_index_is_seen_empty(tmp_path: Path) -> None:
    """Else a search in between would find nothing, and nobody would look into the files for it."""
    empty_before_told: list[bool] = []
    collection = chunk_collection(
        tmp_path / "index", "memory", on_emptied=lambda why: empty_before_told.append(collection.has_table())
    )
    await asyncio.to_thread(collection.state)
    shutil.rmtree(tmp_path / "index")
    await asyncio.to_thread(collection.state)
    assert empty_before_told == [False]


FEW_FILES = """
import asyncio, resource, sys
from pathlib import Path
from onyx_jupyter.errors import IndexUnavailable
from tests.retrieval.sources import found, open_index, source

async def main():
    index = open_index(Path(sys.argv[1]))
    await index.put([source("a.md", "tea")])
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    try:
        await found(index, "tea")
        print("answered")
    except (IndexUnavailable, OSError) as error:
        print(type(error).__name__)
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    print([one.chunk.text for one in await found(index, "tea")])
    await index.close()

asyncio.run(main())
"""


def test_exhausted_file_handles_do_not_discard_a_table(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FEW_FILES, str(tmp_path / "index")]
    said = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert said.stdout.splitlines() == ["IndexUnavailable", "['tea']"], said.stderr
