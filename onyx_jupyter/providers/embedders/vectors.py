"""Validates vectors from an embedder and normalises them to length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onyx_jupyter.errors import EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from onyx_jupyter.protocols.retrieval import Vectors


def unit_vectors(rows: Any, *, count: int, dimension: int | None, title: str) -> Vectors:
    """float32 (count, dimension), each row of length 1; any dimension if that is None.

    Raises: EmbeddingError, named after `title`, if there are too few or too many, one has another dimension, or one
    has no direction (zero, NaN, infinite).
    """
    import numpy as np

    if len(rows) != count:
        raise EmbeddingError(f"{title} sent {len(rows)} embeddings for {count} texts.")
    try:
        vectors: NDArray[np.float64] = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise EmbeddingError(f"{title} sent something other than a list of embeddings of equal length.") from None
    if not count and dimension is not None:
        return np.zeros((0, dimension), np.float32)
    if vectors.ndim != 2 or vectors.shape[1] == 0:
        raise EmbeddingError(f"{title} sent something other than a list of embeddings.")
    if dimension is not None and vectors.shape[1] != dimension:
        raise EmbeddingError(f"{title} sent embeddings of size {vectors.shape[1]}; earlier ones had size {dimension}.")
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise EmbeddingError(f"{title} sent an embedding with a value that is not a number.")
    if not (lengths > 0).all():
        raise EmbeddingError(f"{title} sent an embedding of zeros.")
    found: Vectors = (vectors / lengths).astype(np.float32)
    return found


def encodable(text: str) -> str:
    """The text without halves of surrogate pairs, which UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
