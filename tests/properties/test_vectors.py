"""Vectors of the embedded embedder, over any text."""

import asyncio
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.providers.embedders.local import LocalEmbedder
from onyx_jupyter.providers.embedders.vectors import unit_vectors

# Any character, halves of surrogate pairs and controls among them.
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=2_000)
FLOATS = st.floats(width=64, allow_nan=True, allow_infinity=True)


@pytest.fixture(scope="module")
def embed():
    loop = asyncio.new_event_loop()
    embedder = LocalEmbedder(SystemClock())
    yield lambda texts, purpose="passage": loop.run_until_complete(embedder.embed(texts, purpose))
    loop.run_until_complete(embedder.close())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


@given(st.lists(ANY_TEXT, min_size=1, max_size=3))
@example([""])
@example(["\ud800\udfff\udc00"])
@example(["\x00\u202e\ufeff"])
@example(["x" * 1_000_000])
@example([" \n" * 500_000])
@example(["知" * 1_000_000])
def test_any_text_has_a_unit_vector(embed, texts):
    vectors = embed(texts)
    assert vectors.shape == (len(texts), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@given(ANY_TEXT)
def test_vector_does_not_depend_on_batch(embed, text):
    alone = embed([text])[0]
    assert np.allclose(embed(["before", text, "behind"])[1], alone, atol=1e-5)


@given(st.lists(st.lists(FLOATS, max_size=5), max_size=4), st.integers(0, 5), st.integers(1, 5))
def test_any_server_answer_yields_unit_vectors_or_an_error(rows, count, dimension):
    usable = (
        len(rows) == count
        and all(len(row) == dimension and all(map(math.isfinite, row)) for row in rows)
        and all(1e-150 < max(map(abs, row)) < 1e150 for row in rows)
    )
    try:
        vectors = unit_vectors(rows, count=count, dimension=dimension, title="A server")
    except EmbeddingError:
        assert not usable
        return
    assert vectors.shape == (count, dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
