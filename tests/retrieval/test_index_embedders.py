"""Embedders come, go, change and fail while the index keeps answering."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.protocols.retrieval import EmbedderIdentity
from onyx_jupyter.retrieval.text_index import LanceTextIndex
from onyx_jupyter.testing.fake_embedder import FakeEmbedder, FakeEmbeddings
from tests.retrieval.sources import EVERYTHING, found, open_index, source, texts_with
from tests.waiting import until

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

NOTES = [source(f"{number}.md", f"tea {number}", "more tea") for number in range(200)]


class HeldEmbedder(FakeEmbedder):
    """Makes no vector of a passage until it is let go."""

    def __init__(self, *, model: str = "words", dimension: int = 256) -> None:
        super().__init__(model=model, dimension=dimension)
        self.go = asyncio.Event()

    async def embed(self, texts: Sequence[str], purpose: Literal["passage", "query"]) -> Vectors:
        vectors = await super().embed(texts, purpose)
        if purpose == "passage":
            await self.go.wait()
        return vectors


class BrokenEmbedder(FakeEmbedder):
    """Makes vectors, corrupted by `corrupt` while that is set."""

    corrupt: object = None

    async def embed(self, texts: Sequence[str], purpose: Literal["passage", "query"]) -> Vectors:
        vectors = await super().embed(texts, purpose)
        return self.corrupt(vectors) if callable(self.corrupt) else vectors


def nan_everywhere(vectors: Vectors) -> Vectors:
    return np.full_like(vectors, np.nan)


def nothing_but_zeros(vectors: Vectors) -> Vectors:
    return np.zeros_like(vectors)


def another_dimension(vectors: Vectors) -> Vectors:
    return vectors[:, :8]


def one_too_few(vectors: Vectors) -> Vectors:
    return vectors[:-1]


def tables(tmp_path: Path) -> int:
    return len(list(tmp_path.glob("index/*.lance")))


async def vectors_of(index: LanceTextIndex, query: str) -> set[int | None]:
    """The dimensions that are found by words."""
    vectors = [one.vector for one in await found(index, query) if one.words is not None]
    return {None if vector is None else len(vector) for vector in vectors}


async def test_without_embedder_words_are_searched_and_reported(tmp_path: Path) -> None:
    embeddings = FakeEmbeddings()
    embeddings.problem = "Ollama does not answer."
    index = open_index(tmp_path / "index", embeddings)
    await index.put(NOTES[:2])
    candidates, note = await index.candidates("tea 1", 10, EVERYTHING)
    assert {one.chunk.text for one in candidates} == {"tea 0", "tea 1", "more tea"}
    assert {(one.similarity, one.vector) for one in candidates} == {(None, None)}
    assert note == "Only keywords were searched. Ollama does not answer."
    await index.close()


class UnresolvedEmbeddings(FakeEmbeddings):
    """Embeds, and never says who does: some server that is asked does not answer."""

    async def current(self) -> EmbedderIdentity | None:
        return await asyncio.Event().wait() or None


async def test_index_works_before_embedder_is_known(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    await index.put(NOTES[:2])
    await index.close()
    again = open_index(tmp_path / "index", UnresolvedEmbeddings(FakeEmbedder()))
    assert set(await again.checksums()) == {("main", "0.md"), ("main", "1.md")}
    await again.remove([("main", "1.md")])
    assert await again.count() == 2
    candidates, note = await again.candidates("tea 0", 10, EVERYTHING)
    assert {one.chunk.text for one in candidates} == {"tea 0", "more tea"}
    assert all(one.similarity is not None for one in candidates), "whose vectors the index holds, it knows itself"
    assert note is None
    await again.close()


async def test_missing_index_is_reported_without_waiting(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index", UnresolvedEmbeddings(FakeEmbedder()))
    assert (await index.checksums(), await index.count()) == ({}, 0)
    await index.remove([("main", "1.md")])
    assert tables(tmp_path) == 0, "a table without vectors would have to be made a second time"
    await index.close()


async def test_new_embedder_gets_vectors_while_old_table_serves(tmp_path: Path) -> None:
    embeddings = FakeEmbeddings()
    index = open_index(tmp_path / "index", embeddings)
    await index.put(NOTES)
    await index.settled()
    embedder = embeddings.embedder = HeldEmbedder()
    settled = asyncio.create_task(index.settled())
    await until(lambda: embedder.calls)
    candidates, note = await index.candidates("tea", 10, EVERYTHING)
    assert len(candidates) == 10
    assert note is not None
    assert "rebuilt for another embedder (0 of 400 passages)" in note
    embedder.go.set()
    await settled
    candidates, note = await index.candidates("tea 7", 10, EVERYTHING)
    assert note is None
    assert candidates[0].chunk.text == "tea 7"
    assert all(one.similarity is not None for one in candidates)
    await index.close()


async def test_text_written_during_change_is_present_afterwards(tmp_path: Path) -> None:
    embeddings = FakeEmbeddings(FakeEmbedder())
    index = open_index(tmp_path / "index", embeddings)
    await index.put(NOTES)
    await index.settled()
    embedder = embeddings.embedder = HeldEmbedder(model="other", dimension=32)
    settled = asyncio.create_task(index.settled())
    await until(lambda: embedder.calls)
    await index.put([source("3.md", "coffee"), source("new.md", "cocoa")])
    await index.remove([("main", "4.md")])
    assert await texts_with(index, "coffee cocoa") == {"coffee", "cocoa"}
    embedder.go.set()
    await settled
    assert await texts_with(index, "coffee cocoa") == {"coffee", "cocoa"}
    checksums = await index.checksums()
    assert len(checksums) == 200
    assert checksums["main", "3.md"] == source("3.md", "coffee").checksum
    assert ("main", "4.md") not in checksums
    assert await vectors_of(index, "coffee cocoa tea") == {32}
    assert tables(tmp_path) == 1
    await index.close()


async def test_interrupted_change_is_resumed(tmp_path: Path) -> None:
    first = open_index(tmp_path / "index", FakeEmbeddings(FakeEmbedder()))
    await first.put(NOTES)
    await first.close()
    held = HeldEmbedder(model="other")
    second = open_index(tmp_path / "index", FakeEmbeddings(held))
    settling = asyncio.create_task(second.settled())
    await until(lambda: held.calls)
    held.go.set()
    await until(lambda: len(held.calls) > 5)
    await second.close()
    await asyncio.wait([settling])
    embedder = FakeEmbedder(model="other")
    third = open_index(tmp_path / "index", FakeEmbeddings(embedder))
    await third.settled()
    assert sum(len(texts) for texts in embedder.calls) < 400
    assert len(await third.checksums()) == 200
    assert (await third.candidates("tea", 5, EVERYTHING))[1] is None
    assert tables(tmp_path) == 1
    await third.close()


async def test_briefly_unavailable_embedder_changes_nothing(tmp_path: Path) -> None:
    mine, other = FakeEmbedder(), FakeEmbedder(model="other")
    embeddings = FakeEmbeddings(mine)
    index = LanceTextIndex(tmp_path / "index", "memory", embeddings, "c", idle_s=0, steady_s=3600)
    await index.put(NOTES[:3])
    await index.settled()
    embeddings.embedder = other
    candidates, note = await index.candidates("tea", 10, EVERYTHING)
    assert {one.similarity for one in candidates} == {None}
    assert note == "Only keywords were searched. There is no embedder fake/words now."
    await index.put([source("new.md", "cocoa")])
    embeddings.embedder = mine
    await index.settled()
    assert other.calls == []
    assert await vectors_of(index, "tea cocoa") == {256}
    await index.close()


class TwoEmbeddings(FakeEmbeddings):
    """Makes the vectors of another embedder too, for an index that holds them."""

    def __init__(self, embedder: FakeEmbedder, other: FakeEmbedder) -> None:
        super().__init__(embedder)
        self.other = other

    async def embed(
        self, texts: Sequence[str], purpose: Literal["passage", "query"], *, identity: EmbedderIdentity
    ) -> Vectors:
        if identity == self.other.identity and texts:
            return await self.other.embed(texts, purpose)
        if identity == self.other.identity:
            return np.zeros((0, identity.dimension), np.float32)
        return await super().embed(texts, purpose, identity=identity)


async def test_just_started_server_waits_before_reindexing(tmp_path: Path) -> None:
    first = open_index(tmp_path / "index", FakeEmbeddings(FakeEmbedder()))
    await first.put(NOTES[:3])
    await first.close()
    other = FakeEmbedder(model="other", dimension=32)
    index = LanceTextIndex(tmp_path / "index", "memory", FakeEmbeddings(other), "400/80", idle_s=0, steady_s=3600)
    await found(index, "tea")
    await until(lambda: index._maintenance.waits_for == other.identity)
    assert (other.calls, tables(tmp_path)) == ([], 1)
    await index.close()


async def test_late_embedder_is_waited_for_and_its_vectors_searched(tmp_path: Path) -> None:
    mine, other = FakeEmbedder(), FakeEmbedder(model="other", dimension=32)
    first = open_index(tmp_path / "index", FakeEmbeddings(mine))
    await first.put(NOTES[:3])
    await first.close()
    embeddings = TwoEmbeddings(other, mine)
    index = LanceTextIndex(tmp_path / "index", "memory", embeddings, "400/80", idle_s=0, steady_s=0)
    assert all(one.similarity is not None for one in await found(index, "tea"))
    await index._maintenance._task
    assert (index._maintenance.waits_for, other.calls) == (other.identity, [])
    embeddings.embedder = mine
    index._maintenance._wake()
    await until(lambda: index._maintenance.waits_for is None)
    assert other.calls == []
    await index.close()


async def test_two_servers_with_different_embedders_do_not_alternate(tmp_path: Path) -> None:
    one, other = FakeEmbedder(), FakeEmbedder(model="other", dimension=32)
    indices = [
        LanceTextIndex(tmp_path / "index", "memory", FakeEmbeddings(embedder), "400/80", idle_s=0, steady_s=0)
        for embedder in (one, other)
    ]
    await indices[0].put(NOTES[:3])
    await found(indices[1], "tea")
    await until(lambda: other.calls and tables(tmp_path) == 1)
    embedded = len(one.calls)
    for _ in range(3):
        for index in indices:
            index._maintenance._wake()
            await until(lambda index=index: index._maintenance._task.done())
    assert indices[0]._maintenance.waits_for == one.identity
    assert len(one.calls) == embedded
    assert await vectors_of(indices[1], "tea") == {32}
    for index in indices:
        await index.close()


async def test_text_put_during_embedder_failure_gets_vectors_later(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    index = open_index(tmp_path / "index", FakeEmbeddings(embedder))
    await index.put([source("before.md", "tea")])
    embedder.failure = EmbeddingError("The provider is down.")
    await index.put(NOTES)
    await index.put([source("blank.md", " \t\u00a0", "")])
    candidates, note = await index.candidates("tea", 1000, EVERYTHING)
    assert len(candidates) == 401
    assert note is not None
    assert "The provider is down." in note
    embedder.failure = None
    await index.settled()
    assert await vectors_of(index, "tea") == {256}
    assert (await index.candidates("tea", 5, EVERYTHING))[1] is None
    await index.close()


@pytest.mark.parametrize("corrupt", [nan_everywhere, nothing_but_zeros, another_dimension, one_too_few])
async def test_invalid_vectors_never_enter_table(tmp_path: Path, corrupt: object) -> None:
    embedder = BrokenEmbedder()
    index = open_index(tmp_path / "index", FakeEmbeddings(embedder))
    await index.put([source("a.md", "tea")])
    embedder.corrupt = corrupt
    await index.put([source("b.md", "tea"), source("c.md", "coffee")])
    candidates, note = await index.candidates("tea", 10, EVERYTHING)
    assert {(one.path, one.similarity) for one in candidates} == {("a.md", None), ("b.md", None)}
    assert note is not None
    assert "fake/words returned" in note
    embedder.corrupt = None
    assert {one.path for one in await found(index, "anything") if one.similarity is not None} == {"a.md"}
    await index.settled()
    assert {one.path for one in await found(index, "anything")} == {"a.md", "b.md", "c.md"}
    await index.close()


async def test_passage_without_vector_does_not_affect_others(tmp_path: Path) -> None:
    def corrupt(vectors: Vectors) -> Vectors:
        vectors[1] = np.nan
        return vectors

    embedder = BrokenEmbedder()
    embedder.corrupt = corrupt
    index = open_index(tmp_path / "index", FakeEmbeddings(embedder))
    await index.put([source("a.md", "tea", "coffee", "cocoa")])
    embedder.corrupt = None
    assert {one.chunk.text for one in await found(index, "anything")} == {"tea", "cocoa"}
    await index.close()
