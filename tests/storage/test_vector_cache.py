import shutil
from pathlib import Path

import numpy as np

from onyx_jupyter.protocols.retrieval import EmbedderIdentity
from onyx_jupyter.storage.vector_cache import LanceVectorCache, vector_key
from onyx_jupyter.testing.fake_clock import FakeClock

IDENTITY = EmbedderIdentity("local", "minilm", 384)


def test_key_covers_everything_a_vector_depends_on() -> None:
    keys = {
        vector_key(IDENTITY, "text"),
        vector_key(IDENTITY, "text "),
        vector_key(IDENTITY, "text", "query"),
        vector_key(EmbedderIdentity("ollama", "minilm", 384), "text"),
        vector_key(EmbedderIdentity("local", "other", 384), "text"),
        vector_key(EmbedderIdentity("local", "minilm", 768), "text"),
        vector_key(IDENTITY, "half of a pair: \ud83d"),
    }
    assert len(keys) == 7
    assert {len(key) for key in keys} == {64}
    assert vector_key(IDENTITY, "text") == vector_key(EmbedderIdentity("local", "minilm", 384), "text", "passage")


async def test_vectors_round_trip_exactly_in_any_dimension(tmp_path: Path) -> None:
    vectors = {"a": np.array([1 / 3, -2], np.float32), "b": np.arange(768, dtype=np.float32)}
    await LanceVectorCache(tmp_path / "index").put(vectors)
    known = await LanceVectorCache(tmp_path / "index").get(["b", "never made", "a"])
    assert known.keys() == vectors.keys()
    assert all(np.array_equal(known[key], vectors[key]) and known[key].dtype == np.float32 for key in vectors)


async def test_full_cache_evicts_oldest(tmp_path: Path) -> None:
    clock = FakeClock()
    cache = LanceVectorCache(tmp_path / "index", entries=10, clock=clock)
    for number in range(25):
        clock.advance(1)
        await cache.put({f"key {number}": np.array([number], np.float32)})
    keys = [f"key {number}" for number in range(25)]
    assert sorted(await cache.get(keys), key=keys.index) == keys[15:]


def states(folder: Path) -> int:
    """How many states of the table lie on disk."""
    return len(list(folder.glob("*.lance/_versions/*.manifest")))


async def test_old_table_versions_are_deleted_from_disk(tmp_path: Path) -> None:
    cache = LanceVectorCache(tmp_path / "index", kept_s=0.001)
    for number in range(30):
        await cache.put({f"key {number}": np.array([number], np.float32)})
    assert states(tmp_path / "index") <= 12
    assert len(await cache.get([f"key {number}" for number in range(30)])) == 30


async def test_same_vector_is_stored_once(tmp_path: Path) -> None:
    cache = LanceVectorCache(tmp_path / "index", entries=3)
    for _ in range(5):
        await cache.put({"a": np.array([1], np.float32)})
    await cache.put({"b": np.array([2], np.float32), "c": np.array([3], np.float32)})
    assert (await cache.get(["a", "b", "c"])).keys() == {"a", "b", "c"}


async def test_oversized_batch_is_stored_as_far_as_it_fits(tmp_path: Path) -> None:
    cache = LanceVectorCache(tmp_path / "index", entries=3)
    await cache.put({f"{number}": np.array([number], np.float32) for number in range(8)})
    assert len(await cache.get([f"{number}" for number in range(8)])) == 3


async def test_damaged_or_deleted_cache_starts_empty(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    cache = LanceVectorCache(folder)
    await cache.put({"a": np.array([1], np.float32)})
    for file in folder.rglob("*.lance/data/*"):
        file.write_bytes(b"no table")
    assert await LanceVectorCache(folder).get(["a"]) == {}
    await cache.put({"a": np.array([1], np.float32)})
    shutil.rmtree(folder)
    assert await cache.get(["a"]) == {}
    await cache.put({"a": np.array([2], np.float32)})
    assert (await cache.get(["a"]))["a"].tolist() == [2]


async def test_unwritable_cache_raises_nothing(tmp_path: Path) -> None:
    tmp_path.joinpath("index").write_text("a file where the folder should be")
    cache = LanceVectorCache(tmp_path / "index")
    await cache.put({"a": np.array([1], np.float32)})
    assert await cache.get(["a"]) == {}
