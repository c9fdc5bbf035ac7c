import asyncio
import subprocess
import sys

import numpy as np
import pytest

from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.protocols.retrieval import EmbedderIdentity
from onyx_jupyter.testing.fake_embedder import FakeEmbedder, FakeEmbeddings

TEXTS = ["The cat sat on the mat.", "A cat on a mat", "quarterly revenue", "", "…"]


async def test_vectors_have_unit_length_and_requested_dimension() -> None:
    vectors = await FakeEmbedder(dimension=64).embed(TEXTS, "passage")
    assert vectors.shape == (5, 64)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)


async def test_texts_with_common_words_are_near_and_others_far() -> None:
    first, second, other, *_ = await FakeEmbedder().embed(TEXTS, "passage")
    assert first @ second > 0.5 > 0.2 > first @ other


async def test_declared_synonyms_are_identical() -> None:
    vectors = await FakeEmbedder(alike={"car": "automobile"}).embed(["my car", "my automobile"], "query")
    assert np.array_equal(vectors[0], vectors[1])


def test_another_process_computes_the_same_vector() -> None:
    program = (
        "import asyncio; from onyx_jupyter.testing.fake_embedder import FakeEmbedder;"
        "print(asyncio.run(FakeEmbedder().embed(['a cat and a dog'], 'query'))[0].tobytes().hex())"
    )
    here = asyncio.run(FakeEmbedder().embed(["a cat and a dog"], "query"))
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert said.stdout.strip() == here[0].tobytes().hex()


async def test_failure_is_raised_until_cleared() -> None:
    embedder = FakeEmbedder()
    embedder.failure = EmbeddingError("away")
    with pytest.raises(EmbeddingError, match="away"):
        await embedder.embed(["text"], "query")
    embedder.failure = None
    assert len(await embedder.embed(["text"], "query")) == 1
    assert embedder.calls == [("text",), ("text",)]


async def test_vectors_of_another_identity_are_rejected() -> None:
    embeddings = FakeEmbeddings(FakeEmbedder())
    with pytest.raises(EmbeddingError, match="other"):
        await embeddings.embed(["text"], "query", identity=EmbedderIdentity("fake", "other", 256))
    embeddings.embedder = None
    assert await embeddings.current() is None
